package cache_test

import (
	"testing"

	"github.com/bowline-go/bowline/cache"
)

func TestAfterSeen(t *testing.T) {
	type store = *cache.Store[*thing]
	write := func(state string) cache.Write { return cache.Write{Identity: id(state)} }
	outside := func(state string) cache.Write { return cache.Write{Identity: id(state), Outside: true} }
	for _, test := range []struct {
		name   string
		before func(store)
		write  cache.Write
		misses func(store) // does not show the write
		shows  func(store) // shows it; nil if it has been seen from the start
	}{
		{"the object is there", func(s store) { set(s, "ns/a u@5") }, write("ns/a u@5"), nil, nil},
		{"a later state is", func(s store) { set(s, "ns/a u@10") }, write("ns/a u@9"), nil, nil},
		{"the cache is later", func(s store) { s.Bookmark("6") }, write("ns/a u@5"), nil, nil},
		{"another object has its place", func(s store) { set(s, "ns/a v@9") }, write("ns/a u@8"), nil, nil},
		{"its version has no order", nil, write("ns/a u@x"), nil, nil},
		{"the cache's has none", func(s store) { s.Bookmark("x") }, write("ns/a u@5"), nil, nil},
		{
			"the object comes", nil, write("ns/a u@5"),
			func(s store) {
				set(s, "ns/a u@4")
				set(s, "ns/b u@3")
				s.Bookmark("4")
				s.Writer("other").Bookmark("9")
			},
			func(s store) { set(s, "ns/a u@5") },
		},
		{"a later event comes", nil, write("ns/a u@5"), nil, func(s store) { set(s, "ns/b u@6") }},
		{"a bookmark comes", nil, write("ns/a u@5"), nil, func(s store) { s.Bookmark("100") }},
		{"an event that takes it out comes", func(s store) { set(s, "ns/a u@4") }, write("ns/a u@5"), nil, func(s store) { remove(s, "ns/a u@5") }},
		{"a relist comes", nil, write("ns/a u@5"), func(s store) { relist(s, "4") }, func(s store) { relist(s, "8", "ns/b u@6") }},
		{"a version without order comes", nil, write("ns/a u@5"), nil, func(s store) { s.Bookmark("x") }},
		{
			"the writer of its namespace goes on", nil, write("ns/a u@5"),
			func(s store) { s.Writer("other").Bookmark("9") }, func(s store) { s.Writer("ns").Bookmark("6") },
		},
		{
			"a wide writer covers its namespace at last", func(s store) { s.Writer("").Restrict([]string{"other"}); s.Bookmark("7") }, write("ns/a u@5"),
			func(s store) { s.Bookmark("8") }, func(s store) { s.Writer("").Restrict([]string{"ns"}) },
		},
		{
			"a restricted writer goes on", func(s store) { s.Writer("").Restrict([]string{"ns", "other"}) }, write("ns/a u@5"),
			func(s store) { s.Bookmark("4") }, func(s store) { s.Bookmark("5") },
		},
		{
			"EndWaits", nil, write("ns/a u@5"), func(s store) { s.EndWaits(func(ns string) bool { return ns != "ns" }) },
			func(s store) { s.EndWaits(func(ns string) bool { return ns == "ns" }) },
		},

		{"the deleted object is not there", nil, write("ns/a u@"), nil, nil},
		{"another object is", func(s store) { set(s, "ns/a v@3") }, write("ns/a u@"), nil, nil},
		{"no object is, and the deletion had no uid", nil, write("ns/a @"), nil, nil},
		{
			"the deletion comes", func(s store) { set(s, "ns/a u@3") }, write("ns/a u@"),
			func(s store) { set(s, "ns/a u@4"); s.Bookmark("9") }, func(s store) { remove(s, "ns/a u@10") },
		},
		{
			"the re-creation comes", func(s store) { set(s, "ns/a u@3") }, write("ns/a @"),
			func(s store) { set(s, "ns/a u@4"); s.Bookmark("9") }, func(s store) { set(s, "ns/a v@11") },
		},
		{"a relist without it comes", func(s store) { set(s, "ns/a u@3") }, write("ns/a u@"), nil, func(s store) { relist(s, "8") }},

		{"the object belongs outside, and is", nil, outside("ns/a u@5"), nil, nil},
		{
			"the object belongs outside, and is not yet", func(s store) { set(s, "ns/a u@3") }, outside("ns/a u@5"),
			func(s store) { set(s, "ns/a u@4") }, func(s store) { remove(s, "ns/a u@5") },
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := cache.NewStore[*thing]()
			if test.before != nil {
				test.before(s)
			}
			calls, stopped := 0, 0
			called := func(want int, when string) {
				t.Helper()
				if calls != want || stopped != 0 {
					t.Fatalf("%s: %d calls, want %d; and %d after stop", when, calls, want, stopped)
				}
			}
			stop := s.AfterSeen(test.write, func() { calls++; s.Reader().Len() })
			other := s.AfterSeen(test.write, func() { stopped++ })
			if test.shows == nil {
				if calls != 1 || stopped != 1 || stop() || other() {
					t.Errorf("it was not seen at once: %d, %d", calls, stopped)
				}
				return
			}
			if !other() || other() {
				t.Error("stop says something else")
			}
			called(0, "at first")
			if test.misses != nil {
				test.misses(s)
				called(0, "before")
			}
			test.shows(s)
			called(1, "after")
			if stop() {
				t.Error("stop of a function that was called returns true")
			}
			s.Bookmark("1000")
			s.EndWaits(func(string) bool { return true })
			called(1, "later")
		})
	}
}

// A write is not seen before those that came before it: the cache may not have seen them yet.
func TestAfterSeenWhileEarlierWritesAreWaitedFor(t *testing.T) {
	for _, test := range []struct {
		name string
		last cache.Write
	}{
		{"a deletion", cache.Write{Identity: id("ns/a u@")}},
		{"a write that takes the object out", cache.Write{Identity: id("ns/a u@6"), Outside: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := cache.NewStore[*thing]()
			var seen []string
			note := func(what string) func() { return func() { seen = append(seen, what) } }
			s.AfterSeen(cache.Write{Identity: id("ns/a u@4")}, note("change"))
			stop := s.AfterSeen(cache.Write{Identity: id("ns/a u@3")}, note("creation"))
			s.AfterSeen(test.last, note("end"))
			stop()
			s.AfterSeen(cache.Write{Identity: id("ns/a u@2")}, func() {})
			s.Bookmark("2")
			expect(t, "before the creation", seen)
			set(s, "ns/a u@3")
			expect(t, "after the creation", seen)
			set(s, "ns/a u@4")
			expect(t, "after the change", seen, "change")
			remove(s, "ns/a u@6")
			expect(t, "after the end", seen, "change", "end")
		})
	}
}
