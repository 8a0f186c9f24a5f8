package ctrlcache_test

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/informer/ctrlcache"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// watched notes the watches that a server gets.
type watched struct {
	mu  sync.Mutex // guards all
	all []string
}

func (l *watched) take() string {
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	all := slices.Compact(slices.Sorted(slices.Values(l.all)))
	l.all = nil
	return strings.Join(all, "; ")
}

func (w *world) watched() *watched {
	l := &watched{}
	w.server.Intercept(func(r *http.Request) http.HandlerFunc {
		q := r.URL.Query()
		if clienttest.RequestOf(r).Verb == "watch" {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.all = append(l.all, strings.Join(strings.Fields(r.URL.Path+" "+q.Get("labelSelector")+" "+q.Get("fieldSelector")), " "))
		}
		return nil
	})
	return l
}

// each runs a test with streaming lists and with paged ones.
func each(t *testing.T, name string, test func(t *testing.T, lists clienttest.StreamingLists)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { test(t, clienttest.StreamingServed) })
	t.Run(name+", in pages", func(t *testing.T) { test(t, clienttest.StreamingRefused) })
}

func TestEachNamespaceHasItsConfiguration(t *testing.T) {
	web := labels.SelectorFromSet(labels.Set{"app": "web"})
	db := labels.SelectorFromSet(labels.Set{"app": "db"})
	pods := func(by cache.ByObject) map[client.Object]cache.ByObject {
		return map[client.Object]cache.ByObject{&corev1.Pod{}: by}
	}
	const all, inA, inB = "/api/v1/pods", "/api/v1/namespaces/a/pods", "/api/v1/namespaces/b/pods"
	for _, test := range []struct {
		name    string
		o       cache.Options
		watches string
		pods    string
	}{
		{"nothing", cache.Options{}, all, "a-db a-web b-db b-web"},
		{"a default selector", cache.Options{DefaultLabelSelector: web}, all + " app=web", "a-web b-web"},
		{"a selector of the kind", cache.Options{DefaultLabelSelector: web, ByObject: pods(cache.ByObject{Label: db})}, all + " app=db", "a-db b-db"},
		{"a field", cache.Options{DefaultFieldSelector: fields.OneTermEqualSelector("spec.nodeName", "n1")}, all + " spec.nodeName=n1", "a-db a-web b-db b-web"},
		{
			"one namespace by a field",
			cache.Options{ByObject: pods(cache.ByObject{Field: fields.OneTermEqualSelector("metadata.namespace", "b")})},
			inB + " metadata.namespace=b", "b-db b-web",
		},
		{"default namespaces", cache.Options{DefaultNamespaces: map[string]cache.Config{"a": {}, "b": {}}}, inA + "; " + inB, "a-db a-web b-db b-web"},
		{
			"a namespace with a selector",
			cache.Options{DefaultLabelSelector: web, DefaultNamespaces: map[string]cache.Config{"a": {LabelSelector: db}, "b": {}}},
			inA + " app=db; " + inB + " app=web", "a-db b-web",
		},
		{
			"namespaces of the kind, which take from the default namespaces",
			cache.Options{
				DefaultNamespaces: map[string]cache.Config{"a": {LabelSelector: db}, "c": {}},
				ByObject:          pods(cache.ByObject{Namespaces: map[string]cache.Config{"a": {}, "b": {LabelSelector: web}}}),
			},
			inA + " app=db; " + inB + " app=web", "a-db b-web",
		},
		{
			"all namespaces of a kind, against the default",
			cache.Options{
				DefaultNamespaces: map[string]cache.Config{"a": {}},
				ByObject:          pods(cache.ByObject{Namespaces: map[string]cache.Config{}}),
			},
			all, "a-db a-web b-db b-web",
		},
		{
			"one namespace apart from the others",
			cache.Options{DefaultNamespaces: map[string]cache.Config{"a": {LabelSelector: db}, cache.AllNamespaces: {}}},
			inA + " app=db; " + all + " metadata.namespace!=a", "a-db b-db b-web",
		},
	} {
		each(t, test.name, func(t *testing.T, lists clienttest.StreamingLists) {
			bothCaches(t, clienttest.Options{StreamingLists: lists}, func(t *testing.T, w *world) {
				w.create(namespace("a"), namespace("b"))
				for _, p := range []string{"a-db", "a-web", "b-db", "b-web"} {
					w.create(pod(p[:1], p, "n1", "app", p[2:]))
				}
				log := w.watched()
				c := w.started(ctrlcache.Options{}, test.o)
				var list corev1.PodList
				must(t, c.List(t.Context(), &list))
				if got := log.take(); got != test.watches {
					t.Errorf("it watches\n%s, want\n%s", got, test.watches)
				}
				if got := podNames(&list); got != test.pods {
					t.Errorf("it has %q, want %q", got, test.pods)
				}
				for p := range strings.FieldsSeq(test.pods) {
					must(t, c.Get(t.Context(), client.ObjectKey{Namespace: p[:1], Name: p}, &corev1.Pod{}))
					must(t, c.List(t.Context(), &list, client.InNamespace(p[:1]), client.MatchingLabels{"app": p[2:]}))
					if podNames(&list) != p {
						t.Errorf("in the namespace of %s there are %s", p, podNames(&list))
					}
				}
				if test.o.DefaultLabelSelector == nil && test.o.DefaultFieldSelector == nil { // no namespace has the label or the field
					must(t, c.Get(t.Context(), client.ObjectKey{Name: "a"}, &corev1.Namespace{}))
				}
			})
		})
	}
}

func TestTheInformersOfAnEntryActAsOne(t *testing.T) {
	bothCaches(t, clienttest.Options{}, func(t *testing.T, w *world) {
		w.create(namespace("a"), namespace("b"), pod("a", "x", "n1"), pod("b", "y", "n1"))
		c := w.cache(ctrlcache.Options{}, cache.Options{DefaultNamespaces: map[string]cache.Config{"a": {}, cache.AllNamespaces: {}}})
		inf := informerOf(t, c, &corev1.Pod{})
		must(t, c.IndexField(t.Context(), &corev1.Pod{}, "node", func(o client.Object) []string { return []string{o.(*corev1.Pod).Spec.NodeName} }))
		var r recorder
		handle, err := inf.AddEventHandler(&r)
		must(t, err)
		listed, called := inf.HasSyncedChecker(), handle.HasSyncedChecker()
		if inf.HasSynced() || handle.HasSynced() || toolscache.IsDone(listed) || toolscache.IsDone(called) {
			t.Error("it is synced before it starts")
		}
		w.start(c)
		r.want(t, "the list", "add x true, add y true")
		if !inf.HasSynced() || !handle.HasSynced() || !toolscache.IsDone(listed) || !toolscache.IsDone(called) || inf.IsStopped() {
			t.Error("it is not synced")
		}
		var list corev1.PodList
		must(t, c.List(t.Context(), &list, client.MatchingFields{"node": "n1"}))
		if podNames(&list) != "x y" {
			t.Errorf("the index has %s", podNames(&list))
		}
		must(t, c.List(t.Context(), &list, client.Limit(1)))
		if len(list.Items) != 1 {
			t.Errorf("a list of one has %s", podNames(&list))
		}
		must(t, inf.RemoveEventHandler(handle))
		w.create(pod("a", "x2", "n1"), pod("b", "y2", "n1"))
		r.want(t, "a removed handler", "")
		if err := inf.AddIndexers(toolscache.Indexers{"field:node": func(any) ([]string, error) { return nil, nil }}); err == nil {
			t.Error("an index takes the name of another one")
		}
		if err := inf.RemoveEventHandler(nil); err == nil {
			t.Error("a registration of nobody is removed")
		}
		must(t, c.RemoveInformer(t.Context(), &corev1.Pod{}))
		synctest.Wait()
		if !inf.IsStopped() {
			t.Error("it runs after it was removed")
		}
	})
}

func TestTransformsChangeWhatIsCached(t *testing.T) {
	each(t, "the first list", testTransforms)
}

func testTransforms(t *testing.T, lists clienttest.StreamingLists) {
	bothCaches(t, clienttest.Options{StreamingLists: lists}, func(t *testing.T, w *world) {
		w.create(pod("default", "a", "n1"), pod("default", "b", "n1"), pod("default", "c", "n1"), pod("default", "d", "n1"))
		errs := make(chan error, 10)
		own := ctrlcache.Options{OnError: func(_ schema.GroupVersionKind, err error) { errs <- err }}
		bad := errors.New("not this one")
		c := w.started(own, cache.Options{DefaultTransform: func(in any) (any, error) {
			p := in.(*corev1.Pod)
			p.Annotations = map[string]string{"transformed": "yes"}
			switch p.Name {
			case "b":
				return nil, bad
			case "c":
				panic("c")
			case "d":
				return "d", nil
			}
			return p, nil
		}})
		var list corev1.PodList
		must(t, c.List(t.Context(), &list))
		if podNames(&list) != "a" || list.Items[0].Annotations["transformed"] != "yes" {
			t.Errorf("got %v", list.Items)
		}
		var all []string
		synctest.Wait()
		for len(errs) > 0 {
			err := <-errs
			all = append(all, err.Error())
			if strings.Contains(err.Error(), "not this one") && !errors.Is(err, bad) {
				t.Errorf("the error of the transform is lost: %v", err)
			}
		}
		slices.Sort(all)
		for i, want := range []string{"transform: not this one", "transform panicked: c", "transform returned string"} {
			if !slices.ContainsFunc(all, func(e string) bool { return strings.Contains(e, want) }) {
				t.Errorf("error %d: %v has no %q", i, all, want)
			}
		}
		status, _ := ctrlcache.StatusOf(c)
		if len(status) != 1 || len(status[0].Undecodable) != 3 {
			t.Errorf("the status is %v", status)
		}
	})
}

func TestManagedFieldsAreKeptByDefault(t *testing.T) {
	bothCaches(t, clienttest.Options{}, func(t *testing.T, w *world) {
		w.create(pod("default", "a", "n1"))
		for _, test := range []struct {
			name string
			own  ctrlcache.Options
			o    cache.Options
			want bool
		}{
			{"by default", ctrlcache.Options{}, cache.Options{}, true},
			{"by the option", ctrlcache.Options{StripManagedFields: true}, cache.Options{}, false},
			{"by the transform", ctrlcache.Options{}, cache.Options{DefaultTransform: cache.TransformStripManagedFields()}, false},
			{
				"by the transform of one namespace",
				ctrlcache.Options{},
				cache.Options{DefaultNamespaces: map[string]cache.Config{"default": {Transform: cache.TransformStripManagedFields()}, "b": {}}},
				false,
			},
			{
				"in a namespace beside one with the transform",
				ctrlcache.Options{},
				cache.Options{DefaultNamespaces: map[string]cache.Config{"b": {Transform: cache.TransformStripManagedFields()}, "default": {}}},
				true,
			},
		} {
			c := w.started(test.own, test.o)
			var p corev1.Pod
			must(t, c.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "a"}, &p))
			if got := len(p.ManagedFields) > 0; got != test.want {
				t.Errorf("%s: kept is %v, want %v", test.name, got, test.want)
			}
		}
	})
}

func TestOptionsThatCannotWorkAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, clienttest.Options{})
		for _, test := range []struct {
			name string
			own  ctrlcache.Options
			o    cache.Options
			want string
		}{
			{
				"namespaces of a kind that is in none",
				ctrlcache.Options{},
				cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.Node{}: {Namespaces: map[string]cache.Config{}}}},
				"cache.Options: ByObject: Namespaces of *v1.Node must be nil",
			},
			{
				"a type that the scheme does not know",
				ctrlcache.Options{},
				cache.Options{ByObject: map[client.Object]cache.ByObject{&unknown{}: {}}},
				"no kind is registered",
			},
			{"a negative share of checks", ctrlcache.Options{CheckMutations: -1}, cache.Options{}, "CheckMutations must be 0 (off) or more, got -1"},
		} {
			test.o.HTTPClient = w.http
			if _, err := test.own.New(w.config, test.o); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: %v", test.name, err)
			}
		}
		for _, cfg := range []*rest.Config{nil, {Host: "ftp://example.com"}} {
			if c, err := ctrlcache.New(cfg, cache.Options{HTTPClient: w.http}); err == nil || c != nil {
				t.Errorf("%v is accepted: %v", cfg, err)
			}
		}
	})
}

// Equal parts of the cached objects are shared, unless a transform may change them. A copy that a reader gets is its own.
func TestCachedObjectsShareEqualParts(t *testing.T) {
	for _, test := range []struct {
		name      string
		o         cache.Options
		read      []client.ListOption
		least, to int // maps of labels that 20 pods may have
	}{
		{"without a copy", cache.Options{}, []client.ListOption{client.UnsafeDisableDeepCopy}, 1, 5},
		{"with copies", cache.Options{}, nil, 20, 20},
		{"with a transform", cache.Options{DefaultTransform: func(in any) (any, error) { return in, nil }}, []client.ListOption{client.UnsafeDisableDeepCopy}, 20, 20},
		{
			"with a transform of the library",
			cache.Options{DefaultTransform: cache.TransformStripManagedFields()},
			[]client.ListOption{client.UnsafeDisableDeepCopy},
			1, 5,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, clienttest.Options{})
				for i := range 20 {
					w.create(pod("default", fmt.Sprint("a", i), "n1", "app.kubernetes.io/name", "web"))
				}
				c := w.started(ctrlcache.Options{}, test.o)
				var list corev1.PodList
				must(t, c.List(t.Context(), &list, test.read...))
				maps := map[uintptr]bool{}
				for _, p := range list.Items {
					maps[reflect.ValueOf(p.Labels).Pointer()] = true
				}
				if n := len(maps); len(list.Items) != 20 || n < test.least || n > test.to {
					t.Errorf("%d pods have %d maps of labels, want %d to %d", len(list.Items), n, test.least, test.to)
				}
			})
		})
	}
}
