package undertest

import (
	"errors"
	"fmt"
	"testing"
)

type carrier struct{ t *Test }

func (c carrier) UnderTest() *Test { return c.t }

func TestOnlyATestThatIsNotOverFails(t *testing.T) {
	var told []string
	test := New(func(format string, args ...any) { told = append(told, fmt.Sprintf(format, args...)) })
	Of(carrier{test}).Misused(errors.New("100% wrong"))
	Of("nothing").Misused(errors.New("nobody asks"))
	test.End()
	test.Misused(errors.New("too late"))
	if len(told) != 1 || told[0] != "100% wrong" {
		t.Errorf("told %q", told)
	}
	Of(nil).End()
}
