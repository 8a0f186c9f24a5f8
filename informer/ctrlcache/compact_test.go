package ctrlcache_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/informer/compact"
	"github.com/bowline-go/bowline/informer/ctrlcache"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// large is a quantity that refers to memory of its own, which a plain copy of the quantity shares.
const large = "123456789012345678901"

func TestObjectsOfACompactCacheBelongToTheirReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, clienttest.Options{})
		a := pod("default", "a", "n1")
		a.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse(large)}
		w.create(a)
		no := true
		c := w.started(ctrlcache.Options{Compact: compact.New()}, cache.Options{DefaultUnsafeDisableDeepCopy: &no})
		var handled *corev1.Pod
		_, err := informerOf(t, c, &corev1.Pod{}).AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc: func(obj any) { handled = obj.(*corev1.Pod) },
		})
		must(t, err)
		synctest.Wait()
		change := func(how string, p *corev1.Pod) {
			requests := p.Spec.Containers[0].Resources.Requests
			cpu := requests["cpu"]
			if cpu.String() != large {
				t.Errorf("%s: the quantity is %s", how, &cpu)
			}
			cpu.Add(cpu)
			requests["cpu"] = cpu
		}
		for range 4 { // an object that is read often is kept decoded
			var got corev1.Pod
			must(t, c.Get(t.Context(), client.ObjectKeyFromObject(a), &got))
			change("Get", &got)
			var list corev1.PodList
			must(t, c.List(t.Context(), &list))
			change("List", &list.Items[0])
		}
		change("the handler's", handled)
	})
}

// A deletion that a watch reports is no tombstone, however large the object is.
func TestACompactCacheTellsDeletionsApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, clienttest.Options{})
		random := make([]byte, 100<<10)
		for i := range random {
			random[i] = byte(rand.Uint32())
		}
		large := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "large"}, BinaryData: map[string][]byte{"k": random}}
		w.create(large)
		c := w.started(ctrlcache.Options{Compact: compact.New()}, cache.Options{})
		var deleted any
		_, err := informerOf(t, c, &corev1.ConfigMap{}).AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			DeleteFunc: func(obj any) { deleted = obj },
		})
		must(t, err)
		must(t, w.Delete(t.Context(), large))
		synctest.Wait()
		if got, ok := deleted.(*corev1.ConfigMap); !ok || len(got.BinaryData["k"]) != len(random) {
			t.Errorf("the handler got a %T", deleted)
		}
	})
}

// With a transform, too, the objects are compressed.
func TestACompactCacheIsSmall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, clienttest.Options{})
		const objects, size = 2000, 10 << 10 // 256 of them stay decoded
		for n := range objects {
			w.create(&corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprint("map-", n)},
				Data:       map[string]string{"k": strings.Repeat(fmt.Sprint(n, " "), size/len(fmt.Sprint(n, " ")))},
			})
		}
		own := ctrlcache.Options{Compact: compact.New()}
		for name, transform := range map[string]toolscache.TransformFunc{
			"whole": nil,
			"transformed": func(obj any) (any, error) {
				obj.(*corev1.ConfigMap).Annotations = map[string]string{"transformed": "yes"}
				return obj, nil
			},
		} {
			before := heap()
			c := w.started(own, cache.Options{DefaultTransform: transform})
			var got corev1.ConfigMap
			must(t, c.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "map-7"}, &got))
			if after := heap(); after > before+objects*size/2 {
				t.Errorf("%s: %d objects of %d bytes take %d bytes", name, objects, size, after-before)
			}
			runtime.KeepAlive(c)
		}
	})
}

// heap returns how many bytes live objects have.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
