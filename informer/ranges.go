package informer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/runners"
)

// This file follows ranges of objects that may change (Options.Shards). One reflector with one watch follows all of
// them.
//
// The informer lists added ranges separately, at a version above that of the watch. The watch then resumes where it
// was, with the selector for all ranges, so it brings changes of the added ranges that their list already contains.
// Applying those would take the cache back in time: it would restore an old state, or delete an object that exists
// again. So each such list leaves a floor, and events up to it only move the version; see overtaken.
//
// An object never changes its range, because its uid and its namespace never change. But under ShardByUID an object
// that is deleted and created again under its name is usually in another range.

// portion is the ranges of a scope. The reflector of the scope uses it while it runs, and Run uses it otherwise.
type portion struct {
	by   meta.ShardBy
	want meta.Ranges // the wanted ranges
	has  meta.Ranges // the cache has a complete list of these, however old
	// floors are lists of added ranges that the watch has not reached yet. A range that was taken away and added again
	// may be in several of them; the latest counts, because the others are below it.
	floors []floor
	// resume is the version from which the watch goes on when the added ranges have been listed; empty if no list of
	// added ranges alone is due. It counts only while the cause is Grown, which only portion.next sets. After that
	// list, or when a failure requires a list of everything, the machine has another cause, and resume no longer
	// counts.
	resume string

	claim string // the selector that the server says it applied in the last list; empty if it says nothing
	lied  bool   // the informer has reported that the server sent an object of another range
	whole bool   // with ranges by namespace, an object without a namespace has arrived: all such objects are in one range
	told  bool   // whole has been reported
	long  bool   // the selector was too long for the server or for a proxy, so none is sent
}

// floor is a list of some ranges. Events up to its version are older than the cache.
type floor struct {
	ranges  meta.Ranges
	version string
}

func newPortion(o Options) *portion {
	if runners.IsNil(o.Shards) { // Run reports a nil pointer
		return nil
	}
	return &portion{by: o.Shards.By()}
}

// missing returns the wanted ranges that have not been listed.
func (p *portion) missing() meta.Ranges { return p.want.Minus(p.has) }

// nothing reports whether no range is wanted. It is false for nil, which follows everything.
func (p *portion) nothing() bool { return p != nil && p.want == meta.Ranges{} }

// wants reports whether an object is of a wanted range.
func (p *portion) wants(id meta.Identity) bool { return p.want.Has(p.by.Range(id)) }

// limit sets the wanted ranges. Floors of other ranges may stay, because the cache holds no object of those.
func (p *portion) limit(want meta.Ranges) {
	p.want, p.has = want, p.has.Intersect(want)
}

// listed notes a complete list of this version: of the missing ranges if grow is true, and otherwise of all wanted
// ranges.
func (p *portion) listed(grow bool, version string) {
	switch {
	case p == nil:
		return
	case grow:
		p.floors = append(p.floors, floor{p.missing(), version})
	default:
		p.floors = nil
	}
	p.has = p.want
}

// grows reports whether the list of a state is one of added ranges only.
func (p *portion) grows(s state) bool { return p != nil && p.resume != "" && s.cause == Grown }

// follows returns an error if version, that of a list of added ranges, cannot be compared with p.resume, the version
// that the watch had reached. It then clears p.resume, and the informer must list all wanted ranges.
func (p *portion) follows(version string) error {
	if _, ok := meta.CompareVersions(version, p.resume); ok {
		return nil
	}
	err := fmt.Errorf("server sent versions that have no order, so the added ranges alone cannot be listed: %q and %q", p.resume, version)
	p.resume = ""
	return err
}

// ahead returns the version of the latest list of added ranges that the watch has not reached; empty if there is none.
func (p *portion) ahead() string {
	if p == nil || len(p.floors) == 0 {
		return ""
	}
	return p.floors[len(p.floors)-1].version
}

// after corrects the next step of the machine, which knows nothing of ranges. was is the state before the input in; s
// and todo are the state and the effect that the machine has chosen.
//
//   - A list of added ranges is followed by a watch from the version that was reached before the list.
//   - If the resource was gone during such a list, objects of the ranges that stay may have changed in that time, so
//     the informer lists all ranges.
//   - While the watch is behind such a list, the cache is current to the version of the list, and the server is asked
//     for its version before each further watch: if it was rolled back to a state between the two, the informer would
//     mistake new changes for changes that the list already contains.
func (p *portion) after(was state, in input, s state, todo effect) (state, effect) {
	switch {
	case p.grows(was) && was.phase == Listing && in.outcome == done:
		s.version, s.relist = p.resume, was.relist
		todo.action = watch
		return s, todo
	case p.grows(was) && in.outcome == absent:
		s.cause = Absent
	}
	ahead := state{seen: p.ahead()}
	if s.seen == in.version && ahead.outdates(in.version) {
		s.seen = ahead.seen
	}
	if todo.action == watch && !was.asking && ahead.outdates(s.version) {
		s.asking = true
		return s, effect{action: ask}
	}
	return s, todo
}

// Grown means that ranges were added (Options.Shards). The informer lists only these. It lists all wanted ranges if
// versions have no order, after a time without ranges, and at the beginning of a further Run.
const Grown Cause = "Grown"

// reached notes that the watch has reached a version.
func (p *portion) reached(version string) {
	if p == nil || len(p.floors) == 0 {
		return
	}
	p.floors = slices.DeleteFunc(p.floors, func(f floor) bool {
		order, ok := meta.CompareVersions(f.version, version)
		return ok && order <= 0
	})
}

// precedes reports whether version is no later than a list that covers the range of the object.
func (p *portion) precedes(version string, id meta.Identity) bool {
	in := p.by.Range(id)
	return slices.ContainsFunc(p.floors, func(f floor) bool {
		order, ok := meta.CompareVersions(version, f.version)
		return f.ranges.Has(in) && ok && order <= 0
	})
}

// isNews reports whether the cache should apply an event.
func (r *reflector[T]) isNews(e client.Event[T]) bool {
	switch {
	case r.portion == nil || e.Type == client.Bookmark:
		return true
	case isOutside(e):
		return false
	case len(r.portion.floors) == 0 || !r.overtaken(e.Identity):
		return true
	}
	if e.Type == client.Deleted {
		r.decodes(r.record.gone(e.Identity))
	}
	return false
}

// overtaken reports whether a list of added ranges has brought the cache a later state of an event's key. There are two
// cases:
//
//   - The object is in an added range.
//   - The object is in a range that stays, but after the event it was deleted, and an object of the same name was
//     created in an added range. The cache has the new object, or the new object does not decode.
func (r *reflector[T]) overtaken(id meta.Identity) bool {
	p := r.portion
	if id.Name == "" || p.precedes(id.ResourceVersion, id) {
		return id.Name != ""
	}
	if now, found := r.informer.store.Identity(id.Key()); found && now.UID != id.UID && p.precedes(id.ResourceVersion, now) {
		return true
	}
	bad, found := r.record.badAt(id.Key())
	return found && bad.UID != id.UID && p.precedes(id.ResourceVersion, bad)
}

// selected returns the source for the list or the watch of a state. If the informer follows ranges, the source is the
// excerpt p; otherwise p is nil.
func (r *reflector[T]) selected(s state) (source Source[T], p *excerpt[T]) {
	if r.portion == nil {
		return r.source, nil
	}
	p = &excerpt[T]{Source: r.source, portion: r.portion, by: r.portion.by, ranges: r.portion.want}
	if r.portion.grows(s) {
		p.ranges = r.portion.missing()
	}
	return p, p
}

// excerpt is a source that shows only the objects of some ranges, for one list or watch. It asks the server for these
// only. If the server sends others, excerpt does not decode them, and their events only move the version.
type excerpt[T meta.Object] struct {
	Source[T]
	portion *portion // notes whether the selector fits into a URL
	by      meta.ShardBy
	ranges  meta.Ranges

	listed  bool          // the source was asked for a list
	claim   string        // the selector that the server says it applied
	inside  bool          // an object of the ranges has arrived
	strayed bool          // an object of another range has arrived
	outside meta.Identity // the latest such object
}

// selector returns the selector to send; it is empty if every object is wanted.
func (p *excerpt[T]) selector() string {
	if p.ranges == meta.AllRanges() || p.portion.long {
		return ""
	}
	return p.by.Selector(p.ranges)
}

// fits notes from the error of a request whether its selector was too long. Scattered ranges make a selector of up to 8
// KB, which is more than some proxies accept. The next attempt then asks for every object, as if the server did not
// select.
func (p *excerpt[T]) fits(selector string, err error) {
	refused, ok := errors.AsType[*apierrors.StatusError](err)
	if selector == "" || !ok {
		return
	}
	switch refused.Status.Code {
	case http.StatusRequestURITooLong, http.StatusRequestHeaderFieldsTooLarge:
		p.portion.long = true
	}
}

func (p *excerpt[T]) ListEach(
	ctx context.Context, o client.ListOptions, reuse func(meta.Identity) (T, bool), fn func(client.Item[T]) error,
) (meta.ListMeta, error) {
	p.listed, o.ShardSelector = true, p.selector()
	m, err := p.Source.ListEach(ctx, o, p.reuse(reuse), func(item client.Item[T]) error {
		if item.Err != nil && p.hides(item.Identity) {
			item = client.Item[T]{Identity: item.Identity, Reused: true}
		}
		return fn(item)
	})
	p.claim = m.ShardInfo.Selector
	p.fits(o.ShardSelector, err)
	return m, err
}

func (p *excerpt[T]) WatchEach(
	ctx context.Context, o client.WatchOptions, reuse func(meta.Identity) (T, bool), fn func(client.Event[T]) error,
) error {
	p.listed, o.ShardSelector, o.Skip = o.InitialEvents, p.selector(), p.hides
	err := p.Source.WatchEach(ctx, o, p.reuse(reuse), func(e client.Event[T]) error {
		if e.Type != client.Bookmark && p.hides(e.Identity) {
			e = client.Event[T]{Type: client.Deleted, Identity: e.Identity, Reused: true}
		}
		return fn(e)
	})
	p.fits(o.ShardSelector, err)
	return err
}

// isOutside reports whether an event is about an object that an excerpt hides. No other deletion is marked as reused.
func isOutside[T meta.Object](e client.Event[T]) bool { return e.Type == client.Deleted && e.Reused }

// hides reports whether an object is outside the ranges. An object whose identity is unknown, because it is too large,
// may be in any range, so it is not hidden.
func (p *excerpt[T]) hides(id meta.Identity) bool {
	if id.Name == "" {
		return false
	}
	if id.Namespace == "" && p.by == meta.ShardByNamespace {
		p.portion.whole = true
	}
	if p.ranges.Has(p.by.Range(id)) {
		p.inside = true
		return false
	}
	p.outside, p.strayed = id, true
	return true
}

// reuse marks objects outside the ranges as reused, so they are not decoded. The cache does not hold them, so it leaves
// them out.
func (p *excerpt[T]) reuse(reuse func(meta.Identity) (T, bool)) func(meta.Identity) (T, bool) {
	return func(id meta.Identity) (obj T, reused bool) {
		if reuse != nil { // reuse must see every object
			obj, reused = reuse(id)
		}
		if p.hides(id) {
			var none T
			return none, true
		}
		return obj, reused
	}
}

// judge notes whether the server selects the ranges, at the end of a list and at an event of another range. It reports
// a wrong claim once.
func (p *excerpt[T]) judge(r *reflector[T]) {
	r.divides()
	if p == nil || p.ranges == meta.AllRanges() {
		return
	}
	q := r.portion
	if p.listed {
		q.claim = p.claim
	}
	now := Sharding("")
	switch {
	case p.strayed:
		now = ShardedLocally
	case p.listed && (q.claim != "" || p.inside):
		now = ShardedByServer
	}
	if now != "" {
		r.record.sharded(now)
	}
	if p.strayed && q.claim != "" && !q.lied {
		q.lied = true
		r.informer.report(fmt.Errorf("follow %s: server sent %q (uid %s), "+
			"which the shard selector that it claims to apply leaves out; the informer drops it: %s",
			r.source.GVR(), p.outside.Key(), p.outside.UID, q.claim))
	}
}

// divides reports, once in a Run, that objects cannot be divided by namespace, because they have none. A client.Type
// whose scope is known reports that before a Run, but a source need not know its scope, or may have it wrong.
func (r *reflector[T]) divides() {
	if p := r.portion; p != nil && p.whole && !p.told {
		p.told = true
		r.informer.report(undivided(r.source.GVR()))
	}
}

func undivided(of meta.GVR) error {
	return fmt.Errorf("objects of %s have no namespace, "+
		"so ShardByNamespace gives all of them to one replica: use meta.ShardByUID", of)
}

// shares is what an informer knows about its ranges.
type shares struct {
	known     bool // a Run has asked which ranges are wanted
	want, has meta.Ranges
}

func (s shares) isEmpty() bool { return s.known && s.want == meta.Ranges{} }

// leavesOut reports whether an object is of a range that is not wanted.
func (s shares) leavesOut(by Shards, id meta.Identity) bool {
	return by != nil && s.known && !s.want.Has(by.By().Range(id))
}

// without returns an error if the informer certainly does not follow an object of this key.
func (s shares) without(by Shards, key meta.Key) error {
	switch {
	case runners.IsNil(by):
	case s.isEmpty():
		return errors.New("the informer follows no range of objects at present")
	case by.By() == meta.ShardByNamespace && s.leavesOut(by, meta.Identity{Namespace: key.Namespace}):
		return fmt.Errorf("the informer does not follow the range of namespace %q at present", key.Namespace)
	}
	return nil
}

// covered publishes which ranges of a scope the cache covers.
func (i *engine[T]) covered(s *scope[T]) {
	p := s.portion
	if p == nil {
		return
	}
	has, missing := p.has, p.missing() != meta.Ranges{}
	switch {
	case p.by == meta.ShardByNamespace:
		s.writer.Restrict(func(ns string) bool { return has.Has(p.by.Range(meta.Identity{Namespace: ns})) })
	case missing: // any key may be in a range that has not been listed
		s.writer.Restrict(func(string) bool { return false })
	default:
		s.writer.Restrict(nil)
	}
	i.mu.Lock()
	i.shares = shares{known: true, want: p.want, has: has}
	i.settle()
	i.mu.Unlock()
	i.follower.Have(has)
}

// next returns the state from which the reflector goes on after a change of the wanted ranges.
func (p *portion) next(s state) state {
	from := s.version
	if p.grows(s) {
		from = p.resume
	}
	p.resume = ""
	_, ordered := meta.CompareVersions(from, from)
	switch none := (meta.Ranges{}); {
	case from == "": // a list of all wanted ranges is due
	case p.has == none, p.missing() != none && !ordered:
		s = state{cause: Grown, seen: s.seen}
	case p.missing() != none:
		s.cause, s.version, p.resume = Grown, "", from
	default:
		s.version = from
	}
	return s
}

// reshare applies a change of the wanted ranges, and returns a channel that is closed at the next one.
func (f *following[T]) reshare() (changed <-chan struct{}) {
	i := f.i
	if i.follower == nil {
		return nil
	}
	want, changed := i.follower.Wanted()
	s := i.scopes[i.o.Namespace]
	if f.shared && s.portion.want == want {
		return changed
	}
	f.halt([]*scope[T]{s})
	p, none := s.portion, meta.Ranges{}
	if !f.shared {
		f.shared = true
		// Another process may have followed the ranges since the last Run.
		p.has, p.floors, p.lied, p.told, p.long = none, nil, false, false, false
	}
	p.limit(want)
	if version := s.writer.ResourceVersion(); version != "" {
		s.writer.RelistOf(func(id meta.Identity) bool { return !p.wants(id) }).Commit(version)
	} else if p.nothing() {
		s.writer.Relist().Commit("") // subscriptions become synced
	}
	if s.record.keepUndecodable(p.wants) {
		i.log.Works(aboutObjects + s.namespace)
	}
	s.at = p.next(s.at)
	i.covered(s)
	if p.nothing() {
		s.writer.Confirm()
		i.store.EndWaits(func(string) bool { return true })
	} else if p.by == meta.ShardByNamespace {
		i.store.EndWaits(func(ns string) bool { return !p.wants(meta.Identity{Namespace: ns}) })
	}
	return changed
}
