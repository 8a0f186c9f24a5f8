package informer_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
)

// Reading what one has written, and what is said about a cache.

func TestWaitForAWrite(t *testing.T) {
	bubble(t, func(r *rig) {
		o := informer.Options{Namespaces: []string{"default", "kube-system"}}
		i := r.start(o)
		for n := range 20 {
			obj, err := r.things.Create(r.Context(), &Thing{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: fmt.Sprint("t", n)}})
			if err != nil {
				r.Fatal(err)
			}
			if err := i.WaitFor(r.Context(), meta.KeyOf(obj), obj.ResourceVersion); err != nil {
				r.Fatal(err)
			}
			if _, ok := i.Reader().Get(meta.KeyOf(obj)); !ok {
				r.Fatalf("write %d is not there", n)
			}
		}

		// The watch lags: it is waited for, and a deletion counts.
		hold := make(chan struct{})
		r.on("watch", func(_ http.ResponseWriter, q *http.Request) {
			select {
			case <-hold:
			case <-q.Context().Done():
			}
		})
		r.server.DropWatches()
		synctest.Wait()
		obj, err := r.things.Create(r.Context(), &Thing{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "late"}})
		if err != nil {
			r.Fatal(err)
		}
		ctx, cancel := timeout(r, time.Second)
		defer cancel()
		err = i.WaitFor(ctx, key("late"), obj.ResourceVersion)
		r.says(err, "wait", "default/late", obj.ResourceVersion, "deadline exceeded")
		r.remove("late")
		r.heal()
		close(hold)
		began := time.Now()
		if err := i.WaitFor(r.Context(), key("late"), obj.ResourceVersion); err != nil {
			r.Error(err)
		}
		if d := time.Since(began); d > time.Minute {
			r.Errorf("it took %v", d)
		}
		if err := i.WaitFor(r.Context(), key("late"), "not-a-number"); err != nil {
			r.Errorf("a version that cannot be ordered: %v", err)
		}
	})
}

// The watches of other namespaces have passed the version of a write in one that nobody wants yet. That does not mean that the
// cache has it once the namespace is wanted.
func TestWaitForInANamespaceThatWasAdded(t *testing.T) {
	modes(t, func(t *testing.T, mode informer.Mode) {
		bubble(t, func(r *rig) {
			r.putIn("default", "old")
			i := r.start(informer.Options{Namespaces: []string{"default", "kube-system"}, Mode: mode})
			for n := range 2 { // also when it has left and comes back
				r.putIn("kube-public", fmt.Sprint("x", n))
				wrote, err := r.raw.Get(r.Context(), meta.Key{Namespace: "kube-public", Name: fmt.Sprint("x", n)})
				if err != nil {
					r.Fatal(err)
				}
				r.putIn("default", fmt.Sprint("later", n))
				synctest.Wait() // a watch has passed the version of x
				old, ok := i.Reader().Get(key("old"))
				if !ok {
					r.Fatal("the cache lacks an object")
				}
				if err := i.SetNamespaces([]string{"default", "kube-system", "kube-public"}); err != nil {
					r.Fatal(err)
				}
				began := time.Now()
				if err := i.WaitFor(r.Context(), key("old"), old.ResourceVersion); err != nil || time.Since(began) > 0 {
					r.Errorf("a namespace that was there before is waited for: %v, %v", time.Since(began), err)
				}
				ctx, cancel := timeout(r, time.Minute)
				defer cancel()
				if err := i.WaitFor(ctx, meta.KeyOf(wrote), wrote.GetResourceVersion()); err != nil {
					r.Fatal(err)
				}
				if _, ok := i.Reader().Get(meta.KeyOf(wrote)); !ok {
					r.Errorf("WaitFor has returned, and the cache does not have %v", meta.KeyOf(wrote))
				}
				i.set("default", "kube-system")
			}
		})
	})
}

func TestWaitForRefusesAKeyOutsideTheInformer(t *testing.T) {
	bubble(t, func(r *rig) {
		elsewhere := meta.Key{Namespace: "kube-public", Name: "x"}
		one := informer.New(r.things, informer.Options{Namespace: "default"})
		r.says(one.WaitFor(r.Context(), elsewhere, "1"), `"kube-public/x"`, `the informer covers namespace "default" only`)
		some := informer.New(r.things, informer.Options{Namespaces: []string{"default"}})
		r.says(some.WaitFor(r.Context(), elsewhere, "1"), `namespace "kube-public" is not among the 1 that the informer covers`)
		s := &informer.Factory{}
		u := informer.Share(s, r.things, informer.Options{Namespace: "default"})
		r.says(u.WaitFor(r.Context(), elsewhere, "1"), "covers namespace")
	})
}

// behaviour 260: who changes an object of the cache is found out.
func TestMutationsAreReported(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put("a", "v", "1")
		r.put("b", "v", "1")
		i := r.informer(informer.Options{CheckMutations: 1})
		i.run()
		r.pass(2 * time.Minute)
		if all := i.reported(); len(all) != 0 {
			r.Errorf("reported %v", all)
		}
		// Changed while nothing runs, so that the test itself is free of races.
		spoil := func(name string) {
			i.stop()
			obj, _ := i.Reader().Get(key(name))
			obj.Data["v"] = "2"
		}
		found := func(n int, name string) {
			r.Helper()
			mutation := (*cache.MutationError)(nil)
			if all := i.reported(); len(all) != n || !errors.As(all[n-1], &mutation) || mutation.Key != key(name) {
				r.Errorf("reported %v, want %d with %s", all, n, name)
			}
		}
		spoil("a")
		i.run()
		r.pass(2 * time.Minute)
		found(1, "a")

		spoil("b")
		r.put("c")
		r.server.Compact()
		i.run()
		r.within(10*time.Second, "relisted", func() bool { return i.Status().Relists[informer.Expired] == 1 })
		i.stop()
		mutation := (*cache.MutationError)(nil)
		all := i.reported() // the version that has expired is among them
		if !slices.ContainsFunc(all, func(err error) bool { return errors.As(err, &mutation) && mutation.Key == key("b") }) {
			r.Errorf("reported %v", all)
		}
	})
}
