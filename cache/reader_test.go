package cache_test

import (
	"slices"
	"testing"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/internal/store/storetest"
)

// behaviour 254
func TestReaderLoopsOverASnapshot(t *testing.T) {
	s := storetest.New[*thing]()
	r := s.Reader()
	byTag := cache.NewIndex(r, func(o *thing) []string { return o.Tags })
	want := []string{"ns/a u@1", "ns/b u@2", "ns/c u@3"}
	loops := map[string]func(func(*thing) bool){
		"All": r.All(), "Namespace": r.Namespace("ns"), "Index.Get": byTag.Get("x"),
	}
	for name, loop := range loops {
		t.Run(name, func(t *testing.T) {
			relist(s, "0")
			for _, state := range want {
				set(s, state, "x")
			}
			var got []string
			for o := range loop {
				// Reading, subscribing and writing within the loop neither blocks nor changes it.
				remove(s, "ns/a u@4")
				set(s, "ns/b u@5")
				set(s, "ns/d u@6", "x")
				relist(s, "7", "ns/z u@7")
				if r.Len() != 1 || len(states(r.All())) != 1 {
					t.Errorf("%d objects within the loop, want 1", r.Len())
				}
				r.Subscribe(cache.HandlerFuncs[*thing]{}).Close()
				got = append(got, o.String())
			}
			slices.Sort(got)
			expect(t, "loop", got, want...)
			relist(s, "8", "ns/a u@8", "ns/b u@8")
			n := 0
			for range r.All() {
				n++
				break
			}
			if n != 1 {
				t.Errorf("left the loop after %d rounds, want 1", n)
			}
		})
	}
}

func TestReaderNamespace(t *testing.T) {
	s := storetest.New[*thing]()
	r := s.Reader()
	relist(s, "9", "a/x u@1", "a/y u@2", "b/x u@3", "node u@4")
	expect(t, "a", states(r.Namespace("a")), "a/x u@1", "a/y u@2")
	expect(t, "b", states(r.Namespace("b")), "b/x u@3")
	expect(t, "the cluster's", states(r.Namespace("")), "node u@4")
	expect(t, "unknown", states(r.Namespace("c")))
	remove(s, "a/x u@5")
	remove(s, "b/x u@6")
	set(s, "a/y u@7")
	expect(t, "a after", states(r.Namespace("a")), "a/y u@7")
	expect(t, "b after", states(r.Namespace("b")))
	set(s, "b/x v@8")
	expect(t, "b again", states(r.Namespace("b")), "b/x v@8")
}

func TestZeroValuesAreEmpty(t *testing.T) {
	var r cache.Reader[*thing]
	if _, ok := r.Get(key("ns/a")); ok || r.Len() != 0 || r.ResourceVersion() != "" {
		t.Error("the zero Reader is not empty")
	}
	expect(t, "All", states(r.All()))
	expect(t, "Namespace", states(r.Namespace("ns")))
	for name, ix := range map[string]*cache.Index[string, *thing]{
		"index of a zero Reader":       cache.NewIndex(r, func(o *thing) []string { return o.Tags }),
		"value index of a zero Reader": cache.NewValueIndex(r, firstTag),
		"zero Index":                   {},
	} {
		expect(t, name, states(ix.Get("x")))
		expect(t, name+" keys", slices.Collect(ix.Keys()))
		if ix.Len("x") != 0 {
			t.Errorf("%s: Len = %d", name, ix.Len("x"))
		}
	}
	for name, sub := range map[string]*cache.Subscription{
		"subscription of a zero Reader": r.Subscribe(&record{}),
		"zero Subscription":             {},
	} {
		<-sub.Done()
		if err := sub.WaitSynced(t.Context()); err == nil {
			t.Errorf("%s: WaitSynced = nil, want an error", name)
		}
		select {
		case <-sub.Synced():
			t.Errorf("%s: synced", name)
		default:
		}
		if depth, age := sub.Backlog(); depth != 0 || age != 0 || pending(sub) != 0 {
			t.Errorf("%s: backlog %d, %v", name, depth, age)
		}
		sub.Close()
	}
}
