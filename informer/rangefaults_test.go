package informer_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
)

// These tests break what an informer of ranges relies on, and wait for what it holds.

var (
	firstHalf  = rangesOf(0, 128)
	secondHalf = rangesOf(128, 256)
)

// halves starts an informer of the first half of 20 objects.
func (r *rig) halves(o informer.Options) (*informed, *spread) {
	r.Helper()
	r.fill(20)
	s := newSpread(meta.ShardByUID, firstHalf)
	o.Shards = s
	return r.start(o), s
}

// While the added ranges cannot be listed, the informer is not synced and keeps what it has; then only they are listed.
func TestGrowthThatFails(t *testing.T) {
	listings(t, func(r *rig, mode informer.Mode) {
		i, s := r.halves(informer.Options{Mode: mode})
		was := i.held()
		for _, fault := range []http.HandlerFunc{
			failure(500, "InternalError", "etcd"), failure(403, "Forbidden", "no"), failure(410, "Expired", "too old"),
			clienttest.Reset(), r.server.CutBody(100),
		} {
			r.on("collection", fault)
			s.set(meta.AllRanges())
			r.pass(time.Minute)
			if i.Status().Synced || i.Unsynced() == nil || s.has() != firstHalf || i.Status().Ranges != firstHalf {
				r.Errorf("after a failed list the informer has ranges %v, status %v", s.has(), i.Status())
			}
			if d := differ("cache", i.held(), was); d != "" {
				r.Error(d)
			}
			r.heal()
			r.pass(time.Minute)
			i.covers(s, meta.AllRanges())
			s.set(firstHalf)
			i.covers(s, firstHalf)
		}
		i.relisted(map[informer.Cause]int{informer.Grown: 5})
	})
}

// A change that comes during a list, of added ranges or of all, is applied at once; what was listed until then is not used.
func TestRangesThatChangeDuringAList(t *testing.T) {
	for _, to := range []meta.Ranges{firstHalf, secondHalf, rangesOf(64, 192), rangesOf(200, 210), meta.AllRanges(), {}} {
		for _, first := range []bool{false, true} {
			t.Run(fmt.Sprint(to, " ", first), func(t *testing.T) {
				listings(t, func(r *rig, mode informer.Mode) {
					i, s := r.halves(informer.Options{Mode: mode})
					r.server.Intercept(func(q *http.Request) http.HandlerFunc {
						if collects(q) {
							return clienttest.Hang()
						}
						return nil
					})
					if first {
						r.expire() // everything is listed
						r.pass(5 * time.Second)
						if st := i.Status(); st.State != informer.Listing {
							r.Errorf("status is %v", st)
						}
					}
					if !first {
						s.set(rangesOf(0, 200))
					}
					r.pass(5 * time.Second)
					r.put("o01", "v", "2")
					s.set(to)
					s.set(to)
					synctest.Wait()
					if has := to.Intersect(firstHalf); i.Status().Ranges != has || s.has() != has || i.Status().Synced != (has == to) {
						r.Errorf("the informer has ranges %v, status %v", s.has(), i.Status())
					}
					r.heal()
					r.pass(5 * time.Minute)
					i.covers(s, to)
					if to.Minus(firstHalf) == (meta.Ranges{}) && !first {
						i.relisted(nil) // the list was given up, and no other is needed
					}
				})
			})
		}
	}
}

// 404: what stays may have changed while the resource was gone, so all of it is listed.
func TestGrowthOfAResourceThatIsGone(t *testing.T) {
	bubble(t, func(r *rig) {
		i, s := r.halves(informer.Options{Mode: informer.Paged})
		r.on("list", failure(404, "NotFound", "the server could not find the requested resource"))
		s.set(meta.AllRanges())
		r.pass(10 * time.Second)
		r.heal()
		r.pass(time.Minute)
		i.covers(s, meta.AllRanges())
		i.relisted(map[informer.Cause]int{informer.Absent: 1})
	})
}

// disguised is a source whose versions have no order, in lists or everywhere.
type disguised struct {
	informer.Source[*Thing]
	lists, watches bool
}

func (d *disguised) ListEach(
	ctx context.Context, o client.ListOptions, reuse func(meta.Identity) (*Thing, bool), fn func(client.Item[*Thing]) error,
) (meta.ListMeta, error) {
	m, err := d.Source.ListEach(ctx, o, d.reuse(reuse), func(item client.Item[*Thing]) error {
		item.Identity = d.hide(item.Identity)
		return fn(item)
	})
	if d.lists && err == nil {
		m.ResourceVersion = "x" + m.ResourceVersion
	}
	return m, err
}

func (d *disguised) WatchEach(
	ctx context.Context, o client.WatchOptions, reuse func(meta.Identity) (*Thing, bool), fn func(client.Event[*Thing]) error,
) error {
	o.ResourceVersion = strings.TrimPrefix(o.ResourceVersion, "x")
	return d.Source.WatchEach(ctx, o, d.reuse(reuse), func(e client.Event[*Thing]) error {
		e.Identity = d.hide(e.Identity)
		return fn(e)
	})
}

func (d *disguised) reuse(reuse func(meta.Identity) (*Thing, bool)) func(meta.Identity) (*Thing, bool) {
	if reuse == nil {
		return nil
	}
	return func(id meta.Identity) (*Thing, bool) { return reuse(d.hide(id)) }
}

func (d *disguised) hide(id meta.Identity) meta.Identity {
	if d.watches {
		id.ResourceVersion = "x" + id.ResourceVersion
	}
	return id
}

// Where versions have no order, nobody can tell which events the list of the added ranges has already: all is listed, and
// what stays is not decoded.
func TestGrowthWithoutAnOrder(t *testing.T) {
	for name, test := range map[string]struct {
		always bool
		times  int64 // that the added objects are decoded
	}{"never": {true, 1}, "since the growth": {false, 2}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(r *rig) {
				r.fill(20)
				s := newSpread(meta.ShardByUID, firstHalf)
				d := &disguised{Source: r.things, lists: test.always, watches: test.always}
				i := informer.New(d, informer.Options{Shards: s, Mode: informer.Paged, OnError: func(error) {}})
				go i.Run(r.Context())
				synctest.Wait()
				d.lists = true
				n := int64(len(r.in(s.by, secondHalf))) * test.times
				decoded.Store(0)
				s.set(meta.AllRanges())
				r.pass(10 * time.Second)
				if got := decoded.Load(); got != n {
					r.Errorf("%d objects decoded, want %d", got, n)
				}
				if st := i.Status(); st.Objects != 20 || st.Relists[informer.Grown] != 1 || !st.Synced {
					r.Errorf("status is %v", st)
				}
			})
		})
	}
}

// A further Run lists again before it says that it has the ranges: others may have followed them meanwhile.
func TestAFurtherRunOfRanges(t *testing.T) {
	listings(t, func(r *rig, mode informer.Mode) {
		r.fill(20)
		s := newSpread(meta.ShardByUID, firstHalf)
		i := r.informer(informer.Options{Shards: s, Mode: mode})
		i.run()
		i.covers(s, firstHalf)
		i.stop()
		if len(s.names) != 0 {
			r.Errorf("%q still follow", s.names)
		}
		if i.Status().Ranges != firstHalf || len(i.held()) == 0 {
			r.Errorf("after Run the status is %v", i.Status())
		}
		stays := r.in(s.by, rangesOf(64, 128))
		n := int64(len(r.in(s.by, rangesOf(128, 200))))
		r.on("collection", failure(500, "InternalError", "etcd"))
		s.set(rangesOf(64, 200))
		i.run()
		r.pass(time.Second)
		if s.has() != (meta.Ranges{}) || i.Status().Synced {
			r.Errorf("it has ranges %v before a list", s.has())
		}
		if d := differ("cache", i.held(), stays); d != "" {
			r.Error(d)
		}
		r.heal()
		decoded.Store(0)
		r.pass(time.Minute)
		if got := decoded.Load(); got != n {
			r.Errorf("%d objects decoded, want %d", got, n)
		}
		i.covers(s, rangesOf(64, 200))
		i.relisted(map[informer.Cause]int{informer.Grown: 1})
		i.stop()
	})
}

// waits says how WaitFor ends within a second.
func (i *informed) waits(key meta.Key, version string) string {
	ctx, cancel := context.WithTimeout(i.r.Context(), time.Second)
	defer cancel()
	switch err := i.WaitFor(ctx, key, version); {
	case err == nil:
		return "seen"
	case errors.Is(err, context.DeadlineExceeded):
		return "not yet"
	default:
		return err.Error()
	}
}

// WaitFor does not return while the cache may lack the write.
func TestWaitForOfRangesThatChange(t *testing.T) {
	listings(t, func(r *rig, mode informer.Mode) {
		r.fill(20)
		s := newSpread(meta.ShardByUID, firstHalf)
		r.putInRange(s, firstHalf, "stays", "1")
		r.putInRange(s, secondHalf, "added", "1")
		i := r.start(informer.Options{Shards: s, Mode: mode})
		version := func(name string) string {
			obj, err := r.things.Get(r.Context(), key(name))
			if err != nil {
				r.Fatal(err)
			}
			return obj.ResourceVersion
		}
		// The ranges that are added have not been listed.
		r.on("collection", failure(500, "InternalError", "etcd"))
		s.set(meta.AllRanges())
		synctest.Wait()
		if got := i.waits(key("added"), version("added")); got != "not yet" {
			r.Errorf("WaitFor says %q of an object that is about to be listed", got)
		}
		// They have been, and the watch has not come to changes of what stays.
		r.put("stays", "v", "2")
		r.put("added", "v", "2")
		r.on("watch", clienttest.Reset())
		r.pass(time.Minute)
		i.covers2(s, meta.AllRanges())
		if got := i.waits(key("added"), version("added")); got != "seen" {
			r.Errorf("WaitFor says %q of an object that has been listed", got)
		}
		if got := i.waits(key("stays"), version("stays")); got != "not yet" {
			r.Errorf("WaitFor says %q of a change that has not come", got)
		}
		r.heal()
		r.pass(time.Minute)
		if got := i.waits(key("stays"), version("stays")); got != "seen" {
			r.Errorf("WaitFor says %q of a change that has come", got)
		}
		i.covers(s, meta.AllRanges())
		s.set(meta.Ranges{})
		synctest.Wait()
		if got := i.waits(key("stays"), version("stays")); !strings.Contains(got, "follows no range") {
			r.Errorf("WaitFor says %q without ranges", got)
		}
	})
}

// covers2 fails unless the informer says that it has these ranges.
func (i *informed) covers2(s *spread, ranges meta.Ranges) {
	i.r.Helper()
	if s.has() != ranges || i.Status().Ranges != ranges || !i.Status().Synced {
		i.r.Errorf("the informer has ranges %v, status %v, want %v", s.has(), i.Status(), ranges)
	}
}

// By namespace, the key tells the range.
func TestWaitForOfRangesByNamespace(t *testing.T) {
	bubble(t, func(r *rig) {
		in := func(ns string) meta.Ranges {
			return meta.Ranges{}.With(meta.ShardByNamespace.Range(meta.Identity{Namespace: ns}))
		}
		r.putIn("default", "a")
		r.putIn("kube-system", "b")
		s := newSpread(meta.ShardByNamespace, in("default"))
		i := r.start(informer.Options{Shards: s})
		i.keys("default/a")
		version := r.server.ResourceVersion()
		b := meta.Key{Namespace: "kube-system", Name: "b"}
		if got := i.waits(b, version); !strings.Contains(got, `does not follow the range of namespace "kube-system"`) {
			r.Errorf("WaitFor says %q", got)
		}
		r.on("collection", failure(500, "InternalError", "etcd"))
		s.set(meta.AllRanges())
		synctest.Wait()
		if got := i.waits(b, version); got != "not yet" {
			r.Errorf("WaitFor says %q", got)
		}
		if got := i.waits(key("a"), version); got != "seen" {
			r.Errorf("WaitFor says %q of a namespace that stays", got)
		}
		r.heal()
		r.pass(time.Minute)
		if got := i.waits(b, version); got != "seen" {
			r.Errorf("WaitFor says %q", got)
		}
		i.keys("default/a", "kube-system/b")
	})
}

// A controller does not wait for writes of objects that are not the informer's.
func TestAfterWriteOutsideOfTheRanges(t *testing.T) {
	lagging(t, func(r *rig, lag, release func()) {
		s := newSpread(meta.ShardByUID, firstHalf)
		r.putInRange(s, firstHalf, "in", "1")
		r.putInRange(s, secondHalf, "out", "1")
		i := r.start(informer.Options{Shards: s})
		lag()
		in := awaits(i, r.label("in", map[string]any{"x": "1"}))
		out := awaits(i, r.label("out", map[string]any{"x": "1"}))
		if *in != 0 || *out != 1 {
			r.Errorf("called %d and %d times, want 0 and 1", *in, *out)
		}
		more := awaits(i, r.label("in", map[string]any{"x": "2"}))
		s.set(meta.Ranges{})
		synctest.Wait()
		if *in != 1 || *more != 1 {
			r.Errorf("called %d and %d times without ranges, want 1 and 1", *in, *more)
		}
		release()
	})
}

// An object that does not decode is reported if its range is wanted, and leaves Status with the range.
func TestUndecodableObjectsOfRanges(t *testing.T) {
	listings(t, func(r *rig, mode informer.Mode) {
		s := newSpread(meta.ShardByUID, firstHalf)
		r.putInRange(s, firstHalf, "in", "1")
		r.putInRange(s, secondHalf, "out", "1")
		r.put("out", "bad", "yes")
		i := r.start(informer.Options{Shards: s, Mode: mode})
		bad := func(reports int, want ...string) {
			r.Helper()
			var got []string
			for _, u := range i.Status().Undecodable {
				got = append(got, u.Identity.Name)
			}
			if !slices.Equal(got, want) || len(i.reported()) != reports {
				r.Errorf("status lists %q, want %q; %d reports, want %d", got, want, len(i.reported()), reports)
			}
		}
		r.put("out", "bad", "still")
		synctest.Wait()
		bad(0)
		r.put("in", "bad", "yes")
		synctest.Wait()
		bad(1, "in")
		s.set(meta.AllRanges())
		synctest.Wait()
		bad(2, "in", "out")
		s.set(secondHalf)
		synctest.Wait()
		bad(2, "out")
		if events := i.Status().Events; events != 1 {
			r.Errorf("%d events were applied, want 1", events)
		}
	})
}

// claiming is a source that says it selects ranges, and does or does not.
type claiming struct {
	informer.Source[*Thing]
	honest bool
}

func (c *claiming) ListEach(
	ctx context.Context, o client.ListOptions, reuse func(meta.Identity) (*Thing, bool), fn func(client.Item[*Thing]) error,
) (meta.ListMeta, error) {
	skips := func(id meta.Identity) bool { return c.honest && !firstHalf.Has(meta.ShardByUID.Range(id)) }
	m, err := c.Source.ListEach(ctx, o, func(id meta.Identity) (*Thing, bool) {
		if skips(id) {
			return nil, true
		}
		return reuse(id)
	}, func(item client.Item[*Thing]) error {
		if skips(item.Identity) {
			return nil
		}
		return fn(item)
	})
	m.ShardInfo.Selector = o.ShardSelector
	return m, err
}

func TestTheServersClaimToShardIsChecked(t *testing.T) {
	for _, honest := range []bool{true, false} {
		bubble(t, func(r *rig) {
			r.fill(20)
			s := newSpread(meta.ShardByUID, firstHalf)
			var found []error
			i := informer.New(&claiming{Source: r.things, honest: honest}, informer.Options{Shards: s, Mode: informer.Paged, OnError: func(err error) {
				if strings.HasPrefix(err.Error(), "follow configmaps.v1: server sent ") && strings.Contains(err.Error(), "the shard selector that it claims to apply leaves out") {
					found = append(found, err)
				}
			}})
			go i.Run(r.Context())
			synctest.Wait()
			want := map[bool]informer.Sharding{true: informer.ShardedByServer, false: informer.ShardedLocally}[honest]
			if got := i.Status().Sharded; got != want || (len(found) == 0) != honest {
				r.Errorf("selected by %q, want %q; errors %v", got, want, found)
			}
			// An event of another range shows that the watch at least is not limited.
			r.putInRange(s, secondHalf, "out", "1")
			r.putInRange(s, secondHalf, "more", "1")
			synctest.Wait()
			if got := i.Status().Sharded; got != informer.ShardedLocally || len(found) != 1 {
				r.Fatalf("selected by %q, errors %v", got, found)
			}
			if text := found[0].Error(); !strings.Contains(text, "configmaps") || !strings.Contains(text, s.by.Selector(firstHalf)) {
				r.Error(text)
			}
			if got, want := i.Status().Objects, len(r.in(s.by, firstHalf)); got != want {
				r.Errorf("%d objects, want %d", got, want)
			}
			r.expire()
			r.pass(10 * time.Second)
			if got := i.Status().Sharded; got != want || len(found) != 1 {
				r.Errorf("after another list selected by %q, want %q; errors %v", got, want, found)
			}
		})
	}
}

// A server without the feature, which says nothing, is no reason for an error.
func TestTheInformerFiltersIfTheServerDoesNotShard(t *testing.T) {
	modes(t, func(t *testing.T, mode informer.Mode) {
		bubble(t, func(r *rig) {
			i, s := r.halves(informer.Options{Mode: mode})
			if got := i.Status(); got.Sharded != informer.ShardedLocally || len(i.reported()) != 0 {
				r.Errorf("status %v, errors %v", got, i.reported())
			}
			if text := i.Status().String(); !strings.Contains(text, "ranges=0-127") || !strings.Contains(text, "sharded=Local") {
				r.Error(text)
			}
			i.covers(s, firstHalf)
		})
	})
}

// On a server that selects ranges, an informer receives only its own, and a list of added ranges only those.
func TestAServerThatShardsSendsOnlyTheInformersRanges(t *testing.T) {
	for _, mode := range []informer.Mode{informer.Paged, informer.Streaming} {
		bubbleOf(t, clienttest.Options{ShardedLists: clienttest.ShardsServed}, func(r *rig) {
			var asked journal[string]
			r.server.Intercept(func(q *http.Request) http.HandlerFunc {
				asked.add(asks(q) + " " + q.URL.Query().Get("shardSelector"))
				return nil
			})
			first, second := " "+meta.ShardByUID.Selector(firstHalf), " "+meta.ShardByUID.Selector(secondHalf)
			r.fill(20)
			n := len(asked.list())
			s := newSpread(meta.ShardByUID, firstHalf)
			objects := 0
			i := r.start(informer.Options{Shards: s, Mode: mode, Hooks: informer.Hooks{List: func(_ context.Context, l informer.ListInfo) {
				objects += l.Objects
			}}})
			if got := i.Status().Sharded; got != informer.ShardedByServer {
				r.Errorf("selected by %q", got)
			}
			s.set(meta.AllRanges())
			synctest.Wait()
			if objects != 20 {
				r.Errorf("the lists had %d objects, and there are 20", objects)
			}
			s.set(firstHalf)
			synctest.Wait()
			want := []string{"list" + first, "watch" + first, "list" + second, "watch ", "watch" + first}
			if mode == informer.Streaming {
				want = []string{"stream" + first, "stream" + second, "watch ", "watch" + first}
			}
			if got := asked.list()[n:]; !slices.Equal(got, want) {
				r.Errorf("asked for %q, want %q", got, want)
			}
			i.covers(s, firstHalf)
			r.put("o00", "v", "2") // no error says that the server has sent what it should not
			r.pass(5 * time.Minute)
			if errs := i.reported(); len(errs) != 0 || i.Status().Sharded != informer.ShardedByServer {
				r.Errorf("status %v, errors %v", i.Status(), errs)
			}
			// It is asked again in each list: another replica of the server may not support it.
			r.server.SetShardedLists(clienttest.ShardsIgnored)
			r.expire()
			r.pass(time.Minute)
			if got := i.Status().Sharded; got != informer.ShardedLocally {
				r.Errorf("selected by %q", got)
			}
			i.covers(s, firstHalf)
		})
	}
}

// One that claims to select everywhere and sends everything is no danger.
func TestTheInformerFiltersIfTheServersClaimToShardIsFalse(t *testing.T) {
	bubbleOf(t, clienttest.Options{ShardedLists: clienttest.ShardsClaimed}, func(r *rig) {
		i, s := r.halves(informer.Options{Mode: informer.Paged})
		s.set(rangesOf(0, 200))
		i.covers(s, rangesOf(0, 200))
		if errs := i.reported(); len(errs) != 1 || !i.hasReported("the shard selector that it claims to apply leaves out") {
			r.Errorf("reported %v", errs)
		}
	})
}

// While the watch lags behind two lists of added ranges, each has its own version: events up to it are skipped, later ones
// are not.
func TestTwoGrowthsAheadOfTheWatch(t *testing.T) {
	listings(t, func(r *rig, mode informer.Mode) {
		r.fill(30)
		s := newSpread(meta.ShardByUID, rangesOf(0, 80))
		var told journal[meta.Identity]
		i := r.start(informer.Options{Shards: s, Mode: mode, Hooks: informer.Hooks{Event: func(_ context.Context, e informer.EventInfo) {
			if e.Type != client.Bookmark {
				told.add(e.Identity)
			}
		}}})
		change := func(every int) {
			for n := 0; n < 30; n += every {
				r.put(fmt.Sprintf("o%02d", n), "v", r.server.ResourceVersion())
			}
			synctest.Wait()
		}
		r.on("watch", clienttest.Reset())
		r.server.DropWatches()
		r.pass(time.Second)
		change(1)
		first := r.server.ResourceVersion()
		s.set(rangesOf(0, 160))
		r.pass(5 * time.Second)
		change(1)
		second := r.server.ResourceVersion()
		s.set(rangesOf(0, 240))
		r.pass(5 * time.Second)
		change(2)
		i.covers2(s, rangesOf(0, 240))
		r.heal()
		r.pass(time.Minute)
		i.covers(s, rangesOf(0, 240))
		i.relisted(map[informer.Cause]int{informer.Grown: 2})
		for _, id := range told.list() {
			after := ""
			switch in := s.by.Range(id); {
			case in >= 240:
				r.Errorf("an event of %v, which is of no range", id)
			case in >= 160:
				after = second
			case in >= 80:
				after = first
			}
			if order, ok := meta.CompareVersions(id.ResourceVersion, after); ok && order <= 0 {
				r.Errorf("an event of %v, whose range was listed at %s", id, after)
			}
		}
	})
}

// The server is rolled back to a version between those of the watch and of the list of the added ranges. It reuses versions,
// so changes that come then are news, whatever their version.
func TestARollbackWhileTheWatchLags(t *testing.T) {
	listings(t, func(r *rig, mode informer.Mode) {
		r.fill(20)
		s := newSpread(meta.ShardByUID, firstHalf)
		// Its handler is none that watches for versions that go back.
		i := &informed{r: r, Informer: informer.New(r.things, informer.Options{Shards: s, Mode: mode, OnError: func(error) {}})}
		i.run()
		defer i.stop()
		synctest.Wait()
		r.on("watch", failure(500, "InternalError", "etcd"))
		r.server.DropWatches()
		for n := range 20 {
			r.put(fmt.Sprintf("o%02d", n), "v", "2")
		}
		at := r.server.ResourceVersion()
		for range 3 {
			for n := range 20 {
				r.put(fmt.Sprintf("o%02d", n), "v", fmt.Sprint(r.server.ResourceVersion()))
			}
		}
		s.set(meta.AllRanges())
		r.pass(5 * time.Second)
		i.covers2(s, meta.AllRanges())
		if err := r.server.Rollback(at); err != nil {
			r.Fatal(err)
		}
		r.server.Compact()
		r.heal()
		r.pass(5 * time.Minute)
		for n := range 20 {
			r.put(fmt.Sprintf("o%02d", n), "v", "after")
		}
		synctest.Wait()
		if d := differ("cache", i.held(), r.in(s.by, meta.AllRanges())); d != "" {
			r.Error(d)
		}
		if i.Status().Relists[informer.Reset] != 1 {
			r.Errorf("status is %v", i.Status())
		}
	})
}

// The server is rolled back to exactly the version of the watch, which then resumes without an error. The cache kept objects of the added
// ranges that were gone.
func TestARollbackToTheVersionOfTheWatch(t *testing.T) {
	listings(t, func(r *rig, mode informer.Mode) {
		r.fill(20)
		s := newSpread(meta.ShardByUID, firstHalf)
		i := &informed{r: r, Informer: informer.New(r.things, informer.Options{Shards: s, Mode: mode, OnError: func(error) {}})}
		i.run()
		defer i.stop()
		synctest.Wait()
		at := r.server.ResourceVersion()
		r.on("watch", failure(500, "InternalError", "etcd"))
		r.server.DropWatches()
		for n := range 20 {
			r.put(fmt.Sprintf("o%02d", n), "v", "2")
			r.put(fmt.Sprintf("new%02d", n), "v", "1")
		}
		r.remove("o03")
		s.set(meta.AllRanges())
		r.pass(5 * time.Second)
		i.covers2(s, meta.AllRanges())
		if err := r.server.Rollback(at); err != nil {
			r.Fatal(err)
		}
		for n := range 5 {
			r.put(fmt.Sprintf("o%02d", n), "v", "after")
		}
		r.heal()
		r.pass(5 * time.Minute)
		if d := differ("cache", i.held(), r.in(s.by, meta.AllRanges())); d != "" {
			r.Error(d)
		}
		if i.Status().Relists[informer.Reset] != 1 {
			r.Errorf("status is %v", i.Status())
		}
	})
}

// Without ranges there is nothing to wait for.
func TestNoRanges(t *testing.T) {
	bubble(t, func(r *rig) {
		r.fill(3)
		s := newSpread(meta.ShardByUID, meta.Ranges{})
		i := r.informer(informer.Options{Shards: s})
		sub := i.Subscribe(&witness{t: r.T})
		i.run()
		r.Cleanup(i.stop)
		if err := errors.Join(i.WaitSynced(r.Context()), sub.WaitSynced(r.Context())); err != nil {
			r.Error(err)
		}
		synctest.Wait()
		if st := i.Status(); st.State != informer.Watching || st.Lists+st.Watches != 0 {
			r.Errorf("status is %v", st)
		}
		i.covers(s, meta.Ranges{})
		s.set(meta.AllRanges())
		synctest.Wait()
		i.covers(s, meta.AllRanges())
		i.relisted(nil)
	})
}

// An object that is too large is reported by the informer of its range only.
func TestATooLargeObjectOfAnotherRange(t *testing.T) {
	listings(t, func(r *rig, mode informer.Mode) {
		s := newSpread(meta.ShardByUID, firstHalf)
		r.putInRange(s, secondHalf, "large", strings.Repeat("x", 5000))
		cfg := r.server.Config()
		cfg.MaxObject = 2000
		small := r.with(cfg)
		i := small.start(informer.Options{Shards: s, Mode: mode})
		r.put("large", "v", strings.Repeat("y", 5000))
		synctest.Wait()
		if errs := i.reported(); len(errs) != 0 || len(i.Status().Undecodable) != 0 {
			r.Errorf("reported %v, status %v", errs, i.Status())
		}
		s.set(secondHalf)
		synctest.Wait()
		if errs := i.reported(); len(errs) != 1 || len(i.Status().Undecodable) != 1 {
			r.Errorf("reported %v, status %v", errs, i.Status())
		}
	})
}

func TestFixedShards(t *testing.T) {
	bubble(t, func(r *rig) {
		r.fill(20)
		f := &informer.Factory{}
		go f.Run(r.Context())
		share := func(ranges meta.Ranges) *informer.Informer[*Thing] {
			u := informer.Share(f, r.things, informer.Options{Shards: informer.FixedShards(meta.ShardByUID, ranges)})
			go u.Run(r.Context())
			if err := u.WaitSynced(r.Context()); err != nil {
				r.Error(err)
			}
			return u
		}
		first, again, second, all := share(firstHalf), share(firstHalf), share(secondHalf), share(meta.AllRanges())
		if lists := r.requests("watch") + r.requests("list"); lists != 3 { // streams that go on as watches
			r.Errorf("%d requests for three different shares", lists)
		}
		if first.Reader().Len() != again.Reader().Len() {
			r.Error("equal shards have other objects")
		}
		n, m := first.Reader().Len(), second.Reader().Len()
		if n+m != 20 || n != len(r.in(meta.ShardByUID, firstHalf)) || all.Reader().Len() != 20 {
			r.Errorf("%d and %d objects of 20", n, m)
		}
		if got := all.Status().Sharded; got != "" {
			r.Errorf("all ranges are selected by %q", got)
		}
	})
}

func TestShardsAreChecked(t *testing.T) {
	bubble(t, func(r *rig) {
		for want, o := range map[string]informer.Options{
			"meta.ShardBy must be":  {Shards: informer.FixedShards("metadata.name", firstHalf)},
			"exclude each other":    {Shards: informer.FixedShards(meta.ShardByUID, firstHalf), Namespaces: []string{"a"}},
			"exclude each other, g": {Shards: informer.FixedShards(meta.ShardByUID, firstHalf), Namespaces: []string{}},
		} {
			if err := informer.New(r.things, o).Run(r.Context()); err == nil || !strings.Contains(err.Error(), want) {
				r.Errorf("Run returned %v, want %q", err, want)
			}
		}
	})
}
