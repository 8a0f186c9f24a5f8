package undertest

import (
	"errors"
	"fmt"
	"testing"
)

func TestMisuseFailsOnlyARunningTest(t *testing.T) {
	var told []string
	test := New(func(format string, args ...any) { told = append(told, fmt.Sprintf(format, args...)) })
	test.Misused(errors.New("100% wrong"))
	(*Test)(nil).Misused(errors.New("nobody asks"))
	test.End()
	test.Misused(errors.New("too late"))
	if len(told) != 1 || told[0] != "100% wrong" {
		t.Errorf("told %q", told)
	}
	(*Test)(nil).End()
}

func TestAConfigurationIsForOneTest(t *testing.T) {
	var config struct{ Mark }
	if config.Test() != nil {
		t.Error("a zero Mark is for a test")
	}
	test := New(t.Errorf)
	if config.BelongTo(test); config.Test() != test {
		t.Error("a configuration does not know its test")
	}
}
