package shards

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/leader"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/election"
	"github.com/bowline-go/bowline/internal/report"
	"github.com/bowline-go/bowline/internal/retry"
)

// Group is one replica's part in a group that shares work. Make one with [New]; nothing happens until [Group.Run]. Its
// methods are safe for use by several goroutines at once.
type Group struct {
	c       *client.Client
	config  Options // with its defaults
	invalid error   // why Run cannot run
	leases  client.Resource[*lease]
	elector *leader.Elector // of our own lease
	clock   election.Clock  // the elector uses it too
	log     *report.Log     // for changes of the ranges, and for errors if Options.OnError is nil

	due     chan struct{} // has an element if the lease is to be written at once
	changed chan struct{} // has an element if something has happened that may change the plan
	// expected has an element if a write of ours has been stored that the watch has not brought yet.
	expected chan struct{}

	saying sync.Mutex // held while changes are reported

	mu        sync.Mutex // guards the rest
	running   bool
	joined    bool        // the lease is held
	lively    *time.Timer // ends the open watch if it brings nothing more; nil until that watch has brought an event
	replica   replica
	holds     [meta.RangeCount]*hold
	begins    uint64        // how often work on a range has begun
	begun     chan struct{} // closed, and replaced, when the owned ranges change
	followers []*follower
	wanted    meta.Ranges
	unowned   meta.Ranges
	rewanted  chan struct{} // closed, and replaced, when wanted changes
	since     time.Time     // when the owned ranges changed last
	lost      time.Time     // when all ranges were last lost at once
	lostErr   error         // why
	changes   []change      // the changes that have yet to be reported
	handed    chan struct{} // closed when a leaving replica has nothing left that others would take
	err       error         // of the last list or watch
	unready   time.Duration // since when a follower has not been ready for a wanted range; 0 if all are ready
	blocked   error         // why the work is not shared as it should be
}

// New returns a replica's part in a group. It does no I/O. Run, not New, reports invalid Options.
//
// A client with a Limiter delays renewals behind its other requests. If that may take seconds, give the Group a client
// of its own.
func New(c *client.Client, config Options) *Group {
	config = config.withDefaults()
	g := &Group{
		c: c, config: config, invalid: config.validate(), clock: election.NewClock(), log: report.New(config.Logger),
		due: make(chan struct{}, 1), changed: make(chan struct{}, 1), expected: make(chan struct{}, 1), begun: make(chan struct{}), rewanted: make(chan struct{}),
	}
	g.replica = newReplica(config)
	own := config.election()
	own.OnError = g.electionFailed
	if g.elector = leader.New(c, own); c == nil {
		g.invalid = errors.Join(errors.New("shards.New: the client must not be nil"), g.invalid)
		return g
	}
	g.leases = client.For(c, leases)
	return g
}

// By returns what decides which range an object is in.
func (g *Group) By() meta.ShardBy { return g.config.By }

// String names the group.
func (g *Group) String() string {
	return fmt.Sprintf("shards %q", meta.Key{Namespace: g.config.Namespace, Name: g.config.Name})
}

// Permissions returns the permissions that the group needs; see the documentation of the package.
func (g *Group) Permissions() []client.Access {
	return g.leases.In(g.config.Namespace).Access("create", "get", "update", "list", "watch", "delete")
}

// Run joins the group, and calls work once, in the goroutine of the caller. While work runs, Run takes ranges and hands
// them over. Informers and controllers that work runs with this Group follow the changes.
//
// When ctx ends, this replica leaves: it continues its work until other replicas have taken over all its ranges, for
// Options.Handover at most. Then the context of work ends. When work has returned, Run gives back the remaining ranges,
// and deletes its lease. Run does not wait if there is no other replica.
//
// A replica that loses its lease, because the server is away for too long or the process was stopped, loses all ranges:
// the contexts that [Group.Enter] has returned end, and no request with them is sent after that. The replica joins
// again as soon as it can. The context of work does not end, so caches stay.
//
// Run returns the error of work. It returns nil if ctx has ended and work returned nil or the error of its context. It
// returns nil at once if ctx has already ended, and an error at once if the Options are invalid, work is nil, or the
// Group is already running. It ends work and returns an error if the replica cannot have a lease of its own: another
// process has the same identity ([leader.ErrShared]), or the lease belongs to coordinated leader election. If work
// panics, Run gives everything back, and the panic continues.
//
// When Run returns, its goroutines have ended. It may be called again.
func (g *Group) Run(ctx context.Context, work func(ctx context.Context) error) error {
	if err := g.begin(work); err != nil {
		return err
	}
	defer g.end()
	if ctx.Err() != nil {
		return nil
	}
	g.log.Start(ctx)
	defer g.log.Stop()
	defer g.tell(ctx)()

	working, endWork := context.WithCancelCause(context.WithoutCancel(ctx))
	defer endWork(nil)
	holding, release := context.WithCancel(context.WithoutCancel(ctx))
	returned := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() { g.watch(holding) })
	var fatal error
	running.Go(func() {
		if fatal = g.keepLease(holding); fatal != nil {
			endWork(fatal)
		}
	})
	running.Go(func() {
		select {
		case <-returned:
		case <-ctx.Done():
			g.handOver(returned)
			endWork(context.Cause(ctx))
		}
	})
	defer func() { // also if work panics
		close(returned)
		g.giveBack(ctx)
		g.say()
		release()
		running.Wait()
		g.remove(ctx)
	}()
	err := work(working)
	cause := context.Cause(working)
	if cause != nil && (errors.Is(err, cause) || errors.Is(err, working.Err())) {
		err = nil
	}
	if cause != nil && ctx.Err() == nil {
		return errors.Join(cause, err)
	}
	return err
}

// begin checks that Run can run, and marks the Group as running.
func (g *Group) begin(work func(context.Context) error) error {
	if g.invalid != nil {
		return g.invalid
	}
	if work == nil {
		return errors.New("shards.Run: work must not be nil")
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.running {
		return fmt.Errorf("%v: already running", g)
	}
	g.running = true
	have := g.replica.have
	g.replica = newReplica(g.config)
	g.replica.have = have
	g.handed, g.unready, g.blocked = make(chan struct{}), 0, nil
	return nil
}

func (g *Group) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running = false
	g.followers = slices.DeleteFunc(g.followers, func(f *follower) bool { return f.passing })
	g.count()
}

// keepLease keeps a lease until ctx ends, and shares the work while it has the lease. It returns an error if this
// replica cannot have a lease.
func (g *Group) keepLease(ctx context.Context) error {
	ctx = election.WithRider(ctx, election.Rider{
		Annotations: g.annotations, Stored: g.stored, Due: g.due, Clock: g.clock,
	})
	for {
		err := g.elector.Run(quiet(ctx), g.share)
		if ctx.Err() != nil {
			return nil
		}
		if lost := (*leader.LostError)(nil); !errors.As(err, &lost) || errors.Is(err, leader.ErrShared) || errors.Is(err, leader.ErrCoordinated) {
			return fmt.Errorf("%v: %w", g, err)
		}
		g.failed(report.Topic{
			Key: aboutLoss, Fails: g.String() + ": this replica has lost its lease, and with it all ranges", Works: g.String() + ": this replica has a lease again",
		}, err)
	}
}

// share takes ranges and hands them over, until the lease is lost or ctx ends.
func (g *Group) share(held context.Context) error {
	g.join()
	defer g.say()
	defer g.loseAll(held)
	var confirming sync.WaitGroup
	defer confirming.Wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	confirmed := make(chan struct{}, 1)
	busy, failures, blocked := false, g.newBackoff(), time.Duration(0)
	for {
		p := g.advance(held)
		g.say()
		g.sayBlocked(&blocked)
		if p.confirm != (meta.Ranges{}) && !busy {
			busy = true
			confirming.Go(func() {
				defer func() { confirmed <- struct{}{} }()
				g.confirm(held, p.confirm, failures)
			})
		}
		if p.next <= 0 || p.next > time.Minute {
			p.next = time.Minute
		}
		timer.Reset(p.next)
		select {
		case <-held.Done():
			return nil
		case <-g.changed:
		case <-timer.C:
		case <-confirmed:
			busy = false
		}
	}
}

// advance makes a plan, and carries out the part that needs no list.
func (g *Group) advance(held context.Context) plan {
	now := g.clock.Mono()
	g.mu.Lock()
	defer g.mu.Unlock()
	before := g.replica.owns
	p := g.replica.advance(now)
	for n := range p.ended.All() {
		g.holds[n].end(errHandedOver)
		g.holds[n] = nil
	}
	g.unowned = p.unowned
	g.want(p.wanted)
	p.soon(g.block(p, now))
	if g.replica.leaving && p.handed {
		g.noteHanded()
	}
	if p.write {
		select {
		case g.due <- struct{}{}:
		default: // a write has already been requested, and has not begun
		}
	}
	g.noteChange(held, before, nil)
	return p
}

// want tells the followers which ranges to prepare for. The caller holds mu.
func (g *Group) want(wanted meta.Ranges) {
	if wanted == g.wanted {
		return
	}
	g.wanted = wanted
	close(g.rewanted)
	g.rewanted = make(chan struct{})
}

// annotations returns the annotations for a write of the lease. Package leader calls it before each write.
func (g *Group) annotations() map[string]string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return map[string]string{shareAnnotation: g.replica.writes().text(g.replica.view.self)}
}

// stored records the annotations that the lease at the server certainly has, and its version.
func (g *Group) stored(version string, annotations map[string]string) {
	s, err := parseShare(annotations[shareAnnotation], g.config.lease().Name)
	g.mu.Lock()
	if g.replica.stored(leaseState{version: version, share: s, broken: err}) {
		g.expect()
	}
	g.mu.Unlock()
	g.log.Works(aboutOwn)
	g.poke()
}

// poke makes share compute another plan.
func (g *Group) poke() {
	select {
	case g.changed <- struct{}{}:
	default:
	}
}

// confirm lists the leases, and begins the work on those of ranges that nobody else claims.
func (g *Group) confirm(held context.Context, ranges meta.Ranges, failures *retry.Backoff) {
	now := g.clock.Mono()
	g.mu.Lock()
	q := g.replica.asks(ranges, now)
	g.mu.Unlock()
	ctx, cancel := context.WithTimeout(held, g.config.RenewDeadline/2)
	defer cancel()
	list, err := g.list(ctx)
	if err == nil && !g.beginWork(held, q, listOf(list)) {
		err = errRestored
	}
	if err != nil {
		if held.Err() == nil {
			g.listFailed(err)
			floor, _ := apierrors.RetryAfter(err)
			_ = retry.Sleep(held, failures.Next(floor)) // the caller checks held
		}
		return
	}
	failures.Reset()
	g.listWorks()
}

// beginWork begins the work on the ranges that the answer to q allows. It returns false if the server has been restored
// from a backup.
func (g *Group) beginWork(held context.Context, q question, list leaseList) bool {
	now := g.clock.Mono()
	g.mu.Lock()
	defer g.mu.Unlock()
	before := g.replica.owns
	begun, ok := g.replica.answered(q, list, now)
	for n := range begun.All() {
		g.begins++
		g.holds[n] = newHold(held, g.begins)
	}
	g.noteChange(held, before, nil)
	return ok
}

// join records that this replica has a lease.
func (g *Group) join() {
	g.mu.Lock()
	g.joined = true
	g.mu.Unlock()
	g.log.Works(aboutLoss)
}

// loseAll records that the lease has ended, and ends all work. The cause of held, the context of the lease, is why.
func (g *Group) loseAll(held context.Context) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.joined, g.unready, g.blocked = false, 0, nil
	why := context.Cause(held)
	g.drop(held, why, why)
	g.noteHanded()
}

// giveBack ends all work. No work begins after that.
func (g *Group) giveBack(ctx context.Context) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.replica.leaves()
	g.drop(ctx, errOver, nil)
	g.poke()
}

// drop ends the work on all ranges; why is the reason. lost is the same reason if the replica has lost the ranges, and
// nil if it gives them up. The caller holds mu.
func (g *Group) drop(ctx context.Context, why, lost error) {
	before := g.replica.owns
	for n, h := range g.holds {
		if h != nil {
			h.end(why)
			g.holds[n] = nil
		}
	}
	_, isLost := errors.AsType[*leader.LostError](why)
	g.replica.drop(isLost)
	g.noteChange(ctx, before, lost)
}

// handOver waits until others have taken over the ranges of this replica, or until returned is closed, for
// Options.Handover at most.
func (g *Group) handOver(returned <-chan struct{}) {
	g.mu.Lock()
	g.replica.leaves()
	if !g.joined {
		g.noteHanded()
	}
	handed := g.handed
	g.mu.Unlock()
	g.poke()
	timer := time.NewTimer(g.config.Handover)
	defer timer.Stop()
	select {
	case <-handed:
	case <-timer.C:
	case <-returned:
	}
}

// noteHanded records that a leaving replica has nothing left to hand over. The caller holds mu.
func (g *Group) noteHanded() {
	if !g.replica.leaving {
		return
	}
	select {
	case <-g.handed:
	default:
		close(g.handed)
	}
}

// remove deletes the lease of this replica, if it has been released.
func (g *Group) remove(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), g.config.RetryPeriod)
	defer cancel()
	switch l, err := g.leases.Get(ctx, g.config.lease()); {
	case err != nil:
		g.leaseStays(g.config.lease().Name, err)
	case l.Spec.HolderIdentity == "":
		g.delete(ctx, l)
	}
}

// delete deletes the lease of a replica that has ended, if it is still as it was read. Without the permission the lease
// stays.
func (g *Group) delete(ctx context.Context, l *lease) {
	err := g.leases.Delete(ctx, l.Key(), client.DeleteOptions{UID: l.UID, ResourceVersion: l.ResourceVersion})
	if err != nil && !errors.Is(err, apierrors.Conflict) {
		g.leaseStays(l.Name, err)
	}
}
