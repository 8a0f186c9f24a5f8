package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/internal/proof/e2e/lifeline"
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
	case "complain":
		fmt.Println("half of the answer")
		fmt.Fprintln(os.Stderr, "no such object")
		os.Exit(4)
	case "hang":
		interrupted := make(chan os.Signal, 1)
		signal.Notify(interrupted, os.Interrupt)
		<-interrupted
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

func TestACommandThatFailsIsReportedWithWhatItSaid(t *testing.T) {
	out, err := run(t.Context(), exec.CommandContext(t.Context(), os.Args[0], "complain"))
	if out != "half of the answer\n" {
		t.Errorf("output is %q, want what it wrote to standard output", out)
	}
	if want := "exit status 4: no such object"; err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

// canceling is an input that ends at once and calls itself when the child is there to read it.
type canceling context.CancelCauseFunc

func (c canceling) Read([]byte) (int, error) {
	c(errNotYet)
	return 0, os.ErrClosed
}

func TestACommandEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cmd := exec.CommandContext(ctx, os.Args[0], "hang")
	cmd.Stdin = canceling(cancel)
	if _, err := run(ctx, cmd); !errors.Is(err, errNotYet) {
		t.Errorf("run returned %v, want the cause of the context's end", err)
	}
}

func TestATailIsTheLastLines(t *testing.T) {
	numbered := func(from, to int) string {
		var lines []string
		for i := from; i <= to; i++ {
			lines = append(lines, fmt.Sprint("line ", i))
		}
		return strings.Join(lines, "\n")
	}
	for _, tc := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"only white space", " \n\n", ""},
		{"less than the limit", numbered(1, 3) + "\n", numbered(1, 3)},
		{"the limit", numbered(1, tailLines) + "\n", numbered(1, tailLines)},
		{"more", numbered(1, tailLines+2) + "\n", numbered(3, tailLines+2)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tail(tc.text); got != tc.want {
				t.Errorf("tail is %q, want %q", got, tc.want)
			}
		})
	}
}
