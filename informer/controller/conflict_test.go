package controller_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer/controller"
)

// A controller whose cache was behind filled the log with conflicts, which meant nothing.
func TestConflictsAreRetriedQuietlyUntilTheyRepeat(t *testing.T) {
	conflict := apierrors.FromStatus(meta.Status{Reason: "Conflict", Code: 409})
	for _, test := range []struct {
		name      string
		errs      []error // of the attempts
		reported  []int   // which of them are, from 1
		conflicts int
	}{
		{"one", []error{conflict}, nil, 1},
		{"four", []error{conflict, conflict, conflict, conflict}, nil, 4},
		{"six", []error{conflict, conflict, conflict, conflict, conflict, conflict}, []int{5, 6}, 4},
		{"wrapped", []error{fmt.Errorf("write: %w", fmt.Errorf("again: %w", conflict))}, nil, 1},
		{"the bare reason", []error{apierrors.Conflict}, nil, 1},
		{"of Ensure", []error{&client.DeletingError{}}, nil, 1},
		{"of Modify, which has given up", []error{&client.ModifyError{Attempts: 50, Err: conflict}}, nil, 1},
		{"two that are joined", []error{errors.Join(conflict, apierrors.Conflict)}, nil, 1},
		{"joined with another error", []error{errors.Join(conflict, errFailed)}, []int{1}, 0},
		{"joined with another error, wrapped", []error{fmt.Errorf("write: %w", errors.Join(errFailed, conflict))}, []int{1}, 0},
		{"terminal", []error{controller.Terminal(conflict)}, []int{1}, 0},
		{"another reason", []error{apierrors.AlreadyExists}, []int{1}, 0},
		{"after other errors", []error{errFailed, errFailed, conflict, errFailed, conflict}, []int{1, 2, 4, 5}, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var reported []int
				runs := 0
				c := controller.New("c", controller.Options{OnError: func(error) { reported = append(reported, runs) }},
					func(context.Context, string) (controller.Result, error) {
						if runs++; runs <= len(test.errs) {
							return controller.Result{}, test.errs[runs-1]
						}
						return controller.Result{}, nil
					}, keys{names: []string{"a"}})
				stop := run(t, c)
				time.Sleep(time.Hour)
				mustStop(t, stop)
				s := c.Status()
				terminal := s.Terminal
				if !slices.Equal(reported, test.reported) || s.Conflicts != test.conflicts || s.Errors != len(test.reported) || runs != len(test.errs)+1-terminal {
					t.Errorf("reported %v, status %v after %d attempts", reported, s, runs)
				}
			})
		})
	}
}

// After quiet conflicts there is no recovery to speak of.
func TestConflictsAreNotLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, maps := startServer(t, clienttest.Options{})
		create(t, maps, "a")
		l := logged{newLog()}
		fails := 2
		c := controller.New("c", controller.Options{Logger: l.logger()}, func(ctx context.Context, k string) (controller.Result, error) {
			p, err := maps.Get(ctx, meta.Key{Namespace: "default", Name: k})
			if err != nil {
				return controller.Result{}, err
			}
			if fails--; fails >= 0 {
				p.ResourceVersion = "1" // a cache that is behind
			}
			_, err = maps.With(client.WriteOptions{}).Update(ctx, p)
			return controller.Result{}, err
		}, keys{names: []string{"a"}})
		stop := run(t, c)
		time.Sleep(time.Hour)
		mustStop(t, stop)
		l.want(t)
		if s := c.Status(); s.Conflicts != 2 || s.Reconciles != 3 || s.Errors != 0 {
			t.Errorf("status is %v, after %v", s, server.Requests())
		}
	})
}
