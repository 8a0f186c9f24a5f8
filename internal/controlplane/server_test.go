package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/bowline-go/bowline/internal/controlplane/build/lifeline"
)

// The test binary plays the child processes too, told by its only argument.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 {
		play(os.Args[1])
	}
	os.Exit(m.Run())
}

func play(role string) {
	switch role {
	case "serve":
		lifeline.Hold()
		fmt.Println("serving")
		select {}
	case "refuse":
		fmt.Println("no such flag")
		os.Exit(3)
	case "lose the port":
		fmt.Println("listen tcp 127.0.0.1:2379: bind: address already in use")
		os.Exit(1)
	}
}

func start(t *testing.T, role string) *server {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s, err := launch("knot", path, t.TempDir(), role)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.stop() })
	return s
}

var errNotYet = errors.New("not yet")

func never(context.Context) error { return errNotYet }

func TestAServerRunsUntilItIsStopped(t *testing.T) {
	s := start(t, "serve")
	err := s.await(t.Context(), func(context.Context) error {
		if s.tail() != "serving" {
			return errNotYet
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	select {
	case <-s.exited:
	default:
		t.Error("the process is still there after stop")
	}
}

func TestAServerThatEndsByItselfIsReportedWithItsLog(t *testing.T) {
	for _, tc := range []struct {
		role string
		want string
	}{
		{"refuse", "knot ended by itself: exit status 3; end of its log:\nno such flag"},
		{"lose the port", "knot ended by itself: its port was taken by another process; end of its log:\n" +
			"listen tcp 127.0.0.1:2379: bind: address already in use"},
	} {
		t.Run(tc.role, func(t *testing.T) {
			s := start(t, tc.role)
			if err := s.await(t.Context(), never); err == nil || err.Error() != tc.want {
				t.Errorf("await returned %v, want %s", err, tc.want)
			}
			if err := s.stop(); err == nil || err.Error() != tc.want {
				t.Errorf("stop returned %v, want %s", err, tc.want)
			}
		})
	}
}

func TestTheWaitForAServerEndsWithItsContext(t *testing.T) {
	s := start(t, "serve")
	ctx, cancel := context.WithCancel(t.Context())
	err := s.await(ctx, func(context.Context) error {
		cancel()
		return errNotYet
	})
	if !errors.Is(err, context.Canceled) || !errors.Is(err, errNotYet) {
		t.Errorf("await returned %v, want that it was canceled, and the last answer", err)
	}
}

func TestAnotherPortIsTakenAfterALostRace(t *testing.T) {
	failure := errors.New("some other reason")
	lost := fmt.Errorf("start knot: %w", errPortTaken)
	for _, tc := range []struct {
		name    string
		answers []error
		want    error
	}{
		{"won at once", []error{nil}, nil},
		{"won at the third", []error{lost, lost, nil}, nil},
		{"lost for good", []error{lost, lost, lost, lost, lost}, errPortTaken},
		{"another failure is final", []error{lost, failure}, failure},
	} {
		t.Run(tc.name, func(t *testing.T) {
			calls := 0
			err := onFreePort(func(port string) error {
				if port == "" || port == "0" {
					t.Errorf("port %q, want one that can be used", port)
				}
				calls++
				return tc.answers[calls-1]
			})
			if !errors.Is(err, tc.want) || calls != len(tc.answers) {
				t.Errorf("returned %v after %d calls, want %v after %d", err, calls, tc.want, len(tc.answers))
			}
		})
	}
}
