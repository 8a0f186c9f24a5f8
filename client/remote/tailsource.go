package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/retry"
	"github.com/bowline-go/bowline/internal/shown"
)

// source follows the log of one container of one pod, through its restarts.
//
// The end of a response proves nothing: an API server ends the response cleanly even when its own connection to the
// node was cut. So the log of a run counts as read to its end only if the pod's status says that the run is over, and a
// response requested after that brings no new line and ends as the response before it did.
//
// The status lags behind. A response may be from the log of the next run before the status shows that run. Such a
// response lacks the last yielded line, just as after a rotation of the log, and the time in between is recorded as a
// gap. Once the status shows the restart, the log of the previous run tells a restart from a rotation.
type source struct {
	t         *tailing
	pod       meta.Key
	uid       string
	container string
	q         *queue
	old       bool // the container had started before Tail began, so Since and Tail apply

	mu      sync.Mutex // guards the fields up to answer
	now     runs
	changed chan struct{} // closed when the field now changes
	left    time.Time     // when the pod went, plus the time since then for which the caller of Tail was slow
	answer  *answer       // the response that is being read; nil if there is none

	// Only follow uses the fields below.
	at     cursor
	run    string // the current run
	ended  string // the last run that was read to its end
	end    runEnd // of run
	gaps   gaps   // of run
	opened bool   // a log has been opened at least once
	pace   *retry.Backoff
	failed int  // failed attempts in a row
	told   bool // the failure has been reported
}

// answer is a response, a log that is being read.
type answer struct {
	run     string // the run; empty for the log of an earlier run
	doubt   bool   // the response lacks the last yielded line, so it may be from the next run
	cancel  context.CancelCauseFunc
	active  time.Time // when the last bytes arrived
	blocked bool      // the caller of Tail is slow
	timer   *time.Timer
}

const (
	// maxSilence bounds the silence of a response before the log is requested again, because its connection may be
	// dead.
	maxSilence = 10 * time.Minute
	// endSilence is maxSilence for a run that is over.
	endSilence = 30 * time.Second
	// maxGoing bounds how long a response is read after its pod has gone. Time in which the caller of Tail is slow does
	// not count.
	maxGoing = 5 * time.Minute
)

var (
	errSilent    = errors.New("nothing more comes")
	errRestarted = errors.New("the container has restarted")
)

func newSource(t *tailing, id meta.Identity, container string, old bool) *source {
	return &source{
		t: t, pod: id.Key(), uid: id.UID, container: container, q: t.merge.add(), old: old, changed: make(chan struct{}),
		pace: retry.New(retry.Policy{Base: 200 * time.Millisecond}),
	}
}

// set records which runs have a log.
func (s *source) set(now runs) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now == s.now {
		return
	}
	if now.gone {
		s.left = time.Now()
	}
	s.now = now
	close(s.changed)
	s.changed = make(chan struct{})
	if a := s.answer; a != nil {
		a.timer.Stop()
		a.active = time.Now() // its last lines may still be under way
		s.attend(a)
		s.leave(a)
	}
}

// leave ends a response that may be from the current run before the previous run has been read to its end. Otherwise
// Tail could read the rest of the previous run only after the response ends, when the node may no longer have it. The
// caller holds mu.
func (s *source) leave(a *answer) {
	if a.doubt && s.now.current != "" && s.now.current != a.run {
		a.cancel(errRestarted)
	}
}

// doubt records that a response lacks the last yielded line.
func (s *source) doubt(a *answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a.doubt = true
	s.leave(a)
}

// attend starts the timer that ends a silent response. The caller holds mu.
func (s *source) attend(a *answer) {
	limit := maxSilence
	if !s.now.running || s.now.current != a.run {
		limit = endSilence
	}
	wait := limit
	if !a.blocked {
		wait -= time.Since(a.active)
	}
	a.timer = time.AfterFunc(max(wait, time.Second), func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		switch {
		case s.answer != a:
		case !a.blocked && (time.Since(a.active) >= limit || s.now.gone && time.Since(s.left) >= maxGoing):
			a.cancel(errSilent)
		default:
			s.attend(a)
		}
	})
}

// state returns which runs have a log, and a channel that is closed when that changes.
func (s *source) state() (runs, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now, s.changed
}

// follow reads the logs until the pod has gone or ctx has ended.
func (s *source) follow(ctx context.Context) {
	for ctx.Err() == nil {
		now, changed := s.state()
		if now.current == "" || now.current == s.ended {
			if now.gone {
				return
			}
			s.t.merge.setLive(s.q, false)
			select {
			case <-changed:
			case <-ctx.Done():
			}
			continue
		}
		s.t.merge.setLive(s.q, true)
		if now.current != s.run {
			unread := now.previous != "" && now.previous != s.ended && (s.run != "" || !s.old)
			if unread && !s.catchUp(ctx, now.previous) {
				continue // the previous run has changed
			}
			s.run, s.end, s.gaps = now.current, runEnd{}, nil
		}
		from := s.at.clone()
		o := s.options()
		r := s.read(ctx, o, s.at.skip(), &s.at)
		whole := o.Tail == 0 && o.Since.IsZero() // the response has all lines
		if r.added > 0 && !r.anchored && (from.any || whole) {
			s.gaps.add(from, r.first)
		}
		switch over := s.end.reached(r); {
		case !now.running && over:
			s.finish(ctx, r)
			continue
		case now.running: // the run may have written more since
			s.end.n = min(s.end.n, 1)
		}
		if after, _ := s.state(); after.gone {
			s.last(ctx, r)
			return
		}
		s.pause(ctx, r, changed)
	}
}

// options returns the options of the next request.
func (s *source) options() LogOptions {
	o := LogOptions{Container: s.container, Follow: true, Timestamps: true}
	switch {
	case s.at.any:
		o.Since = s.at.time.Truncate(time.Second)
	case s.old && s.ended == "":
		o.Since, o.Tail = s.t.o.Since, s.t.o.Tail
	}
	return o
}

// runEnd counts successive readings whose fields rest and after are the same. Only the first of them may have new
// lines.
type runEnd struct {
	rest, after Line
	n           int
}

// reached reports whether the log has been read to its end, if this response was requested after the end of the run.
func (e *runEnd) reached(r reading) bool {
	switch {
	case !r.whole:
		*e = runEnd{}
	case e.n > 0 && r.added == 0 && r.rest == e.rest && r.after == e.after:
		e.n++
	default:
		*e = runEnd{r.rest, r.after, 1}
	}
	// A response without the last yielded line may lack its beginning, so a third one is needed.
	return e.n >= 3 || e.n == 2 && r.anchored || r.whole && r.said != ""
}

// finish records that the current run has been read to its end, with r as the last reading.
func (s *source) finish(ctx context.Context, r reading) {
	s.ended, s.end = s.run, runEnd{}
	if r.rest != (Line{}) {
		at := &s.at
		if r.rest.Time.Before(s.at.time) { // lines of the next run have already been yielded
			at = nil
		}
		_ = s.hand(ctx, r.rest, r.rest.Time, at) // fails only if ctx has ended
	}
	if r.said != "" {
		s.t.report(ctx, s.q, s.pod, s.container, r.reason())
	}
}

// last ends a source after its last reading, when the pod has gone.
func (s *source) last(ctx context.Context, r reading) {
	switch {
	case r.whole:
		s.finish(ctx, r)
	case r.began:
		s.t.report(ctx, s.q, s.pod, s.container, fmt.Errorf("its log was cut off after the pod was gone: %w", r.err))
	}
}

// pause reports errors, and waits until the next attempt is due or the runs change.
func (s *source) pause(ctx context.Context, r reading, changed <-chan struct{}) {
	if r.added > 0 || r.began && r.took > 10*time.Second {
		s.pace.Reset()
	}
	err := r.reason()
	switch {
	case r.whole && r.said == "", r.added > 0:
		s.failed, s.told = 0, false
	case errors.Is(err, errSilent), errors.Is(err, errRestarted):
	case errors.Is(err, errGone): // the watch will report it
	default:
		s.failed++
		if !s.told && (s.failed == 3 || refused(err) || errors.Is(err, apierrors.Invalid) || errors.As(err, new(*client.UsageError))) {
			s.told = true
			s.t.report(ctx, s.q, s.pod, s.container, err)
		}
	}
	floor, _ := apierrors.RetryAfter(err)
	timer := time.NewTimer(s.pace.Next(floor))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-changed:
	case <-ctx.Done():
	}
}

// catchUp reads the log of the previous run to its end. It returns false if ctx ends or the previous run changes.
func (s *source) catchUp(ctx context.Context, previous string) bool {
	if s.run != previous {
		s.end = runEnd{} // the old value is about the log of another run
	}
	for {
		now, changed := s.state()
		if ctx.Err() != nil || now.previous != previous {
			return false
		}
		o := LogOptions{Container: s.container, Previous: true, Timestamps: true}
		if s.at.any {
			o.Since = s.at.time.Truncate(time.Second)
		}
		r := s.read(ctx, o, s.at.skip(), &s.at)
		if r.whole && !r.anchored && len(s.gaps) > 0 {
			r = s.fill(ctx, o, r)
		}
		none := !r.began && (errors.Is(r.err, apierrors.BadRequest) || refused(r.err)) // the log does not exist or may not be read
		if s.end.reached(r) || none {
			s.run = previous
			s.finish(ctx, r)
			return true
		}
		s.pause(ctx, r, changed)
	}
}

// fill reads the lines of the previous log that are in gaps. r is the reading of the lines after the gaps. It may lack
// the last yielded line only because its response was cut, so the result says how both responses ended.
func (s *source) fill(ctx context.Context, o LogOptions, r reading) reading {
	if o.Since = (time.Time{}); s.gaps[0].from.any {
		o.Since = s.gaps[0].from.time.Truncate(time.Second)
	}
	filled := s.read(ctx, o, &gapSkipper{gaps: s.gaps, skips: map[*gap]*skipper{}}, nil)
	filled.added += r.added
	filled.after, filled.said = r.rest, cmp.Or(filled.said, r.said)
	return filled
}

// filter decides which lines of a response to skip.
type filter interface {
	seen(t time.Time, text string) bool
}

// reading is the result of one request for a log, or of two: one for the lines in gaps and one for those after them.
type reading struct {
	began    bool // there was a response
	whole    bool // the response ended cleanly
	anchored bool // the response has the line that was yielded last before it
	err      error
	added    int       // number of new lines
	first    time.Time // time of the first new line
	rest     Line      // a last line without "\n", which may be cut; not yielded yet
	after    Line      // the rest of the response for the lines after the gaps
	said     string    // the node's own error, at the end of the response
	took     time.Duration
}

// reason returns why the log could not be read.
func (r reading) reason() error {
	if r.err == nil && r.said != "" {
		return fmt.Errorf("the node says: %s", shown.Text(r.said))
	}
	return r.err
}

// read requests a log and yields its new lines. It moves the cursor at, unless at is nil, past them.
func (s *source) read(ctx context.Context, o LogOptions, skip filter, at *cursor) (r reading) {
	start := time.Now()
	defer func() {
		r.took = time.Since(start)
		if s, ok := skip.(*skipper); ok {
			r.anchored = s.anchored
		}
	}()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	body, err := s.t.logs.open(ctx, s.pod, o)
	if err != nil {
		r.err = err
		return r
	}
	defer func() { _ = body.Close() }()
	if s.opened { // another pod may have taken the name; if it has not done so by now, body is from the right pod
		if r.err = s.check(ctx); r.err != nil {
			return r
		}
	}
	r.began, s.opened = true, true
	a := &answer{cancel: cancel, active: time.Now()}
	if !o.Previous {
		a.run = s.run
	}
	s.begin(a)
	defer s.close(a)
	lines, when, stamped := newLineScanner(&activeReader{body, s, a}), s.at.time, false
	for {
		l, err := lines.next()
		switch {
		case err == io.EOF:
			r.whole = true
			return r
		case err != nil:
			r.err = err
			return r
		case l.open && l.Time.IsZero() && !isCutStamp(l.Text):
			r.said = l.Text
			continue
		case l.open:
			r.rest = l.Line
			continue
		case !l.Time.IsZero():
			when, stamped = l.Time, true
		case !stamped && !o.Since.IsZero():
			continue // the rest of a line that began before Since
		}
		if when.Before(o.Since) || skip.seen(when, l.Text) {
			continue
		}
		if r.err = s.hand(ctx, l.Line, when, at); r.err != nil {
			return r
		}
		if r.added++; r.added == 1 {
			r.first = when
			if last, ok := skip.(*skipper); ok && a.run != "" && last.c.any && !last.anchored {
				s.doubt(a)
			}
		}
	}
}

// isCutStamp reports whether a text without a timestamp may be the beginning of one.
func isCutStamp(text string) bool {
	return len(text) < maxStamp && strings.Trim(text, "0123456789-+:.TZ") == ""
}

// check returns an error unless the pod still has the UID of the followed pod.
func (s *source) check(ctx context.Context) error {
	o := client.ListOptions{Namespace: s.pod.Namespace, FieldSelector: "metadata.name=" + s.pod.Name}
	for pod, err := range s.t.pods.All(ctx, o) {
		if err != nil {
			return err
		}
		if pod.UID == s.uid {
			return nil
		}
	}
	return errGone
}

// hand yields a line through the merger, and moves the cursor at, unless at is nil, past it.
func (s *source) hand(ctx context.Context, l Line, when time.Time, at *cursor) error {
	l.Pod, l.Container = s.pod, s.container
	s.block(true)
	defer s.block(false)
	if err := s.t.merge.push(ctx, s.q, queued{line: l, when: when}); err != nil {
		return err
	}
	if at != nil {
		at.add(when, l.Text)
	}
	return nil
}

// begin records that a response is being read.
func (s *source) begin(a *answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = a
	s.attend(a)
}

// close records that no response is being read.
func (s *source) close(a *answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = nil
	a.timer.Stop()
}

// block records whether the reader waits for the caller of Tail.
func (s *source) block(blocked bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.answer
	if a == nil {
		return
	}
	if a.blocked && s.now.gone {
		// active is when the reader was blocked, or when the pod went if that is later.
		s.left = s.left.Add(time.Since(a.active))
	}
	a.blocked, a.active = blocked, time.Now()
}

// activeReader records when bytes arrive.
type activeReader struct {
	r io.Reader
	s *source
	a *answer
}

func (r *activeReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	r.s.mu.Lock()
	r.a.active = time.Now()
	r.s.mu.Unlock()
	return n, err
}
