package shown

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// Panic returns the error for a call that ended with a panic. The error says what the call was doing, where it
// panicked, and the type of the panic value. The error shows the value only if it is a runtime.Error, because any other
// value may be contents or a secret. v is the result of recover; nil means runtime.Goexit.
func Panic(doing string, v any) error {
	if v == nil {
		return errors.New(doing + " left by runtime.Goexit")
	}
	what := fmt.Sprintf("a value of type %T", v)
	if e, ok := v.(runtime.Error); ok {
		what = e.Error() // the runtime's errors show no contents
	}
	pc := make([]uintptr, 32)
	frames := runtime.CallersFrames(pc[:runtime.Callers(1, pc)])
	for panicking := false; ; {
		f, more := frames.Next()
		inside := strings.HasPrefix(f.Function, "runtime.")
		if panicking && !inside {
			return fmt.Errorf("%s panicked at %s (%s:%d) with %s", doing, f.Function, filepath.Base(f.File), f.Line, what)
		}
		if !more {
			return fmt.Errorf("%s panicked with %s", doing, what)
		}
		panicking = panicking || inside && strings.HasSuffix(f.Function, "panic")
	}
}
