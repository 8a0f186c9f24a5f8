package containers

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/remote"
	"github.com/bowline-go/bowline/internal/wsmux"
)

// Process is a command in a container, or the main process of one.
type Process struct {
	Pod       meta.Key
	Container string
	// Args are the program and its arguments; nil for the main process, to which a client attaches.
	Args []string
	// TTY says that the process has a terminal, whose sizes come from Sizes.
	TTY bool
	// Stdin is empty if the client sends no input. Output that the client has not asked for is dropped. A Write fails
	// once the client has gone.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Sizes has the sizes of the terminal. It is closed when the client has gone.
	Sizes <-chan remote.Size

	cut func()
}

// Cut breaks the connection to the client, without sending the status that ends the protocol, as when a node or an API
// server dies. Then ctx ends.
func (p *Process) Cut() { p.cut() }

// The channels of the protocols.
const (
	stdinChannel  = 0
	stdoutChannel = 1
	stderrChannel = 2
	errorChannel  = 3
	resizeChannel = 4
	closeChannel  = 255
)

// maxWait is how long the server waits for its client to close the connection.
const maxWait = 10 * time.Second

// serveProcess answers exec and attach.
func (s *Server) serveProcess(w http.ResponseWriter, r *http.Request, pod meta.Key, container string) {
	if !wsmux.IsHandshake(r) {
		http.Error(w, "unable to upgrade: the server speaks WebSocket, and the request does not ask for it", http.StatusBadRequest)
		return
	}
	protocols := []string{"v5.channel.k8s.io", "v4.channel.k8s.io"}
	if s.OnlyV4 {
		protocols = protocols[1:]
	}
	conn, err := wsmux.Accept(w, r, protocols...)
	if err != nil {
		return // it has answered
	}
	defer conn.Finish()
	query := r.URL.Query()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	stop := context.AfterFunc(ctx, func() { conn.Abort(context.Cause(ctx)) })
	defer stop()
	stdin := wsmux.NewSpool(1 << 20)
	stdinReader, stdinWriter := io.Pipe()
	sizes := make(chan remote.Size)
	p := &Process{
		Pod: pod, Container: container, Args: query["command"], TTY: query.Get("tty") == "true",
		Stdin: stdinReader, Stdout: io.Discard, Stderr: io.Discard, Sizes: sizes,
		cut: func() {
			conn.Abort(errCut)
			cancel()
		},
	}
	if query.Get("stdout") == "true" {
		p.Stdout = &output{conn, stdoutChannel}
	}
	if query.Get("stderr") == "true" {
		p.Stderr = &output{conn, stderrChannel}
	}
	if query.Get("stdin") != "true" {
		stdin.End()
	}
	var all sync.WaitGroup
	all.Go(func() {
		err := stdin.Drain(stdinWriter)
		_ = stdinWriter.CloseWithError(err) // nil is the end of the input
	})
	gone := make(chan struct{}) // closed when the client has gone
	all.Go(func() {
		defer close(gone)
		defer close(sizes)
		defer stdin.Drop()
		if listen(conn, stdin, sizes, ctx.Done()) != nil {
			cancel()
		}
	})
	end, _ := json.Marshal(s.run(ctx, p)) // a Status
	_ = stdinReader.Close()
	stdin.Drop()
	if conn.Send(errorChannel, end) == nil {
		conn.End(maxWait)
		select { // data in flight would be lost if the server closed first
		case <-gone:
		case <-ctx.Done():
		case <-time.After(maxWait):
		}
	}
	cancel()
	conn.Finish()
	all.Wait()
}

// run runs the process, and returns the status of its end.
func (s *Server) run(ctx context.Context, p *Process) meta.Status {
	if s.Run == nil {
		return meta.Status{
			TypeMeta: meta.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Failure", Reason: "InternalError", Code: http.StatusInternalServerError,
			Message: "error executing command in container: executable file not found in $PATH",
		}
	}
	code := s.Run(ctx, p)
	if code == 0 {
		return meta.Status{Status: "Success"}
	}
	text, _ := json.Marshal(code) // a number can be encoded
	return meta.Status{
		Status: "Failure", Reason: "NonZeroExitCode", Message: "command terminated with non-zero exit code: exit status " + string(text),
		Details: &meta.StatusDetails{Causes: []meta.StatusCause{{Reason: "ExitCode", Message: string(text)}}},
	}
}

var errCut = errors.New("the test has cut the connection")

var errProtocol = errors.New("the client breaks the protocol")

// listen reads what the client sends, until the client has gone. While it waits for the process to receive a size,
// closing done makes it go on.
func listen(conn *wsmux.Conn, stdin *wsmux.Spool, sizes chan<- remote.Size, done <-chan struct{}) error {
	for {
		channel, data, err := conn.Next()
		if err != nil {
			return err
		}
		part, err := io.ReadAll(data)
		if err != nil {
			return err
		}
		switch {
		case channel == stdinChannel:
			stdin.Add(part)
		case channel == closeChannel && len(part) == 1 && part[0] == stdinChannel:
			stdin.End()
		case channel == resizeChannel:
			var size remote.Size
			if err := json.Unmarshal(part, &size); err != nil {
				return err
			}
			select {
			case sizes <- size:
			case <-done:
			}
		default:
			return errProtocol
		}
	}
}

// output is an output of a process.
type output struct {
	conn    *wsmux.Conn
	channel byte
}

func (o *output) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if err := o.conn.Send(o.channel, p); err != nil {
		return 0, err
	}
	return len(p), nil
}
