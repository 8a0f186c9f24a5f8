package informer_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
)

// An informer without faults: what it asks for, what it holds and what it tells.

// behaviours 169, 171, 180, 184, 198, 202
func TestAnInformerListsAndThenFollows(t *testing.T) {
	for _, test := range []struct {
		mode     informer.Mode
		requests []string // what each asks for
		watches  int
	}{
		{informer.Paged, []string{"limit=500", "allowWatchBookmarks=true&resourceVersion=5&timeoutSeconds=N&watch=true"}, 1},
		{informer.Streaming, []string{"allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=N&watch=true"}, 0},
		{informer.Auto, []string{"allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=N&watch=true"}, 0},
	} {
		t.Run(test.mode.String(), func(t *testing.T) {
			bubble(t, func(r *rig) {
				r.put("a")
				r.put("b")
				var asked journal[string]
				r.server.Intercept(func(q *http.Request) http.HandlerFunc {
					if collects(q) || asks(q) == "watch" {
						query := q.URL.Query()
						if seconds, err := strconv.Atoi(query.Get("timeoutSeconds")); err == nil && seconds >= 300 && seconds < 600 {
							query.Set("timeoutSeconds", "N") // at random, so that informers which began together do not come back together
						}
						asked.add(query.Encode())
					}
					return nil
				})
				i := r.start(informer.Options{Mode: test.mode})
				if v := i.Status().ResourceVersion; v != "5" {
					r.Errorf("synced at version %s, want 5", v)
				}
				i.tells("add a", "add b")
				r.heal() // what follows asks the server too
				i.current()

				r.put("a", "x", "1")
				r.remove("b")
				r.put("c")
				i.tells("add c", "delete b", "update a")
				i.current()
				if got := asked.list(); !slices.Equal(got, test.requests) {
					r.Errorf("requests %q, want %q", got, test.requests)
				}
				s := i.Status()
				if s.State != informer.Watching || !s.Synced || s.Err != nil || s.Objects != 2 || s.Lists != 1 || s.Watches != test.watches || s.Events != 3 {
					r.Errorf("status is %v", s)
				}
				r.pass(2 * time.Minute)
				if after := i.Status(); !after.LastEvent.After(s.LastEvent) {
					r.Error("a bookmark does not count as a sign of life")
				}
				i.tells()
			})
		})
	}
}

// behaviours 180, 202, fault F4: with nothing happening, a server is asked once in 5 to 10 minutes.
func TestAWatchThatTheServerEndsIsOpenedAgainWithoutAList(t *testing.T) {
	modes(t, func(t *testing.T, mode informer.Mode) {
		bubble(t, func(r *rig) {
			r.put("a")
			i := r.start(informer.Options{Mode: mode})
			r.pass(10 * time.Hour)
			i.relisted(nil)
			if n := i.Status().Watches; n < 59 || n > 121 || i.Status().Lists != 1 {
				r.Errorf("%d watches and %d lists in ten hours", n, i.Status().Lists)
			}
			if errs := i.reported(); len(errs) != 0 {
				r.Errorf("reported %v", errs)
			}
			r.put("b")
			i.current()
		})
	})
}

// behaviour 79
func TestAListOfSeveralPages(t *testing.T) {
	for _, test := range []struct{ objects, page, requests int }{
		{0, 2, 1},
		{1, 2, 1},
		{2, 2, 1},
		{5, 2, 3},
		{5, -1, 1},
	} {
		t.Run(fmt.Sprint(test), func(t *testing.T) {
			bubble(t, func(r *rig) {
				for n := range test.objects {
					r.put(fmt.Sprint("a", n))
				}
				lists := r.requests("list")
				i := r.start(informer.Options{Mode: informer.Paged, PageSize: test.page})
				if n := r.requests("list") - lists; n != test.requests {
					r.Errorf("%d requests, want %d", n, test.requests)
				}
				if i.Status().Objects != test.objects {
					r.Errorf("status is %v", i.Status())
				}
				i.current()
			})
		})
	}
}

// behaviour 241: who leaves a selector is deleted, who enters it is added.
func TestOptionsSelectTheObjectsInTheCache(t *testing.T) {
	web := map[string]string{"app": "web"}
	for _, test := range []struct {
		name    string
		o       informer.Options
		initial []string
		then    []string
	}{
		{"everything", informer.Options{}, []string{"add a", "add b", "add kube-root"}, []string{"add d", "update a", "update b", "update kube-root"}},
		{"a label", informer.Options{LabelSelector: "app=web"}, []string{"add a"}, []string{"add b", "add d", "delete a"}},
		{"a field", informer.Options{FieldSelector: "metadata.name=b"}, []string{"add b"}, []string{"update b"}},
		{"a namespace", informer.Options{Namespace: "kube-system"}, []string{"add kube-root"}, []string{"update kube-root"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(r *rig) {
				system := func(v string) *meta.Unstructured {
					return unstructured("kube-system", "kube-root", nil, map[string]any{"v": v})
				}
				r.putLabelled("a", web)
				r.put("b")
				if _, err := r.raw.Create(r.Context(), system("1")); err != nil {
					r.Fatal(err)
				}
				i := r.start(test.o)
				i.tells(test.initial...)
				r.put("a")
				r.putLabelled("b", web)
				r.putLabelled("d", web)
				if _, err := r.raw.Update(r.Context(), system("2")); err != nil {
					r.Fatal(err)
				}
				i.tells(test.then...)
				i.current()
			})
		})
	}
}

// behaviours 169, 170, 171: version 0 is asked for until there is a cache, and after that nothing that may be older than it:
// every list is a consistent one, and so it has pages.
func TestAllowStaleAsksForWhatTheServerHasCachedOnceOnly(t *testing.T) {
	modes(t, func(t *testing.T, mode informer.Mode) {
		bubble(t, func(r *rig) {
			r.put("a")
			var asked journal[string]
			r.server.Intercept(func(q *http.Request) http.HandlerFunc {
				if !collects(q) {
					return nil
				}
				query := q.URL.Query()
				if asked.add(query.Get("resourceVersion")+" "+query.Get("limit")) == 1 {
					return failure(http.StatusServiceUnavailable, "ServiceUnavailable", "not now")
				}
				return nil
			})
			i := r.start(informer.Options{Mode: mode, AllowStale: true})
			r.server.DropWatches()
			r.put("b")
			r.server.Compact()
			r.within(time.Minute, "relisted", func() bool { return i.Status().Relists[informer.Expired] == 1 })
			want := []string{"0 500", "0 500", " 500"}
			if mode == informer.Streaming {
				want = []string{"0 ", "0 ", " "}
			}
			if got := asked.list(); !slices.Equal(got, want) {
				r.Errorf("lists asked for %q, want version 0 until the first is complete, and none afterwards: %q", got, want)
			}
			i.current()
		})
	})
}

// behaviours 225, 226, 227
func TestSubscribers(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put("a")
		i := r.informer(informer.Options{})
		release := make(chan struct{})
		slow := &witness{t: r.T, delay: func() { <-release }}
		panics := i.Subscribe(cache.HandlerFuncs[*Thing]{Add: func(*Thing) { panic("no") }})
		sub := i.Subscribe(slow)
		i.run()
		r.Cleanup(i.stop)
		if err := i.WaitSynced(r.Context()); err != nil {
			r.Fatal(err)
		}
		i.tells("add a")
		for _, v := range []string{"1", "2", "3"} {
			r.put("a", "v", v)
			i.tells("update a")
		}
		late := &witness{t: r.T}
		if err := i.Subscribe(late).WaitSynced(r.Context()); err != nil {
			r.Fatal(err)
		}
		if d := late.difference(i.held()); d != "" {
			r.Errorf("a late subscriber is synced, but: %s", d)
		}
		select {
		case <-sub.Synced():
			r.Error("a subscriber that has handled nothing is synced")
		default:
		}
		close(release)
		synctest.Wait()
		if d := slow.difference(i.held()); d != "" {
			r.Errorf("the slow subscriber: %s", d)
		}
		<-sub.Synced()
		<-panics.Synced()
		var p *cache.PanicError
		if errs := i.reported(); len(errs) != 1 || !errors.As(errs[0], &p) || p.Key != key("a") {
			r.Errorf("reported %v, want the panic", errs)
		}
		i.current()
	})
}

// OnError may use the informer, from any of the goroutines that call it.
func TestOnErrorMayAskTheInformer(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put("bad", "bad", "yes")
		r.put("good")
		var i *informer.Informer[*Thing]
		var seen []string
		i = informer.New(r.things, informer.Options{AllowEarlyReads: true, OnError: func(err error) {
			seen = append(seen, err.Error())
			_, _, _ = i.Status().String(), i.Reader().Len(), i.String()
			i.Subscribe(cache.HandlerFuncs[*Thing]{}).Close()
		}})
		ctx, cancel := context.WithCancel(r.Context())
		ended := make(chan error, 1)
		go func() { ended <- i.Run(ctx) }()
		if err := i.WaitSynced(ctx); err != nil {
			r.Error(err)
		}
		synctest.Wait()
		cancel()
		if err := <-ended; err != nil || len(seen) != 1 {
			r.Errorf("%v; reported %q, want one object that does not decode", err, seen)
		}
	})
}
