package informer_test

import (
	"context"
	"errors"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
)

// Sources that change their objects, or leave some out.

// from makes an informer of another source than things.
func (r *rig) from(src informer.Source[*Thing], o informer.Options) *informed {
	i := r.informer(o)
	o.OnError = func(err error) {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.errors = append(i.errors, err)
	}
	i.Informer = informer.New(src, o)
	i.Subscribe(i.witness)
	return i
}

// started runs it until the end of the test, and waits until it is synced.
func (i *informed) started() *informed {
	i.r.Helper()
	i.run()
	i.r.Cleanup(i.stop)
	if err := i.WaitSynced(i.r.Context()); err != nil {
		i.r.Fatal(err)
	}
	synctest.Wait()
	return i
}

// calls counts the calls of a function by an object's name.
type calls struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *calls) count(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = make(map[string]int)
	}
	c.n[name]++
}

func (c *calls) are(r *rig, want map[string]int) {
	r.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !maps.Equal(c.n, want) {
		r.Errorf("calls: %v, want %v", c.n, want)
	}
}

func TestTransformIsCalledOnceForEachDecodedObject(t *testing.T) {
	for _, mode := range bothModes() {
		t.Run(mode.String(), func(t *testing.T) {
			bubble(t, func(r *rig) {
				r.put("a", "v", "1")
				r.put("b", "v", "1")
				var c calls
				i := r.from(informer.Transform(r.things, func(obj *Thing) *Thing {
					c.count(obj.Name)
					obj.Data["seen"] = obj.Data["v"]
					return obj
				}), informer.Options{Mode: mode}).started()
				c.are(r, map[string]int{"a": 1, "b": 1})
				r.put("a", "v", "2")
				synctest.Wait()
				c.are(r, map[string]int{"a": 2, "b": 1})
				i.relist()
				c.are(r, map[string]int{"a": 2, "b": 1, "other": 1})
				if obj, _ := i.Reader().Get(key("a")); obj == nil || obj.Data["seen"] != "2" {
					r.Errorf("the cache has %v", obj)
				}
				r.remove("b")
				synctest.Wait()
				c.are(r, map[string]int{"a": 2, "b": 2, "other": 1})
				i.tells("delete b")
			})
		})
	}
}

// A transform may blank what it likes: objects are known by what the server calls them.
// behaviour 269
func TestTransformMayBlankEverything(t *testing.T) {
	for _, mode := range bothModes() {
		t.Run(mode.String(), func(t *testing.T) {
			bubble(t, func(r *rig) {
				r.put("a", "v", "1")
				blank := informer.Transform(r.things, func(obj *Thing) *Thing { return &Thing{Data: obj.Data} })
				i := informer.New(blank, informer.Options{Mode: mode})
				x := r.running(i)
				holds := func(name, want string) {
					r.Helper()
					synctest.Wait()
					got := "nothing"
					if obj, ok := i.Reader().Get(key(name)); ok {
						got = obj.Data["v"]
					}
					if got != want {
						r.Errorf("the cache has %s as %s, want %s", name, got, want)
					}
				}
				holds("a", "1")
				r.put("a", "v", "2")
				r.put("b", "v", "1")
				holds("a", "2")
				holds("b", "1")
				r.server.DropWatches()
				r.remove("a")
				r.put("b", "v", "2")
				r.server.Compact()
				r.within(time.Minute, "relisted", func() bool { return i.Status().Relists[informer.Expired] == 1 })
				holds("a", "nothing")
				holds("b", "2")
				x.stop()
			})
		})
	}
}

// There is no object to change where one does not decode: the error stays what it was.
func TestTransformSkipsUndecodableObjects(t *testing.T) {
	modes(t, func(t *testing.T, mode informer.Mode) {
		bubble(t, func(r *rig) {
			r.put("bad", "bad", "1")
			i := r.from(informer.Transform(r.things, func(obj *Thing) *Thing {
				if obj == nil {
					r.Error("there is no object")
					obj = &Thing{}
				}
				return obj
			}), informer.Options{Mode: mode}).started()
			i.undecodable(1, "bad")
			r.put("later", "bad", "1")
			synctest.Wait()
			i.undecodable(2, "bad", "later")
		})
	})
}

// fails is a source whose first list is an error of its own.
type fails struct {
	informer.Source[*Thing]
	err    error
	listed bool
}

func (f *fails) ListEach(
	ctx context.Context, o client.ListOptions, reuse func(meta.Identity) (*Thing, bool), fn func(client.Item[*Thing]) error,
) (meta.ListMeta, error) {
	if !f.listed {
		f.listed = true
		return meta.ListMeta{}, f.err
	}
	return f.Source.ListEach(ctx, o, reuse, fn)
}

// A source whose request was cancelled, by whomever, has not listed.
func TestAListThatASourceCancelsIsMadeAgain(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put("a", "v", "1")
		i := r.from(&fails{Source: r.things, err: context.Canceled}, informer.Options{Mode: informer.Paged}).started()
		i.holds("a", "1")
		if got := i.reported(); len(got) != 1 || !errors.Is(got[0], context.Canceled) {
			r.Errorf("reported %v", got)
		}
	})
}

func TestTransformThatFailsFailsOneObject(t *testing.T) {
	errOdd := errors.New("odd")
	for _, test := range []struct {
		name string
		f    func(*Thing) *Thing
		want string
		is   error
	}{
		{"panics", func(*Thing) *Thing { panic("odd") }, "transform panicked: odd", nil},
		{"panics with an error", func(*Thing) *Thing { panic(errOdd) }, "transform panicked: odd", errOdd},
		{"returns nil", func(*Thing) *Thing { return nil }, "transform returned nil", nil},
	} {
		for _, mode := range bothModes() {
			t.Run(test.name+" "+mode.String(), func(t *testing.T) {
				bubble(t, func(r *rig) {
					r.put("good", "v", "1")
					r.put("odd", "v", "1")
					i := r.from(informer.Transform(r.things, func(obj *Thing) *Thing {
						if obj.Data["odd"] != "" {
							return test.f(obj)
						}
						return obj
					}), informer.Options{Mode: mode}).started()
					r.put("odd", "odd", "1")
					r.put("good", "v", "2")
					i.holds("odd", "1") // as it was last good
					check := func() {
						r.Helper()
						synctest.Wait()
						u := i.Status().Undecodable
						if len(u) != 1 || u[0].Identity.Key() != key("odd") || len(i.reported()) != 1 {
							r.Fatalf("status lists %v, reported %v", u, i.reported())
						}
						r.says(u[0], `decode "default/odd"`, test.want)
						if bad := (*client.DecodeError)(nil); !errors.As(u[0], &bad) || test.is != nil && !errors.Is(u[0], test.is) {
							r.Errorf("the error is %v", u[0].Err)
						}
						i.holds("good", "2")
					}
					check()
					r.put("odd", "v", "3")
					synctest.Wait()
					if n := len(i.Status().Undecodable); n != 0 {
						r.Errorf("%d do not decode", n)
					}
					i.holds("odd", "3")
				})
			})
		}
	}
}

// behaviour 241: what leaves the filter is deleted, what enters is added, and nobody hears of the rest.
func TestFilter(t *testing.T) {
	for _, mode := range bothModes() {
		t.Run(mode.String(), func(t *testing.T) {
			bubble(t, func(r *rig) {
				r.put("in", "keep", "1")
				r.put("out")
				var c calls
				i := r.from(informer.Filter(r.things, func(obj *Thing) bool {
					c.count(obj.Name)
					return obj.Data["keep"] != ""
				}), informer.Options{Mode: mode}).started()
				i.tells("add in")
				r.put("out", "v", "2")
				i.tells()
				r.put("out", "keep", "1")
				i.tells("add out")
				r.put("in")
				i.tells("delete in")
				r.remove("in")
				i.tells()
				c.are(r, map[string]int{"in": 3, "out": 3})
				// and through a relist
				r.server.DropWatches()
				r.put("out", "v", "3")
				r.put("new", "keep", "1")
				r.put("not")
				r.server.Compact()
				r.within(time.Minute, "relisted", func() bool { return i.Status().Relists[informer.Expired] == 1 })
				i.tells("add new", "delete out")
				i.relist()
				i.tells()
				i.keys("default/new")
				if version := i.Status().ResourceVersion; version != r.server.ResourceVersion() {
					r.Errorf("the cache is at %s, the server at %s", version, r.server.ResourceVersion())
				}
			})
		})
	}
}

// Wrappers compose: what is wrapped last is called last.
func TestFilterSeesTheTransformedObject(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put("a", "v", "1")
		r.put("b", "v", "2")
		src := informer.Transform(r.things, func(obj *Thing) *Thing { obj.Data["v"] += "x"; return obj })
		i := r.from(informer.Filter(src, func(obj *Thing) bool {
			if obj.Data["v"] == "3x" {
				panic("three")
			}
			return obj.Data["v"] == "1x"
		}), informer.Options{}).started()
		i.tells("add a")
		r.put("a", "v", "3")
		i.tells()
		i.holds("a", "1x")
		if u := i.Status().Undecodable; len(u) != 1 {
			r.Errorf("status lists %v", u)
		}
	})
}

// behaviour 266: one resource as several types side by side, each with what it asks for, through lists and watches.
func TestOneResourceHasInformersOfSeveralTypes(t *testing.T) {
	for _, mode := range bothModes() {
		t.Run(mode.String(), func(t *testing.T) {
			bubble(t, func(r *rig) {
				c, err := client.New(r.server.Config())
				if err != nil {
					r.Fatal(err)
				}
				r.Cleanup(c.Close)
				r.putLabelled("a", map[string]string{"l": "1"}, "v", "1")
				o := informer.Options{Mode: mode}
				raws := client.Type[*meta.Raw]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}
				whole := informer.New(r.things, o)
				partial := informer.New(client.Metadata(r.things), o)
				untyped := informer.New(r.raw, o)
				kept := informer.New(client.For(c, raws), o)
				x := r.running(informer.RunnerFunc(func(ctx context.Context) error { return informer.Run(ctx, whole, partial, untyped, kept) }))
				check := func(name, label, value string) {
					r.Helper()
					synctest.Wait()
					if obj, ok := whole.Reader().Get(key(name)); !ok || obj.Data["v"] != value {
						r.Errorf("typed: %v", obj)
					}
					if obj, ok := partial.Reader().Get(key(name)); !ok || obj.Labels["l"] != label || obj.Name != name {
						r.Errorf("metadata: %v", obj)
					}
					if obj, ok := untyped.Reader().Get(key(name)); !ok || obj.GetName() != name || obj.Object["data"].(map[string]any)["v"] != value {
						r.Errorf("unstructured: %v", obj)
					}
					obj, ok := kept.Reader().Get(key(name))
					if !ok {
						r.Fatal("raw: nothing")
					}
					if v, ok, err := meta.Nested[string](obj, "data", "v"); !ok || err != nil || v != value {
						r.Errorf("raw: %v %v %v", v, ok, err)
					}
				}
				check("a", "1", "1")
				r.putLabelled("a", map[string]string{"l": "2"}, "v", "2")
				r.putLabelled("b", map[string]string{"l": "3"}, "v", "3")
				check("a", "2", "2")
				check("b", "3", "3")
				r.server.DropWatches()
				r.putLabelled("b", map[string]string{"l": "4"}, "v", "4")
				r.remove("a")
				r.server.Compact()
				r.within(time.Minute, "all have relisted", func() bool {
					n := 0
					for _, s := range []informer.Status{whole.Status(), partial.Status(), untyped.Status(), kept.Status()} {
						n += s.Relists[informer.Expired]
					}
					return n == 4
				})
				check("b", "4", "4")
				if n := whole.Reader().Len() + partial.Reader().Len() + untyped.Reader().Len() + kept.Reader().Len(); n != 4 {
					r.Errorf("%d objects", n)
				}
				x.stop()
			})
		})
	}
}

func bothModes() []informer.Mode { return []informer.Mode{informer.Paged, informer.Streaming} }

// objectless is a source whose deletions have the identity alone, as a source of the program's may have.
type objectless struct{ informer.Source[*Thing] }

func (s objectless) WatchEach(
	ctx context.Context, o client.WatchOptions, reuse func(meta.Identity) (*Thing, bool), fn func(client.Event[*Thing]) error,
) error {
	return s.Source.WatchEach(ctx, o, reuse, func(e client.Event[*Thing]) error {
		if e.Type == client.Deleted {
			e.Object = nil
		}
		return fn(e)
	})
}

func TestTransformIsNotCalledWithoutAnObject(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put("a", "v", "1")
		var c calls
		i := r.from(informer.Transform[*Thing](objectless{r.things}, func(obj *Thing) *Thing {
			if obj == nil {
				t.Error("called with nil")
				return &Thing{}
			}
			c.count(obj.Name)
			return obj
		}), informer.Options{}).started()
		r.remove("a")
		synctest.Wait()
		c.are(r, map[string]int{"a": 1})
		i.tells("add a", "delete a")
	})
}
