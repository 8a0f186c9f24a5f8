package informer_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer"
)

// strict runs f with a server whose test would fail, and returns how. The rig's own client is of a server that no test has.
func strict(t *testing.T, f func(r *rig)) (failures []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		tb := &failing{T: t}
		server := clienttest.Start(tb, clienttest.Options{})
		c, err := client.New(server.Config())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		f(&rig{T: t, server: server, things: client.For(c, things), raw: client.For(c, raw)})
		synctest.Wait()
		failures = tb.failures
	})
	return failures
}

// A cache that has never held a list said of everything that it is not there, and nobody was told.
func TestAReadBeforeTheFirstListIsReportedAndFailsTheTest(t *testing.T) {
	for _, test := range []struct {
		name string
		read func(r cache.Reader[*Thing], ix *cache.Index[string, *Thing])
	}{
		{`Get "default/a"`, func(r cache.Reader[*Thing], _ *cache.Index[string, *Thing]) { r.Get(key("a")) }},
		{"All", func(r cache.Reader[*Thing], _ *cache.Index[string, *Thing]) { _ = slices.Collect(r.All()) }},
		{"Sorted", func(r cache.Reader[*Thing], _ *cache.Index[string, *Thing]) { _ = slices.Collect(r.Sorted()) }},
		{"Namespace", func(r cache.Reader[*Thing], _ *cache.Index[string, *Thing]) {
			_ = slices.Collect(r.Namespace("default"))
		}},
		{"Select", func(r cache.Reader[*Thing], _ *cache.Index[string, *Thing]) {
			_ = slices.Collect(cache.Select(r, meta.Selector{}))
		}},
		{"Len", func(r cache.Reader[*Thing], _ *cache.Index[string, *Thing]) { r.Len() }},
		{"Index.Get", func(_ cache.Reader[*Thing], ix *cache.Index[string, *Thing]) { _ = slices.Collect(ix.Get("a")) }},
		{"Index.Len", func(_ cache.Reader[*Thing], ix *cache.Index[string, *Thing]) { ix.Len("a") }},
		{"Index.Keys", func(_ cache.Reader[*Thing], ix *cache.Index[string, *Thing]) { _ = slices.Collect(ix.Keys()) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			var reported []error
			failures := strict(t, func(r *rig) {
				inf := informer.New(r.things, informer.Options{OnError: func(err error) { reported = append(reported, err) }})
				ix := cache.NewIndex(inf.Reader(), func(t *Thing) []string { return []string{t.Name} })
				test.read(inf.Reader(), ix)
				test.read(inf.Reader(), ix)
				i := r.running(inf)
				r.pass(time.Second)
				test.read(inf.Reader(), ix)
				i.stop()
				test.read(inf.Reader(), ix)
			})
			var early *informer.EarlyReadError
			if len(reported) != 1 || !errors.As(reported[0], &early) || !strings.Contains(early.Error(), " at ") || !strings.Contains(early.Error(), "early_test.go:") {
				t.Fatalf("reported %v, want the read once, with its place", reported)
			}
			r := &rig{T: t}
			r.says(early, "read the cache of configmaps.v1 too early ("+test.name, "Run has not been called", "controller.Reads")
			if len(failures) != 1 || failures[0] != early.Error() {
				t.Errorf("the test fails with %q, want %q", failures, early)
			}
		})
	}
}

// The informer's own work is no read, and neither is what asks for no objects, nor a program that waits.
func TestReadsThatAreNotTooEarly(t *testing.T) {
	failures := strict(t, func(r *rig) {
		r.put("a")
		inf := informer.New(r.things, informer.Options{OnError: func(err error) { r.Error(err) }})
		inf.Subscribe(cache.HandlerFuncs[*Thing]{Add: func(obj *Thing) { inf.Reader().Get(meta.KeyOf(obj)) }})
		_, _, _ = inf.Status(), inf.Reader().ResourceVersion(), inf.Unsynced()
		i := r.running(inf)
		if err := inf.WaitSynced(r.Context()); err != nil {
			r.Error(err)
		}
		inf.Reader().Get(key("nothing"))
		inf.Reader().Len()
		i.stop()
		allowed := informer.New(r.things, informer.Options{AllowEarlyReads: true})
		allowed.Reader().Get(key("a"))
		allowed.Reader().Len()
	})
	if len(failures) > 0 {
		t.Errorf("the test fails with %q", failures)
	}
}

func TestAReadOfANamespaceThatHasNotBeenListedIsTooEarly(t *testing.T) {
	for namespace, early := range map[string]bool{"default": false, "kube-system": true, "elsewhere": false} {
		failures := strict(t, func(r *rig) {
			r.server.Intercept(func(q *http.Request) http.HandlerFunc {
				if clienttest.RequestOf(q).Key.Namespace == "kube-system" {
					return failure(403, "Forbidden", "not you")
				}
				return nil
			})
			var reported error
			inf := informer.New(r.things, informer.Options{Namespaces: []string{"default", "kube-system"}, OnError: func(err error) {
				if e := (*informer.EarlyReadError)(nil); errors.As(err, &e) {
					reported = err
				}
			}})
			i := r.running(inf)
			r.pass(time.Second)
			inf.Reader().Get(meta.Key{Namespace: namespace, Name: "x"})
			if early != errors.Is(reported, apierrors.Forbidden) {
				r.Errorf("in %s: reported %v, want it: %v", namespace, reported, early)
			}
			i.stop()
		})
		if len(failures) > 0 != early {
			t.Errorf("in %s the test fails with %q", namespace, failures)
		}
	}
}

// A program without a hook reads of it in its log; a logger that reads the cache is not told of itself.
func TestAnEarlyReadIsLogged(t *testing.T) {
	var got said
	strict(t, func(r *rig) {
		var inf *informer.Informer[*Thing]
		logger := got.logger()
		inf = informer.New(r.things, informer.Options{Logger: logger})
		inf.Reader().Get(key("a"))
		inf.Reader().Get(key("b"))
		got.has(r, `0s configmaps.v1: the cache has been read too early`)
	})
}

// The store has a list a moment before the informer notes that. A read in between, as by a logger that is told that the list
// works, was reported as too early.
func TestAReadOfAListThatHasJustComeIsNotTooEarly(t *testing.T) {
	for _, namespaces := range [][]string{nil, {"default"}} {
		failures := strict(t, func(r *rig) {
			r.put("a")
			r.on("collection", failure(500, "InternalError", "not now"))
			var (
				inf   *informer.Informer[*Thing]
				lines []string
				read  []int
			)
			logger := funcr.New(func(_, args string) {
				lines = append(lines, args)
				if strings.Contains(args, "works again") {
					read = append(read, inf.Reader().Len())
				}
			}, funcr.Options{})
			inf = informer.New(r.things, informer.Options{Namespaces: namespaces, Logger: logger})
			i := r.running(inf)
			r.pass(time.Second)
			r.heal()
			r.pass(time.Minute)
			if !slices.Equal(read, []int{1}) || strings.Contains(strings.Join(lines, "\n"), "too early") {
				r.Errorf("it has read %v, and logged %q", read, lines)
			}
			i.stop()
		})
		if len(failures) > 0 {
			t.Errorf("namespaces %q: the test fails with %q", namespaces, failures)
		}
	}
}
