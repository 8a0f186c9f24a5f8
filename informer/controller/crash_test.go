package controller

import (
	"context"
	"errors"
	"testing"

	"github.com/bowline-go/bowline/cache"
)

// panicking is a source.
type panicking struct{}

func (panicking) Run(context.Context, func(string), func()) error { panic("oh") }

// behaviour 301: in a worker's goroutine the panic would end this test too, so what runs there is called here.
func TestAPanicGoesOnWhereThatIsChosen(t *testing.T) {
	for _, crash := range []bool{false, true} {
		fn := func(context.Context, string) (Result, error) { panic("oh") }
		c := New("c", Options{CrashOnPanic: crash}, fn, panicking{})
		for name, call := range map[string]func() error{
			"reconcile": func() error {
				_, err := c.call(t.Context(), "key")
				return err
			},
			"source": func() error { return c.runSource(t.Context(), panicking{}, sink[string]{}) },
		} {
			var err error
			value := func() (value any) {
				defer func() { value = recover() }()
				err = call()
				return nil
			}()
			var p *cache.PanicError
			if crash != (value == "oh") || crash == errors.As(err, &p) {
				t.Errorf("CrashOnPanic %v, %s: got panic %v and error %v", crash, name, value, err)
			}
		}
	}
}
