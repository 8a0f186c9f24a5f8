package cache_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/store/storetest"
)

func TestWaitFor(t *testing.T) {
	for _, test := range []struct {
		name   string
		before func(things)
		want   string
		after  func(things) // a second later
		waited time.Duration
		err    string
	}{
		{"the object is there", func(s things) { set(s, "ns/a u@5") }, "5", nil, 0, ""},
		{"a later state is", func(s things) { set(s, "ns/a u@10") }, "9", nil, 0, ""},
		{"the cache is later by another object", func(s things) { set(s, "ns/b u@6") }, "5", nil, 0, ""},
		{"the object is later than its writer", func(s things) { set(s, "ns/a u@9"); set(s, "ns/b u@2") }, "8", nil, 0, ""},
		{"by the object", nil, "5", func(s things) { set(s, "ns/a u@5") }, time.Second, ""},
		{"by a later one", func(s things) { set(s, "ns/a u@5") }, "99", func(s things) { set(s, "ns/a u@100") }, time.Second, ""},
		{"by a deletion", func(s things) { set(s, "ns/a u@5") }, "6", func(s things) { remove(s, "ns/a u@7") }, time.Second, ""},
		{"by a deletion of what was never seen", nil, "6", func(s things) { remove(s, "ns/a u@7") }, time.Second, ""},
		{"by a bookmark", nil, "6", func(s things) { s.Bookmark("6") }, time.Second, ""},
		{"by a relist without the object", nil, "6", func(s things) { relist(s, "8") }, time.Second, ""},
		{"by the writer of its namespace", nil, "6", func(s things) { s.Writer("ns").Bookmark("6") }, time.Second, ""},
		{"by a version that cannot be ordered", nil, "6", func(s things) { s.Bookmark("x") }, time.Second, ""},
		{"a version that cannot be ordered is not waited for", nil, "x", nil, 0, ""},
		{"nor is an empty one", nil, "", nil, 0, ""},
		{"nor is one where the cache's cannot be", func(s things) { s.Bookmark("x") }, "6", nil, 0, ""},
		{
			"not by an older one", func(s things) { set(s, "ns/a u@5") }, "6", func(s things) { s.Bookmark("3") }, time.Minute,
			`wait for version "6" of "ns/a": the cache is at version 3: context deadline exceeded`,
		},
		{
			"not by another namespace", func(s things) { s.Writer("ns").Bookmark("4") }, "6",
			func(s things) { s.Writer("other").Bookmark("9") }, time.Minute,
			`wait for version "6" of "ns/a": the cache is at version 4: context deadline exceeded`,
		},
		{
			"by a writer that is restricted to its namespace", func(s things) { s.Writer("").Restrict(only("ns", "more")) }, "6",
			func(s things) { s.Bookmark("6") }, time.Second, "",
		},
		{
			"by a writer that is restricted to more now", func(s things) { s.Writer("").Restrict(only()); s.Bookmark("6") }, "6",
			func(s things) { s.Writer("").Restrict(only("ns")) }, time.Second, "",
		},
		{
			"by a writer that is not restricted any more", func(s things) { s.Writer("").Restrict(only()); s.Bookmark("6") }, "6",
			func(s things) { s.Writer("").Restrict(nil) }, time.Second, "",
		},
		{
			"not by a writer that is restricted to others", func(s things) { s.Writer("").Restrict(only("other")) }, "6",
			func(s things) { s.Bookmark("7") }, time.Minute,
			`wait for version "6" of "ns/a": the cache is not filled yet: context deadline exceeded`,
		},
		{
			"nor before the first list", func(s things) { s.Writer("ns") }, "6", nil, time.Minute,
			`wait for version "6" of "ns/a": the cache is not filled yet: context deadline exceeded`,
		},
		{
			"nor in a namespace that nobody writes", func(s things) { s.Writer("other") }, "6", nil, time.Minute, // behaviour 263
			`wait for version "6" of "ns/a": the cache does not cover namespace "ns": context deadline exceeded`,
		},
	} {
		bubble(t, test.name, func(t *testing.T) {
			s := storetest.New[*thing]()
			if test.before != nil {
				test.before(s)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if test.after != nil {
				go func() {
					pass(time.Second)
					test.after(s)
				}()
			}
			waited, err := s.Reader().WaitFor(ctx, key("ns/a"), test.want)
			if waited != test.waited {
				t.Errorf("waited %v, want %v", waited, test.waited)
			}
			switch {
			case test.err == "" && err != nil, test.err != "" && (err == nil || err.Error() != test.err):
				t.Errorf("error %v, want %q", err, test.err)
			case err != nil && !errors.Is(err, context.DeadlineExceeded):
				t.Errorf("%v does not wrap the cause", err)
			}
			synctest.Wait()
		})
	}
}

func TestWaitForOnAZeroReaderEndsWithItsContext(t *testing.T) {
	var r cache.Reader[*thing]
	cause := errors.New("cause")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if _, err := r.WaitFor(ctx, key("ns/a"), "1"); !errors.Is(err, cause) {
		t.Errorf("error %v, want one that wraps the cause", err)
	}
}

// Many wait for different versions, and each is answered by the first write that reaches it.
func TestEachWaitEndsWithTheFirstWriteThatReachesIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := storetest.New[*thing]()
		answered := make(chan string, 10)
		for _, version := range []string{"3", "1", "2"} {
			go func() {
				if _, err := s.Reader().WaitFor(t.Context(), meta.Key{Name: "a"}, version); err != nil {
					t.Error(err)
				}
				answered <- version
			}()
		}
		synctest.Wait()
		for _, version := range []string{"1", "2", "3"} {
			s.Bookmark(version)
			if got := <-answered; got != version {
				t.Errorf("answered %s at version %s", got, version)
			}
			synctest.Wait()
			if len(answered) > 0 {
				t.Errorf("answered %s at version %s", <-answered, version)
			}
		}
	})
}
