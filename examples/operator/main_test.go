package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/leader"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// event is a record.
type event struct {
	meta.ObjectMeta `json:"metadata"`
	Reason          string `json:"reason"`
	Regarding       struct {
		Kind string `json:"kind"`
	} `json:"regarding"`
}

var events = client.Type[*event]{Group: "events.k8s.io", Version: "v1", Kind: "Event", Resource: "events"}

func TestTheOperatorKeepsAConfigMapForEachPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{CRDs: []string{"pages.yaml"}})
		c, err := client.New(server.Config())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		pages, configMaps := client.For(c, Pages), client.For(c, ConfigMaps)
		key := meta.Key{Namespace: "default", Name: "home"}
		var fails atomic.Bool // the cleanup
		cleaned := make(chan string, 100)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- run(ctx, server.Config(), "default", false, nil, func(p *Page) error {
				cleaned <- p.Spec.Text
				if fails.Load() {
					return errors.New("not yet")
				}
				return nil
			})
		}()
		check := func(text string) {
			t.Helper()
			synctest.Wait() // the operator has nothing left to do
			page, err := pages.Get(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			if ready := meta.FindCondition(page.Status.Conditions, "Ready"); ready == nil || ready.Status != meta.ConditionTrue || ready.ObservedGeneration != page.Generation {
				t.Errorf("with %q the condition is %+v, and the generation %d", text, ready, page.Generation)
			}
			made, err := configMaps.Get(t.Context(), key)
			if err != nil || made.Data["text"] != text || len(made.OwnerReferences) != 1 || made.OwnerReferences[0].UID != page.UID {
				t.Errorf("the ConfigMap is %+v, %v, want %q", made, err, text)
			}
		}

		page := &Page{ObjectMeta: key.ObjectMeta()}
		page.Spec.Text = "hello"
		if _, err := pages.Create(t.Context(), page); err != nil {
			t.Fatal(err)
		}
		check("hello")
		if _, err := pages.Modify(t.Context(), key, func(p *Page) error {
			p.Spec.Text = "good morning"
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		check("good morning")
		noted, err := client.For(c, events).List(t.Context(), client.ListOptions{Namespace: "default"})
		if err != nil || len(noted.Items) != 2 || noted.Items[1].Reason != "Published" || noted.Items[1].Regarding.Kind != "Page" {
			t.Errorf("the records are %+v, %v", noted.Items, err)
		}
		if err := configMaps.Delete(t.Context(), key, client.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		check("good morning")

		// A cleanup that fails keeps the page.
		fails.Store(true)
		if err := pages.Delete(t.Context(), key, client.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got, err := pages.Get(t.Context(), key); err != nil || !meta.IsDeleting(got) {
			t.Errorf("the page is %+v, %v", got, err)
		}
		fails.Store(false)
		time.Sleep(time.Minute) // for the retry
		synctest.Wait()
		if _, err := pages.Get(t.Context(), key); !errors.Is(err, apierrors.NotFound) {
			t.Errorf("the page is there: %v", err)
		}
		if n := len(cleaned); n < 2 || <-cleaned != "good morning" {
			t.Errorf("cleaned up %d times", n)
		}
		before := server.Requests()
		time.Sleep(time.Hour)
		synctest.Wait()
		for call, n := range server.Requests() {
			if call.Verb != "watch" && call.Resource != "leases" && n != before[call] {
				t.Errorf("%d further requests to %s %s while nothing happened", n-before[call], call.Verb, call.Resource)
			}
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

var (
	hours = flag.Int("hours", 2, "the hours of faults; a day takes some 20 seconds, most of it for renewals of the lease")
	seed  = flag.Uint64("seed", 0, "the seed of the faults")
)

// Two replicas for hours in which the server fails, watches break and replicas are stopped. In the end all is right.
// With share each of them works on some namespaces.
func TestTwoReplicasSurviveFaults(t *testing.T) {
	for name, share := range map[string]bool{"one leads": false, "both work": true} {
		t.Run(name, func(t *testing.T) {
			for_ := time.Duration(*hours) * time.Hour
			if share {
				for_ /= 2 // two leases are renewed, and followed by two
			}
			synctest.Test(t, func(t *testing.T) { faults(t, rand.New(rand.NewPCG(*seed, 1)), share, for_) })
		})
	}
}

func faults(t *testing.T, r *rand.Rand, share bool, for_ time.Duration) {
	server := clienttest.Start(t, clienttest.Options{CRDs: []string{"pages.yaml"}})
	var failing atomic.Bool
	server.Intercept(func(q *http.Request) http.HandlerFunc {
		if failing.Load() && q.Header.Get("User-Agent") == "operator" {
			return clienttest.Answer(meta.Status{Code: http.StatusInternalServerError, Reason: "InternalError"})
		}
		return nil
	})
	c, err := client.New(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	pages, configMaps := client.For(c, Pages), client.For(c, ConfigMaps)
	var mu sync.Mutex
	cleaned := map[string]bool{} // by uid

	// The replicas, each of which is started again when it ends.
	ctx, stop := context.WithCancel(context.Background())
	var replicas sync.WaitGroup
	interrupt := make([]chan struct{}, 2)
	for i := range interrupt {
		interrupt[i] = make(chan struct{})
		replicas.Go(func() {
			for ctx.Err() == nil {
				one, end := context.WithCancel(logr.NewContext(ctx, logr.Discard()))
				go func() {
					select {
					case <-interrupt[i]:
						end()
					case <-one.Done():
					}
				}()
				cfg := server.Config()
				cfg.UserAgent = "operator"
				err := run(one, cfg, "default", share, nil, func(p *Page) error {
					mu.Lock()
					defer mu.Unlock()
					cleaned[p.UID] = true
					return nil
				})
				if lost := (*leader.LostError)(nil); err != nil && !errors.As(err, &lost) {
					t.Error(err)
				}
				end()
				time.Sleep(10 * time.Second)
			}
		})
	}

	namespaces := []string{"default", "kube-node-lease", "kube-public", "kube-system"} // which the server has
	want := map[meta.Key]string{}                                                      // the text of each page
	gone := map[string]bool{}                                                          // the uids of pages that were deleted
	for n, end := 0, time.Now().Add(for_); time.Now().Before(end); n++ {
		keys := slices.SortedFunc(maps.Keys(want), meta.Key.Compare)
		switch key := (meta.Key{Namespace: namespaces[n%len(namespaces)], Name: fmt.Sprint("page-", n)}); r.IntN(8) {
		case 0, 1:
			page := &Page{ObjectMeta: key.ObjectMeta()}
			page.Spec.Text = fmt.Sprint("text ", n)
			if _, err := pages.Create(t.Context(), page); err != nil {
				t.Fatal(err)
			}
			want[key] = page.Spec.Text
		case 2, 3:
			if len(keys) == 0 {
				break
			}
			key := keys[r.IntN(len(keys))]
			if _, err := pages.Modify(t.Context(), key, func(p *Page) error { p.Spec.Text = fmt.Sprint("text ", n); return nil }); err != nil {
				t.Fatal(err)
			}
			want[key] = fmt.Sprint("text ", n)
		case 4:
			if len(keys) == 0 {
				break
			}
			key := keys[r.IntN(len(keys))]
			page, err := pages.Get(t.Context(), key)
			if err == nil {
				err = pages.Delete(t.Context(), key, client.DeleteOptions{})
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(page.Finalizers) > 0 {
				gone[page.UID] = true
			}
			delete(want, key)
		case 5:
			failing.Store(true)
			time.Sleep(time.Duration(r.Int64N(int64(time.Minute))))
			failing.Store(false)
		case 6:
			server.DropWatches()
		case 7:
			select {
			case interrupt[r.IntN(2)] <- struct{}{}:
			case <-time.After(time.Minute):
			}
		}
		time.Sleep(time.Duration(r.Int64N(int64(15 * time.Minute))))
	}
	time.Sleep(20 * time.Minute)
	synctest.Wait()
	for key, text := range want {
		page, err := pages.Get(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		made, err := configMaps.Get(t.Context(), key)
		if err != nil || made.Data["text"] != text {
			t.Errorf("the ConfigMap %s is %+v, %v, want %q", key, made, err, text)
		}
		if ready := meta.FindCondition(page.Status.Conditions, "Ready"); ready == nil || ready.Status != meta.ConditionTrue || ready.ObservedGeneration != page.Generation {
			t.Errorf("the condition of %s is %+v, and the generation %d", key, ready, page.Generation)
		}
	}
	all, err := pages.List(t.Context(), client.ListOptions{})
	if err != nil || len(all.Items) != len(want) {
		t.Errorf("there are %d pages, %v, want %d", len(all.Items), err, len(want))
	}
	mu.Lock()
	for uid := range gone {
		if !cleaned[uid] {
			t.Errorf("page %s went without a cleanup", uid)
		}
	}
	mu.Unlock()
	stop()
	replicas.Wait()
}
