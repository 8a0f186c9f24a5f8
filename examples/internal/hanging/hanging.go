//go:build unix

// Package hanging tests that signals end an example that does not end by itself. The test binary of the example plays
// the program, in a process of its own whose log hangs.
package hanging

import (
	"bufio"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

const (
	play = "hang" // the argument of a test binary that plays the program
	hung = "the log hangs"
)

// Main is the TestMain of an example with that main function.
func Main(m *testing.M, main func()) {
	if len(os.Args) > 1 && os.Args[1] == play {
		os.Args = os.Args[:1]
		slog.SetDefault(slog.New(handler{}))
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// Forever tells the test that the program hangs, and never returns.
func Forever() {
	_, _ = os.Stdout.WriteString(hung + "\n") // if the test has gone, nobody needs to know
	select {}
}

// handler is a log whose reader has stopped.
type handler struct{}

func (handler) Enabled(context.Context, slog.Level) bool  { return true }
func (handler) Handle(context.Context, slog.Record) error { Forever(); return nil }
func (h handler) WithAttrs([]slog.Attr) slog.Handler      { return h }
func (h handler) WithGroup(string) slog.Handler           { return h }

// Test plays the program with a server that refuses everything, so that the program has something to log, and hangs.
// It interrupts the program, and fails unless one of the signals after that ends the process.
func Test(t *testing.T, further syscall.Signal) {
	t.Helper()
	if further == syscall.SIGINT && signal.Ignored(further) {
		t.Skip("the tests run where interrupts are ignored, as in the background of a script")
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	defer server.Close()
	config := filepath.Join(t.TempDir(), "config")
	text := `{"current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "c"}}],
		"clusters": [{"name": "c", "cluster": {"server": "` + server.URL + `"}}]}`
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := exec.Command(binary, play)
	program.Env = append(os.Environ(), "KUBECONFIG="+config)
	program.Stderr = os.Stderr
	out, err := program.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != hung {
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = program.Wait() // its state has the signal
	}()
	defer func() {
		_ = program.Process.Kill() // if it lives
		<-ended
	}()
	if lines.Text() != hung {
		t.Fatal("the program has ended before it hung")
	}
	// The first signal takes a moment to end the program's context. A person, too, sends one signal after another.
	_ = program.Process.Signal(os.Interrupt) // the loop below finds out whether the process still runs
	again, limit := time.NewTicker(10*time.Millisecond), time.After(20*time.Second)
	defer again.Stop()
	for {
		select {
		case <-ended:
			if s, ok := program.ProcessState.Sys().(syscall.WaitStatus); !ok || s.Signal() != further {
				t.Errorf("%v, want the process to be ended by %v", program.ProcessState, further)
			}
			return
		case <-again.C:
			_ = program.Process.Signal(further)
		case <-limit:
			t.Fatal("the process lives after many signals")
		}
	}
}
