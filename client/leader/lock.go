package leader

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/election"
)

// lock holds the state of the lease as a Run knows it. It reads and writes the lease. Only one goroutine at a time uses
// it.
//
// Every write replaces one version of the lease, so at most one of the writes from the same version takes effect. If
// the answer to a write is lost, it suffices to remember the write: if a later read shows its record, it took effect;
// if the version has changed in another way, it never will.
type lock struct {
	e     *Elector
	rider election.Rider // of Run's context

	lease *meta.Unstructured // the last known state at the server; nil if there is no lease
	rec   record             // of lease

	held  claim    // the last claim that the server certainly accepted
	uid   string   // the UID of the lease with that claim
	tries []claim  // claims that were to replace the present version of the lease, and whose outcomes are unknown
	ours  []record // records written by earlier Runs of the Elector, whose lead has returned

	seen     record        // the last record that the lease had, even if it was deleted
	since    time.Duration // when seen was first seen, by the monotonic clock
	restored bool          // the last state of the lease is older than the one before
	foreign  int           // number of records seen with this identity that this Elector did not write

	reported time.Duration // when excluded last reported, by the monotonic clock
	pause    time.Duration // the time between reports; 0 if the lease does not exclude for long
}

// claim is a record that this process has sent as the holder.
type claim struct {
	record record
	sent   instant // the time right before the record was sent
}

// maxTries bounds how many writes with unknown outcomes are remembered. Only refused writes fail so often in a row.
const maxTries = 32

func newLock(e *Elector, ours []record, rider election.Rider) *lock {
	return &lock{e: e, ours: ours, rider: rider}
}

// version returns the resource version of the lease; empty if there is none.
func (l *lock) version() string {
	if l.lease == nil {
		return ""
	}
	return l.lease.GetResourceVersion()
}

// mine reports whether the lease has the last record that this Run certainly wrote.
func (l *lock) mine() bool {
	return l.lease != nil && l.held.record.holder != "" && l.rec.is(l.held.record) && l.lease.GetUID() == l.uid
}

// take records the state of the lease from an answer of the server or from the watch; nil means that there is no lease.
func (l *lock) take(ctx context.Context, lease *meta.Unstructured) {
	at := l.e.clock.Mono() // read after the answer, because a later time is safer
	before := l.version()
	l.lease, l.rec = lease, record{}
	if lease != nil {
		l.rec = recordOf(lease)
	}
	order, ok := meta.CompareVersions(l.version(), before)
	l.restored = ok && order < 0
	try := slices.IndexFunc(l.tries, func(c claim) bool { return lease != nil && c.record.is(l.rec) })
	switch {
	case try >= 0:
		l.held, l.uid, l.tries = l.tries[try], lease.GetUID(), nil
	case l.version() != before:
		l.tries = nil
	}
	if lease != nil && l.rec != l.seen {
		l.seen, l.since = l.rec, at
		if l.rec.holder == l.e.config.Identity && !l.isOurs(l.rec) {
			l.foreign++
		}
	}
	if l.rider.Stored != nil && l.mine() {
		l.rider.Stored(lease.GetResourceVersion(), lease.GetAnnotations())
	}
	l.e.saw(ctx, l)
}

// read reads the lease from the server. A missing lease is not an error.
func (l *lock) read(ctx context.Context) error {
	lease, err := l.e.leases.Get(ctx, l.e.key)
	if l.isGone(err) {
		lease, err = nil, nil
	}
	if err == nil {
		l.take(ctx, lease)
	}
	return err
}

// isGone reports whether the server says that there is no such lease. Any other 404 may come from a proxy, or from a
// server that does not serve leases yet.
func (l *lock) isGone(err error) bool {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	return ok && errors.Is(err, apierrors.NotFound) && status.FromStatus &&
		status.Status.Details != nil && status.Status.Details.Name == l.e.key.Name && status.Status.Details.Kind == leases.Resource
}

// isStale reports whether a write failed because the lease has changed since it was read.
func (l *lock) isStale(err error) bool {
	return errors.Is(err, apierrors.Conflict) || errors.Is(err, apierrors.AlreadyExists) || l.isGone(err)
}

// hear records an event of the watch, unless the event is older than the known state. It returns false if it cannot
// compare their versions; the lease must then be read.
func (l *lock) hear(ctx context.Context, n news) (known bool) {
	if l.lease == nil && n.deleted {
		return true
	}
	order, ok := meta.CompareVersions(n.lease.GetResourceVersion(), l.version())
	if !ok {
		return false
	}
	if order > 0 {
		if n.deleted {
			l.take(ctx, nil)
		} else {
			l.take(ctx, n.lease)
		}
	}
	return true
}

// claim writes the record by which this process takes or renews the lease. The write may have taken effect despite an
// error.
func (l *lock) claim(ctx context.Context) error {
	c := claim{record: l.next(), sent: l.e.clock.now()}
	l.tries = append(l.tries, c)
	if len(l.tries) > maxTries {
		l.tries = l.tries[1:]
	}
	if err := l.write(ctx, c.record); err != nil {
		return err
	}
	if l.held != c {
		return fmt.Errorf("write lease %q as %q: server stored another record: holder %q, renewed at %v",
			l.e.key, l.e.config.Identity, l.rec.holder, l.rec.renewed)
	}
	return nil
}

// next returns the record that this process would write now.
func (l *lock) next() record {
	now := l.e.clock.now()
	wall := toMicro(now.wall)
	if l.mine() {
		// The renew time never goes back, and advances at least as fast as the monotonic clock, whatever happens to the
		// wall clock: a contender with client-go notices a renewal only if its time falls into another second.
		next := l.held.record
		last, sent := l.held.record.renewed, l.held.sent.mono
		if n := len(l.tries); n > 0 {
			last, sent = l.tries[n-1].record.renewed, l.tries[n-1].sent.mono
		}
		next.renewed = toMicro(last.Add(max(now.mono-sent, time.Microsecond)))
		if wall.After(next.renewed) {
			next.renewed = wall
		}
		next.duration = l.e.config.LeaseDuration
		return next
	}
	next := record{
		holder: l.e.config.Identity, duration: l.e.config.LeaseDuration, acquired: wall, renewed: wall, strategy: l.rec.strategy,
	}
	if l.lease != nil {
		next.transitions = l.rec.nextTransitions()
	}
	return next
}

// write creates or updates the lease with a record, and records the answer.
func (l *lock) write(ctx context.Context, r record) error {
	if l.lease == nil {
		lease := &meta.Unstructured{}
		lease.SetNamespace(l.e.key.Namespace)
		lease.SetName(l.e.key.Name)
		if err := l.fill(lease, r); err != nil {
			return err
		}
		stored, err := l.e.leases.Create(ctx, lease)
		if err == nil {
			l.take(ctx, stored)
		}
		return err
	}
	lease := l.lease.DeepCopy()
	if err := l.fill(lease, r); err != nil {
		return err
	}
	stored, err := l.e.leases.Update(ctx, lease)
	if err == nil {
		l.take(ctx, stored)
	}
	return err
}

func (l *lock) fill(lease *meta.Unstructured, r record) error {
	for key, value := range l.e.config.Labels {
		if err := meta.SetNested(lease, value, "metadata", "labels", key); err != nil {
			return err
		}
	}
	if l.rider.Annotations != nil {
		for key, value := range l.rider.Annotations() {
			if err := meta.SetNested(lease, value, "metadata", "annotations", key); err != nil {
				return err
			}
		}
	}
	return r.setIn(lease)
}

// isOurs reports whether this Elector wrote r, in this Run or in an earlier one. Unless this Run leads, no work runs
// under such a record.
func (l *lock) isOurs(r record) bool { return r.is(l.held.record) || slices.ContainsFunc(l.ours, r.is) }

// written returns the last records of this process that the server may have. Their number is bounded, because an
// Elector may run many times.
func (l *lock) written() []record {
	all := slices.Clone(l.ours)
	if l.held.record.holder != "" {
		all = append(all, l.held.record)
	}
	for _, c := range l.tries {
		all = append(all, c.record)
	}
	return all[max(0, len(all)-2*maxTries):]
}
