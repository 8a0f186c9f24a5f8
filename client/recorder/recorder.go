package recorder

import (
	"fmt"
	"sync"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/report"
)

// Recorder makes records and sends them. Make one with [New]; [For] returns a handle on it for one resource. Its
// methods are safe for use by several goroutines at once. A nil Recorder records nothing.
type Recorder struct {
	c      *client.Client
	o      Options
	events client.Resource[*event]
	log    *report.Log
	woken  chan struct{} // has a token if Run should look at the book again

	mu      sync.Mutex // guards the fields below; not held while functions of the caller run
	running bool
	book    *book
}

// New returns a recorder that sends records with c. Nothing is sent until Run. If the options are invalid, Run returns
// the error.
func New(c *client.Client, o Options) *Recorder {
	return &Recorder{
		c: c, o: o, events: client.For(c, events), log: report.New(o.Logger), woken: make(chan struct{}, 1), book: newBook(o),
	}
}

// String names the recorder for errors and logs.
func (r *Recorder) String() string {
	if r == nil {
		return "no recorder"
	}
	return fmt.Sprintf("recorder %q", r.o.Controller)
}

// Permissions returns the permissions that the recorder needs: to create and patch events.events.k8s.io in all
// namespaces, because a record is in the namespace of the object that it is about.
func (r *Recorder) Permissions() []client.Access { return r.events.Access("create", "patch") }

// Record makes a record, which Run sends. It never blocks and may be called at any time. A record that is dropped or
// cut is counted in [Status] and reported to Options.OnError:
//
//   - A record without a reason, or about an object without a name, is dropped.
//   - A text that is longer than the server allows is cut and ends in "...". A note then has at most 1024 bytes, a
//     reason and an action at most 128.
//   - A reason that [meta.ValidReason] refuses is sent as it is, since servers accept it here; the first one is
//     reported.
//   - Before Run, records wait, up to 1000 new ones.
//   - After Run has ended, records are dropped and only counted; the next Run, if there is one, reports them.
func (r *Recorder) Record(rec Record) {
	if r == nil {
		return
	}
	invalid, reason := rec.validate(), rec.Reason
	rec, cuts := rec.fit()
	r.mu.Lock()
	now := time.Now() // read under mu, so that the times in the book never go back
	b := r.book
	b.recorded++
	switch {
	case invalid != nil:
		b.drop(DropError{Cause: Invalid, Count: 1, Record: rec, Err: invalid})
	default:
		if cuts != nil {
			b.shorten(rec, cuts)
		}
		b.look(rec, reason)
		b.add(now, rec)
	}
	changed := b.changed
	b.changed = false
	r.mu.Unlock()
	if changed {
		r.wake()
	}
}

func (r *Recorder) wake() {
	select {
	case r.woken <- struct{}{}:
	default:
	}
}

// About makes records about the objects of one resource. It is a small value: copy it freely. The zero About records
// nothing.
type About[T meta.Object] struct {
	r  *Recorder
	to func(T) Reference
}

// For returns a handle that makes records about objects of a resource. T needs a uid: embed meta.Identity or
// meta.ObjectMeta.
func For[T meta.Identified[U], U ~string](r *Recorder, t client.Type[T]) About[T] {
	return About[T]{r: r, to: func(obj T) Reference { return ReferenceTo(t, obj) }}
}

// Normal records that something has happened to obj. The reason is one word for machines, such as "Published", and the
// note is for people. See [Recorder.Record].
func (a About[T]) Normal(obj T, reason, note string) { a.record(false, obj, reason, note) }

// Normalf is Normal with a note formatted by fmt.Sprintf.
func (a About[T]) Normalf(obj T, reason, format string, args ...any) {
	a.record(false, obj, reason, fmt.Sprintf(format, args...))
}

// Warning records that something is wrong with obj. See [Recorder.Record].
func (a About[T]) Warning(obj T, reason, note string) { a.record(true, obj, reason, note) }

// Warningf is Warning with a note formatted by fmt.Sprintf.
func (a About[T]) Warningf(obj T, reason, format string, args ...any) {
	a.record(true, obj, reason, fmt.Sprintf(format, args...))
}

func (a About[T]) record(warning bool, obj T, reason, note string) {
	if a.r != nil {
		a.r.Record(Record{Warning: warning, Regarding: a.to(obj), Reason: reason, Note: note})
	}
}
