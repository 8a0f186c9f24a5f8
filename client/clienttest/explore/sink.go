package explore

import (
	"bytes"
	"errors"

	"github.com/go-logr/logr"

	"github.com/bowline-go/bowline/cache"
)

// sink is the logger in the context of a program. A controller recovers from the panic of a reconcile and logs it as an
// error, and the sink makes that error a finding. The sink drops all other messages.
type sink struct{ life *life }

func (sink) Init(logr.RuntimeInfo)            {}
func (sink) Enabled(int) bool                 { return true }
func (sink) Info(int, string, ...any)         {}
func (s sink) WithValues(...any) logr.LogSink { return s }
func (s sink) WithName(string) logr.LogSink   { return s }
func (s sink) Error(err error, _ string, _ ...any) {
	var panicked *cache.PanicError
	if errors.As(err, &panicked) {
		s.life.world.found("replica %s panics: %v\n%s", s.life.name, err, frames(panicked.Stack))
	}
}

// maxFrames is how many lines of a stack a finding shows.
const maxFrames = 8

// frames returns the first lines of a stack below the call of panic.
func frames(stack []byte) []byte {
	if _, after, found := bytes.Cut(stack, []byte("\npanic(")); found {
		_, stack, _ = bytes.Cut(after, []byte("\n"))
		_, stack, _ = bytes.Cut(stack, []byte("\n")) // the place in the runtime
	}
	lines := bytes.SplitAfter(stack, []byte("\n"))
	return bytes.TrimSpace(bytes.Join(lines[:min(maxFrames, len(lines))], nil))
}
