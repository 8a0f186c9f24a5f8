package kubeconfig

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bowline-go/bowline/client"
)

// fetch runs the plugin and returns the credential that it prints. It returns when the plugin has ended, or was ended
// by ctx or its timeout. Every error is a *PluginError; it wraps the cause of ctx if that ends while another plugin has
// the terminal.
func (p *plugin) fetch(ctx context.Context) (client.Credential, error) {
	stdin, err := p.stdin()
	if err != nil {
		return client.Credential{}, p.fail(err)
	}
	if stdin != nil {
		select {
		case turn <- struct{}{}:
			defer func() { <-turn }()
		case <-ctx.Done():
			return client.Credential{}, p.fail(context.Cause(ctx))
		}
	}
	path, err := find(p.command)
	if err != nil {
		return client.Credential{}, p.missing(err)
	}
	if err := p.plugins.allows(path); err != nil {
		return client.Credential{}, p.fail(err)
	}
	if runtime.GOOS == "windows" && isBatch(path) && !survivesBatch(p.args) {
		return client.Credential{}, p.fail(errBatch)
	}
	info, err := p.info(stdin != nil)
	if err != nil {
		return client.Credential{}, p.fail(err)
	}
	printed, err := p.run(ctx, path, info, stdin)
	if err != nil {
		return client.Credential{}, err
	}
	c, err := credential(p.version, printed)
	if err != nil {
		return client.Credential{}, p.fail(err)
	}
	return c, nil
}

var errBatch = errors.New(`is a batch file, which a shell runs: its arguments must have no line end and none of "%!&|<>()^`)

// isBatch reports whether Windows runs the file of a path in its shell. Windows ignores dots and spaces at the end of a
// name.
func isBatch(path string) bool {
	switch strings.ToLower(filepath.Ext(strings.TrimRight(path, ". "))) {
	case ".bat", ".cmd":
		return true
	}
	return false
}

// survivesBatch reports whether the shell that runs a batch file leaves the arguments unchanged. That shell has its own
// rules for quotes, which os/exec does not follow: an argument could become a command.
func survivesBatch(args []string) bool {
	return !slices.ContainsFunc(args, func(arg string) bool { return strings.ContainsAny(arg, "\"%!&|<>()^\r\n") })
}

// turn is held by the plugin that has the terminal. A process has one terminal, however it is opened, so all plugins
// share one turn.
var turn = make(chan struct{}, 1)

// stdin returns the plugin's input; nil for none.
func (p *plugin) stdin() (*os.File, error) {
	if p.mode == never {
		return nil, nil
	}
	f := p.plugins.Stdin
	f = cmp.Or(f, os.Stdin)
	switch there := !p.plugins.Unattended && p.terminal(f); {
	case there:
		return f, nil
	case p.mode == ifAvailable:
		return nil, nil
	case p.plugins.Unattended:
		return nil, errors.New("needs a user to answer (interactiveMode Always), but Options.Plugins.Unattended is set")
	}
	return nil, errors.New("needs a terminal (interactiveMode Always), but standard input is not one")
}

// timeout returns how long a run may take.
func (p *plugin) timeout(interactive bool) time.Duration {
	switch {
	case p.plugins.Timeout > 0:
		return p.plugins.Timeout
	case interactive:
		return interactiveTimeout
	}
	return defaultTimeout
}

// run runs the file at path and returns its output.
//
// A plugin leads a session without a terminal. Its whole process group is ended when ctx ends, and when the plugin has
// ended by itself. An interactive plugin cannot have its own group: only the terminal's foreground group may read from
// the terminal, and that is the group of this process. So only the process of an interactive plugin is ended.
func (p *plugin) run(ctx context.Context, path, info string, stdin *os.File) ([]byte, error) {
	limit := p.timeout(stdin != nil)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, tooLong(limit))
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)

	cmd := exec.CommandContext(ctx, path, p.args...)
	cmd.Env = append(append(os.Environ(), p.env...), execInfo+"="+info)
	cmd.WaitDelay = leave // after that the process itself is killed, if its group could not be killed
	if stdin != nil {
		cmd.Stdin = stdin
	} else {
		ownSession(cmd)
		cmd.Cancel = func() error { return endGroup(cmd.Process) }
	}

	out := &output{full: func() { stop(errTooMuch) }}
	stdout, err := newTube(out)
	if err != nil {
		return nil, p.fail(err)
	}
	defer stdout.drop()
	said := &tail{}
	var stderr *tube
	if cmd.Stderr = p.terminalFor(stdin); cmd.Stderr == nil {
		if stderr, err = newTube(p.copies(said)); err != nil {
			return nil, p.fail(err)
		}
		defer stderr.drop()
		cmd.Stderr = stderr.w
	}
	cmd.Stdout = stdout.w
	if err := cmd.Start(); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return nil, p.fail(cause)
		}
		return nil, p.missing(fmt.Errorf("cannot be started: %w", withoutPath(err)))
	}
	var reading sync.WaitGroup
	stdout.read(&reading)
	stderr.read(&reading)
	err = cmd.Wait()
	if stdin == nil {
		_ = endGroup(cmd.Process) // ends the processes that the plugin left behind
	}
	stdout.end()
	stderr.end()
	reading.Wait()

	if out.over {
		return nil, p.fail(errTooMuch)
	}
	if err != nil {
		failed := p.fail(err)
		failed.stderr = p.withoutSecrets(string(said.b), said.cut)
		if cause := context.Cause(ctx); cause != nil {
			failed.err = cause
		} else if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			failed.err = fmt.Errorf("ended with %w", exit)
		}
		return nil, failed
	}
	return out.b, nil
}

// leave is how long a plugin's output may stay open after the plugin has ended, and how long a killed plugin may take
// to end.
const leave = 2 * time.Second

var errTooMuch = fmt.Errorf("printed more than %d KiB", maxOutput>>10)

// tooLong is the error of a plugin that exceeded its timeout. It matches os.ErrDeadlineExceeded, and not the error of a
// context, because the caller's context has not ended.
type tooLong time.Duration

func (t tooLong) Error() string {
	return fmt.Sprintf("did not end within %v and was killed", time.Duration(t))
}

func (t tooLong) Is(target error) bool { return target == os.ErrDeadlineExceeded }

// terminalFor returns the file that an interactive plugin gets as its standard error; nil if it gets none.
func (p *plugin) terminalFor(stdin *os.File) io.Writer {
	if stdin == nil {
		return nil
	}
	if p.plugins.Stderr == nil {
		return os.Stderr
	}
	if f, ok := p.plugins.Stderr.(*os.File); ok {
		return f
	}
	return nil
}

// copies returns a writer to said, and to Plugins.Stderr if that is set.
func (p *plugin) copies(said *tail) io.Writer {
	if p.plugins.Stderr == nil {
		return said
	}
	return io.MultiWriter(said, p.plugins.Stderr)
}

// tube is a pipe from a process, and its destination.
type tube struct {
	r, w *os.File
	to   io.Writer
}

func newTube(to io.Writer) (*tube, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	return &tube{r: r, w: w, to: to}, nil
}

// read starts a goroutine that copies the pipe to the destination; reading waits for it. Call read after the process
// has started. The goroutine ends when the last process closes the pipe, or soon after a call of end. If the
// destination fails, the goroutine discards further output, so that the process is not blocked. A nil tube does
// nothing.
func (t *tube) read(reading *sync.WaitGroup) {
	if t == nil {
		return
	}
	t.w.Close()
	reading.Go(func() {
		if _, err := io.Copy(t.to, t.r); err != nil {
			_, _ = io.Copy(io.Discard, t.r)
		}
	})
}

// end gives processes in which the pipe is still open a moment to close it. A nil tube does nothing.
func (t *tube) end() {
	if t != nil && t.r.SetReadDeadline(time.Now().Add(leave)) != nil {
		time.AfterFunc(leave, func() { t.r.Close() }) // the pipes of this system have no deadlines
	}
}

// drop closes both ends.
func (t *tube) drop() {
	t.w.Close()
	t.r.Close()
}

// output is a plugin's output, up to maxOutput.
type output struct {
	b    []byte
	over bool
	full func()
}

// Write implements io.Writer.
func (o *output) Write(b []byte) (int, error) {
	switch {
	case o.over:
	case len(o.b)+len(b) > maxOutput:
		o.over, o.b = true, nil
		o.full()
	default:
		o.b = append(o.b, b...)
	}
	return len(b), nil
}

// tail is the end of a plugin's standard error.
type tail struct {
	b   []byte
	cut bool
}

// Write implements io.Writer.
func (t *tail) Write(b []byte) (int, error) {
	t.b = append(t.b, b...)
	if over := len(t.b) - maxShown; over > 0 {
		t.b, t.cut = append(t.b[:0], t.b[over:]...), true
	}
	return len(b), nil
}
