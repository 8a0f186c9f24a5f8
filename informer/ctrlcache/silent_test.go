package ctrlcache_test

import (
	"net/http"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/informer/ctrlcache"
	"github.com/bowline-go/bowline/internal/gotype"
	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	crlog "sigs.k8s.io/controller-runtime/pkg/log"
)

// No kind of Kubernetes has a field that a client refuses because it has no name in JSON.
func TestEveryKindOfKubernetesNamesItsFields(t *testing.T) {
	kinds := scheme.Scheme.AllKnownTypes()
	if len(kinds) < 500 {
		t.Fatalf("the scheme has %d kinds", len(kinds))
	}
	for gvk, of := range kinds {
		if gvk.Version == runtime.APIVersionInternal {
			continue
		}
		if err := gotype.Unnamed(reflect.PointerTo(of)); err != nil {
			t.Errorf("%v: %v", gvk, err)
		}
	}
}

// gadget has a field that its server does not know.
type gadget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct{ Size int } `json:"spec"`
}

func (g *gadget) DeepCopyObject() runtime.Object {
	out := *g
	g.DeepCopyInto(&out.ObjectMeta)
	return &out
}

type gadgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []gadget `json:"items"`
}

func (l *gadgetList) DeepCopyObject() runtime.Object { return l }

// The types are others', so the field is reported, and reading goes on.
func TestATypeWithAFieldWithoutANameIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		version := schema.GroupVersion{Group: "example.com", Version: "v1"}
		w := newWorld(t, clienttest.Options{Resources: []clienttest.Resource{{Group: version.Group, Version: version.Version, Kind: "Gadget", Resource: "gadgets"}}})
		s := runtime.NewScheme()
		s.AddKnownTypeWithName(version.WithKind("Gadget"), &gadget{})
		s.AddKnownTypeWithName(version.WithKind("GadgetList"), &gadgetList{})
		metav1.AddToGroupVersion(s, version)
		var mu sync.Mutex
		var got []string
		own := ctrlcache.Options{OnError: func(gvk schema.GroupVersionKind, err error) {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, gvk.Kind+": "+err.Error())
		}}
		c := w.started(own, cache.Options{Scheme: s})
		for range 2 {
			must(t, c.List(t.Context(), &gadgetList{}))
		}
		mu.Lock()
		defer mu.Unlock()
		if len(got) != 1 || !strings.HasPrefix(got[0], "Gadget: field Spec.Size of ctrlcache_test.gadget must have a name in a json tag") {
			t.Errorf("reported %q", got)
		}
	})
}

// logged gets the lines of controller-runtime's logger. It can be set only once, and before another test uses it.
var logged atomic.Pointer[func(line string)]

func init() {
	crlog.SetLogger(funcr.New(func(_, args string) {
		if f := logged.Load(); f != nil {
			(*f)(args)
		}
	}, funcr.Options{}))
}

// A rest.Config without a handler lost the server's warnings.
func TestAWarningThatNoHandlerTakesIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var said []string
		take := func(line string) {
			mu.Lock()
			defer mu.Unlock()
			if strings.Contains(line, "pods are old") {
				said = append(said, line)
			}
		}
		logged.Store(&take)
		defer logged.Store(nil)
		w := newWorld(t, clienttest.Options{})
		w.server.Intercept(func(r *http.Request) http.HandlerFunc {
			if clienttest.RequestOf(r).Resource.Resource != "pods" {
				return nil
			}
			return func(rw http.ResponseWriter, r *http.Request) {
				rw.Header().Set("Warning", `299 - "pods are old"`)
				w.server.ServeHTTP(rw, r)
			}
		})
		c := w.started(ctrlcache.Options{}, cache.Options{DefaultLabelSelector: labels.SelectorFromSet(labels.Set{"app": "web"})})
		must(t, c.List(t.Context(), &corev1.PodList{}))
		mu.Lock()
		if len(said) == 0 || len(said) > 2 { // a streaming list and a watch are one verb, and a paged list is another
			t.Errorf("logged %d times: %q", len(said), said)
		}
		mu.Unlock()
		all, ok := ctrlcache.StatusOf(c)
		if !ok || len(all) != 1 || all[0].Name != "labels app=web" {
			t.Errorf("the informers are %+v", all)
		}
	})
}
