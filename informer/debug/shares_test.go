package debug_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/shards"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/informer/debug"
	"github.com/bowline-go/bowline/internal/hooks"
)

// replica returns a replica of the group packer, which takes its share of the work once it runs.
func (r *rig) replica(identity string, weight int) *shards.Group {
	return shards.New(r.client, shards.Options{Namespace: "default", Name: "packer", Identity: identity, Weight: weight, OnError: func(error) {}})
}

// share makes a replica run, with the page if it is shown there, until stop is called.
func (r *rig) share(g *shards.Group, shown bool) (stop func()) {
	ctx, cancel := context.WithCancel(r.Context())
	if shown {
		ctx = r.page.Context(ctx)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := g.Run(ctx, func(ctx context.Context) error { <-ctx.Done(); return nil }); err != nil {
			r.Error(err)
		}
	}()
	stop = func() {
		cancel()
		<-done
	}
	r.Cleanup(stop)
	synctest.Wait()
	return stop
}

func TestThePageShowsShards(t *testing.T) {
	bubble(t, debug.Options{}, func(r *rig) {
		if _, body := get(r, r.page, "/"); strings.Contains(body, "Shards") {
			t.Error("a program without groups has a section for them")
		}
		one := r.replica("one", 3)
		stop := r.share(one, true)
		time.Sleep(time.Second)
		r.is("default/packer", "/", "shards", 0, "group")
		r.is("one", "/", "shards", 0, "identity")
		r.is("sharing", "/", "shards", 0, "state")
		r.is(256, "/", "shards", 0, "ranges")
		r.is("0-255", "/", "shards", 0, "which")
		r.is(256, "/", "shards", 0, "dueRanges")
		r.is(1, "/", "shards", 0, "replicas")
		r.is("[]", "/", "elections") // nobody elects a leader
		r.has("/", "All is well", `<a href="?shards=shards+%22default%2Fpacker%22">default/packer</a>`, "sharing")

		other := r.replica("two", 1)
		slow := other.Follow("cache of pods")
		stopOther := r.share(other, true)
		time.Sleep(10 * time.Second)
		r.is(2, "/", "shards", 0, "replicas")
		r.is(192, "/", "shards", 0, "dueRanges")
		r.is(64, "/", "shards", 1, "dueRanges")
		r.is("[cache of pods]", "/", "shards", 1, "unready")
		const second = "/?shards=shards+%22default%2Fpacker%22~2"
		wanted, _ := slow.Wanted()
		r.is(wanted.Len(), second, "prepares")
		r.is(wanted, second, "preparesFor")
		r.has("/", fmt.Sprintf("not ready for %d ranges: cache of pods", wanted.Len()))
		time.Sleep(10 * time.Second)
		r.has("/", fmt.Sprintf("no work on %d of 256 ranges, because these are not ready for them: cache of pods", wanted.Len()))
		r.has(second, `class="alert">no work on`)
		slow.Have(meta.AllRanges())
		time.Sleep(time.Second)
		r.is(other.Status().Ranges, second, "which")
		r.is(other.Status().Ranges.Len(), second, "ranges")
		r.is("two", second, "members", 0, "identity")
		r.is(true, second, "members", 0, "self")
		r.is("live", second, "members", 1, "state")
		r.is(3, second, "members", 1, "weight")
		r.is(one.Status().Ranges, second, "members", 1, "which")
		r.is("packer-one", second, "members", 1, "lease")
		r.has(second, "this process", "Its due, by weight", "64.0", "Replicas", one.Status().Ranges.String())
		r.has("/", "All is well")
		r.has("/?events&kind=ranges", fmt.Sprintf("%d gained", other.Status().Ranges.Len()), "given up")

		// Somebody edits the lease of the first one while it cannot write: the others do not know what it has.
		leases := client.Type[*Thing]{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease", Resource: "leases"}
		if err := client.For(r.client, leases).Delete(r.Context(), meta.Key{Namespace: "default", Name: "packer-one"}, client.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
		r.is("[one]", second, "silent")
		r.is("silent", second, "members", 1, "state")
		r.has("/", "other replicas have lost their leases: one")
		time.Sleep(20 * time.Second)
		r.has("/", "it lost all its ranges ") // and says so for a while
		lost := r.JSON("/", "shards", 0, "lostError").(string)
		if !strings.Contains(lost, "packer-one") {
			t.Errorf("the loss is %q", lost)
		}
		r.has("/?shards=shards+%22default%2Fpacker%22", `class="alert">It last lost all its ranges`)
		r.has("/?events&kind=ranges", "lost, 0 now: ")
		time.Sleep(lossFor)
		r.has("/", "All is well")
		r.has("/?shards=shards+%22default%2Fpacker%22", `class="note">It last lost all its ranges`)

		r.server.Intercept(func(*http.Request) http.HandlerFunc { return clienttest.TooManyRequests(time.Second) })
		r.server.DropWatches()
		time.Sleep(time.Minute)
		r.is("joining", "/", "shards", 0, "state")
		r.is(0, "/", "shards", 0, "ranges")
		r.is(true, "/", "problems", 0, "severe")
		r.has("/", "it has no lease, so it has no ranges: ", "TooManyRequests")
		r.server.Intercept(nil)
		time.Sleep(time.Minute)

		slow.Leave()
		stopOther()
		stop()
		r.is("ended", "/", "shards", 0, "state")
		r.is("[]", "/?shards=shards+%22default%2Fpacker%22", "members")
		r.has("/?shards=shards+%22default%2Fpacker%22", "Ended")
	})
}

// lossFor is a little longer than the page calls a loss a problem.
const lossFor = 10*time.Minute + time.Second

// A cache of a share says which ranges it has, and where they are selected.
func TestThePageShowsTheRangesOfACache(t *testing.T) {
	for name, test := range map[string]struct {
		options clienttest.Options
		want    string
		text    string
	}{
		"a server that selects": {clienttest.Options{ShardedLists: clienttest.ShardsServed}, "Server", "by the server"},
		"another server":        {clienttest.Options{}, "Local", "here; the server sends everything"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := clienttest.Start(t, test.options)
				c, err := client.New(server.Config())
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(c.Close)
				r := &rig{T: t, server: server, client: c, page: newPage(t, debug.Options{})}
				for i := range 200 { // some are in the ranges, and some in others
					r.create(configMaps, fmt.Sprint("a", i), nil)
				}
				var mine meta.Ranges
				for n := range 64 {
					mine = mine.With(n)
				}
				share := informer.New(client.For(c, configMaps), informer.Options{Shards: informer.FixedShards(meta.ShardByUID, mine)})
				whole := informer.New(client.For(c, configMaps), informer.Options{})
				r.run(share)
				r.run(whole) // the page names them in the order in which they start
				r.is(64, "/", "caches", 0, "ranges")
				r.is("0-63", "/", "caches", 0, "which")
				r.is(test.want, "/", "caches", 0, "sharded")
				r.is(nil, "/", "caches", 1, "sharded")
				r.has("/", `<small title="0-63">64 ranges</small>`)
				r.has("/?cache=configmaps.v1", "64 of 256", "0-63", test.text)
				if _, body := get(r, r.page, "/?cache=configmaps.v1~2"); strings.Contains(body, "Ranges") {
					t.Error("a cache of everything has ranges")
				}
			})
		})
	}
}

func TestThePageShowsGroupsOfKeysAndPauses(t *testing.T) {
	bubble(t, debug.Options{}, func(r *rig) {
		hold, keys := make(chan struct{}), make(chan string)
		ctl := controller.New("packer", controller.Options{Workers: 3}, func(context.Context, string) (controller.Result, error) {
			<-hold
			return controller.Result{}, nil
		}, controller.Chan(keys))
		group := func(key string) string {
			name, _, _ := strings.Cut(key, "|")
			return name
		}
		if err := ctl.GroupBy(group, func(string) int { return 3 }); err != nil {
			t.Fatal(err)
		}
		stop := r.run(ctl)
		for i := range 6 {
			keys <- fmt.Sprint("<b>|big", i)
			synctest.Wait()
		}
		keys <- "<i>\u202e|small"
		time.Sleep(time.Minute)
		const address = "/?controller=packer"
		r.is("<b>", address, "groups", 0, "name")
		r.is(3, address, "groups", 0, "weight")
		r.is(3, address, "groups", 0, "inProgress")
		r.is(3, address, "groups", 0, "ready")
		if name := r.JSON(address, "groups", 1, "name").(string); !strings.HasPrefix(name, "<i>") || strings.Contains(name, "\u202e") {
			t.Errorf("the name of a group is %q", name)
		}
		r.is(1, address, "groups", 1, "ready")
		r.has(address, "Groups that share the workers", "&lt;b&gt;", "&lt;i&gt;", "1 min")
		r.is(false, "/", "controllers", 0, "paused")
		ctl.Pause()
		if err := ctl.SetWorkers(7); err != nil {
			t.Fatal(err)
		}
		r.is(true, "/", "controllers", 0, "paused")
		r.is(7, "/", "controllers", 0, "workers")
		r.has("/", `<span class="badge busy">paused</span>`, "it is paused: 4 keys are ready")
		r.has(address, "no reconcile starts until Resume is called")
		close(hold)
		synctest.Wait()
		r.is(4, "/", "controllers", 0, "ready")
		ctl.Resume()
		synctest.Wait()
		r.is(nil, address, "groups")
		r.is(false, "/", "controllers", 0, "paused")
		ctl.Pause()
		stop()
		r.is(false, "/", "controllers", 0, "paused") // one that has ended waits for nobody
		r.has("/", "All is well")
	})
}

func TestManyGroupsOfKeysAreCut(t *testing.T) {
	bubble(t, debug.Options{}, func(r *rig) {
		keys := make(chan int)
		ctl := controller.New("packer", controller.Options{}, func(context.Context, int) (controller.Result, error) {
			return controller.Result{}, nil
		}, controller.Chan(keys))
		if err := ctl.GroupBy(func(key int) string { return fmt.Sprint("group-", key%120) }, nil); err != nil {
			t.Fatal(err)
		}
		r.run(ctl)
		ctl.Pause()
		for i := range 121 {
			keys <- i
		}
		synctest.Wait()
		r.is(20, "/?controller=packer", "moreGroups")
		r.is("group-0", "/?controller=packer", "groups", 0, "name") // it has two keys
		r.has("/?controller=packer", "and 20 groups more")
	})
}

// Anybody who may write leases chooses the names of replicas, and a program those of its caches.
func TestHostileReplicasStayTexts(t *testing.T) {
	bubble(t, debug.Options{}, func(r *rig) {
		leases := client.For(r.client, client.Type[*meta.Unstructured]{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease", Resource: "leases"})
		for i, text := range hostile {
			lease := &meta.Unstructured{Object: map[string]any{
				"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
				"metadata": map[string]any{
					"namespace": "default", "name": fmt.Sprint("packer-", i), "labels": map[string]any{shards.GroupLabel: "packer"},
					"annotations": map[string]any{"shards.bowline-go.github.io/share": text},
				},
				"spec": map[string]any{
					"holderIdentity": strings.ToValidUTF8(text, "?"), "leaseDurationSeconds": 15, "renewTime": "2000-01-01T00:00:00.000000Z",
				},
			}}
			if _, err := leases.Create(r.Context(), lease); err != nil {
				t.Fatal(err)
			}
		}
		one := r.replica("one", 1)
		for _, text := range hostile {
			defer one.Follow(text).Leave()
		}
		stop := r.share(one, true)
		time.Sleep(time.Minute) // they are gone, and this replica prepares
		for _, address := range []string{"/", "/?shards=shards+%22default%2Fpacker%22", "/?events"} {
			_, body := get(t, r.page, address)
			checkHTML(t, body)
			if strings.ContainsAny(body, "\x00\x1b\u202e\u2066\ufeff\r") || strings.ToValidUTF8(body, "") != body {
				t.Errorf("%s has characters that change what is seen", address)
			}
			if n := strings.Count(body, "&lt;script&gt;alert(1)&lt;/script&gt;"); n == 0 && address != "/?events" {
				t.Errorf("%s does not show the texts at all", address)
			}
			q := httptest.NewRequest("GET", address, nil)
			q.Header.Set("Accept", "application/json")
			if _, body := ask(r.page, q); !json.Valid([]byte(body)) || strings.ContainsAny(body, "<>\u202e\u2066\ufeff") {
				t.Errorf("%s as JSON: %s", address, body)
			}
		}
		r.is("silent", "/?shards=shards+%22default%2Fpacker%22", "members", 1, "state")
		for _, text := range hostile {
			if code, body := get(t, r.page, "/?shards="+url.QueryEscape(text)); code != http.StatusNotFound {
				t.Errorf("%q is found: %s", text, body)
			} else {
				checkHTML(t, body)
			}
		}
		stop()
	})
}

// A page of many replicas is bounded.
func TestManyReplicasAreCut(t *testing.T) {
	bubble(t, debug.Options{}, func(r *rig) {
		ctx := r.page.Context(r.Context())
		s := shards.Status{Identity: "one", Running: true, Joined: true}
		for i := range 400 {
			s.Members = append(s.Members, shards.Member{Identity: fmt.Sprint("other-", i), Weight: 1, Lost: i >= 350})
		}
		s.Members = append(s.Members, shards.Member{Identity: "one", Weight: 1, Due: 256.0 / 351, Self: true}, shards.Member{Identity: "going", Weight: 1, Leaving: true})
		seen, _ := hooks.In[shards.Hooks](ctx)
		end := seen.Run(ctx, shards.RunInfo{Group: meta.Key{Name: "many"}, Status: func() shards.Status { return s }})
		defer end()
		r.is(102, "/?shards="+url.QueryEscape(`shards "many"`), "moreMembers")
		if shown := r.JSON("/?shards="+url.QueryEscape(`shards "many"`), "members").([]any); len(shown) != 300 {
			t.Errorf("%d replicas are on the page", len(shown))
		}
		r.is("one", "/?shards="+url.QueryEscape(`shards "many"`), "members", 0, "identity")
		r.is("silent", "/?shards="+url.QueryEscape(`shards "many"`), "members", 50, "state")
		r.is("live", "/?shards="+url.QueryEscape(`shards "many"`), "members", 51, "state")
		r.is("and 30 others", "/", "shards", 0, "silent", 20)
		r.is("going", "/", "shards", 0, "leaving", 0)
		r.is(352, "/", "shards", 0, "replicas")
		r.is(256.0/351, "/", "shards", 0, "dueRanges")
		r.has("/?shards="+url.QueryEscape(`shards "many"`), "and 102 replicas more")
	})
}
