package store_test

import (
	"testing"

	"github.com/bowline-go/bowline/internal/store"
	"github.com/bowline-go/bowline/internal/store/storetest"
)

func TestAfterSeen(t *testing.T) {
	write := func(state string) store.Write { return store.Write{Identity: id(state)} }
	outside := func(state string) store.Write { return store.Write{Identity: id(state), Outside: true} }
	const yes, no = true, false
	for _, test := range []struct {
		name   string
		before func(things)
		write  store.Write
		misses func(things) // does not show the write
		shows  func(things) // shows it; nil if it has been seen from the start
		absent bool         // before
		missed bool         // the cache may never have held the object
	}{
		{"the object is there", func(s things) { set(s, "ns/a u@5") }, write("ns/a u@5"), nil, nil, no, no},
		{"a later state is", func(s things) { set(s, "ns/a u@10") }, write("ns/a u@9"), nil, nil, no, no},
		{"the cache is later", func(s things) { s.Bookmark("6") }, write("ns/a u@5"), nil, nil, no, yes},
		{"another object has its place", func(s things) { set(s, "ns/a v@9") }, write("ns/a u@8"), nil, nil, no, yes},
		{"its version has no order", nil, write("ns/a u@x"), nil, nil, no, no},
		{"the cache's has none", func(s things) { s.Bookmark("x") }, write("ns/a u@5"), nil, nil, no, no},
		{
			"the object comes", nil, write("ns/a u@5"),
			func(s things) {
				set(s, "ns/a u@4")
				set(s, "ns/b u@3")
				s.Bookmark("4")
				s.Writer("other").Bookmark("9")
			},
			func(s things) { set(s, "ns/a u@5") }, no, no,
		},
		{"a later event comes", nil, write("ns/a u@5"), nil, func(s things) { set(s, "ns/b u@6") }, no, yes},
		{"a bookmark comes", nil, write("ns/a u@5"), nil, func(s things) { s.Bookmark("100") }, no, yes},
		{"an event that takes it out comes", func(s things) { set(s, "ns/a u@4") }, write("ns/a u@5"), nil, func(s things) { remove(s, "ns/a u@5") }, no, yes},
		{"a relist comes", nil, write("ns/a u@5"), func(s things) { relist(s, "4") }, func(s things) { relist(s, "8", "ns/b u@6") }, no, yes},
		{"a version without order comes", nil, write("ns/a u@5"), nil, func(s things) { s.Bookmark("x") }, no, no},
		{
			"the writer of its namespace goes on", nil, write("ns/a u@5"),
			func(s things) { s.Writer("other").Bookmark("9") }, func(s things) { s.Writer("ns").Bookmark("6") }, no, yes,
		},
		{
			"a wide writer covers its namespace at last", func(s things) { s.Writer("").Restrict(only("other")); s.Bookmark("7") }, write("ns/a u@5"),
			func(s things) { s.Bookmark("8") }, func(s things) { s.Writer("").Restrict(only("ns")) }, no, yes,
		},
		{
			"a restricted writer goes on", func(s things) { s.Writer("").Restrict(only("ns", "other")) }, write("ns/a u@5"),
			func(s things) { s.Bookmark("4") }, func(s things) { s.Bookmark("5") }, no, yes,
		},
		{
			"EndWaits", nil, write("ns/a u@5"), func(s things) { s.EndWaits(func(ns string) bool { return ns != "ns" }) },
			func(s things) { s.EndWaits(func(ns string) bool { return ns == "ns" }) }, no, no,
		},

		{"a deletion without a uid, of what is not there", nil, write("ns/a @"), nil, nil, no, no},
		{
			"the deletion comes", func(s things) { set(s, "ns/a u@3") }, write("ns/a u@"),
			func(s things) { set(s, "ns/a u@4"); s.Bookmark("9") }, func(s things) { remove(s, "ns/a u@10") }, no, no,
		},
		{
			"the re-creation comes", func(s things) { set(s, "ns/a u@3") }, write("ns/a @"),
			func(s things) { set(s, "ns/a u@4"); s.Bookmark("9") }, func(s things) { set(s, "ns/a v@11") }, no, no,
		},
		{"a relist without it comes", func(s things) { set(s, "ns/a u@3") }, write("ns/a u@"), nil, func(s things) { relist(s, "8") }, no, no},
		{
			"the deleted object comes and goes", nil, write("ns/a u@"),
			func(s things) { s.Bookmark("2"); set(s, "ns/a v@3"); set(s, "ns/a u@4") }, func(s things) { remove(s, "ns/a u@5") }, yes, no,
		},
		{
			"another object is there, then the deleted one", func(s things) { set(s, "ns/a v@3") }, write("ns/a u@"),
			func(s things) { set(s, "ns/a u@4") }, func(s things) { set(s, "ns/a w@5") }, yes, no,
		},
		{
			"the object belongs outside, and is", func(s things) { s.Bookmark("3") }, outside("ns/a u@5"),
			func(s things) { set(s, "ns/a u@4") }, func(s things) { remove(s, "ns/a u@5") }, yes, no,
		},
		{
			"the object belongs outside, and is not yet", func(s things) { set(s, "ns/a u@3") }, outside("ns/a u@5"),
			func(s things) { set(s, "ns/a u@4") }, func(s things) { remove(s, "ns/a u@5") }, no, no,
		},
		{"the object belongs outside, and the cache knows", func(s things) { s.Bookmark("5") }, outside("ns/a u@5"), nil, nil, no, no},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := storetest.New[*thing]()
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
			sight := s.AfterSeen(test.write, func(missed bool) {
				calls++
				s.Reader().Len()
				if missed != test.missed {
					t.Errorf("missed is %v", missed)
				}
			})
			if sight.Absent() != test.absent {
				t.Errorf("absent: %v", !test.absent)
			}
			other := s.AfterSeen(test.write, func(bool) { stopped++ })
			if test.shows == nil {
				if calls != 1 || stopped != 1 || sight.Stop() || other.Stop() {
					t.Errorf("it was not seen at once: %d, %d", calls, stopped)
				}
				return
			}
			if !other.Stop() || other.Stop() {
				t.Error("Stop says something else")
			}
			called(0, "at first")
			if test.misses != nil {
				test.misses(s)
				called(0, "before")
				if sight.Absent() {
					t.Error("absent after an older state has come")
				}
			}
			test.shows(s)
			called(1, "after")
			if sight.Stop() {
				t.Error("Stop of a function that was called returns true")
			}
			s.Bookmark("1000")
			s.EndWaits(func(string) bool { return true })
			called(1, "later")
		})
	}
}

// A write is not seen before those that came before it: the cache may not have seen them yet.
func TestAWriteIsNotSeenBeforeEarlierOnes(t *testing.T) {
	for _, test := range []struct {
		name string
		last store.Write
	}{
		{"a deletion", store.Write{Identity: id("ns/a u@")}},
		{"a write that takes the object out", store.Write{Identity: id("ns/a u@6"), Outside: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := storetest.New[*thing]()
			var seen []string
			note := func(what string) func(bool) { return func(bool) { seen = append(seen, what) } }
			s.AfterSeen(store.Write{Identity: id("ns/a u@4")}, note("change"))
			creation := s.AfterSeen(store.Write{Identity: id("ns/a u@3")}, note("creation"))
			s.AfterSeen(store.Write{Identity: id("ns/a u@2")}, func(bool) {})
			end := s.AfterSeen(test.last, note("end"))
			if end.Absent() {
				t.Error("it is absent, but will come")
			}
			creation.Stop()
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
