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

// lock is what a Run knows of the lease, and how it reads and writes it. One goroutine at a time uses it.
//
// Every write replaces one version of the lease, so of all the writes that were made from one version at most one takes
// effect. That is why a write whose answer was lost needs no other care than to be remembered: if a later read shows
// its record, it has been made, and if the version has changed otherwise, it never will be.
type lock struct {
	e     *Elector
	rider election.Rider // of Run's context

	lease *meta.Unstructured // as the server had it last; nil if it had none
	rec   record             // of lease

	held  claim    // the last one that the server certainly took
	uid   string   // of the lease that took it
	tries []claim  // made from the version of lease, with outcomes that are not known
	ours  []record // written by earlier Runs of the Elector, whose lead has returned

	seen     record        // the last record that the lease had, also after it was deleted
	since    time.Duration // when that was first seen, by the monotonic clock
	restored bool          // the last state of the lease is older than one before
	foreign  int           // how many records under this identity have been seen that this process did not write

	reported time.Duration // when a wait for long was, by the monotonic clock
	pause    time.Duration // before the next one; 0 if the lease does not exclude for long
}

// claim is a record that this process has sent as the holder.
type claim struct {
	record record
	sent   instant // right before
}

// maxTries bounds how many writes are remembered. Writes fail many times in a row only while they are refused.
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

// mine reports whether the lease has the record that this Run wrote last.
func (l *lock) mine() bool {
	return l.lease != nil && l.held.record.holder != "" && l.rec.is(l.held.record) && l.lease.GetUID() == l.uid
}

// take notes the lease as the server has it; nil means that it has none.
func (l *lock) take(ctx context.Context, lease *meta.Unstructured) {
	at := l.e.clock.Mono() // after the answer: later is safer
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

// read asks the server for the lease. It returns nil too if there is none.
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

// isGone reports whether the server says that there is no such lease. Another 404 may come from a proxy, or from a
// server that does not serve leases yet.
func (l *lock) isGone(err error) bool {
	status := (*apierrors.StatusError)(nil)
	return errors.Is(err, apierrors.NotFound) && errors.As(err, &status) && status.FromStatus &&
		status.Status.Details != nil && status.Status.Details.Name == l.e.key.Name && status.Status.Details.Kind == leases.Resource
}

// isStale reports whether a write failed because the lease is not as it was read.
func (l *lock) isStale(err error) bool {
	return errors.Is(err, apierrors.Conflict) || errors.Is(err, apierrors.AlreadyExists) || l.isGone(err)
}

// hear notes what a watch tells of the lease. Such news may be old. It returns false if it cannot tell whether they
// are, so that the lease has to be read.
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

// claim writes the record by which this process takes the lease or keeps it. An error does not say that it was not
// written.
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
		return fmt.Errorf("the server has stored another record than %q sent: holder %q, renewed at %v",
			l.e.config.Identity, l.rec.holder, l.rec.renewed)
	}
	return nil
}

// next returns the record that this process would write now.
func (l *lock) next() record {
	now := l.e.clock.now()
	wall := toMicro(now.wall)
	if l.mine() {
		// The time of renewal never goes back, and runs at least as fast as the monotonic clock, whatever happens to
		// the wall clock: a contender with client-go sees a renewal only by another second in it.
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

// write sends the lease with a record, and notes the answer.
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

// isOurs reports whether r was written by this Elector, for work that has ended.
func (l *lock) isOurs(r record) bool { return r.is(l.held.record) || slices.ContainsFunc(l.ours, r.is) }

// written returns the records of this process that the server may have, of the last ones: an Elector may run again and
// again for years.
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
