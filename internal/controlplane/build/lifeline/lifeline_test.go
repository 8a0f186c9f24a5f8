package lifeline

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The test binary plays the other processes too, told by its only argument.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) == 2 && os.Args[1] == "server":
		Hold()
		fmt.Println("held")
		select {}
	case len(os.Args) == 2 && os.Args[1] == "holder":
		if err := hold(); err != nil {
			fmt.Println(err)
		}
		select {}
	}
	os.Exit(m.Run())
}

// hold starts a server that writes where this process writes, and hands it the working directory.
func hold() error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	server := exec.Command(os.Args[0], "server")
	server.Stdout = os.Stdout
	stdin, err := server.StdinPipe()
	if err != nil {
		return err
	}
	if _, err := io.WriteString(stdin, dir); err != nil { // before the server says that it is held, which may end this process
		return err
	}
	if err := server.Start(); err != nil {
		return err
	}
	return server.Wait()
}

func executable(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func gone(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, os.ErrNotExist)
}

func TestTheEndOfInputEndsTheServerAndRemovesWhatItWasGiven(t *testing.T) {
	for _, tc := range []struct {
		name  string
		given bool
	}{
		{"a directory", true},
		{"nothing", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			given := filepath.Join(dir, "given")
			if err := os.MkdirAll(filepath.Join(given, "data"), 0o700); err != nil {
				t.Fatal(err)
			}
			server := exec.Command(executable(t), "server")
			server.Dir = dir
			stdin, err := server.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := server.Start(); err != nil {
				t.Fatal(err)
			}
			if tc.given {
				if _, err := io.WriteString(stdin, given); err != nil {
					t.Fatal(err)
				}
			}
			if err := stdin.Close(); err != nil {
				t.Fatal(err)
			}
			var exit *exec.ExitError
			if err := server.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 1 {
				t.Errorf("the server ended with %v, want exit status 1", err)
			}
			if gone(given) != tc.given || gone(dir) {
				t.Errorf("gone: what was given %t, what is around it %t; want %t, false", gone(given), gone(dir), tc.given)
			}
		})
	}
}

// The holder is killed and has no chance to do anything. Its output ends when the server's does, which has inherited it;
// so if the server lived on, this test would never end.
func TestTheServerEndsWithAHolderThatIsKilled(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	holder := exec.Command(executable(t), "holder")
	holder.Dir = dir
	stdout, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stdout)
	if line, err := lines.ReadString('\n'); line != "held\n" {
		t.Fatalf("the server said %q (%v), want that it is held", line, err)
	}
	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(lines); err != nil || len(rest) > 0 {
		t.Errorf("after the holder's end: %q, %v, want nothing more", rest, err)
	}
	_ = holder.Wait() // killed, as above
	if !gone(dir) {
		t.Errorf("%s is still there", dir)
	}
}
