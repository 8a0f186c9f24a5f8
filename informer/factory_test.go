package informer_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer"
)

// running is something that runs, and must return nil when it is stopped.
type running struct {
	r      *rig
	cancel context.CancelFunc
	ended  chan error
}

func (r *rig) running(what informer.Runner) *running {
	ctx, cancel := context.WithCancel(r.Context())
	x := &running{r: r, cancel: cancel, ended: make(chan error, 1)}
	go func() { x.ended <- what.Run(ctx) }()
	synctest.Wait()
	return x
}

func (x *running) stop() {
	x.r.Helper()
	x.cancel()
	if err := <-x.ended; err != nil {
		x.r.Errorf("Run returned %v", err)
	}
	synctest.Wait()
}

func (r *rig) watches(want int) {
	r.Helper()
	r.pass(100 * time.Millisecond) // since Go 1.27 net/http reads on for 50 ms when a body is closed
	if n := r.server.Watches(); n != want {
		r.Errorf("%d watches, want %d", n, want)
	}
}

// behaviours 225, 232, 262, 267: started by the first user, stopped a grace period after the last, and then started afresh.
func TestAFactoryFollowsItsUsers(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put("a")
		s := &informer.Factory{Grace: time.Minute}
		shared := r.running(s)
		one := informer.Share(s, r.things, informer.Options{AllowEarlyReads: true})
		two := informer.Share(s, r.things.With(client.WriteOptions{FieldManager: "me"}), informer.Options{PageSize: 7})
		byName := cache.NewIndex(one.Reader(), func(obj *Thing) []string { return []string{obj.Name} })
		r.watches(0)

		first := r.running(one)
		if err := one.WaitSynced(r.Context()); err != nil {
			r.Error(err)
		}
		second := r.running(two)
		if err := two.WaitSynced(r.Context()); err != nil {
			r.Error(err)
		}
		r.watches(1)
		if one.Reader().Behind() != two.Reader().Behind() || byName.Len("a") != 1 {
			r.Error("they do not share a cache")
		}
		first.stop()
		r.pass(time.Hour)
		r.watches(1) // there is a user
		second.stop()
		r.pass(59 * time.Second)
		r.watches(1)
		second = r.running(two) // within the grace period: nothing starts anew
		r.pass(time.Hour)
		if n := two.Status().Lists; n != 1 {
			r.Errorf("%d lists", n)
		}
		second.stop()
		r.pass(61 * time.Second)
		r.watches(0)
		if n := one.Reader().Len() + byName.Len("a"); n != 0 {
			r.Errorf("%d objects are left", n)
		}
		if s := one.Status(); s.State != informer.Idle || s.Synced || s.Lists != 0 {
			r.Errorf("status is %v", s)
		}

		r.put("b")
		first = r.running(one)
		if err := one.WaitSynced(r.Context()); err != nil || one.Reader().Len() != 2 || byName.Len("b") != 1 {
			r.Errorf("afresh: %v, %v", one.Status(), err)
		}
		if n := one.Status().Relists; len(n) != 0 {
			r.Errorf("relists: %v", n)
		}
		shared.cancel()
		r.says(<-first.ended, "run shared informer of configmaps", "the Factory has been stopped")
		shared.stop()
	})
}

// lonely is a user of an informer that nobody else shares.
type lonely struct {
	user informer.Runner
	held func() int
	want string // how many objects it holds, before and after a change
}

func alone[T meta.Object](s *informer.Factory, src informer.Source[T], o informer.Options, want string) lonely {
	u := informer.Share(s, src, o)
	return lonely{user: u, held: func() int { return u.Reader().Len() }, want: want}
}

// deaf is a source of a user's that embeds a resource, and reads only some objects of it.
type deaf struct{ client.Resource[*Thing] }

func (d deaf) ListEach(
	ctx context.Context, o client.ListOptions, reuse func(meta.Identity) (*Thing, bool), fn func(client.Item[*Thing]) error,
) (meta.ListMeta, error) {
	o.LabelSelector = "x=y"
	return d.Resource.ListEach(ctx, o, reuse, fn)
}

func (d deaf) WatchEach(
	ctx context.Context, o client.WatchOptions, reuse func(meta.Identity) (*Thing, bool), fn func(client.Event[*Thing]) error,
) error {
	o.LabelSelector = "x=y"
	return d.Resource.WatchEach(ctx, o, reuse, fn)
}

// behaviour 266: types and scopes do not mix.
func TestDifferentTypesAndOptionsShareNoInformer(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put("a")
		s := &informer.Factory{}
		shared := r.running(s)
		all := []lonely{
			alone(s, r.things, informer.Options{}, "1 2"),
			alone(s, r.things, informer.Options{Namespace: "default"}, "1 2"),
			alone(s, r.things, informer.Options{Namespace: "kube-system"}, "0 0"),
			alone(s, r.things, informer.Options{Namespaces: []string{"default"}}, "1 2"),
			alone(s, r.things, informer.Options{LabelSelector: "x=y"}, "0 1"),
			alone(s, r.things, informer.Options{FieldSelector: "metadata.name=a"}, "1 1"),
			alone(s, r.things, informer.Options{KeepManagedFields: true}, "1 2"),
			alone(s, r.things, informer.Options{AllowStale: true}, "1 2"),
			alone(s, r.raw, informer.Options{}, "1 2"),
			alone(s, client.Metadata(r.things), informer.Options{}, "1 2"),
			alone(s, informer.Transform(r.things, func(obj *Thing) *Thing { return obj }), informer.Options{}, "1 2"),
			alone(s, informer.Transform(r.things, func(obj *Thing) *Thing { return obj }), informer.Options{}, "1 2"),
			alone(s, deaf{r.things}, informer.Options{}, "0 1"),
		}
		var each []*running
		for _, u := range all {
			each = append(each, r.running(u.user))
		}
		r.watches(len(all))
		before := make([]int, len(all))
		for n, u := range all {
			before[n] = u.held()
		}
		r.putLabelled("b", map[string]string{"x": "y"})
		synctest.Wait()
		for n, u := range all {
			if got := fmt.Sprint(before[n], u.held()); got != u.want {
				r.Errorf("%v, number %d, held %s objects, want %s", u.user, n, got, u.want)
			}
		}
		for _, x := range each {
			x.stop()
		}
		r.watches(0)
		shared.stop()
	})
}

// Users that come before the Factory runs wait, and say so.
func TestUsersBeforeTheFactory(t *testing.T) {
	bubble(t, func(r *rig) {
		s := &informer.Factory{}
		u := informer.Share(s, r.things, informer.Options{})
		ctx, cancel := timeout(r, time.Minute)
		defer cancel()
		r.says(u.WaitSynced(ctx), "sync configmaps", "deadline exceeded, before Run was called")
		user := r.running(u)
		ctx, cancel = timeout(r, time.Minute)
		defer cancel()
		r.says(u.WaitSynced(ctx), "sync configmaps", "deadline exceeded, while its Factory does not run")
		gone := r.running(informer.Share(s, r.things, informer.Options{Namespace: "default"}))
		gone.stop()
		shared := r.running(s)
		r.says(s.Run(r.Context()), "run informer.Factory: already running")
		r.says(u.Run(r.Context()), "run shared informer of configmaps", ": already running")
		if err := u.WaitSynced(r.Context()); err != nil {
			r.Error(err)
		}
		r.watches(1)
		user.stop()
		shared.stop()
		r.says(u.WaitSynced(r.Context()), "the informer has been stopped")
	})
}

// behaviour 230: what cannot be right ends the user, not the others.
func TestUsersThatCannotRun(t *testing.T) {
	bubble(t, func(r *rig) {
		s := &informer.Factory{}
		shared := r.running(s)
		r.says(informer.Share(s, r.things, informer.Options{LabelSelector: "!!"}).Run(r.Context()), `run shared informer "labels !!" of configmaps`, "LabelSelector")
		r.says(informer.Share[*Thing](s, nil, informer.Options{}).Run(r.Context()), "the source must not be nil")
		r.says((&informer.Factory{Grace: -1}).Run(r.Context()), "Grace must be 0 or more")
		nodes := client.Type[*Thing]{Version: "v1", Kind: "Node", Resource: "nodes", Scope: meta.Cluster}
		c, err := client.New(r.server.Config())
		if err != nil {
			r.Fatal(err)
		}
		usage := (*client.UsageError)(nil)
		u := informer.Share(s, client.For(c, nodes), informer.Options{Namespace: "x"})
		if err := u.Run(r.Context()); !errors.As(err, &usage) {
			r.Errorf("Run returned %v", err)
		}
		r.says(u.WaitSynced(r.Context()), "namespace must be empty")
		if err := u.Run(r.Context()); !errors.As(err, &usage) {
			r.Errorf("the second Run returned %v", err)
		}
		shared.stop()
	})
}

// behaviours 226, 227, 229, 231, 244: subscriptions are the user's, and end with it.
func TestSubscriptionsEndWithTheirUser(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put("a")
		s := &informer.Factory{Grace: time.Minute}
		shared := r.running(s)
		var errs journal[error]
		note := func(err error) { errs.add(err) }
		one := informer.Share(s, r.things, informer.Options{OnError: note})
		two := informer.Share(s, r.things, informer.Options{OnError: note})
		w1, w2 := &witness{t: r.T}, &witness{t: r.T}
		sub := one.Subscribe(w1)
		first, second := r.running(one), r.running(two)
		late := two.Subscribe(w2)
		if err := sub.WaitSynced(r.Context()); err != nil {
			r.Error(err)
		}
		if err := late.WaitSynced(r.Context()); err != nil {
			r.Error(err)
		}
		r.put("b")
		w1.told()
		first.stop()
		select {
		case <-sub.Done():
		default:
			r.Error("the subscription goes on")
		}
		r.put("c")
		if calls := w1.told(); len(calls) != 0 {
			r.Errorf("it is told of %q", calls)
		}
		if d := differ("second handler", w2.have, map[meta.Key]*Thing{}); len(w2.told()) != 3 || d == "" {
			r.Error("the second user does not hear of everything")
		}
		first = r.running(one)
		// Errors go to every user.
		r.on("watch", failure(403, "Forbidden", ""))
		r.server.DropWatches()
		r.within(time.Minute, "errors for both", func() bool {
			n := 0
			for _, err := range errs.list() {
				if errors.Is(err, apierrors.Forbidden) {
					n++
				}
			}
			return n >= 2
		})
		first.stop()
		second.stop()
		shared.stop()
	})
}

// Each time that the last user ends the grace period is a whole one: that of an earlier end does not count any more.
func TestTheGracePeriodBeginsAnew(t *testing.T) {
	bubble(t, func(r *rig) {
		s := &informer.Factory{Grace: time.Minute}
		shared, u := r.running(s), informer.Share(s, r.things, informer.Options{})
		for range 3 {
			run := r.running(u)
			r.pass(10 * time.Second)
			run.stop()
			r.pass(40 * time.Second)
			r.watches(1)
		}
		r.pass(30 * time.Second)
		r.watches(0)
		shared.stop()
	})
}

// A user who comes in the very moment in which the grace period ends is served, by the informer as it is or by the next one.
func TestAUserComesAtTheEndOfTheGracePeriod(t *testing.T) {
	bubble(t, func(r *rig) {
		s := &informer.Factory{Grace: time.Minute}
		shared, u := r.running(s), informer.Share(s, r.things, informer.Options{})
		for range 100 {
			r.running(u).stop()
			<-time.After(time.Minute)
			run := r.running(u)
			r.pass(time.Second)
			select {
			case err := <-run.ended:
				r.Fatalf("Run has returned %v", err)
			default:
			}
			r.watches(1)
			run.stop()
			r.pass(2 * time.Minute)
		}
		shared.stop()
	})
}

// An error goes to the hook of each user that has one, although it is logged for those that have none.
func TestErrorsReachEachHookBesideUsersWithoutOne(t *testing.T) {
	bubble(t, func(r *rig) {
		s := &informer.Factory{}
		shared := r.running(s)
		const hooks = 30
		var told [hooks]journal[error]
		var got said
		runs := []*running{r.running(informer.Share(s, r.things, informer.Options{Logger: got.logger()}))}
		first := make(chan string, 1)
		for n := range hooks {
			hook := func(err error) {
				told[n].add(err)
				if !errors.Is(err, apierrors.InternalError) { // the watch that is dropped is not logged yet
					return
				}
				select {
				case first <- fmt.Sprint(time.Since(got.start).Round(time.Second)):
				default:
				}
			}
			runs = append(runs, r.running(informer.Share(s, r.things, informer.Options{OnError: hook})))
		}
		r.on("watch", failure(500, "InternalError", ""))
		r.server.DropWatches()
		r.pass(5 * time.Second)
		if lines := got.with("InternalError"); len(lines) == 0 || !strings.HasPrefix(lines[0], <-first+" ") {
			r.Errorf("the first error is not logged for the user without a hook: %q", lines)
		}
		for n := range hooks {
			if len(told[n].list()) < 2 || len(told[n].list()) != len(told[0].list()) {
				r.Errorf("hook %d was told %v, the first one %v", n, told[n].list(), told[0].list())
			}
		}
		r.heal()
		for _, run := range runs {
			run.stop()
		}
		shared.stop()
	})
}

// fault F36: a user's Run returns after the handlers of the user that are being called, although the informer goes on for others.
func TestRunOfAUserReturnsAfterItsHandlers(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put("a")
		s := &informer.Factory{}
		shared, other := r.running(s), r.running(informer.Share(s, r.things, informer.Options{}))
		u := informer.Share(s, r.things, informer.Options{})
		ctx, cancel := context.WithCancel(r.Context())
		returned := false
		u.Subscribe(cache.HandlerFuncs[*Thing]{Add: func(*Thing) {
			cancel()
			<-time.After(time.Minute)
			returned = true
		}})
		if err := u.Run(ctx); err != nil || !returned {
			r.Errorf("Run returned %v, the handler has returned: %v", err, returned)
		}
		r.watches(1)
		other.stop()
		shared.stop()
	})
}

// A function of an index that panics does so in the Run of the Factory, where that can be recovered from. It did in a goroutine of
// its own, which ends the program.
func TestAPanicOfASharedInformer(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put("a")
		s := &informer.Factory{}
		bad, good := informer.Share(s, r.things, informer.Options{}), informer.Share(s, r.things, informer.Options{Namespace: "default"})
		poisoned := true
		cache.NewIndex(bad.Reader(), func(*Thing) []string {
			if poisoned {
				panic("no such key")
			}
			return nil
		})
		other := r.running(good)
		recovered := make(chan string)
		go func() {
			defer func() { recovered <- fmt.Sprint(recover()) }()
			_ = s.Run(r.Context())
		}()
		synctest.Wait() // a user of an informer that has not begun would wait for the next Run
		ended := make(chan error)
		go func() { ended <- bad.Run(r.Context()) }()
		r.says(<-ended, "run shared informer of configmaps", "the informer has panicked")
		r.says(errors.New(<-recovered), "no such key", "factory_test.go")
		r.watches(0)
		r.says(<-other.ended, "the Factory has been stopped")

		poisoned = false
		user := r.running(bad)
		shared := r.running(s)
		if err := bad.WaitSynced(r.Context()); err != nil || bad.Reader().Len() != 1 {
			r.Errorf("afterwards: %v, %v", bad.Status(), err)
		}
		user.stop()
		shared.stop()
	})
}

// behaviours 231, 234, 235: users come and go at any time, and the one that stays sees the truth.
func TestUsersComeAndGo(t *testing.T) {
	for _, grace := range []time.Duration{0, 5 * time.Millisecond} {
		bubble(t, func(r *rig) {
			r.put("a")
			s := &informer.Factory{Grace: grace}
			shared := r.running(s)
			done := make(chan struct{})
			for n := range 6 {
				go func() {
					defer func() { done <- struct{}{} }()
					for k := range 20 {
						u := informer.Share(s, r.things, informer.Options{})
						ctx, cancel := context.WithTimeout(r.Context(), time.Duration(1+(k*7+n*3)%11)*time.Millisecond)
						ended := make(chan error, 1)
						go func() { ended <- u.Run(ctx) }()
						if err := u.WaitSynced(ctx); err == nil && u.Reader().Len() == 0 && ctx.Err() == nil {
							r.Error("synced, and the cache is empty")
						}
						if err := <-ended; err != nil {
							r.Errorf("Run returned %v", err)
						}
						cancel()
						<-time.After(time.Duration((k*5+n)%13) * time.Millisecond)
					}
				}()
			}
			for range 6 {
				<-done
			}
			u := informer.Share(s, r.things, informer.Options{})
			w := &witness{t: r.T}
			u.Subscribe(w)
			user := r.running(u)
			if err := u.WaitSynced(r.Context()); err != nil {
				r.Error(err)
			}
			r.put("b")
			r.watches(1)
			if calls := w.told(); len(calls) != 2 {
				r.Errorf("told %q", calls)
			}
			user.stop()
			r.pass(time.Second)
			r.watches(0)
			shared.stop()
		})
	}
}
