package undertest

import (
	"errors"
	"fmt"
	"testing"
)

func TestOnlyATestThatIsNotOverFails(t *testing.T) {
	var told []string
	const server = "http://here"
	test := Begin(server, func(format string, args ...any) { told = append(told, fmt.Sprintf(format, args...)) })
	if Of(server) != test || Of("http://elsewhere") != nil {
		t.Error("a test is not found by its server, or by another one")
	}
	Of(server).Misused(errors.New("100% wrong"))
	Of("").Misused(errors.New("nobody asks"))
	next := Begin(server, t.Errorf)
	test.End()
	test.Misused(errors.New("too late"))
	if len(told) != 1 || told[0] != "100% wrong" {
		t.Errorf("told %q", told)
	}
	if Of(server) != next {
		t.Error("the end of a test ends the next one at its address")
	}
	next.End()
	if Of(server) != nil {
		t.Error("a test that is over is found")
	}
	(*Test)(nil).End()
}
