package ctrlcache_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/informer/ctrlcache"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func names[T any](items []T, name func(*T) string) string {
	var all []string
	for i := range items {
		all = append(all, name(&items[i]))
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func podNames(l *corev1.PodList) string { return names(l.Items, (*corev1.Pod).GetName) }

func TestPodsAreReadInEachForm(t *testing.T) {
	bothCaches(t, clienttest.Options{}, func(t *testing.T, w *world) {
		w.create(pod("default", "a", "n1", "app", "web"))
		c := w.started(ctrlcache.Options{}, cache.Options{})
		key := client.ObjectKey{Namespace: "default", Name: "a"}

		var typed corev1.Pod
		must(t, c.Get(t.Context(), key, &typed))
		if typed.Spec.NodeName != "n1" || typed.Kind != "Pod" || typed.APIVersion != "v1" || typed.CreationTimestamp.IsZero() {
			t.Errorf("typed: %+v", typed)
		}
		var loose unstructured.Unstructured
		loose.SetAPIVersion("v1")
		loose.SetKind("Pod")
		must(t, c.Get(t.Context(), key, &loose))
		if node, _, _ := unstructured.NestedString(loose.Object, "spec", "nodeName"); node != "n1" || loose.GetKind() != "Pod" {
			t.Errorf("unstructured: %+v", loose)
		}
		var partial metav1.PartialObjectMetadata
		partial.SetGroupVersionKind(typed.GroupVersionKind())
		must(t, c.Get(t.Context(), key, &partial))
		if partial.Labels["app"] != "web" || partial.Kind != "Pod" || partial.APIVersion != "v1" {
			t.Errorf("metadata: %+v", partial)
		}

		var pods corev1.PodList
		must(t, c.List(t.Context(), &pods))
		looseList := unstructured.UnstructuredList{}
		looseList.SetAPIVersion("v1")
		looseList.SetKind("PodList")
		must(t, c.List(t.Context(), &looseList))
		partials := metav1.PartialObjectMetadataList{}
		partials.SetGroupVersionKind(typed.GroupVersionKind().GroupVersion().WithKind("PodList"))
		must(t, c.List(t.Context(), &partials))
		if len(pods.Items) != 1 || len(looseList.Items) != 1 || len(partials.Items) != 1 {
			t.Errorf("lists: %v, %v, %v", pods, looseList, partials)
		}
		status, ok := ctrlcache.StatusOf(c)
		if !ok || len(status) != 3 {
			t.Fatalf("status: %v", status)
		}
		for i, want := range []ctrlcache.Form{ctrlcache.Typed, ctrlcache.Unstructured, ctrlcache.Metadata} {
			s := status[i]
			if s.Form != want || s.GVK.Kind != "Pod" || !s.Synced || s.Objects != 1 {
				t.Errorf("status of %v: %+v", want, s)
			}
			if s.Protobuf != (want != ctrlcache.Unstructured) {
				t.Errorf("%v comes as protobuf: %v, or why not: %q", want, s.Protobuf, s.WhyJSON)
			}
		}
	})
}

func TestListSelects(t *testing.T) {
	bothCaches(t, clienttest.Options{}, func(t *testing.T, w *world) {
		w.create(namespace("web"), pod("default", "a", "n1", "app", "web"), pod("web", "b", "n1", "app", "db"), pod("web", "c", "n2", "app", "web"))
		c := w.cache(ctrlcache.Options{}, cache.Options{})
		must(t, c.IndexField(t.Context(), &corev1.Pod{}, "spec.nodeName", func(o client.Object) []string {
			return []string{o.(*corev1.Pod).Spec.NodeName}
		}))
		w.start(c)
		must(t, c.IndexField(t.Context(), &corev1.Pod{}, "app", func(o client.Object) []string { return []string{o.GetLabels()["app"]} }))
		for _, test := range []struct {
			name string
			opts []client.ListOption
			want string
		}{
			{"everything", nil, "a b c"},
			{"a namespace", []client.ListOption{client.InNamespace("web")}, "b c"},
			{"an empty namespace", []client.ListOption{client.InNamespace("none")}, ""},
			{"labels", []client.ListOption{client.MatchingLabels{"app": "web"}}, "a c"},
			{"labels in a namespace", []client.ListOption{client.MatchingLabels{"app": "web"}, client.InNamespace("web")}, "c"},
			{"a field", []client.ListOption{client.MatchingFields{"spec.nodeName": "n1"}}, "a b"},
			{"a field in a namespace", []client.ListOption{client.MatchingFields{"spec.nodeName": "n1"}, client.InNamespace("web")}, "b"},
			{"two fields", []client.ListOption{client.MatchingFields{"spec.nodeName": "n1", "app": "web"}}, "a"},
			{"a value that nobody has", []client.ListOption{client.MatchingFields{"spec.nodeName": "n3"}}, ""},
		} {
			var pods corev1.PodList
			if err := c.List(t.Context(), &pods, test.opts...); err != nil || podNames(&pods) != test.want {
				t.Errorf("%s: got %q, %v, want %q", test.name, podNames(&pods), err, test.want)
			}
		}
		var pods corev1.PodList
		must(t, c.List(t.Context(), &pods, client.Limit(2)))
		if len(pods.Items) != 2 || pods.Continue != "continue-not-supported" {
			t.Errorf("limited: got %d, %q", len(pods.Items), pods.Continue)
		}
		for _, test := range []struct {
			name string
			opt  client.ListOption
			want string
		}{
			{"a page", client.Continue("x"), "continue list option is not supported"},
			{"a field without an index", client.MatchingFields{"spec.x": "1"}, "index with name field:spec.x does not exist"},
			{"an inequality", client.MatchingFieldsSelector{Selector: fields.OneTermNotEqualSelector("app", "web")}, "non-exact"},
			{"an empty field selector", client.MatchingFieldsSelector{Selector: fields.Everything()}, "non-exact"},
		} {
			if err := c.List(t.Context(), &pods, test.opt); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: got %v", test.name, err)
			}
		}
		again := c.IndexField(t.Context(), &corev1.Pod{}, "app", func(client.Object) []string { return nil })
		if again == nil || !strings.Contains(again.Error(), "indexer conflict") {
			t.Errorf("an index of the same name: %v", again)
		}
	})
}

func TestReadersGetCopiesUnlessTheyAskForTheObjects(t *testing.T) {
	bothCaches(t, clienttest.Options{}, func(t *testing.T, w *world) {
		w.create(pod("default", "a", "n1", "app", "web"))
		key := client.ObjectKey{Namespace: "default", Name: "a"}
		shared := true
		for _, test := range []struct {
			name string
			o    cache.Options
			get  []client.GetOption
			list []client.ListOption
			want bool
		}{
			{name: "by default"},
			{"for all", cache.Options{DefaultUnsafeDisableDeepCopy: &shared}, nil, nil, true},
			{"for a kind", cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.Pod{}: {UnsafeDisableDeepCopy: &shared}}}, nil, nil, true},
			{"for a namespace", cache.Options{DefaultNamespaces: map[string]cache.Config{"default": {UnsafeDisableDeepCopy: &shared}}}, nil, nil, true},
			{"for a call", cache.Options{}, []client.GetOption{client.UnsafeDisableDeepCopy}, []client.ListOption{client.UnsafeDisableDeepCopy}, true},
		} {
			c := w.started(ctrlcache.Options{}, test.o)
			var one, two corev1.Pod
			must(t, c.Get(t.Context(), key, &one, test.get...))
			one.Labels["changed"] = "yes"
			must(t, c.Get(t.Context(), key, &two, test.get...))
			var list corev1.PodList
			must(t, c.List(t.Context(), &list, test.list...))
			want := test.want && w.own.Compact == nil // a compact cache has no object that it returns twice
			if (two.Labels["changed"] == "yes") != want || (list.Items[0].Labels["changed"] == "yes") != want {
				t.Errorf("%s: got %v and %v, want shared: %v", test.name, two.Labels, list.Items[0].Labels, want)
			}
			if kind := two.Kind; kind == "Pod" == test.want { // shared objects have none, as in controller-runtime
				t.Errorf("%s: the kind is %q", test.name, kind)
			}
		}
	})
}

// Of several things that are wrong with a read, the error names the one that controller-runtime's cache names.
func TestReadErrorsHaveThePrecedenceOfControllerRuntime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, clienttest.Options{})
		kindless, podList := &unknown{}, &corev1.PodList{}
		thing := &unstructured.UnstructuredList{}
		thing.SetAPIVersion("no.such/v1")
		thing.SetKind("ThingList")
		in := func(ns string) client.ObjectKey { return client.ObjectKey{Namespace: ns, Name: "a"} }
		for _, test := range []struct {
			name string
			o    cache.Options
		}{
			{"all namespaces", cache.Options{}},
			{"one namespace", cache.Options{DefaultNamespaces: map[string]cache.Config{"web": {}}}},
			{"all namespaces, one of them by name", cache.Options{DefaultNamespaces: map[string]cache.Config{"web": {}, cache.AllNamespaces: {}}}},
			{"one namespace of pods", cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.Pod{}: {Namespaces: map[string]cache.Config{"web": {}}}}}},
		} {
			for _, fails := range []bool{false, true} {
				for _, starts := range []bool{false, fails} { // with it, reads add no informers that would have to end
					o := test.o
					o.ReaderFailOnMissingInformer, o.HTTPClient = fails, w.http
					theirs, err := cache.New(w.config, o)
					must(t, err)
					ours := w.cache(ctrlcache.Options{}, o)
					if starts {
						w.start(theirs)
						w.start(ours)
					}
					for i, read := range []func(c cache.Cache) error{
						func(c cache.Cache) error { return c.Get(t.Context(), in("web"), &corev1.Pod{}) },
						func(c cache.Cache) error { return c.Get(t.Context(), in("other"), &corev1.Pod{}) },
						func(c cache.Cache) error { return c.Get(t.Context(), in("other"), &corev1.Namespace{}) },
						func(c cache.Cache) error { return c.Get(t.Context(), in("other"), kindless) },
						func(c cache.Cache) error { return c.List(t.Context(), podList) },
						func(c cache.Cache) error { return c.List(t.Context(), podList, client.Continue("x")) },
						func(c cache.Cache) error {
							return c.List(t.Context(), podList, client.InNamespace("web"), client.Continue("x"))
						},
						func(c cache.Cache) error { return c.List(t.Context(), podList, client.InNamespace("other")) },
						func(c cache.Cache) error {
							return c.List(t.Context(), podList, client.InNamespace("other"), client.Continue("x"))
						},
						func(c cache.Cache) error {
							return c.List(t.Context(), podList, client.MatchingFields{"a": "b"}, client.InNamespace("other"))
						},
						func(c cache.Cache) error {
							return c.List(t.Context(), &corev1.NamespaceList{}, client.InNamespace("other"), client.Continue("x"))
						},
						func(c cache.Cache) error {
							return c.List(t.Context(), &corev1.NamespaceList{}, client.InNamespace("other"))
						},
						func(c cache.Cache) error {
							return c.List(t.Context(), thing, client.Continue("x"), client.InNamespace("other"))
						},
					} {
						want, got := read(theirs), read(ours)
						if want == nil || got == nil || !strings.Contains(want.Error(), got.Error()) { // theirs may say more
							t.Errorf("%s, fails %v, starts %v, read %d: got %v, want %v", test.name, fails, starts, i, got, want)
						}
					}
				}
			}
		}
	})
}

func TestReadsThatCannotBeAnswered(t *testing.T) {
	bothCaches(t, clienttest.Options{}, func(t *testing.T, w *world) {
		key := client.ObjectKey{Namespace: "default", Name: "a"}

		c := w.cache(ctrlcache.Options{}, cache.Options{})
		var notStarted *cache.ErrCacheNotStarted
		if err := c.Get(t.Context(), key, &corev1.Pod{}); !errors.As(err, &notStarted) {
			t.Errorf("get before the start: %v", err)
		}
		if err := c.List(t.Context(), &corev1.PodList{}); !errors.As(err, &notStarted) {
			t.Errorf("list before the start: %v", err)
		}
		w.start(c)
		err := c.Get(t.Context(), key, &corev1.Pod{})
		if !apierrors.IsNotFound(err) || err.Error() != `Pod "a" not found` {
			t.Errorf("get of an object that is not there: %v", err)
		}
		var loose unstructured.Unstructured
		loose.SetAPIVersion("no.such/v1")
		loose.SetKind("Thing")
		if err := c.Get(t.Context(), key, &loose); err == nil || !strings.Contains(err.Error(), "Thing") {
			t.Errorf("get of a kind that the server does not have: %v", err)
		}
		if err := c.Get(t.Context(), key, &unknown{}); err == nil || !strings.Contains(err.Error(), "no kind is registered") {
			t.Errorf("get of a type that the scheme does not know: %v", err)
		}

		c = w.started(ctrlcache.Options{}, cache.Options{ReaderFailOnMissingInformer: true})
		var notCached *cache.ErrResourceNotCached
		if err := c.Get(t.Context(), key, &corev1.Pod{}); !errors.As(err, &notCached) || notCached.GVK.Kind != "Pod" {
			t.Errorf("get without an informer: %v", err)
		}
		if err := c.List(t.Context(), &corev1.PodList{}); !errors.As(err, &notCached) || notCached.GVK.Kind != "Pod" {
			t.Errorf("list without an informer: %v", err)
		}
		if _, err := c.GetInformer(t.Context(), &corev1.Pod{}); err != nil {
			t.Error(err)
		}
		must(t, c.List(t.Context(), &corev1.PodList{}))

		c = w.started(ctrlcache.Options{}, cache.Options{DefaultNamespaces: map[string]cache.Config{"web": {}}})
		if err := c.Get(t.Context(), key, &corev1.Pod{}); err == nil || !strings.Contains(err.Error(), "unknown namespace for the cache") {
			t.Errorf("get in a namespace that is not cached: %v", err)
		}
		err = c.List(t.Context(), &corev1.PodList{}, client.InNamespace("default"))
		if err == nil || !strings.Contains(err.Error(), "unknown namespace for the cache") {
			t.Errorf("list in a namespace that is not cached: %v", err)
		}
		must(t, c.Get(t.Context(), client.ObjectKey{Namespace: "ignored", Name: "default"}, &corev1.Namespace{}))
	})
}

// unknown is an object that no scheme knows.
type unknown struct{ corev1.Pod }
