package informer_test

import (
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/informer"
)

// fault F36: a handler may remove itself and others, add others, change what is followed, and end the informer.
func TestHandlersMayUseTheInformer(t *testing.T) {
	bubble(t, func(r *rig) {
		r.putIn("default", "a")
		r.putIn("kube-system", "b")
		i := r.informer(informer.Options{Namespaces: []string{"default"}})
		removed, late := &witness{t: r.T}, &witness{t: r.T}
		other := i.Subscribe(removed)
		var own *cache.Subscription
		var calls journal[string]
		own = i.Subscribe(cache.HandlerFuncs[*Thing]{Add: func(obj *Thing) {
			calls.add(obj.Name)
			own.Close()
			other.Close()
			i.Subscribe(late)
			if _, ok := i.Reader().Get(key(obj.Name)); !ok || i.Status().Objects != 1 {
				r.Errorf("it is told of %v, and the status is %v", obj, i.Status())
			}
			if err := i.SetNamespaces([]string{"default", "kube-system"}); err != nil {
				r.Error(err)
			}
		}})
		i.run()
		synctest.Wait()
		i.tells("add a", "add b")
		removed.told()
		r.putIn("default", "c")
		i.tells("add c")
		if got := late.told(); len(got) != 3 {
			r.Errorf("the one that was added was told %q, want three objects", got)
		}
		if got := removed.told(); len(got) != 0 {
			r.Errorf("the one that was removed was told %q", got)
		}
		if got := calls.list(); len(got) != 1 {
			r.Errorf("the one that removed itself was told of %q", got)
		}
		<-own.Done()
		<-other.Done()
		i.Subscribe(cache.HandlerFuncs[*Thing]{Add: func(*Thing) { i.cancel() }})
		if err := <-i.ended; err != nil || i.Status().State != informer.Idle {
			r.Errorf("Run returned %v, and the status is %v", err, i.Status())
		}
	})
}
