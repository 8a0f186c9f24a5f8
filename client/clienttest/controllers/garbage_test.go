package controllers

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

var (
	configMaps = client.Type[*meta.Unstructured]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}
	secrets    = client.Type[*meta.Unstructured]{Version: "v1", Kind: "Secret", Resource: "secrets"}
	classes    = client.Type[*meta.Unstructured]{Group: "node.k8s.io", Version: "v1", Kind: "RuntimeClass", Resource: "runtimeclasses", Scope: meta.Cluster}
	namespaces = client.Type[*meta.Unstructured]{Version: "v1", Kind: "Namespace", Resource: "namespaces", Scope: meta.Cluster}
	crds       = client.Type[*meta.Unstructured]{
		Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition", Resource: "customresourcedefinitions", Scope: meta.Cluster,
	}
)

// world is a server with the garbage collector, in a bubble of synctest.
type world struct {
	*testing.T
	server *clienttest.Server
	c      *client.Client
}

func inWorld(t *testing.T, o clienttest.Options, do func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{T: t, server: clienttest.Start(t, o)}
		c, err := client.New(w.server.Config())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		w.c = c
		do(w)
	})
}

// create creates an object, with the given owners. name may begin with a namespace and a slash.
func (w *world) create(t client.Type[*meta.Unstructured], name string, owners ...meta.OwnerReference) *meta.Unstructured {
	w.Helper()
	o := &meta.Unstructured{Object: map[string]any{"apiVersion": t.GVK().APIVersion(), "kind": t.Kind}}
	if t.Kind == "RuntimeClass" {
		o.Object["handler"] = "none"
	}
	if t.Scope == meta.Namespaced {
		namespace, rest, found := strings.Cut(name, "/")
		if !found {
			namespace, rest = "default", name
		}
		o.SetNamespace(namespace)
		name = rest
	}
	o.SetName(name)
	o.SetOwnerReferences(owners)
	made, err := client.For(w.c, t).Create(w.Context(), o)
	if err != nil {
		w.Fatal(err)
	}
	return made
}

// ref returns a reference to an object.
func ref(o *meta.Unstructured) meta.OwnerReference {
	return meta.OwnerReference{APIVersion: o.GVK().APIVersion(), Kind: o.GVK().Kind, Name: o.GetName(), UID: o.GetUID()}
}

// block returns a reference that blocks the owner's deletion.
func block(o *meta.Unstructured) meta.OwnerReference {
	r := ref(o)
	r.BlockOwnerDeletion = new(true)
	return r
}

func typeOf(o *meta.Unstructured) client.Type[*meta.Unstructured] {
	for _, t := range []client.Type[*meta.Unstructured]{configMaps, secrets, classes, crds, namespaces, pages} {
		if t.Kind == o.GVK().Kind {
			return t
		}
	}
	panic("no type of " + o.GVK().Kind)
}

var pages = client.Type[*meta.Unstructured]{Group: "example.com", Version: "v1", Kind: "Page", Resource: "pages"}

func (w *world) delete(o *meta.Unstructured, p client.Propagation) {
	w.Helper()
	if err := client.For(w.c, typeOf(o)).Delete(w.Context(), meta.KeyOf(o), client.DeleteOptions{Propagation: p}); err != nil {
		w.Fatal(err)
	}
}

func (w *world) hold(o *meta.Unstructured) {
	w.Helper()
	if _, err := client.For(w.c, typeOf(o)).AddFinalizer(w.Context(), meta.KeyOf(o), "example.com/hold", meta.FinalizerOptions{}); err != nil {
		w.Fatal(err)
	}
}

func (w *world) letGo(o *meta.Unstructured) {
	w.Helper()
	if _, err := client.For(w.c, typeOf(o)).RemoveFinalizer(w.Context(), meta.KeyOf(o), "example.com/hold", meta.FinalizerOptions{}); err != nil {
		w.Fatal(err)
	}
}

// state says what has become of an object: "gone", or the names of its owners, and its finalizers if it is being deleted.
func (w *world) state(o *meta.Unstructured) string {
	w.Helper()
	now, err := client.For(w.c, typeOf(o)).Get(w.Context(), meta.KeyOf(o))
	if errors.Is(err, apierrors.NotFound) {
		return "gone"
	} else if err != nil {
		w.Fatal(err)
	}
	var owners []string
	for _, r := range now.GetOwnerReferences() {
		owners = append(owners, r.Name)
	}
	slices.Sort(owners)
	text := fmt.Sprint("of ", owners)
	if meta.IsDeleting(now) {
		text += fmt.Sprint(" waits for ", now.GetFinalizers())
	}
	return text
}

// want waits until the controllers rest, and compares the states of objects, by name.
func (w *world) want(states map[*meta.Unstructured]string) {
	w.Helper()
	synctest.Wait()
	for o, want := range states {
		if got := w.state(o); got != want {
			w.Errorf("%s %s is %s, want %s", o.GVK().Kind, meta.KeyOf(o), got, want)
		}
	}
}

func (w *world) collect() {
	w.Helper()
	Start(w, w.server.Config(), GarbageCollector())
	synctest.Wait()
}

func TestDependentsGoWithTheirLastOwner(t *testing.T) {
	inWorld(t, clienttest.Options{}, func(w *world) {
		w.collect()
		first, second := w.create(configMaps, "first"), w.create(secrets, "second")
		child := w.create(configMaps, "child", ref(first), ref(second))
		grandchild := w.create(secrets, "grandchild", ref(child))
		w.delete(first, client.Background)
		w.want(map[*meta.Unstructured]string{first: "gone", child: "of [second]", grandchild: "of [child]"})
		w.delete(second, "")
		w.want(map[*meta.Unstructured]string{second: "gone", child: "gone", grandchild: "gone"})
	})
}

func TestGarbageFromBeforeTheStartIsCollected(t *testing.T) {
	inWorld(t, clienttest.Options{}, func(w *world) {
		owner, kept := w.create(configMaps, "owner"), w.create(configMaps, "kept")
		child, waits := w.create(configMaps, "child", ref(owner)), w.create(configMaps, "waits", block(kept))
		w.delete(owner, "")
		w.delete(kept, client.Foreground)
		w.want(map[*meta.Unstructured]string{child: "of [owner]", kept: "of [] waits for [foregroundDeletion]"})
		w.collect()
		w.want(map[*meta.Unstructured]string{child: "gone", waits: "gone", kept: "gone"})
	})
}

func TestAForegroundDeletionWaitsForDependentsThatBlockIt(t *testing.T) {
	inWorld(t, clienttest.Options{}, func(w *world) {
		w.collect()
		owner := w.create(configMaps, "owner")
		blocks, passes := w.create(secrets, "blocks", block(owner)), w.create(secrets, "passes", ref(owner))
		w.hold(blocks)
		w.hold(passes)
		synctest.Wait() // until the collector knows the dependents
		w.delete(owner, client.Foreground)
		w.want(map[*meta.Unstructured]string{
			owner: "of [] waits for [foregroundDeletion]", blocks: "of [owner] waits for [example.com/hold]",
			passes: "of [owner] waits for [example.com/hold]",
		})
		w.letGo(blocks)
		w.want(map[*meta.Unstructured]string{owner: "gone", blocks: "gone", passes: "of [owner] waits for [example.com/hold]"})
	})
}

func TestForegroundDeletionsInACycleEnd(t *testing.T) {
	inWorld(t, clienttest.Options{}, func(w *world) {
		w.collect()
		a := w.create(configMaps, "a")
		b := w.create(configMaps, "b", block(a))
		c := w.create(configMaps, "c", block(b))
		if _, err := client.For(w.c, configMaps).Modify(w.Context(), meta.KeyOf(a), func(o *meta.Unstructured) error {
			o.SetOwnerReferences([]meta.OwnerReference{block(c)})
			return nil
		}); err != nil {
			w.Fatal(err)
		}
		w.want(map[*meta.Unstructured]string{a: "of [c]", b: "of [a]", c: "of [b]"})
		w.delete(a, client.Foreground)
		time.Sleep(time.Second) // for a retry
		w.want(map[*meta.Unstructured]string{a: "gone", b: "gone", c: "gone"})
	})
}

func TestOrphansStay(t *testing.T) {
	inWorld(t, clienttest.Options{}, func(w *world) {
		w.collect()
		owner, other := w.create(configMaps, "owner"), w.create(configMaps, "other")
		one, both := w.create(secrets, "one", block(owner)), w.create(secrets, "both", ref(owner), ref(other))
		synctest.Wait() // until the collector knows the dependents
		w.delete(owner, client.Orphan)
		w.want(map[*meta.Unstructured]string{owner: "gone", one: "of []", both: "of [other]"})
	})
}

func TestOwnersAreLookedForWhereTheReferenceSays(t *testing.T) {
	inWorld(t, clienttest.Options{}, func(w *world) {
		w.collect()
		owner, cluster := w.create(configMaps, "owner"), w.create(classes, "cluster")
		w.create(namespaces, "elsewhere")
		other, renamed := ref(owner), ref(owner)
		other.UID = "11111111-1111-1111-1111-111111111111"
		renamed.Name = "renamed"
		unknown := meta.OwnerReference{APIVersion: "example.com/v1", Kind: "Nothing", Name: "x", UID: "2"}
		w.want(map[*meta.Unstructured]string{
			w.create(secrets, "a-child", ref(owner)):                    "of [owner]",
			w.create(secrets, "of-the-cluster", ref(cluster)):           "of [cluster]",
			w.create(secrets, "of-another-uid", other):                  "gone",
			w.create(secrets, "of-another-name", renamed):               "gone",
			w.create(secrets, "elsewhere/far", ref(owner)):              "gone",
			w.create(secrets, "elsewhere/of-the-cluster", ref(cluster)): "of [cluster]",
			w.create(classes, "above", ref(owner)):                      "of [owner]",
			w.create(classes, "beside", ref(cluster)):                   "of [cluster]",
			w.create(secrets, "of-no-kind", unknown):                    "of [x]",
			w.create(secrets, "of-no-kind-too", unknown, other):         "of [owner x]",
		})
	})
}

func TestCustomResourcesComeAndGoWhileTheCollectorRuns(t *testing.T) {
	inWorld(t, clienttest.Options{}, func(w *world) {
		w.collect()
		waits := w.create(secrets, "waits", meta.OwnerReference{APIVersion: "example.com/v1", Kind: "Page", Name: "none", UID: "1"})
		definition, err := client.For(w.c, crds).Create(w.Context(), pageDefinition())
		if err != nil {
			w.Fatal(err)
		}
		w.want(map[*meta.Unstructured]string{waits: "gone"})
		page := w.create(pages, "home")
		child, subpage := w.create(configMaps, "child", ref(page)), w.create(pages, "sub", ref(page))
		w.delete(page, "")
		w.want(map[*meta.Unstructured]string{page: "gone", child: "gone", subpage: "gone"})

		page = w.create(pages, "home")
		child = w.create(configMaps, "child", ref(page))
		w.delete(definition, "")
		w.want(map[*meta.Unstructured]string{child: "gone"})
		time.Sleep(discoveryPeriod)
		waits = w.create(secrets, "waits-again", ref(page))
		w.want(map[*meta.Unstructured]string{waits: "gone"}) // the collector has seen its owner go
		other := ref(page)
		other.UID = "2"
		waits = w.create(secrets, "waits-too", other)
		w.want(map[*meta.Unstructured]string{waits: "of [home]"}) // its owner's kind is not served
		if _, err = client.For(w.c, crds).Create(w.Context(), pageDefinition()); err != nil {
			w.Fatal(err)
		}
		w.want(map[*meta.Unstructured]string{waits: "gone"})
	})
}

func pageDefinition() *meta.Unstructured {
	return &meta.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": "pages.example.com"},
		"spec": map[string]any{
			"group": "example.com", "scope": "Namespaced", "names": map[string]any{"kind": "Page", "plural": "pages"},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}},
			}},
		},
	}}
}

func TestARegisteredResourceIsFoundWithinHalfAMinute(t *testing.T) {
	inWorld(t, clienttest.Options{}, func(w *world) {
		w.collect()
		if err := w.server.Register(clienttest.Resource{Group: "example.com", Version: "v1", Kind: "Page", Resource: "pages"}); err != nil {
			w.Fatal(err)
		}
		page := w.create(pages, "home")
		child := w.create(configMaps, "child", ref(page))
		w.delete(page, client.Foreground)
		time.Sleep(discoveryPeriod)
		w.want(map[*meta.Unstructured]string{page: "gone", child: "gone"})
	})
}

func TestAForbiddenResourceDelaysOnlyTheStart(t *testing.T) {
	o := clienttest.Options{Authorize: func(a clienttest.Access) (bool, string) { return a.Resource.Resource != "leases", "" }}
	inWorld(t, o, func(w *world) {
		owner := w.create(configMaps, "owner")
		child := w.create(configMaps, "child", ref(owner))
		w.delete(owner, "")
		w.collect()
		w.want(map[*meta.Unstructured]string{child: "of [owner]"})
		time.Sleep(listTimeout)
		w.want(map[*meta.Unstructured]string{child: "gone"})
	})
}

func TestFaultsDelayTheCollector(t *testing.T) {
	inWorld(t, clienttest.Options{}, func(w *world) {
		w.collect()
		owner, other := w.create(configMaps, "owner"), w.create(configMaps, "other")
		child, orphan := w.create(secrets, "child", ref(owner)), w.create(secrets, "orphan", ref(other))
		synctest.Wait()
		w.server.Intercept(func(r *http.Request) http.HandlerFunc {
			if strings.HasPrefix(r.UserAgent(), userAgent) {
				return clienttest.Answer(meta.Status{Code: http.StatusInternalServerError, Reason: "InternalError"})
			}
			return nil
		})
		w.server.DropWatches()
		w.delete(owner, client.Foreground)
		w.delete(other, client.Orphan)
		time.Sleep(5 * time.Minute)
		w.want(map[*meta.Unstructured]string{
			owner: "of [] waits for [foregroundDeletion]", other: "of [] waits for [orphan]", child: "of [owner]", orphan: "of [other]",
		})
		w.server.Intercept(nil)
		time.Sleep(20 * time.Minute) // the longest wait between two attempts
		w.want(map[*meta.Unstructured]string{owner: "gone", other: "gone", child: "gone", orphan: "of []"})
	})
}

// The object waited for the kind of an owner that it no longer had.
func TestAnObjectIsLookedAtAgainWhenItLosesAnOwnerOfAnUnknownKind(t *testing.T) {
	inWorld(t, clienttest.Options{}, func(w *world) {
		w.collect()
		unknown := meta.OwnerReference{APIVersion: "example.com/v1", Kind: "Nothing", Name: "x", UID: "1"}
		absent := meta.OwnerReference{APIVersion: "v1", Kind: "Secret", Name: "y", UID: "2"}
		child := w.create(configMaps, "child", unknown, absent)
		w.want(map[*meta.Unstructured]string{child: "of [x y]"})
		if _, err := client.For(w.c, configMaps).Modify(w.Context(), meta.KeyOf(child), func(o *meta.Unstructured) error {
			o.SetOwnerReferences([]meta.OwnerReference{absent})
			return nil
		}); err != nil {
			w.Fatal(err)
		}
		w.want(map[*meta.Unstructured]string{child: "gone"})
	})
}

// A write between the collector's look at an object and its deletion of it matters only if it changes the owners.
func TestAWriteBeforeTheDeletion(t *testing.T) {
	for name, adopted := range map[string]bool{"of the owners keeps the object": true, "of something else does not": false} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, clienttest.Options{}, func(w *world) {
				w.collect()
				owner, other := w.create(configMaps, "owner"), w.create(configMaps, "other")
				child := w.create(secrets, "child", ref(owner))
				synctest.Wait()
				var once sync.Once
				w.server.Intercept(func(r *http.Request) http.HandlerFunc {
					if r.Method == http.MethodDelete && strings.HasSuffix(r.URL.Path, "/child") {
						once.Do(func() {
							if _, err := client.For(w.c, secrets).Modify(w.Context(), meta.KeyOf(child), func(o *meta.Unstructured) error {
								if adopted {
									o.SetOwnerReferences([]meta.OwnerReference{ref(owner), ref(other)})
								}
								return meta.SetNested(o, "changed", "metadata", "annotations", "example.com/note")
							}); err != nil {
								w.Error(err)
							}
						})
					}
					return nil
				})
				w.delete(owner, "")
				time.Sleep(time.Minute)
				want := map[bool]string{true: "of [other]", false: "gone"}[adopted]
				w.want(map[*meta.Unstructured]string{child: want})
			})
		})
	}
}

func TestAnOwnerInAnotherNamespaceIsReported(t *testing.T) {
	events := client.Type[*meta.Unstructured]{Group: "events.k8s.io", Version: "v1", Kind: "Event", Resource: "events"}
	inWorld(t, clienttest.Options{}, func(w *world) {
		w.collect()
		w.create(namespaces, "elsewhere")
		owner := w.create(configMaps, "owner")
		synctest.Wait()
		child := w.create(secrets, "elsewhere/far", ref(owner))
		time.Sleep(time.Second)
		w.want(map[*meta.Unstructured]string{child: "gone"})
		all, err := client.For(w.c, events).In("elsewhere").List(w.Context(), client.ListOptions{})
		if err != nil || len(all.Items) != 1 {
			w.Fatalf("%d events, %v", len(all.Items), err)
		}
		if reason, note := all.Items[0].Object["reason"], all.Items[0].Object["note"]; reason != "OwnerRefInvalidNamespace" ||
			!strings.Contains(fmt.Sprint(note), `does not exist in namespace "elsewhere"`) {
			w.Errorf("the event is %v: %v", reason, note)
		}
	})
}
