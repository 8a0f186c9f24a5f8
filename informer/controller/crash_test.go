package controller

import (
	"context"
	"errors"
	"testing"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/workqueue"
)

// panicking is a source.
type panicking struct{}

func (panicking) Run(context.Context, func(string), func()) error { panic("oh") }

// behaviour 301: in a worker's goroutine the panic would end this test too, so what runs there is called here.
func TestCrashOnPanicLetsThePanicContinue(t *testing.T) {
	for _, crash := range []bool{false, true} {
		fn := func(context.Context, string) (Result, error) { panic("oh") }
		c := New("c", Options{CrashOnPanic: crash}, fn, panicking{})
		for name, call := range map[string]func() error{
			"reconcile": func() error {
				v := &visit[string]{Context: t.Context(), epoch: c.beginEpoch(t.Context(), RunInfo{}), key: "key"}
				v.call(v)
				return v.end.Err
			},
			"source": func() (err error) {
				queue := workqueue.New(workqueue.Options[string]{})
				c.feed(t.Context(), &intake[string]{}, newFeed[string](panicking{}), false, queue, func(cause error) { err = cause })
				return err
			},
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
