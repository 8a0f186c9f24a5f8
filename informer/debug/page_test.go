package debug_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/leader"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/shards"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/informer/debug"
	"github.com/bowline-go/bowline/informer/warm"
)

func TestAnEmptyPageSaysSo(t *testing.T) {
	bubble(t, debug.Options{Title: "packer"}, func(r *rig) {
		r.has("/", "<title>All is well · packer</title>", "No informer runs with the context of this page", "No controller runs")
		r.has("/?events", "There are no events yet")
		r.is("[]", "/", "caches")
		r.is("packer", "/", "program", "title")
	})
}

// The member retries of an empty page was null, beside empty lists.
func TestJSONHasNoNull(t *testing.T) {
	bubble(t, debug.Options{Objects: true}, func(r *rig) {
		pages := []string{"/", "/?events"}
		check := func() {
			r.Helper()
			for _, page := range pages {
				var look func(path string, v any)
				look = func(path string, v any) {
					switch v := v.(type) {
					case nil:
						r.Errorf("%s: %s is null", page, path)
					case map[string]any:
						for name, member := range v {
							look(path+"."+name, member)
						}
					case []any:
						for _, item := range v {
							look(path+"[]", item)
						}
					}
				}
				look("", r.JSON(page))
			}
		}
		check()
		inf := informer.New(client.For(r.client, configMaps), informer.Options{})
		ctl := controller.New("c", controller.Options{}, func(context.Context, meta.Key) (controller.Result, error) {
			return controller.Result{}, nil
		}, controller.Watch(inf))
		group := shards.New(r.client, shards.Options{Namespace: "default", Name: "group"})
		stop := r.run(&informer.Group{Leader: group, Runners: []informer.Runner{ctl}})
		pages = append(pages, "/?cache=configmaps.v1", "/?controller=c", "/?shards=shards+%22default%2Fgroup%22")
		check()
		stop()
		check()
	})
}

// The rows and problems of two clusters said "configmaps.v1", and nothing of the cluster.
func TestThePageNamesTheCluster(t *testing.T) {
	bubble(t, debug.Options{}, func(r *rig) {
		r.create(configMaps, "a", nil)
		away := clienttest.Start(r.T, clienttest.Options{})
		c, err := client.New(away.Config())
		if err != nil {
			r.Fatal(err)
		}
		r.Cleanup(c.Close)
		eu := informer.New(client.For(r.client, configMaps), informer.Options{Name: "eu"})
		us := informer.New(client.For(c, configMaps), informer.Options{Name: "us", OnError: func(error) {}})
		stop := r.run(eu)
		stopUS := r.run(us)
		away.Refuse(syscall.ECONNREFUSED)
		away.DropWatches()
		away.GoAway()
		time.Sleep(10 * time.Second) // within the bubble
		r.is("eu:configmaps.v1", "/", "caches", 0, "id")
		r.is("configmaps.v1", "/", "caches", 0, "resource")
		r.is("eu", "/", "caches", 0, "informer")
		r.is(`informer "us" of configmaps.v1`, "/", "caches", 1, "name")
		r.is("us:configmaps.v1", "/", "problems", 0, "what")
		r.has("/", `<a href="?cache=eu%3Aconfigmaps.v1">eu:configmaps.v1</a>`)
		r.is("1", "/?cache=eu%3Aconfigmaps.v1", "latestLists", 0, "objects")
		r.is("0", "/?cache=us%3Aconfigmaps.v1", "latestLists", 0, "objects")
		stop()
		stopUS()
		r.is(`informer "eu" of configmaps.v1`, "/", "caches", 0, "name")
		r.is("eu", "/", "caches", 0, "informer")
	})
}

func TestThePageShowsWhatAnEarlierProcessHadKept(t *testing.T) {
	files := warm.Options{Dir: t.TempDir(), Cluster: "c"}
	bubble(t, debug.Options{}, func(r *rig) {
		for _, name := range []string{"a", "b"} {
			r.create(configMaps, name, nil)
		}
		const page = "/?cache=configmaps.v1"
		stop := r.run(informer.New(client.For(r.client, configMaps), informer.Options{Warm: warm.New(files)}))
		r.has(page, "Why none is from an earlier process", "file")
		stop()
		r.run(informer.New(client.For(r.client, configMaps), informer.Options{Warm: warm.New(files)}))
		time.Sleep(10 * time.Second) // within the bubble
		r.is(2, page, "warm")
		r.has(page, "<dt>From an earlier process</dt><dd>2")
	})
}

func TestThePageShowsACache(t *testing.T) {
	bubble(t, debug.Options{Clients: nil}, func(r *rig) {
		r.create(configMaps, "a", map[string]string{"k": "v"})
		inf := informer.New(client.For(r.client, configMaps), informer.Options{Namespaces: []string{"default", "web"}})
		stop := r.run(inf)
		r.is("configmaps.v1", "/", "caches", 0, "id")
		r.is("watching", "/", "caches", 0, "state")
		r.is(true, "/", "caches", 0, "synced")
		r.is(1, "/", "caches", 0, "objects")
		r.is(inf.Status().ResourceVersion, "/", "caches", 0, "resourceVersion")
		r.is("[]", "/", "problems")
		if n := r.JSON("/", "caches", 0, "memoryBytes").(float64); n < 200 || n > 5000 {
			t.Errorf("one config map takes %v bytes", n)
		}
		r.has("/", `<a href="?cache=configmaps.v1">configmaps.v1</a>`, "All is well", "<dt>Bowline</dt><dd>devel</dd>")
		r.is("devel", "/", "program", "bowline")
		r.has("/?cache=configmaps.v1", `id="namespaces"`, ">web<", "Latest lists", "Running for")

		time.Sleep(70 * time.Second) // within the bubble; no bookmark comes between the creation and the compaction
		r.create(configMaps, "b", nil)
		synctest.Wait()
		r.is(2, "/", "caches", 0, "objects")
		r.has("/", "All is well")
		r.server.Compact()
		r.server.DropWatches()
		time.Sleep(time.Minute)
		r.is(1, "/?cache=configmaps.v1", "relists", "Expired")
		r.is("Expired", "/?cache=configmaps.v1", "latestLists", 0, "cause")
		began, err := time.Parse(time.RFC3339Nano, r.JSON("/?cache=configmaps.v1", "latestLists", 0, "at").(string))
		if age := time.Since(began); err != nil || age < 0 || age > 2*time.Minute {
			t.Errorf("the relist was %v ago, %v", age, err)
		}

		stop()
		r.is("ended", "/", "caches", 0, "state")
		r.is(false, "/", "caches", 0, "running")
		r.has("/?cache=configmaps.v1", "Ended")
		r.run(inf)
		r.is(true, "/", "caches", 0, "running")
		if all := r.JSON("/", "caches").([]any); len(all) != 1 {
			t.Errorf("an informer that runs again is shown as %d", len(all))
		}
	})
}

func TestThePageSaysWhatIsWrongWithACache(t *testing.T) {
	bubble(t, debug.Options{}, func(r *rig) {
		bad := &meta.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"namespace": "default", "name": "odd"},
			"data": map[string]any{"n": "1"},
		}}
		if _, err := client.For(r.client, raw).Create(r.Context(), bad); err != nil {
			t.Fatal(err)
		}
		type Numbers struct {
			meta.Identity `json:"metadata"`
			Data          map[string]int `json:"data"`
		}
		numbers := client.Type[*Numbers]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}
		r.run(informer.New(client.For(r.client, numbers), informer.Options{OnError: func(error) {}}))
		r.is(1, "/", "caches", 0, "undecodable")
		r.is("default/odd", "/?cache=configmaps.v1", "undecodableObjects", 0, "key")
		r.has("/", "1 undecodable", "undecodable: 1 object")
		r.has("/?cache=configmaps.v1", "Undecodable objects", "default/odd")

		r.server.Intercept(func(*http.Request) http.HandlerFunc { return clienttest.TooManyRequests(time.Second) })
		r.server.DropWatches()
		time.Sleep(10 * time.Second)
		r.is(true, "/", "problems", 0, "severe")
		r.has("/", "TooManyRequests", `<li class="bad">`)
		r.has("/?cache=configmaps.v1", `class="alert"`)
		r.server.Intercept(nil)

		// It works again within the 30 s that the informer may wait, and a quiet watch brings nothing that would clear the error.
		for range 31 {
			if _, body := get(t, r.page, "/"); strings.Contains(body, "it watches again") {
				break
			}
			time.Sleep(time.Second)
		}
		r.has("/", "it watches again; last error: ", `<li class="busy">`)
		time.Sleep(2 * time.Minute)
		if _, body := get(t, r.page, "/"); strings.Contains(body, "it watches again") {
			t.Error("an old error is still a problem")
		}
	})
}

func TestThePageShowsQueues(t *testing.T) {
	errBroken := errors.New("the disk is full")
	bubble(t, debug.Options{}, func(r *rig) {
		hold, keys := make(chan struct{}), make(chan string)
		ctl := controller.New("packer", controller.Options{Workers: 1, OnError: func(error) {}, MinBackoff: time.Hour, MaxBackoff: time.Hour},
			func(ctx context.Context, key string) (controller.Result, error) {
				switch {
				case key == "slow":
					<-hold
				case strings.HasPrefix(key, "broken"):
					return controller.Result{}, errBroken
				case key == "later":
					return controller.Result{RequeueAfter: time.Hour}, nil
				}
				return controller.Result{}, nil
			}, controller.Chan(keys))
		r.run(ctl)
		for _, key := range []string{"broken", "later", "slow", "next", "last"} {
			keys <- key
			synctest.Wait()
		}
		time.Sleep(30 * time.Minute)
		const address = "/?controller=packer"
		for path, want := range map[string]any{
			"queue 0 name": "failing", "queue 0 keys 0 key": "broken", "queue 0 keys 0 lastError": errBroken.Error(), "queue 0 keys 0 failures": 1,
			"queue 1 name": "inProgress", "queue 1 keys 0 key": "slow",
			"queue 2 name": "ready", "queue 2 keys 0 key": "next", "queue 2 keys 1 key": "last",
			"queue 3 name": "delayed", "queue 3 keys 0 pending": "delayed",
			"failing": 1, "inProgress": 1, "ready": 2, "delayed": 2,
		} {
			var steps []any
			for _, step := range strings.Fields(path) {
				if len(step) == 1 {
					steps = append(steps, int(step[0]-'0'))
				} else {
					steps = append(steps, step)
				}
			}
			r.is(want, address, steps...)
		}
		r.has(address, "the disk is full", "In progress", "30 min", "Ready, in the order of the workers", "in 30 min")
		r.has("/", "1 key is failing", "the disk is full", "a reconcile has been in progress for 30 min")
		r.has(address+"&q=NEX", "next", "Ready")
		if _, body := get(t, r.page, address+"&q=NEX"); strings.Contains(body, "<td data-label=\"Key\">last") {
			t.Error("the filter does not leave out what does not match")
		}
		r.has(address+"&q=nothing", "No key is in the queue that matches")
		close(hold)
		synctest.Wait()
		r.is(0, "/", "controllers", 0, "ready")
	})
}

func TestALongQueueIsCut(t *testing.T) {
	bubble(t, debug.Options{}, func(r *rig) {
		keys := make(chan string)
		ctl := controller.New("packer", controller.Options{}, func(context.Context, string) (controller.Result, error) {
			return controller.Result{RequeueAfter: time.Hour}, nil
		}, controller.Chan(keys))
		r.run(ctl)
		for i := range 150 {
			keys <- fmt.Sprintf("key-%03d", i)
		}
		synctest.Wait()
		r.is(50, "/?controller=packer", "queue", 3, "more")
		r.has("/?controller=packer", "and 50 keys more")
		r.has("/?controller=packer&q=key-14", "key-149")
	})
}

func TestThePageShowsWhoLeads(t *testing.T) {
	bubble(t, debug.Options{}, func(r *rig) {
		config := leader.Options{Namespace: "default", Name: "packer", Identity: "one"}
		first := leader.New(r.client, config)
		lead := func(ctx context.Context) error {
			<-ctx.Done()
			return nil
		}
		r.run(informer.RunnerFunc(func(ctx context.Context) error { return first.Run(ctx, lead) }))
		time.Sleep(time.Second)
		r.is("default/packer", "/", "elections", 0, "lease")
		r.is(true, "/", "elections", 0, "leading")
		r.is("one", "/", "elections", 0, "leader")
		r.has("/", "Leadership", "leading", "this process")
		config.Identity = "two"
		other := leader.New(r.client, config)
		stop := r.run(informer.RunnerFunc(func(ctx context.Context) error { return other.Run(ctx, lead) }))
		time.Sleep(time.Minute)
		r.is(false, "/", "elections", 1, "leading")
		r.is("one", "/", "elections", 1, "leader")
		r.has("/", "following")
		stop()
		r.is(false, "/", "elections", 1, "running")
	})
}

// A program that called Context twice saw everything twice. An informer and an election that run again are shown once.
func TestThePageShowsNothingTwice(t *testing.T) {
	bubble(t, debug.Options{}, func(r *rig) {
		ctx := r.page.Context(r.Context())
		type mine struct{}
		deeper := context.WithValue(ctx, mine{}, 1)
		if r.page.Context(deeper) != deeper {
			t.Error("a context that the page knows is another one")
		}
		other := newPage(t, debug.Options{})
		inf := informer.New(client.For(r.client, configMaps), informer.Options{})
		for range 2 {
			ctx, stop := context.WithCancel(r.page.Context(other.Context(deeper)))
			done := make(chan error)
			go func() { done <- informer.Run(ctx, inf) }()
			synctest.Wait()
			for _, page := range []*debug.Page{r.page, other} {
				shown := &rig{T: r.T, page: page}
				if n := len(shown.JSON("/", "caches").([]any)); n != 1 {
					t.Errorf("the page shows %d caches", n)
				}
				shown.is(true, "/", "caches", 0, "synced")
			}
			_, _ = client.For(r.client, configMaps).Get(ctx, meta.Key{Namespace: "default", Name: "none"})
			stop()
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
}

func TestThePageShowsRequests(t *testing.T) {
	bubble(t, debug.Options{}, func(r *rig) {
		things := client.For(r.client, configMaps)
		ctx := r.page.Context(r.Context())
		hold := make(chan struct{})
		r.server.Intercept(func(*http.Request) http.HandlerFunc {
			return func(w http.ResponseWriter, q *http.Request) {
				<-hold
				http.NotFound(w, q)
			}
		})
		done := make(chan error)
		go func() {
			_, err := things.Get(ctx, meta.Key{Namespace: "default", Name: "slow"})
			done <- err
		}()
		synctest.Wait()
		time.Sleep(45 * time.Second)
		r.is("get", "/", "requests", "inFlight", 0, "verb")
		r.is("default/slow", "/", "requests", "inFlight", 0, "key")
		r.has("/", "In flight", "45 s", "a request has had no answer for 45 s")
		close(hold)
		<-done
		r.is("[]", "/", "requests", "inFlight")

		r.server.Intercept(func(*http.Request) http.HandlerFunc { return clienttest.TooManyRequests(20 * time.Second) })
		go func() {
			_, err := things.Get(ctx, meta.Key{Namespace: "default", Name: "limited"})
			done <- err
		}()
		synctest.Wait()
		time.Sleep(time.Second)
		r.is(2, "/", "requests", "inFlight", 0, "attempts")
		r.is(1, "/", "requests", "retried")
		r.is(1, "/", "requests", "limited")
		if text := r.JSON("/", "requests", "inFlight", 0, "error").(string); !strings.Contains(text, "TooManyRequests") {
			t.Errorf("the error of the last attempt is %q", text)
		}
		r.has("/", "Latest retries", "default/limited", "TooManyRequests")
		r.server.Intercept(nil)
		<-done
		r.has("/?events&kind=retry", "attempt 1 failed")
		r.has("/?events&kind=request", "GET 429", "GET 404")
	})
}

func TestThePageShowsTheAgeOfCredentials(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{})
		config := server.Config()
		config.Credentials = client.NewCredentials(func(context.Context) (client.Credential, error) {
			return client.Credential{Token: "very-secret", Expires: time.Now().Add(time.Hour)}, nil
		}).Named(`the plugin "aws"`)
		c, err := client.New(config)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		r := &rig{T: t, server: server, client: c, page: newPage(t, debug.Options{Clients: []*client.Client{c}})}
		r.is(`the plugin "aws"`, "/", "credentials", 0, "from")
		r.is(nil, "/", "credentials", 0, "obtained")
		_, _ = client.For(c, configMaps).Get(r.Context(), meta.Key{Namespace: "default", Name: "a"})
		time.Sleep(10 * time.Minute)
		r.has("/", "the plugin &#34;aws&#34;", "10 min ago", "in 50 min")
		time.Sleep(time.Hour)
		r.has("/", "the credential has expired")
		if _, body := get(t, r.page, "/"); strings.Contains(body, "very-secret") {
			t.Error("the page shows a token")
		}
	})
}

// A program with the page had neither the warnings of a server nor ended credentials in its log.
func TestThePageTakesNothingFromTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{})
		server.Intercept(func(*http.Request) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Warning", `299 - "v1 is old"`)
				server.ServeHTTP(w, r)
			}
		})
		var said strings.Builder
		config := server.Config()
		config.Logger = funcr.New(func(_, line string) { said.WriteString(line + "\n") }, funcr.Options{})
		config.Credentials = client.NewCredentials(func(context.Context) (client.Credential, error) {
			return client.Credential{Token: "very-secret", Expires: time.Now().Add(-time.Hour)}, nil
		}).Named(`the plugin "aws"`)
		c, err := client.New(config)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		page := newPage(t, debug.Options{Clients: []*client.Client{c}})
		_, _ = client.For(c, configMaps).Get(page.Context(t.Context()), meta.Key{Namespace: "default", Name: "a"})
		for _, want := range []string{"v1 is old", `the plugin \"aws\" expired at`} {
			if strings.Count(said.String(), want) != 1 {
				t.Errorf("the log lacks %s, or repeats it:\n%s", want, said.String())
			}
		}
		r := &rig{T: t, page: page}
		r.has("/?events", "v1 is old", "expired at")
	})
}

func TestThePageShowsTheHealthOfAGroup(t *testing.T) {
	group := &informer.Group{}
	bubble(t, debug.Options{Group: group}, func(r *rig) {
		r.has("/", "it is not ready: group: Run has not been called")
		r.is("group: Run has not been called", "/", "health", "ready")
	})
}

func TestTheSameAddressAnswersAsJSON(t *testing.T) {
	page := newPage(t, debug.Options{})
	for _, test := range []struct {
		accept string
		json   bool
	}{
		{"", false},
		{"*/*", false},
		{"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", false},
		{"application/json", true},
		{"application/json; charset=utf-8", true},
		{"application/json, */*;q=0.5", true},
		{"text/html;q=0.5, application/json", true},
		{"text/html, application/json;q=0.5", false},
		{"application/json;q=0", false},
		{"application/json;q=bad", false},
		{"nonsense;;;, application/json", true},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Accept", test.accept)
		w := httptest.NewRecorder()
		page.ServeHTTP(w, r)
		if got := strings.HasPrefix(w.Header().Get("Content-Type"), "application/json"); got != test.json {
			t.Errorf("Accept: %s is answered with %s", test.accept, w.Header().Get("Content-Type"))
		}
	}
}

func TestUnknownAddressesAreNotFound(t *testing.T) {
	page := newPage(t, debug.Options{Objects: true})
	for _, address := range []string{"/?cache=pods.v1", "/?controller=x", "/?asset=passwd", "/?cache=pods.v1&object=a/b", "/?object=x"} {
		code, body := get(t, page, address)
		if code != http.StatusNotFound {
			t.Errorf("%s: code %d", address, code)
		}
		checkHTML(t, body)
	}
	if code, _ := get(t, page, "/?cache=%zz"); code != http.StatusBadRequest {
		t.Errorf("a query that is not well formed has code %d", code)
	}
}

func TestThePageWorksWhereverItIsMounted(t *testing.T) {
	page := newPage(t, debug.Options{})
	mux := http.NewServeMux()
	mux.Handle("/debug/bowline/", page)
	mux.Handle("/stripped/", http.StripPrefix("/stripped", page))
	for _, address := range []string{"/debug/bowline/", "/debug/bowline/anything", "/stripped/"} {
		code, body := get(t, mux, address)
		if code != http.StatusOK {
			t.Errorf("%s: code %d", address, code)
		}
		checkHTML(t, body) // all links are relative
		if code, body := get(t, mux, address+"?asset=page.css"); code != http.StatusOK || !strings.Contains(body, "prefers-color-scheme") {
			t.Errorf("%s has no style: %d", address, code)
		}
		if code, body := get(t, mux, address+"?asset=page.js"); code != http.StatusOK || !strings.Contains(body, "EventSource") {
			t.Errorf("%s has no script: %d", address, code)
		}
	}
}

func TestBadOptionsAreRefused(t *testing.T) {
	for field, o := range map[string]debug.Options{
		"Clients[0]": {Clients: []*client.Client{nil}},
		"Hosts[1]":   {Hosts: []string{"a.example", "b.example:80"}},
		"Hosts[0]":   {Hosts: []string{""}},
	} {
		if _, err := debug.Handler(o); err == nil || !strings.Contains(err.Error(), "debug.Options: "+field) {
			t.Errorf("%s: error is %v", field, err)
		}
	}
}

// A reconcile that has ended is an event, with its error or with when it comes again.
func TestReconcilesAreEvents(t *testing.T) {
	bubble(t, debug.Options{}, func(r *rig) {
		keys, calls := make(chan string), 0
		ctl := controller.New("packer", controller.Options{Workers: 1, OnError: func(error) {}, MinBackoff: time.Minute, MaxBackoff: time.Minute},
			func(_ context.Context, key string) (controller.Result, error) {
				switch calls++; {
				case key == "later":
					return controller.Result{RequeueAfter: time.Hour}, nil
				case calls == 1:
					return controller.Result{}, errors.New("the disk is full")
				}
				return controller.Result{}, nil
			}, controller.Chan(keys))
		r.run(ctl)
		texts := func() (all []string) {
			events, _ := r.JSON("/?events&kind=reconcile", "events").([]any)
			for _, e := range events {
				e := e.(map[string]any)
				text, _ := e["text"].(string)
				bad, _ := e["bad"].(bool)
				all = append(all, fmt.Sprint(e["what"], " ", e["in"], " ", e["key"], " ", bad, " ", text))
			}
			return all
		}
		for _, step := range []struct {
			key  string
			wait time.Duration
			want string
		}{
			{"broken", 0, "failed packer broken true the disk is full"},
			{"", 2 * time.Minute, "succeeded packer broken false attempt 2."},
			{"later", 0, "requeued packer later false again in 1 h"},
			{"good", 0, "succeeded packer good false "},
		} {
			if step.key != "" {
				keys <- step.key
			}
			time.Sleep(step.wait)
			synctest.Wait()
			if all := texts(); !slices.Contains(all, step.want) {
				t.Errorf("there is no event %q: %q", step.want, all)
			}
		}
		if n := len(texts()); n != 4 {
			t.Errorf("there are %d events of 4 reconciles", n)
		}
	})
}
