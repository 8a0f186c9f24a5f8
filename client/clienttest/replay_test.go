package clienttest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
)

// stormed are the resources of the storms.
var stormed = map[string]meta.GVR{
	"ConfigMap": coreV1("configmaps"), "Secret": coreV1("secrets"), "Pod": coreV1("pods"),
	"Page": {Group: "example.com", Version: "v1", Resource: "pages"},
}

func stormedResources() []meta.GVR {
	return slices.SortedFunc(maps.Values(stormed), func(a, b meta.GVR) int { return strings.Compare(a.Resource, b.Resource) })
}

func pageResource() clienttest.Options {
	return clienttest.Options{Resources: []clienttest.Resource{{Group: "example.com", Version: "v1", Kind: "Page", Resource: "pages", Status: true}}}
}

// stormBody returns the members of an object beside metadata.
func stormBody(kind string, n int) map[string]any {
	switch kind {
	case "Pod":
		return map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "a", "image": "i"}}}}
	case "Page":
		return map[string]any{"spec": map[string]any{"text": "<b>&", "big": json.Number("9007199254740993"), "n": n}}
	default:
		return map[string]any{"data": map[string]any{"n": "bm9uZQ==", "m": "bWFueQ=="}}
	}
}

// storm makes n random changes, some at the same moment.
func storm(t *testing.T, c *client.Client, random *rand.Rand, n int) {
	kinds := slices.Sorted(maps.Keys(stormed))
	for i := range n {
		kind := kinds[random.IntN(len(kinds))]
		h := things(c, stormed[kind], kind)
		key := meta.Key{Namespace: "default", Name: fmt.Sprintf("%s-%d", strings.ToLower(kind), random.IntN(6))}
		obj := thing(stormed[kind].APIVersion(), kind, key.Name, stormBody(kind, i))
		switch random.IntN(3) {
		case 0:
			_ = h.Delete(t.Context(), key, client.DeleteOptions{}) // it may not exist
		case 1:
			_, _ = h.Create(t.Context(), obj) // it may exist
		default:
			_, _ = h.Modify(t.Context(), key, func(u *meta.Unstructured) error {
				metadata := u.Object["metadata"].(map[string]any)
				metadata["annotations"] = map[string]any{"n": fmt.Sprint(i)}
				return nil
			})
		}
		if random.IntN(3) == 0 {
			time.Sleep(time.Duration(random.IntN(4000)) * time.Millisecond)
		}
	}
}

// trace collects the events of watches from before the first change to the end, each with its time.
type trace struct {
	stop func() map[meta.GVR][]string
}

func follow(t *testing.T, server *clienttest.Server, version string) trace {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	c := newClient(t, server)
	start := time.Now()
	type got struct {
		gvr    meta.GVR
		events []string
	}
	ended := make(chan got, len(stormed))
	for kind, gvr := range stormed {
		go func() {
			g := got{gvr: gvr}
			o := client.WatchOptions{ResourceVersion: version, KeepManagedFields: true}
			for e, err := range things(c, gvr, kind).Watch(ctx, o) {
				if err != nil {
					break
				}
				text, _ := e.Object.MarshalJSON()
				g.events = append(g.events, fmt.Sprintf("%v %s %s", time.Since(start), e.Type, text))
			}
			ended <- g
		}()
	}
	synctest.Wait()
	return trace{func() map[meta.GVR][]string {
		cancel()
		all := map[meta.GVR][]string{}
		for range stormed {
			g := <-ended
			all[g.gvr] = g.events
		}
		return all
	}}
}

// caches returns the contents of informers that have caught up, by resource and key.
func caches(t *testing.T, server *clienttest.Server) map[string]string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	c := newClient(t, server)
	all := map[string]string{}
	for kind, gvr := range stormed {
		inf := informer.New(things(c, gvr, kind), informer.Options{})
		done := make(chan error, 1)
		running, stop := context.WithCancel(ctx)
		go func() { done <- inf.Run(running) }()
		if err := inf.WaitSynced(ctx); err != nil {
			t.Fatal(err)
		}
		for obj := range inf.Reader().All() {
			text, err := obj.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			all[gvr.Resource+" "+obj.GetName()] = string(text)
		}
		stop()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	return all
}

func differences(want, got map[string]string) (all []string) {
	for k := range want {
		if want[k] != got[k] {
			all = append(all, fmt.Sprintf("%s is\n%s\nwant\n%s", k, got[k], want[k]))
		}
	}
	for k := range got {
		if _, found := want[k]; !found {
			all = append(all, k+" should not exist: "+got[k])
		}
	}
	return all
}

func TestAReplayHasTheEventsOfTheClusterAtTheirTimes(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			file := filepath.Join(t.TempDir(), "storm.jsonl")
			server := clienttest.Start(t, pageResource())
			c := newClient(t, server)
			storm(t, c, random, 30)
			watched := follow(t, server, server.ResourceVersion())
			end := startRecord(t, server, clienttest.RecordOptions{File: file, Resources: stormedResources(), Secrets: clienttest.SecretsKept})
			time.Sleep(time.Second) // so that the watches of the replay start before the first change
			storm(t, c, random, 100)
			synctest.Wait()
			want, wantCaches, version := watched.stop(), caches(t, server), server.ResourceVersion()
			if err := end(); err != nil {
				t.Fatal(err)
			}

			copied := clienttest.Start(t, clienttest.Options{Replay: file})
			got := follow(t, copied, copied.ResourceVersion())
			if err := copied.WaitReplayed(t.Context()); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			events := got.stop()
			for gvr := range want {
				if got, want := events[gvr], want[gvr]; !slices.Equal(got, want) {
					i := 0
					for i < min(len(got), len(want)) && got[i] == want[i] {
						i++
					}
					t.Errorf("seed %d: watches of %s saw %d events, want %d; from number %d on %.1000q, want %.1000q",
						seed, gvr.Resource, len(got), len(want), i, got[i:], want[i:])
				}
			}
			for _, d := range differences(wantCaches, caches(t, copied)) {
				t.Errorf("seed %d: %s", seed, d)
			}
			if copied.ResourceVersion() != version {
				t.Errorf("seed %d: the version is %s, want %s", seed, copied.ResourceVersion(), version)
			}
			if len(want[stormed["Page"]]) == 0 {
				t.Errorf("seed %d: the storm has no events", seed)
			}
		})
	}
}

// disturb breaks the recorder's watches in one of many ways.
func disturb(server *clienttest.Server, random *rand.Rand) {
	switch random.IntN(7) {
	case 0:
		server.DropWatches()
	case 1:
		server.EndWatches()
	case 2:
		server.FailWatches(meta.Status{Code: 410, Reason: "Expired"})
	case 3:
		server.FailWatches(meta.Status{Code: 500, Reason: "InternalError"})
	case 4:
		server.Freeze()
	default:
		server.DropWatches()
		server.Compact()
	}
}

// failing answers some of the recorder's requests with errors, or not at all.
func failing(random *rand.Rand) func(*http.Request) http.HandlerFunc {
	var mu sync.Mutex
	return func(r *http.Request) http.HandlerFunc {
		mu.Lock()
		defer mu.Unlock()
		if verb := clienttest.RequestOf(r).Verb; !strings.Contains(r.UserAgent(), "recorder") || verb != "list" && verb != "watch" {
			return nil
		}
		switch random.IntN(8) {
		case 0:
			return clienttest.TooManyRequests(time.Second)
		case 1:
			return clienttest.Reset()
		case 2:
			return clienttest.Answer(meta.Status{Code: 503, Reason: "ServiceUnavailable"})
		case 3:
			return clienttest.Answer(meta.Status{Code: 410, Reason: "Expired"})
		}
		return nil
	}
}

func TestAReplayLeavesTheSameCachesWhateverHappenedToTheRecorder(t *testing.T) {
	gaps := 0
	for seed := range uint64(30) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 2))
			file := filepath.Join(t.TempDir(), "storm.jsonl")
			server := clienttest.Start(t, pageResource())
			c := newClient(t, server)
			storm(t, c, random, 20)
			end := startRecord(t, server, clienttest.RecordOptions{File: file, Resources: stormedResources(), Secrets: clienttest.SecretsKept})
			synctest.Wait()
			server.Intercept(failing(rand.New(rand.NewPCG(seed, 3))))
			for range 10 {
				time.Sleep(time.Duration(random.IntN(3000)) * time.Millisecond)
				disturb(server, random)
				storm(t, c, random, 10)
				if random.IntN(2) == 0 {
					server.Compact()
				}
			}
			server.Intercept(nil)
			time.Sleep(10 * time.Minute)
			want := caches(t, server)
			if err := end(); err != nil {
				t.Fatal(err)
			}
			for _, l := range linesOf(t, file) {
				if l.Type == "GAP" {
					gaps++
				}
			}
			copied := clienttest.Start(t, clienttest.Options{Replay: file})
			if err := copied.WaitReplayed(t.Context()); err != nil {
				t.Fatal(err)
			}
			for _, d := range differences(withoutVersions(want), withoutVersions(caches(t, copied))) {
				t.Errorf("seed %d: %s", seed, d)
			}
		})
	}
	if gaps == 0 {
		t.Error("no recorder lost an event")
	}
}

// withoutVersions returns caches without the resource versions, which a replay cannot keep if several objects were
// deleted in a gap.
func withoutVersions(all map[string]string) map[string]string {
	out := map[string]string{}
	for k, text := range all {
		var u meta.Unstructured
		if err := json.Unmarshal([]byte(text), &u); err != nil {
			panic(err)
		}
		delete(u.Object["metadata"].(map[string]any), "resourceVersion")
		b, _ := u.MarshalJSON()
		out[k] = string(b)
	}
	return out
}
