package controller_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/internal/store/storetest"
)

// The cache is ahead of its handlers. So a reconcile can act on a state of an object that a later change has undone
// before the source heard of it: each state names its keys.
func TestASourceNamesTheKeysOfStatesThatAReconcileMayHaveSeen(t *testing.T) {
	yes := true
	owned := func(version string, by ...string) *pod {
		p := newPod("ns", "child", version)
		for _, name := range by {
			p.OwnerReferences = []meta.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: name, UID: "u", Controller: &yes}}
		}
		return p
	}
	deployments := owners{meta.GVK{Group: "apps", Version: "v1", Kind: "Deployment"}, meta.Namespaced}
	owns := func(s controller.Subscriber[*pod]) controller.Source[meta.Key] {
		return controller.Owns(s, deployments)
	}
	all := func(_, _ *pod) bool { return true }
	for _, test := range []struct {
		name   string
		source func(r cache.Reader[*pod]) controller.Source[meta.Key]
		write  func(s pods)
		want   string
	}{
		{
			"a child that is made and deleted",
			func(r cache.Reader[*pod]) controller.Source[meta.Key] { return owns(r) },
			func(s pods) { s.set(owned("2", "a")); s.delete(owned("3", "a")) },
			"ns/a",
		},
		{
			"in a view",
			func(r cache.Reader[*pod]) controller.Source[meta.Key] {
				return owns(r.Where(func(p *pod) bool { return len(p.OwnerReferences) > 0 }))
			},
			func(s pods) { s.set(owned("2", "a")); s.delete(owned("3", "a")) },
			"ns/a",
		},
		{
			"of a source that leaves out updates and ends reconciles",
			func(r cache.Reader[*pod]) controller.Source[meta.Key] {
				return owns(controller.Changed(controller.CancelDeleted(r), all))
			},
			func(s pods) { s.set(owned("2", "a")); s.delete(owned("3", "a")) },
			"ns/a",
		},
		{
			"the same the other way round",
			func(r cache.Reader[*pod]) controller.Source[meta.Key] {
				return owns(controller.CancelDeleted(controller.Changed(r, all)))
			},
			func(s pods) { s.set(owned("2", "a")); s.delete(owned("3", "a")) },
			"ns/a",
		},
		{
			"a child that is adopted and released",
			func(r cache.Reader[*pod]) controller.Source[meta.Key] { return owns(r) },
			func(s pods) { s.set(owned("2", "a")); s.set(owned("3", "b")); s.set(owned("4", "c")) },
			"ns/a ns/b ns/c",
		},
		{
			"an object that moves between keys",
			func(r cache.Reader[*pod]) controller.Source[meta.Key] {
				return controller.Map(r, func(p *pod) (keys []meta.Key) {
					for _, node := range p.Nodes {
						keys = append(keys, meta.Key{Name: node})
					}
					return keys
				})
			},
			func(s pods) {
				s.set(newPod("ns", "p", "2", "n1"))
				s.set(newPod("ns", "p", "3", "n2"))
				s.set(newPod("ns", "p", "4", "n3"))
			},
			"n1 n2 n3",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := pods{storetest.New[*pod]()}
				s.list()
				take, stop := reconciled(t, test.source(s.Reader()))
				want(t, "before", take, "")
				test.write(s) // before anything delivers
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error)
				go func() { ended <- s.Deliver(ctx, func(p *cache.PanicError) { t.Errorf("%v\n%s", p, p.Stack) }) }()
				// A worker may take a key between two states of an object or after both: one reconcile or two.
				want(t, "after", func() string { return strings.Join(slices.Compact(strings.Fields(take())), " ") }, test.want)
				cancel()
				if err := <-ended; err != nil {
					t.Error(err)
				}
				mustStop(t, stop)
			})
		})
	}
}
