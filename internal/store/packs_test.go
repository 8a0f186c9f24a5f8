package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/packed"
	"github.com/bowline-go/bowline/internal/store"
)

var errBroken = errors.New("it is broken")

// counting is a store of packed objects that counts how often it unpacks one.
type counting struct {
	things
	unpacked atomic.Int64
	reported []string
}

func newCounting(t *testing.T, hot int) *counting {
	t.Helper()
	c := new(counting)
	way := &packed.Way{}
	c.things = things{Store: store.NewPacked(store.Packing[*thing]{
		Clone: meta.Clone[*thing],
		Pack: func(obj *thing) packed.Text {
			if slices.Contains(obj.Tags, "no text") {
				return packed.Text{}
			}
			return packed.New(way, fmt.Sprintf("%s|%s", obj, strings.Join(obj.Tags, ",")))
		},
		Unpack: func(text packed.Text) (*thing, error) {
			c.unpacked.Add(1)
			raw, _, err := text.Unpack(nil)
			if err != nil {
				return nil, err
			}
			state, tags, _ := strings.Cut(string(raw), "|")
			if tags == "" {
				return object(state), nil
			}
			return object(state, strings.Split(tags, ",")...), nil
		},
		Report: func(id meta.Identity, err error) { c.reported = append(c.reported, fmt.Sprint(id.Key(), ": ", err)) },
	})}
	way.Unpack = func(into []byte, raw string) ([]byte, byte, error) {
		if strings.HasSuffix(raw, "unreadable") && c.unpacked.Load() > 1 {
			return into, 0, errBroken
		}
		return append(into, raw...), 0, nil
	}
	c.SetHot(hot)
	return c
}

func TestReadersOfPackedObjectsOwnThem(t *testing.T) {
	for _, hot := range []int{0, 100_000} {
		t.Run(fmt.Sprint("hot ", hot), func(t *testing.T) {
			s := newCounting(t, hot)
			set(s.things, "ns/a u@1", "x")
			for range 5 {
				obj, found := s.Get(key("ns/a"))
				if !found || obj.Tags[0] != "x" {
					t.Fatalf("got %v", obj)
				}
				obj.Tags[0] = "changed"
				for _, obj := range s.Entries() {
					obj.Tags[0] = "changed"
				}
				_, objects := s.Writer("").Snapshot()
				for _, obj := range objects {
					if obj.Tags[0] != "x" {
						t.Fatalf("the snapshot has %v", obj)
					}
					obj.Tags[0] = "changed"
				}
			}
		})
	}
}

// An object that is read again and again is not unpacked each time, and one that a list finds unchanged never is.
func TestPackedObjectsAreUnpackedWhenNecessary(t *testing.T) {
	s := newCounting(t, 10*len("ns/a00 u@1|"))
	var states []string
	for n := range 40 {
		states = append(states, fmt.Sprintf("ns/a%02d u@1", n))
		set(s.things, states[n])
	}
	count := func(what string, want int64, f func()) {
		t.Helper()
		s.unpacked.Store(0)
		f()
		if got := s.unpacked.Load(); got != want {
			t.Errorf("%s: %d objects are unpacked, want %d", what, got, want)
		}
	}
	count("the latest object", 0, func() { s.Get(key("ns/a39")) })
	count("an old object", 2, func() {
		for range 10 {
			s.Get(key("ns/a00"))
		}
	})
	count("an unchanged list", 0, func() {
		if got, want := relist(s.things, "2", states...), (store.Changes{Unchanged: 40}); got != want {
			t.Errorf("changes %+v, want %+v", got, want)
		}
	})
	count("a loop", 30, func() {
		for range s.All() {
		}
	})
}

// An object that no text makes again is kept as it is, and copied for readers.
func TestObjectsWithoutATextAreKept(t *testing.T) {
	s := newCounting(t, 0)
	set(s.things, "ns/a u@1", "no text")
	set(s.things, "ns/b u@1", "lost,") // its text makes another object
	for range 3 {
		for name, tags := range map[string][]string{"ns/a": {"no text"}, "ns/b": {"lost,"}} {
			obj, found := s.Get(key(name))
			if !found || !slices.Equal(obj.Tags, tags) {
				t.Fatalf("got %v with %q, want %q", obj, obj.Tags, tags)
			}
			obj.Tags[0] = "changed"
		}
	}
	r := s.Writer("").Relist()
	for _, state := range []string{"ns/a u@1", "ns/b u@1"} {
		if _, kept := r.Keep(id(state)); !kept {
			t.Errorf("the list does not keep %s", state)
		}
		set(s.things, state+"0") // the list undoes it
	}
	r.Commit("3")
	for _, state := range []string{"ns/a u@1", "ns/b u@1"} {
		if obj, _ := s.Get(key(state)); obj.String() != state || len(obj.Tags) != 1 {
			t.Errorf("got %v with %q, want %s", obj, obj.Tags, state)
		}
	}
}

// An object that does not unpack is absent and is reported once, until a list brings it again.
func TestAnObjectThatDoesNotUnpackIsAbsentUntilTheNextList(t *testing.T) {
	s := newCounting(t, 0)
	set(s.things, "ns/a u@1", "unreadable")
	set(s.things, "ns/b u@1", "fine")
	s.unpacked.Store(10)
	for range 3 {
		if obj, found := s.Get(key("ns/a")); found {
			t.Errorf("got %v", obj)
		}
		if got := states(s.All()); !slices.Equal(got, []string{"ns/b u@1"}) {
			t.Errorf("a loop has %v", got)
		}
	}
	if want := []string{"ns/a: it is broken"}; !slices.Equal(s.reported, want) {
		t.Errorf("reported %q, want %q", s.reported, want)
	}
	r := s.Relist()
	if _, kept := r.Keep(id("ns/a u@1")); kept {
		t.Error("the list keeps the object that does not unpack")
	}
	if _, kept := r.Keep(id("ns/b u@1")); !kept {
		t.Error("the list does not keep the other object")
	}
	r.Set(id("ns/a u@1"), object("ns/a u@1", "fine"))
	r.Commit("2")
	if obj, found := s.Get(key("ns/a")); !found || obj.Tags[0] != "fine" {
		t.Errorf("got %v", obj)
	}
}

// A handler that was to get an object that does not unpack is reported to have panicked, and the others go on.
func TestHandlersOfAnObjectThatDoesNotUnpack(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		s := newCounting(t, 0)
		set(s.things, "ns/a u@1", "unreadable")
		s.unpacked.Store(10)
		var told record
		s.Reader().Subscribe(&told)
		ctx, cancel := context.WithCancel(t.Context())
		var panics []*cache.PanicError
		ended := make(chan error)
		go func() { ended <- s.Deliver(ctx, func(p *cache.PanicError) { panics = append(panics, p) }) }()
		set(s.things, "ns/b u@2", "fine")
		synctest.Wait()
		cancel()
		<-ended
		expect(t, "calls", told.Take(), "add ns/b u@2")
		if len(panics) != 1 || panics[0].Key != key("ns/a") || panics[0].Op != "OnAdd" || !errors.Is(panics[0], errBroken) {
			t.Errorf("reported %v", panics)
		}
	})
}

// An index has no values of an object that does not unpack.
func TestAnIndexOfAnObjectThatDoesNotUnpack(t *testing.T) {
	s := newCounting(t, 0)
	set(s.things, "ns/a u@1", "unreadable")
	set(s.things, "ns/b u@1", "fine")
	s.unpacked.Store(10)
	ix := cache.NewIndex(s.Reader(), func(o *thing) []string { return o.Tags })
	if got, want := contents(ix), []string{"fine: [ns/b u@1]"}; !slices.Equal(got, want) {
		t.Errorf("the index has %q, want %q", got, want)
	}
	if len(s.reported) != 1 {
		t.Errorf("reported %q", s.reported)
	}
}

// The mutation check finds that somebody has changed an object that handlers share. From then on nobody gets it.
func TestTheCheckOfPackedObjects(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		for _, found := range []string{"a sweep", "an update", "others"} {
			s := newCounting(t, 4*len("ns/b0 u@1|y"))
			var reported []string
			s.things.CheckMutations(1, 100, func(err *cache.MutationError) { reported = append(reported, err.Error()) })
			s.Reader().Subscribe(cache.HandlerFuncs[*thing]{Add: func(obj *thing) {
				if obj.ID.Name == "a" {
					obj.Tags[0] = "changed"
				}
			}})
			set(s.things, "ns/a u@1", "x")
			drain(t, s.things)
			switch found {
			case "a sweep":
				s.Sweep()
			case "an update":
				set(s.things, "ns/a u@2", "y")
			case "others":
				for n := range 5 {
					set(s.things, fmt.Sprintf("ns/b%d u@2", n), "y")
				}
			}
			if len(reported) != 1 || !strings.Contains(reported[0], `check "ns/a" at version 1`) || !strings.Contains(reported[0], "Tags[0]") {
				t.Errorf("%s: reported %q", found, reported)
			}
			if obj, _ := s.Get(key("ns/a")); obj.Tags[0] == "changed" {
				t.Errorf("%s: a reader gets the changed object", found)
			}
			s.Sweep()
			if len(reported) != 1 {
				t.Errorf("%s: reported %q again", found, reported)
			}
		}
	})
}
