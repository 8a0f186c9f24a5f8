package informer_test

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/internal/filler"
	"github.com/bowline-go/bowline/internal/follow"
	"github.com/bowline-go/bowline/internal/store"
	"github.com/bowline-go/bowline/patch"
)

// lagging runs f with a rig whose watches stand still until release is called, while its writes reach the server.
func lagging(t *testing.T, f func(r *rig, lag, release func())) {
	t.Helper()
	bubbleOf(t, clienttest.Options{Replicas: 1}, func(r *rig) {
		f(r, func() { synctest.Wait(); r.server.Replica(0).SetLag(math.MaxInt, 0) },
			func() { r.server.Replica(0).SetLag(0, 0); synctest.Wait() })
	})
}

// wrote returns the one write of f.
func (r *rig) wrote(f func(ctx context.Context) error) follow.Write {
	r.Helper()
	var all []follow.Write
	ctx := follow.Writes(r.Context(), func(w follow.Write) { all = append(all, w) })
	if err := f(ctx); err != nil || len(all) != 1 {
		r.Fatalf("%d writes, %v", len(all), err)
	}
	return all[0]
}

// label sets the labels of a thing.
func (r *rig) label(name string, labels map[string]any) follow.Write {
	r.Helper()
	return r.wrote(func(ctx context.Context) error {
		_, err := r.things.Patch(ctx, key(name), patch.Merge(map[string]any{"metadata": map[string]any{"labels": labels}}))
		return err
	})
}

func (r *rig) deletion(name string) follow.Write {
	r.Helper()
	return r.wrote(func(ctx context.Context) error { return r.things.Delete(ctx, key(name), client.DeleteOptions{}) })
}

// deletionAt is a deletion whose version the server has said.
func (r *rig) deletionAt(name string) follow.Write {
	r.Helper()
	w := r.deletion(name)
	w.DeletedAt = r.server.ResourceVersion()
	return w
}

// awaits says how often f of AfterWrite has been called.
func awaits(i any, w follow.Write) *int {
	n := new(int)
	filler.Of(i).AfterWrite(w, func(bool) { *n++ })
	return n
}

func TestAfterWriteIsCalledWhenTheWriteIsInTheCache(t *testing.T) {
	app := map[string]any{"app": "web"}
	for _, test := range []struct {
		name   string
		o      informer.Options
		writes []func(r *rig) follow.Write // the last is waited for
		there  string                      // the label x of the object in the cache; "-" without the object
		atOnce bool
		absent bool // it is not there, and need not be waited for
	}{
		{"a change", informer.Options{}, []func(*rig) follow.Write{
			func(r *rig) follow.Write { return r.label("a", map[string]any{"x": "1"}) },
		}, "1", false, false},
		{"the last of several", informer.Options{Namespace: "default"}, []func(*rig) follow.Write{
			func(r *rig) follow.Write { return r.label("a", map[string]any{"x": "1"}) },
			func(r *rig) follow.Write { return r.label("b", map[string]any{"x": "2"}) },
			func(r *rig) follow.Write { return r.label("a", map[string]any{"x": "3"}) },
		}, "3", false, false},
		{"a change that changes nothing", informer.Options{}, []func(*rig) follow.Write{
			func(r *rig) follow.Write { return r.label("a", app) },
		}, "", true, false},
		{"a deletion", informer.Options{}, []func(*rig) follow.Write{
			func(r *rig) follow.Write { return r.deletion("a") },
		}, "-", false, false},
		{"a deletion whose version the server says", informer.Options{}, []func(*rig) follow.Write{
			func(r *rig) follow.Write { return r.deletionAt("a") },
		}, "-", false, false},
		{"a deletion of what was never in the selector", informer.Options{LabelSelector: "app=db"}, []func(*rig) follow.Write{
			func(r *rig) follow.Write { return r.deletionAt("a") },
		}, "-", false, true},
		{"a deletion that waits for a finalizer", informer.Options{}, []func(*rig) follow.Write{
			func(r *rig) follow.Write {
				if _, err := r.things.AddFinalizer(r.Context(), key("a"), "example.com/x", meta.FinalizerOptions{}); err != nil {
					r.Fatal(err)
				}
				return r.deletion("a")
			},
		}, "", false, false},
		{"a deletion and a new object", informer.Options{}, []func(*rig) follow.Write{
			func(r *rig) follow.Write { return r.deletion("a") },
			func(r *rig) follow.Write {
				return r.wrote(func(ctx context.Context) error {
					_, err := r.things.Create(ctx, &Thing{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a", Labels: map[string]string{"x": "9"}}})
					return err
				})
			},
		}, "9", false, false},
		{"it leaves the selector", informer.Options{LabelSelector: "app=web"}, []func(*rig) follow.Write{
			func(r *rig) follow.Write { return r.label("a", map[string]any{"app": "db"}) },
		}, "-", false, false},
		{"it was never in the selector", informer.Options{LabelSelector: "app=db"}, []func(*rig) follow.Write{
			func(r *rig) follow.Write { return r.label("a", map[string]any{"x": "1"}) },
		}, "-", false, true},
		{"it comes into the selector", informer.Options{LabelSelector: "app=db"}, []func(*rig) follow.Write{
			func(r *rig) follow.Write { return r.label("a", map[string]any{"app": "db", "x": "1"}) },
		}, "1", false, false},
		{"it comes into the selector and leaves it", informer.Options{LabelSelector: "app=db"}, []func(*rig) follow.Write{
			func(r *rig) follow.Write { return r.label("a", map[string]any{"app": "db"}) },
			func(r *rig) follow.Write { return r.label("a", app) },
		}, "-", false, false},
		{"a field that is another", informer.Options{FieldSelector: "metadata.name=b"}, []func(*rig) follow.Write{
			func(r *rig) follow.Write { return r.label("a", map[string]any{"x": "1"}) },
		}, "-", false, true},
		{"a field that must be another", informer.Options{FieldSelector: "metadata.name!=a"}, []func(*rig) follow.Write{
			func(r *rig) follow.Write { return r.label("a", map[string]any{"x": "1"}) },
		}, "-", false, true},
		{"a field that is right", informer.Options{FieldSelector: "metadata.name=a"}, []func(*rig) follow.Write{
			func(r *rig) follow.Write { return r.label("a", map[string]any{"x": "1"}) },
		}, "1", false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			lagging(t, func(r *rig, lag, release func()) {
				r.putLabelled("a", map[string]string{"app": "web"})
				r.putLabelled("b", nil)
				i := r.start(test.o)
				lag()
				var last *int
				var sight *store.Sight
				for _, write := range test.writes {
					n := new(int)
					last, sight = n, filler.Of(i).AfterWrite(write(r), func(bool) { *n++ })
				}
				if test.atOnce != (*last == 1) || test.absent != sight.Absent() {
					t.Fatalf("called %d times at first, want at once: %v, absent: %v", *last, test.atOnce, sight.Absent())
				}
				r.pass(time.Second)
				release()
				if test.absent {
					r.server.Bookmark()
					synctest.Wait()
				}
				there := "-"
				if obj, ok := i.Reader().Get(key("a")); ok {
					there = obj.Labels["x"]
				}
				if *last != 1 || there != test.there {
					t.Errorf("called %d times, and the cache has %q, want %q", *last, there, test.there)
				}
			})
		})
	}
}

func TestAfterWriteOfObjectsOutsideTheInformer(t *testing.T) {
	lagging(t, func(r *rig, lag, release func()) {
		i := r.start(informer.Options{Namespaces: []string{"default", "kube-system"}})
		lag()
		w := r.wrote(func(ctx context.Context) error {
			_, err := r.things.Create(ctx, &Thing{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a"}})
			return err
		})
		otherVersion, otherResource, otherGroup, otherServer, otherNamespace, unordered := w, w, w, w, w, w
		unordered.ResourceVersion = "x"
		otherVersion.Resource.Version = "v2"
		otherResource.Resource.Resource = "secrets"
		otherGroup.Resource.Group = "example.com"
		otherServer.Server = "https://other.example.com"
		otherNamespace.Key.Namespace = "kube-public"
		idle := informer.New(r.things, informer.Options{})
		for _, test := range []struct {
			name string
			i    any
			w    follow.Write
			want int
		}{
			{"the write", i, w, 0},
			{"another version of the API", i, otherVersion, 0},
			{"another resource", i, otherResource, 1},
			{"another group", i, otherGroup, 1},
			{"another server", i, otherServer, 1},
			{"another namespace", i, otherNamespace, 1},
			{"an informer that does not run", idle, w, 1},
			{"an informer that does not run, of a version without order", idle, unordered, 1},
			{"an informer without a source", informer.New[*Thing](nil, informer.Options{}), w, 1},
			{"a source that does not name its server", run(r, plain{r.things}), otherServer, 0},
		} {
			if n := awaits(test.i, test.w); *n != test.want {
				t.Errorf("%s: called %d times, want %d", test.name, *n, test.want)
			}
		}
		release()
	})
}

// plain is a source of the user's.
type plain struct{ informer.Source[*Thing] }

// run runs an informer of a source until the end of the test.
func run(r *rig, src informer.Source[*Thing]) *informer.Informer[*Thing] {
	i := informer.New(src, informer.Options{})
	ctx, cancel := context.WithCancel(r.Context())
	ended := make(chan error)
	go func() { ended <- i.Run(ctx) }()
	r.Cleanup(func() { cancel(); <-ended })
	synctest.Wait()
	return i
}

// Nobody waits for an informer that has ended, or for a namespace that has been removed.
func TestAfterWriteEndsWithTheInformerAndTheNamespace(t *testing.T) {
	lagging(t, func(r *rig, lag, release func()) {
		i := r.informer(informer.Options{Namespaces: []string{"default", "kube-system"}})
		i.run()
		lag()
		in := func(ns string) follow.Write {
			return r.wrote(func(ctx context.Context) error {
				_, err := r.things.Create(ctx, &Thing{ObjectMeta: meta.ObjectMeta{Namespace: ns, Name: "a"}})
				return err
			})
		}
		stays, leaves := in("default"), in("kube-system")
		first, second := awaits(i, stays), awaits(i, leaves)
		stopped := 0
		sight := filler.Of(i).AfterWrite(stays, func(bool) { stopped++ })
		i.set("default")
		synctest.Wait()
		if *first != 0 || *second != 1 {
			t.Errorf("after the removal of a namespace: called %d and %d times", *first, *second)
		}
		if n := awaits(i, leaves); *n != 1 {
			t.Error("a namespace that has left is waited for")
		}
		if !sight.Stop() {
			t.Error("it could not be stopped")
		}
		i.stop()
		if *first != 1 || *second != 1 || stopped != 0 {
			t.Errorf("after the end: called %d and %d times", *first, *second)
		}
		release()
	})
}

func TestAfterWriteOfASharedInformer(t *testing.T) {
	lagging(t, func(r *rig, lag, release func()) {
		f := &informer.Factory{}
		u := informer.Share(f, r.things, informer.Options{})
		ctx, cancel := context.WithCancel(r.Context())
		ended := make(chan error)
		go func() { ended <- informer.Run(ctx, f, u) }()
		synctest.Wait()
		lag()
		r.putLabelled("a", nil)
		n := awaits(u, r.label("a", map[string]any{"x": "1"}))
		if *n != 0 {
			t.Error("called at once")
		}
		release()
		if *n != 1 {
			t.Errorf("called %d times", *n)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
