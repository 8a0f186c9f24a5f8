package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bowline-go/bowline/internal/controlplane/build"
	"github.com/bowline-go/bowline/internal/controlplane/child"
)

// errPortTaken says that a server ended because another process was faster to take its port.
var errPortTaken = errors.New("its port was taken by another process")

// server is a child process that serves until it is stopped.
type server struct {
	name string
	log  string // path of the file with everything that it wrote
	cmd  *exec.Cmd

	stopping atomic.Bool
	exited   chan struct{} // closed when the process is gone; err is set by then
	err      error
}

// launch starts a server of this control plane.
func (p *ControlPlane) launch(name string, flags ...string) (*server, error) {
	return launch(name, build.Path(p.bin, name), p.dir, flags...)
}

// launch starts a server, and a goroutine that waits for its end. If stop does not end the server, the lifeline does,
// and then removes dir, the directory of the run.
func launch(name, path, dir string, flags ...string) (*server, error) {
	s := &server{name: name, log: filepath.Join(dir, name+".log"), exited: make(chan struct{})}
	log, err := os.Create(s.log)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	defer log.Close() // the child has its own

	s.cmd = exec.Command(path, flags...)
	s.cmd.Dir = dir
	// The server inherits nothing of the caller's environment: etcd would take flags from it, and both would take
	// proxies.
	s.cmd.Env = []string{"HOME=" + dir, "TMPDIR=" + dir}
	s.cmd.Stdout, s.cmd.Stderr = log, log
	child.Separate(s.cmd)
	lifeline, err := s.cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() {
		s.err = s.cmd.Wait()
		close(s.exited)
	}()
	_, _ = io.WriteString(lifeline, dir) // fails only if the process has ended again, which await finds out
	return s, nil
}

// await calls ready again and again until it returns nil. The error says why that took too long, or how the server
// ended.
func (s *server) await(ctx context.Context, ready func(context.Context) error) error {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ticker.C:
		case <-s.exited:
			return s.ended()
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w; last answer: %w; end of its log:\n%s",
				s.name, context.Cause(ctx), err, s.tail())
		}
	}
}

// stop kills the process and waits until it is gone. It returns an error if it had ended before.
func (s *server) stop() error {
	s.stopping.Store(true)
	select {
	case <-s.exited:
		return s.ended()
	default:
	}
	// It is killed without being asked to end first, because its state in memory is not needed.
	if err := s.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop %s: %w", s.name, err)
	}
	<-s.exited
	return nil
}

// ended describes a server that ended by itself.
func (s *server) ended() error {
	said := s.tail()
	how := errors.New("exit status 0")
	if s.err != nil {
		how = s.err
	}
	// net.Listen's error contains these words on every operating system; only the text after them differs.
	if strings.Contains(said, ": bind: ") {
		how = errPortTaken
	}
	return fmt.Errorf("%s ended by itself: %w; end of its log:\n%s", s.name, how, said)
}

// tailBytes bounds what tail reads of a log.
const tailBytes = 64 << 10

// tail returns the last lines of the log.
func (s *server) tail() string {
	f, err := os.Open(s.log)
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err.Error()
	}
	text, err := io.ReadAll(io.NewSectionReader(f, max(0, info.Size()-tailBytes), tailBytes))
	if err != nil {
		return err.Error()
	}
	return child.Tail(string(text))
}

// onFreePort calls try with a port of loopback that was free a moment ago, and again with another one if the port has
// been taken since. The kernel hands out ports in a way that makes this rare.
func onFreePort(try func(port string) error) error {
	var err error
	for range 5 {
		var l net.Listener
		if l, err = net.Listen("tcp4", "127.0.0.1:0"); err != nil {
			return fmt.Errorf("find a free port: %w", err)
		}
		_, port, _ := net.SplitHostPort(l.Addr().String())
		if err = l.Close(); err != nil {
			return fmt.Errorf("find a free port: %w", err)
		}
		if err = try(port); !errors.Is(err, errPortTaken) {
			return err
		}
	}
	return err
}
