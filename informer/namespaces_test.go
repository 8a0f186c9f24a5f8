package informer_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/clienttest"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/internal/filler"
)

// Several namespaces in one informer, and a set of them that changes.

// putIn creates an object in one of the namespaces that every server has: default, kube-public and kube-system.
func (r *rig) putIn(namespace, name string) {
	r.Helper()
	if _, err := r.raw.Create(r.Context(), unstructured(namespace, name, nil, nil)); err != nil {
		r.Fatal(err)
	}
}

// only answers requests about one namespace in another way; the empty one is that of requests about all.
func (r *rig) only(namespace string, h http.HandlerFunc) {
	r.server.Intercept(func(q *http.Request) http.HandlerFunc {
		if of := clienttest.RequestOf(q); of.Resource.Resource != "configmaps" || of.Key.Namespace != namespace {
			return nil
		}
		return h
	})
}

// set changes the namespaces, and lets that take effect.
func (i *informed) set(namespaces ...string) {
	i.r.Helper()
	if err := i.SetNamespaces(namespaces); err != nil {
		i.r.Fatal(err)
	}
	synctest.Wait()
}

// keys fails unless these objects are in the cache, and the handler knows the same.
func (i *informed) keys(want ...string) {
	i.r.Helper()
	synctest.Wait()
	var got []string
	for k := range i.held() {
		got = append(got, k.String())
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		i.r.Errorf("the cache holds %q, want %q", got, want)
	}
	if d := i.witness.difference(i.held()); d != "" {
		i.r.Error(d)
	}
}

// behaviour 265: several namespaces, each object of them once, and none of others.
func TestSeveralNamespaces(t *testing.T) {
	for _, mode := range []informer.Mode{informer.Auto, informer.Paged} {
		t.Run(mode.String(), func(t *testing.T) {
			bubble(t, func(r *rig) {
				r.putIn("default", "a")
				r.putIn("kube-public", "b")
				r.putIn("kube-system", "c")
				i := r.start(informer.Options{Namespaces: []string{"kube-system", "default"}, Mode: mode})
				i.keys("default/a", "kube-system/c")
				i.tells("add a", "add c")
				before := i.Status().ResourceVersion
				r.putIn("default", "d")
				r.putIn("kube-public", "e")
				r.putIn("kube-system", "f")
				i.keys("default/a", "default/d", "kube-system/c", "kube-system/f")
				i.tells("add d", "add f")
				s := i.Status()
				if !s.Synced || s.State != informer.Watching || s.Objects != 4 || s.ResourceVersion == before {
					r.Errorf("status is %v", s)
				}
				if len(s.Namespaces) != 2 || r.server.Watches() != 2 {
					r.Errorf("%d watches, and status is %v", r.server.Watches(), s)
				}
			})
		})
	}
}

// Whatever is wanted before, objects that stay are not told of again, and none from elsewhere is ever seen.
func TestSetNamespacesTellsDifferencesOnly(t *testing.T) {
	all := []string{"default", "kube-public", "kube-system"}
	for _, test := range []struct {
		name  string
		from  []string
		to    []string
		tells []string
		keys  []string
	}{
		{"one more", all[:1], all[:2], []string{"add b"}, []string{"default/a", "kube-public/b"}},
		{"one less", all[:2], all[:1], []string{"delete b"}, []string{"default/a"}},
		{"another", all[:1], all[1:2], []string{"add b", "delete a"}, []string{"kube-public/b"}},
		{"none any more", all, []string{}, []string{"delete a", "delete b", "delete c"}, nil},
		{"the first", []string{}, all[:1], []string{"add a"}, []string{"default/a"}},
		{"another, and one stays", all[:2], all[1:], []string{"add c", "delete a"}, []string{"kube-public/b", "kube-system/c"}},
		{"others", all[:2], all[2:], []string{"add c", "delete a", "delete b"}, []string{"kube-system/c"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, when := range []string{"during", "between"} {
				bubble(t, func(r *rig) {
					r.putIn("default", "a")
					r.putIn("kube-public", "b")
					r.putIn("kube-system", "c")
					i := r.informer(informer.Options{Namespaces: test.from})
					i.run()
					synctest.Wait()
					i.told()
					was := i.held()
					if when == "between" {
						i.stop()
						i.set(test.to...)
						for k := range i.held() {
							if !slices.Contains(test.to, k.Namespace) {
								r.Errorf("%v is still there", k)
							}
						}
						i.run()
						synctest.Wait()
					} else {
						i.set(test.to...)
					}
					if err := i.WaitSynced(r.Context()); err != nil {
						r.Error(err)
					}
					i.keys(test.keys...)
					i.tells(test.tells...)
					for k, obj := range i.held() {
						if old := was[k]; old != nil && old != obj {
							r.Errorf("%v is another object than before", k)
						}
					}
					r.putIn("default", "x")
					r.putIn("kube-public", "y")
					r.putIn("kube-system", "z")
					var want []string
					for n, ns := range all {
						if slices.Contains(test.to, ns) {
							want = append(want, "add "+string("xyz"[n]))
						}
					}
					i.tells(want...)
					i.stop()
				})
			}
		})
	}
}

// Once SetNamespaces has returned, WaitSynced waits for what it has added, also for a namespace that was followed before: its
// objects have left the cache since. A caller that asks at once, before Run has done anything about it, gets no other answer.
func TestWaitSyncedRightAfterSetNamespaces(t *testing.T) {
	bubble(t, func(r *rig) {
		r.putIn("default", "a")
		r.putIn("kube-public", "b")
		r.putIn("kube-system", "c")
		i := r.start(informer.Options{Namespaces: []string{"default", "kube-public"}})
		for range 3 {
			// No list comes before the question is asked, however quick Run is.
			asked := make(chan struct{})
			r.server.Intercept(func(q *http.Request) http.HandlerFunc {
				if collects(q) {
					<-asked
				}
				return nil
			})
			if err := i.SetNamespaces([]string{"default", "kube-public", "kube-system"}); err != nil {
				r.Fatal(err)
			}
			if i.Status().Synced || i.Unsynced() == nil {
				r.Error("it counts as synced before the namespace that was added has been listed")
			}
			close(asked)
			if err := i.WaitSynced(r.Context()); err != nil {
				r.Error(err)
			}
			if n := i.Reader().Len(); n != 3 {
				r.Errorf("it is synced with %d objects, want 3", n)
			}
			i.set("default", "kube-public")
			i.keys("default/a", "kube-public/b")
		}
	})
}

// Objects that do not decode leave Status with their namespace.
func TestUndecodableObjectsGoWithTheirNamespace(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put("bad", "bad", "yes")
		r.putIn("kube-system", "c")
		i := r.start(informer.Options{Namespaces: []string{"default", "kube-public", "kube-system"}})
		if bad := i.Status().Undecodable; len(bad) != 1 || bad[0].Identity.Key() != key("bad") {
			r.Errorf("the undecodable objects are %v", bad)
		}
		i.set("kube-public", "kube-system")
		if bad := i.Status().Undecodable; len(bad) != 0 {
			r.Errorf("the undecodable objects are %v, and their namespace has gone", bad)
		}
		i.relisted(nil)
	})
}

// An error of one namespace does not stop the others, and everybody can see whose it is.
func TestANamespaceThatIsRefused(t *testing.T) {
	bubble(t, func(r *rig) {
		r.putIn("default", "a")
		r.putIn("kube-system", "b")
		r.only("kube-system", failure(403, "Forbidden", "not you"))
		i := r.informer(informer.Options{Namespaces: []string{"default", "kube-system"}})
		i.run()
		defer i.stop()
		ctx, cancel := timeout(r, time.Minute)
		defer cancel()
		err := i.WaitSynced(ctx)
		r.says(err, "sync configmaps", "context deadline exceeded; 1 of 2 namespaces not synced: ", `"kube-system" (Waiting, last error: `, "not you")
		if !errors.Is(err, apierrors.Forbidden) || strings.Contains(err.Error(), `"default"`) {
			r.Errorf("the error is %v", err)
		}
		i.keys("default/a")
		s := i.Status()
		if s.Synced || s.State != informer.Waiting || !errors.Is(s.Err, apierrors.Forbidden) ||
			!s.Namespaces["default"].Synced || s.Namespaces["default"].Err != nil || s.Namespaces["kube-system"].Synced {
			r.Errorf("status is %v", s)
		}
		r.says(errors.New(s.String()), "unsynced=kube-system")
		for ns, want := range map[string]string{
			"default": "true true", "kube-system": "false true", "kube-public": "false false", "": "false false",
		} {
			if got := fmt.Sprint(filler.Of(i).ListedIn(ns)); got != want {
				r.Errorf("listed and followed, of %q: %s, want %s", ns, got, want)
			}
		}
		if got := fmt.Sprint(filler.Of(r.informer(informer.Options{})).ListedIn("default")); got != "false true" {
			r.Errorf("an informer of all namespaces that does not run: %s", got)
		}
		r.heal()
		if err := i.WaitSynced(r.Context()); err != nil {
			r.Error(err)
		}
		i.keys("default/a", "kube-system/b")

		// One that is not wanted any more is not waited for.
		r.only("kube-public", failure(403, "Forbidden", ""))
		i.set("default", "kube-public")
		if i.Status().Synced {
			r.Error("it counts as synced")
		}
		i.set("default")
		if err := i.WaitSynced(r.Context()); err != nil {
			r.Error(err)
		}
		if got := fmt.Sprint(filler.Of(i).ListedIn("kube-public")); got != "true false" { // all that it follows
			r.Errorf("one that is not wanted any more: %s", got)
		}
	})
}

func TestNoNamespacesAreSyncedAndEmpty(t *testing.T) {
	bubble(t, func(r *rig) {
		r.putIn("default", "a")
		i := r.informer(informer.Options{Namespaces: []string{}})
		if err := i.WaitSynced(r.Context()); err != nil {
			r.Error(err)
		}
		i.run()
		sub := i.Subscribe(cache.HandlerFuncs[*Thing]{})
		if err := sub.WaitSynced(r.Context()); err != nil {
			r.Error(err)
		}
		synctest.Wait()
		if s := i.Status(); !s.Synced || s.State != informer.Watching || r.requests("list")+r.requests("watch") != 0 {
			r.Errorf("status is %v", s)
		}
		i.keys()
		i.stop()
	})
}

func TestInvalidNamespacesAreRefused(t *testing.T) {
	for _, test := range []struct {
		name string
		o    informer.Options
		want string
	}{
		{"twice", informer.Options{Namespaces: []string{"a", "b", "a"}}, `Namespaces[2] duplicates Namespaces[0] ("a")`},
		{"no name", informer.Options{Namespaces: []string{"a", ""}}, "Namespaces[1] must not be empty"},
		{"a path", informer.Options{Namespaces: []string{"a/b"}}, "Namespaces[0] must be one path segment"},
		{"both", informer.Options{Namespace: "a", Namespaces: []string{"b"}}, "Namespace and Namespaces exclude each other"},
		{"no such mode", informer.Options{Mode: 9}, "Mode must be Auto, Paged or Streaming"},
		{"a negative sample", informer.Options{CheckMutations: -1}, "CheckMutations must be 0 (off) or more"},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(r *rig) {
				r.says(informer.New(r.things, test.o).Run(r.Context()), "run informer of configmaps", "informer.Options: "+test.want)
			})
		})
	}
	bubble(t, func(r *rig) {
		i := r.start(informer.Options{Namespaces: []string{"default"}})
		r.says(i.SetNamespaces([]string{"x", "x"}), "set namespaces of informer of configmaps", `: namespaces[1] duplicates namespaces[0] ("x")`)
		r.says(i.SetNamespaces([]string{".."}), "namespaces[0] must not be")
		if n := len(i.Status().Namespaces); n != 1 {
			r.Errorf("%d namespaces", n)
		}
		r.says(informer.New(r.things, informer.Options{}).SetNamespaces(nil), "Namespaces must not be nil")
	})
}

// A namespace that was given up while its first list was being put into the cache counted as listed when it was wanted the
// next time: the list came in between the decision to give it up and the end of its watch.
func TestAListThatComesTooLateDoesNotCount(t *testing.T) {
	bubble(t, func(r *rig) {
		r.putIn("default", "a")
		r.putIn("kube-system", "b")
		i := r.informer(informer.Options{Namespaces: []string{"default"}})
		listed, proceed := make(chan struct{}), make(chan struct{})
		ix := cache.NewIndex(i.Reader(), func(obj *Thing) []string {
			if obj.Name == "b" {
				close(listed)
				<-proceed
			}
			return nil
		})
		i.run()
		defer i.stop()
		if err := i.WaitSynced(r.Context()); err != nil {
			r.Fatal(err)
		}
		// The index holds the cache's lock while it waits. In a bubble nobody may wait for a lock meanwhile, as no
		// synctest.Wait would return: delivery, which takes the lock when it begins, has to have begun.
		synctest.Wait()
		i.set("default", "kube-system")
		<-listed
		i.set("default")
		close(proceed)
		synctest.Wait()
		ix.Close()
		i.keys("default/a")
		r.only("kube-system", failure(403, "Forbidden", "not you"))
		i.set("default", "kube-system")
		ctx, cancel := timeout(r, time.Minute)
		defer cancel()
		r.says(i.WaitSynced(ctx), `"kube-system" (Waiting, last error: `)
		r.heal()
		if err := i.WaitSynced(r.Context()); err != nil {
			r.Error(err)
		}
		i.keys("default/a", "kube-system/b")
	})
}

// OnError may call SetNamespaces. Where the mutation check found something in the course of a SetNamespaces outside of Run,
// that was a deadlock.
func TestSetNamespacesFromOnErrorOfSetNamespaces(t *testing.T) {
	bubble(t, func(r *rig) {
		r.putIn("default", "a")
		r.putIn("kube-system", "b")
		var (
			i    *informer.Informer[*Thing]
			errs []error
		)
		i = informer.New(r.things, informer.Options{Namespaces: []string{"default"}, CheckMutations: 1, OnError: func(err error) {
			errs = append(errs, err, i.SetNamespaces([]string{"kube-system"}))
		}})
		run := r.running(i)
		run.stop()
		for obj := range i.Reader().All() {
			obj.Labels = map[string]string{"changed": "yes"}
		}
		if err := i.SetNamespaces(nil); err != nil {
			r.Error(err)
		}
		if found := (*cache.MutationError)(nil); len(errs) != 2 || !errors.As(errs[0], &found) || errs[1] != nil {
			r.Errorf("errors: %v", errs)
		}
		run = r.running(i)
		if s := i.Status(); !s.Synced || s.Objects != 1 || len(s.Namespaces) != 1 || s.Namespaces["kube-system"].Objects != 1 {
			r.Errorf("status is %v", s)
		}
		run.stop()
	})
}

// Each namespace is resumed where it was.
func TestRunAgainResumesEachNamespace(t *testing.T) {
	bubble(t, func(r *rig) {
		r.putIn("default", "a")
		i := r.informer(informer.Options{Namespaces: []string{"default", "kube-system"}})
		i.run()
		synctest.Wait()
		i.stop()
		r.putIn("default", "b")
		r.putIn("kube-system", "c")
		i.run()
		i.keys("default/a", "default/b", "kube-system/c")
		i.relisted(nil)
		if n := i.Status().Lists; n != 2 {
			r.Errorf("%d lists", n)
		}
		i.stop()
	})
}

// The set may change all the time, from anywhere; what counts in the end is the last one.
func TestNamespacesChangeAllTheTime(t *testing.T) {
	sets := [][]string{{"default"}, {"default", "kube-system"}, {}, {"default", "kube-system", "kube-public"}, {"kube-public"}}
	bubble(t, func(r *rig) {
		r.putIn("default", "a")
		r.putIn("kube-public", "b")
		r.putIn("kube-system", "c")
		i := r.informer(informer.Options{Namespaces: sets[0]})
		i.run()
		for n := range 60 {
			if err := i.SetNamespaces(sets[n*n%len(sets)]); err != nil {
				r.Fatal(err)
			}
			switch n % 7 {
			case 2:
				synctest.Wait()
			case 3:
				r.pass(time.Millisecond)
			case 5:
				i.stop()
				i.run()
			}
		}
		i.set("default", "kube-public")
		if err := i.WaitSynced(r.Context()); err != nil {
			r.Error(err)
		}
		i.keys("default/a", "kube-public/b")
		i.stop()
	})
}
