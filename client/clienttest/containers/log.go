package containers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/remote"
)

// serveLog answers a request for a log.
func (s *Server) serveLog(w http.ResponseWriter, r *http.Request, pod meta.Key, container string) {
	if s.Logs == nil {
		http.Error(w, "the containers of this server have no logs: containers.Server.Logs is nil", http.StatusNotFound)
		return
	}
	out, query := &logWriter{w: w}, r.URL.Query()
	ctx := context.WithValue(r.Context(), streamKey{}, query.Get("stream"))
	switch err := s.Logs(ctx, pod, logOptions(container, query), out); {
	case errors.Is(err, http.ErrAbortHandler):
		panic(http.ErrAbortHandler)
	case err == nil || r.Context().Err() != nil:
		out.begin()
	case out.begun: // as a kubelet does: it has no other place for the error
		_, _ = io.WriteString(out, err.Error())
	default:
		clienttest.Answer(meta.Status{Code: http.StatusBadRequest, Reason: "BadRequest", Message: err.Error()})(w, r)
	}
}

// streamKey is the key of the output that a request wants: "Stdout", "Stderr", or something else for both.
// [remote.LogOptions] have no such field, because few servers can select one output.
type streamKey struct{}

// logOptions reads the options of the API, which have been validated.
func logOptions(container string, q url.Values) remote.LogOptions {
	number := func(name string) int64 {
		n, _ := strconv.ParseInt(q.Get(name), 10, 64)
		return n
	}
	is := func(name string) bool { return q.Get(name) == "true" || q.Get(name) == "1" }
	o := remote.LogOptions{
		Container: container, Follow: is("follow"), Previous: is("previous"), Timestamps: is("timestamps"),
		Tail: int(number("tailLines")), Limit: number("limitBytes"),
	}
	if q.Get("tailLines") == "0" {
		o.Tail = -1
	}
	if seconds := number("sinceSeconds"); seconds > 0 {
		o.Since = time.Now().Add(-time.Duration(seconds) * time.Second)
	}
	if since, err := time.Parse(time.RFC3339, q.Get("sinceTime")); err == nil {
		o.Since = since.Truncate(time.Second) // the API server passes on whole seconds
	}
	return o
}

// logWriter sends each write at once.
type logWriter struct {
	w     http.ResponseWriter
	begun bool
}

func (l *logWriter) begin() {
	if !l.begun {
		l.begun = true
		l.w.Header().Set("Content-Type", "text/plain")
		l.w.WriteHeader(http.StatusOK)
	}
}

func (l *logWriter) Write(p []byte) (int, error) {
	l.begin()
	n, err := l.w.Write(p)
	if f, ok := l.w.(http.Flusher); ok && err == nil {
		f.Flush()
	}
	return n, err
}

// Logs are the logs of containers, kept as a kubelet keeps them. The zero value has none. It is safe for use by
// several goroutines at once. Use its method Serve as Server.Logs.
type Logs struct {
	mu sync.Mutex // guards m
	m  map[string]*Log
}

// Of returns the log of a container. The first call of Add, Print or Start starts the container. A new pod of the same
// name has the same log.
func (l *Logs) Of(pod meta.Key, container string) *Log {
	l.mu.Lock()
	defer l.mu.Unlock()
	name := pod.String() + "/" + container
	if l.m[name] == nil {
		if l.m == nil {
			l.m = map[string]*Log{}
		}
		l.m[name] = &Log{changed: make(chan struct{})}
	}
	return l.m[name]
}

// Serve writes the part of a log that o asks for. Its errors before the first Write are those of a kubelet.
func (l *Logs) Serve(ctx context.Context, pod meta.Key, o remote.LogOptions, w io.Writer) error {
	return l.Of(pod, o.Container).serve(ctx, pod, o, w)
}

// Log is the log of one container, including its previous run. Make it with [Logs.Of].
type Log struct {
	mu       sync.Mutex // guards the rest
	previous *logRun    // nil if there is none
	run      *logRun    // nil until the container starts
	changed  chan struct{}
}

// logRun is the log of one run of a container. Its fields change under Log.mu.
type logRun struct {
	entries []Entry
	dropped int // entries that rotation has dropped
	ended   bool
}

// Entry is a line that a container has written, or a part of one.
type Entry struct {
	Time time.Time
	// Stderr says that the container has written the text to its standard error, not its standard output.
	Stderr bool
	// Text is a line without its end.
	Text string
	// Partial says that the line goes on in the next Entry, which a kubelet sends without a timestamp.
	Partial bool
}

// Add adds entries. It starts the container if the container does not run.
func (l *Log) Add(entries ...Entry) {
	l.change(func() {
		if l.run == nil || l.run.ended {
			l.start()
		}
		l.run.entries = append(l.run.entries, entries...)
	})
}

// Print adds a line that is written now.
func (l *Log) Print(args ...any) {
	l.Add(Entry{Time: time.Now(), Text: strings.TrimSuffix(fmt.Sprintln(args...), "\n")})
}

// Start starts the container, or ends its run and starts another.
func (l *Log) Start() { l.change(l.start) }

// End ends the run of the container.
func (l *Log) End() {
	l.change(func() {
		if l.run != nil {
			l.run.ended = true
		}
	})
}

// Rotate drops the oldest n entries of the run, or all if it has fewer.
func (l *Log) Rotate(n int) {
	l.change(func() {
		if l.run == nil {
			return
		}
		n = min(max(n, 0), len(l.run.entries))
		l.run.entries = slices.Clone(l.run.entries[n:])
		l.run.dropped += n
	})
}

func (l *Log) start() {
	if l.run != nil {
		l.run.ended = true
		l.previous = l.run
	}
	l.run = &logRun{}
}

func (l *Log) change(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
	close(l.changed)
	l.changed = make(chan struct{})
}

// serve is [Logs.Serve] for the log of one container.
func (l *Log) serve(ctx context.Context, pod meta.Key, o remote.LogOptions, w io.Writer) error {
	l.mu.Lock()
	run := l.run
	if o.Previous {
		run = l.previous
	}
	l.mu.Unlock()
	switch {
	case run == nil && o.Previous:
		return fmt.Errorf("previous terminated container %q in pod %q not found", o.Container, pod.Name)
	case run == nil:
		return fmt.Errorf("container %q in pod %q is waiting to start: ContainerCreating", o.Container, pod.Name)
	}
	stream, _ := ctx.Value(streamKey{}).(string)
	out := &entryWriter{o: o, stream: stream, w: w, left: o.Limit, fresh: true}
	if stream != "Stderr" { // a kubelet sends the headers at once, except for Stderr
		if _, err := w.Write(nil); err != nil {
			return err
		}
	}
	for at, first := 0, true; ; first = false {
		l.mu.Lock()
		entries, ended, changed := run.entries[min(max(at-run.dropped, 0), len(run.entries)):], run.ended, l.changed
		at = run.dropped + len(run.entries)
		l.mu.Unlock()
		if first && o.Tail != 0 {
			entries = entries[max(len(entries)-max(o.Tail, 0), 0):]
		}
		for _, e := range entries {
			if err := out.write(e); err == errLimit {
				return nil
			} else if err != nil {
				return err
			}
		}
		if !o.Follow || ended {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

var errLimit = errors.New("the limit is reached")

// entryWriter writes entries as a kubelet does.
type entryWriter struct {
	o      remote.LogOptions
	stream string // see streamKey
	w      io.Writer
	left   int64 // of the limit, if there is one
	fresh  bool  // the next entry begins a line
}

func (e *entryWriter) write(v Entry) error {
	fresh := e.fresh
	e.fresh = !v.Partial
	if v.Time.Before(e.o.Since) || v.Stderr && e.stream == "Stdout" || !v.Stderr && e.stream == "Stderr" {
		return nil
	}
	text := v.Text
	if !v.Partial {
		text += "\n"
	}
	if e.o.Timestamps && fresh {
		text = v.Time.Format("2006-01-02T15:04:05.000000000Z07:00") + " " + text
	}
	limited := e.o.Limit > 0
	if limited {
		text = text[:min(int64(len(text)), e.left)]
		e.left -= int64(len(text))
	}
	if _, err := io.WriteString(e.w, text); err != nil {
		return err
	}
	if limited && e.left == 0 {
		return errLimit
	}
	return nil
}
