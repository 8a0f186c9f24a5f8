package child

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"testing"
)

var errNotYet = errors.New("not yet")

// The test binary plays the child processes too, told by its only argument.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 {
		play(os.Args[1])
	}
	os.Exit(m.Run())
}

func play(role string) {
	switch role {
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

func TestACommandThatFailsIsReportedWithWhatItSaid(t *testing.T) {
	out, err := Output(t.Context(), exec.CommandContext(t.Context(), os.Args[0], "complain"))
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
	if _, err := Output(ctx, cmd); !errors.Is(err, errNotYet) {
		t.Errorf("Output returned %v, want the cause of the context's end", err)
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
			if got := Tail(tc.text); got != tc.want {
				t.Errorf("tail is %q, want %q", got, tc.want)
			}
		})
	}
}
