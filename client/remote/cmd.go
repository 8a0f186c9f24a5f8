package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/handle"
	"github.com/bowline-go/bowline/internal/wsmux"
)

// Cmd is a command in a container, or the main process of one. Make it with [Command], [Attach] or [Debug], set its
// fields, and call one of Run, Output, CombinedOutput or Start. It can be used once: after such a call, even one that
// the server refused, further calls return a *client.UsageError. After a UsageError the caller can correct the fields
// and call again.
type Cmd struct {
	// Container is the name of the container. It may be empty if the pod has only one; otherwise the server returns an
	// error that lists them.
	Container string
	// Stdin is the command's input; nil is an empty input. At io.EOF the command's input ends. Servers before
	// Kubernetes 1.30 cannot pass that end on: if the command has not ended by itself 10 s after it, the call returns
	// an error. Time that Stdout and Stderr take does not count.
	Stdin io.Reader
	// Stdout and Stderr receive the command's output; nil discards it. If both are the same comparable value, at most
	// one goroutine at a time calls Write. An error of Write ends the connection, and the call returns it. A slow Write
	// does not delay the other output until 1 MiB is waiting for it; then nothing is read from the server, for either
	// output, until there is room.
	Stdout, Stderr io.Writer
	// TTY gives the command a terminal, which has one output: Stderr must be nil.
	TTY bool
	// Sizes delivers the size of the terminal's window: first the initial size, then each change. It needs TTY. The
	// call receives from it until the command has ended or Sizes is closed; a send after that blocks.
	Sizes <-chan Size

	buffer int    // how many bytes of each output are buffered for a slow Write; 0 means outputBuffer
	what   string // the subresource: "exec" or "attach"
	argv   []string
	key    meta.Key
	gvr    meta.GVR
	refuse error                           // why it cannot be used
	before func(ctx context.Context) error // called by Start before it connects; may be nil
	open   func(ctx context.Context, query url.Values, header http.Header) (io.ReadWriteCloser, http.Header, error)

	started bool
	pipes   []*io.PipeReader  // closed by Wait
	written [2]*io.PipeWriter // of StdoutPipe and StderrPipe; nil if there is none
	done    chan error
}

// Size is the size of a terminal's window, in characters.
type Size struct{ Width, Height uint16 }

// Command returns a command that is not started yet. argv is the program, which the container must have, and its
// arguments; no shell interprets it.
func Command[T meta.Object](pods client.Resource[T], key meta.Key, argv ...string) *Cmd {
	c := newCmd(pods, key, "exec")
	c.argv = argv
	if len(argv) == 0 && c.refuse == nil {
		c.refuse = errors.New("remote.Command: argv must not be empty; it is the program and its arguments")
	}
	return c
}

// Attach returns a Cmd that attaches to the main process of a running container. The process has a Stdin or a TTY only
// if its container specifies them (stdin, tty). The process does not end with the connection, and the call returns its
// exit code only if the process ends first.
func Attach[T meta.Object](pods client.Resource[T], key meta.Key) *Cmd {
	return newCmd(pods, key, "attach")
}

func newCmd[T meta.Object](pods client.Resource[T], key meta.Key, what string) *Cmd {
	c := &Cmd{what: what, key: key, gvr: pods.GVR(), refuse: checkHandle(pods, "pods")}
	upgrade := handle.Of(pods).Upgrade
	c.open = func(ctx context.Context, query url.Values, header http.Header) (io.ReadWriteCloser, http.Header, error) {
		conn, answer, err := upgrade(ctx, key, what, query, header)
		return conn, answer, createPermission(err, what)
	}
	return c
}

// Run starts the command and waits for its end. It returns nil if the exit code is 0, and an [*ExitError] for any other
// code. Every other error is a *client.OpError: the server's refusal, such as NotFound for a missing pod or BadRequest
// for a pod that is not running; a broken connection; or the end of ctx, which ends the connection but not always the
// command.
//
// The server may send the exit status before the last of the output. So Run continues until the server has closed the
// outputs or the connection, or has sent nothing for 10 s. Time that Stdout and Stderr take does not count. If the
// connection breaks before the end of the output, Run returns an error that says so, and that also matches an ExitError
// if the exit code is not 0. If the server closes the connection between two messages without a close message, Run
// assumes that all output has arrived.
func (c *Cmd) Run(ctx context.Context) error {
	if err := c.Start(ctx); err != nil {
		return err
	}
	return c.Wait()
}

// Output runs the command and returns its standard output. Stdout must be nil. If Stderr is nil, an ExitError has the
// end of the standard error.
func (c *Cmd) Output(ctx context.Context) ([]byte, error) {
	if err := c.takes("Output: Stdout must be nil", c.Stdout == nil); err != nil {
		return nil, err
	}
	if err := c.validate(); err != nil { // before a stream is set
		return nil, c.fail(usage(err))
	}
	var out bytes.Buffer
	c.Stdout = &out
	var end tail
	if c.Stderr == nil && !c.TTY {
		c.Stderr = &end
	}
	err := c.Run(ctx)
	if exit, ok := errors.AsType[*ExitError](err); ok {
		exit.Stderr = end.kept
	}
	return out.Bytes(), err
}

// CombinedOutput runs the command and returns its standard output and standard error together. Stdout and Stderr must
// be nil.
func (c *Cmd) CombinedOutput(ctx context.Context) ([]byte, error) {
	if err := c.takes("CombinedOutput: Stdout and Stderr must be nil", c.Stdout == nil && c.Stderr == nil); err != nil {
		return nil, err
	}
	if err := c.validate(); err != nil { // before a stream is set
		return nil, c.fail(usage(err))
	}
	var out bytes.Buffer
	c.Stdout = &out
	if !c.TTY {
		c.Stderr = &out
	}
	err := c.Run(ctx)
	return out.Bytes(), err
}

// StdinPipe returns a pipe to the command's input. The caller closes the pipe to end the input. Wait closes it too. A
// second Close does nothing.
func (c *Cmd) StdinPipe() (io.WriteCloser, error) {
	if err := c.takes("StdinPipe: Stdin must be nil", c.Stdin == nil); err != nil {
		return nil, err
	}
	r, w := io.Pipe()
	c.Stdin, c.pipes = r, append(c.pipes, r)
	return w, nil
}

// StdoutPipe returns a pipe with the command's standard output. Read it to its end before Wait, which closes it.
func (c *Cmd) StdoutPipe() (io.ReadCloser, error) { return c.outputPipe("StdoutPipe", &c.Stdout, 0) }

// StderrPipe returns a pipe with the command's standard error. Read it to its end before Wait, which closes it.
func (c *Cmd) StderrPipe() (io.ReadCloser, error) { return c.outputPipe("StderrPipe", &c.Stderr, 1) }

func (c *Cmd) outputPipe(name string, to *io.Writer, i int) (io.ReadCloser, error) {
	if err := c.takes(name+": the stream must be nil", *to == nil); err != nil {
		return nil, err
	}
	r, w := io.Pipe()
	*to, c.written[i], c.pipes = w, w, append(c.pipes, r)
	return r, nil
}

// takes returns an error if the command has started, or if a stream that the call sets is in use (free is false).
func (c *Cmd) takes(rule string, free bool) error {
	switch {
	case c.started:
		return c.fail(usage(errStarted))
	case !free:
		return c.fail(usage(errors.New("remote.Cmd." + rule)))
	}
	return nil
}

var errStarted = errors.New("remote.Cmd: it was started already; make a new one for each run")

// Start starts the command. It returns nil once the server has accepted it, or else the reason. After nil, the caller
// must call Wait.
func (c *Cmd) Start(ctx context.Context) error {
	if err := c.validate(); err != nil {
		return c.fail(usage(err))
	}
	c.started = true
	if c.before != nil {
		if err := c.before(ctx); err != nil {
			c.closePipes()
			return c.fail(err)
		}
	}
	conn, err := wsmux.Open(ctx, func(ctx context.Context, header http.Header) (io.ReadWriteCloser, http.Header, error) {
		return c.open(ctx, c.query(), header)
	}, v5, v4, v1)
	if err != nil {
		c.closePipes()
		return c.fail(err)
	}
	s := newSession(c, conn)
	c.done = make(chan error, 1)
	go func() { c.done <- s.run(ctx) }()
	return nil
}

// Wait waits for the end of a command that Start has started; see Run for its error. It can be called once. It closes
// the pipes: a later Read or Write of a pipe fails with io.ErrClosedPipe.
func (c *Cmd) Wait() error {
	if c.done == nil {
		return c.fail(usage(errors.New("remote.Cmd.Wait: the command is not started")))
	}
	err := <-c.done
	c.done <- usage(errors.New("remote.Cmd.Wait: called twice"))
	c.closePipes()
	if errors.As(err, new(*ExitError)) {
		return err
	}
	return c.fail(err)
}

func (c *Cmd) closePipes() {
	for _, p := range c.pipes {
		_ = p.Close()
	}
}

func (c *Cmd) validate() error {
	switch {
	case c.refuse != nil:
		return c.refuse
	case c.started:
		return errStarted
	case c.before != nil && c.Container != "":
		return fmt.Errorf("remote.Debug: Container must be empty before Start, got %q; the name of the new container is DebugOptions.Name", c.Container)
	case c.TTY && c.Stderr != nil:
		return errors.New("remote.Cmd: Stderr must be nil with TTY: a terminal has one output, which is Stdout")
	case c.Sizes != nil && !c.TTY:
		return errors.New("remote.Cmd: Sizes needs TTY")
	}
	return nil
}

// query returns the query of the request. The server requires at least one stream.
func (c *Cmd) query() url.Values {
	q := url.Values{"stdout": {"true"}}
	if len(c.argv) > 0 {
		q["command"] = c.argv
	}
	if c.Container != "" {
		q.Set("container", c.Container)
	}
	for name, wanted := range map[string]bool{"stdin": c.Stdin != nil, "stderr": !c.TTY, "tty": c.TTY} {
		if wanted {
			q.Set(name, strconv.FormatBool(true))
		}
	}
	return q
}

// fail adds the command's pod and subresource to an error.
func (c *Cmd) fail(err error) error { return failed("connect", c.gvr, c.what, c.key, err) }

// tail keeps the last maxTail bytes written to it.
type tail struct{ kept []byte }

// maxTail bounds ExitError.Stderr, in bytes.
const maxTail = 32 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if over := len(t.kept) - maxTail; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(p), nil
}

// locked is a Writer that several goroutines may share: only one of them writes at a time.
type locked struct {
	mu *sync.Mutex
	io.Writer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Writer.Write(p)
}
