package explore

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/go-logr/logr"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/controllers"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/memnet"
)

// The controllers of the cluster are clients of the server, and nothing disturbs their requests. The scheduler lets the
// next request of the program through only when these controllers have no more work.

// collectorLate: the garbage collector and the other controllers of the cluster write nothing for a while.
const collectorLate kind = "collector-late"

func clusters() []effect {
	applies := func(want *result) bool { return want.clustered }
	return []effect{{
		kind: collectorLate, stepAt: func(_ int, want *result) []string { return once(applies(want)) },
		at: func(p *point, want *result) []string {
			return once(applies(want) && (p.request.Verb == "delete" || p.request.Verb == "deletecollection"))
		},
		prepare: func(w *world, _ *point, _ disturbance) { w.holdCluster() },
		begin:   func(w *world, _ disturbance) { w.holdCluster() },
	}}
}

// cluster is the state of the controllers of the cluster.
type cluster struct {
	runs    bool
	stirred atomic.Bool // a controller has written since the scheduler last looked

	// world.mu guards the fields below.
	late int           // the number of holdCluster calls that have not ended
	free chan struct{} // closed when late becomes zero
}

// beginCluster starts the controllers of the plan. It also starts the garbage collector if that may have work.
func (w *world) beginCluster() {
	var all []controllers.Controller
	if w.plan.Controllers != nil {
		all = w.plan.Controllers()
	}
	if w.plan.collects && !slices.Contains(all, controllers.GarbageCollector()) {
		all = append(all, controllers.GarbageCollector())
	}
	if len(all) == 0 {
		return
	}
	w.cluster.runs = true
	door := memnet.Listen()
	network := &http.Server{Handler: http.HandlerFunc(w.serveCluster), ErrorLog: log.New(io.Discard, "", 0)}
	cfg := w.server.Config()
	cfg.Server, cfg.Dial, cfg.UserAgent = "http://"+door.Addr().String(), door.DialContext, ""
	w.work.Go(func() { _ = network.Serve(door) })
	w.work.Go(func() {
		if err := controllers.Run(logr.NewContext(w.ctx, logr.Discard()), cfg, all...); err != nil {
			w.found("run the controllers of Plan.Controllers: %v", err)
		}
		_ = network.Close()
	})
}

// holdCluster makes the writes of the cluster's controllers wait for a while.
func (w *world) holdCluster() {
	w.tell("the controllers of the cluster do nothing from now on")
	w.mu.Lock()
	if w.cluster.late++; w.cluster.late == 1 {
		w.cluster.free = make(chan struct{})
	}
	w.mu.Unlock()
	w.last(func() {
		w.tell("the controllers of the cluster work again")
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.cluster.late--; w.cluster.late == 0 {
			close(w.cluster.free)
		}
	})
}

// serveCluster answers a request of a controller of the cluster.
func (w *world) serveCluster(rw http.ResponseWriter, r *http.Request) {
	q := clienttest.RequestOf(r)
	switch q.Verb {
	case "get", "list", "watch":
		if q.Resource.Resource != "" || len(w.plan.served) == 0 {
			w.server.ServeHTTP(rw, r)
			return
		}
		w.discover(rw, r)
		return
	}
	for w.heldCluster() != nil {
		select {
		case <-w.heldCluster():
		case <-r.Context().Done():
			panic(http.ErrAbortHandler)
		}
	}
	answer := httptest.NewRecorder()
	w.server.ServeHTTP(answer, r)
	if answer.Code < http.StatusMultipleChoices {
		w.tell("controllers of the cluster: %s %s", r.Method, r.URL.Path)
		w.mu.Lock()
		w.kinds[q.Resource] = true
		w.mu.Unlock()
		w.look(byController, q.Resource)
		w.cluster.stirred.Store(true)
	}
	copyAnswer(rw, answer, answer.Body.Bytes())
}

// heldCluster returns a channel that is closed when the controllers of the cluster may write again. It returns nil if
// they may write now.
func (w *world) heldCluster() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cluster.late == 0 {
		return nil
	}
	return w.cluster.free
}

// discovery has the fields that discover reads of an APIGroupDiscoveryList.
type discovery struct {
	Kind       string           `json:"kind"`
	APIVersion string           `json:"apiVersion"`
	Metadata   json.RawMessage  `json:"metadata"`
	Items      []discoveryGroup `json:"items"`
}

type discoveryGroup struct {
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Versions []discoveryVersion `json:"versions"`
}

type discoveryVersion struct {
	Version   string            `json:"version"`
	Resources []json.RawMessage `json:"resources"`
	Freshness string            `json:"freshness,omitempty"`
}

type discoveredResource struct {
	Resource string   `json:"resource"`
	Verbs    []string `json:"verbs"`
}

// discover answers a discovery request without the resources that have no objects. The garbage collector watches each
// discovered resource, which would cost more than everything else in a run. It looks for new resources every 30
// seconds.
func (w *world) discover(rw http.ResponseWriter, r *http.Request) {
	r.Header.Del("If-None-Match")
	answer := httptest.NewRecorder()
	w.server.ServeHTTP(answer, r)
	answer.Header().Del("Etag")
	copyAnswer(rw, answer, w.plan.documents.without(answer.Body.Bytes(), append(w.resources(), w.plan.served...)))
}

// documents caches the answers to discovery requests of all runs, because most of them are equal and long.
type documents struct {
	mu    sync.Mutex
	short map[string][]byte // by the served resources and the server's answer
}

// without returns an answer to a discovery request that has only the served resources.
func (d *documents) without(answer []byte, served []meta.GVR) []byte {
	name := fmt.Sprintf("%v%s", served, answer)
	d.mu.Lock()
	defer d.mu.Unlock()
	if short, known := d.short[name]; known {
		return short
	}
	if d.short == nil {
		d.short = map[string][]byte{}
	}
	d.short[name] = shorten(answer, served)
	return d.short[name]
}

func shorten(answer []byte, served []meta.GVR) []byte {
	var all discovery
	if err := json.Unmarshal(answer, &all); err != nil || all.Kind != "APIGroupDiscoveryList" {
		return answer
	}
	for _, g := range all.Items {
		for i, v := range g.Versions {
			g.Versions[i].Resources = slices.DeleteFunc(v.Resources, func(raw json.RawMessage) bool {
				var is discoveredResource
				_ = json.Unmarshal(raw, &is) // cannot fail: the server wrote it
				return !slices.Contains(served, meta.GVR{Group: g.Metadata.Name, Version: v.Version, Resource: is.Resource})
			})
		}
	}
	short, _ := json.Marshal(all)
	return short
}

// existing returns the resources that have objects.
func (w *world) existing() (names []meta.GVR) {
	for _, path := range []string{"/api", "/apis"} {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Header.Set("Accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
		answer := httptest.NewRecorder()
		w.server.ServeHTTP(answer, r)
		var all discovery
		if err := json.Unmarshal(answer.Body.Bytes(), &all); err != nil {
			w.found("read %s: %v", path, err)
		}
		for _, g := range all.Items {
			for _, v := range g.Versions {
				for _, raw := range v.Resources {
					var is discoveredResource
					_ = json.Unmarshal(raw, &is) // cannot fail: the server wrote it
					of := meta.GVR{Group: g.Metadata.Name, Version: v.Version, Resource: is.Resource}
					if !slices.Contains(is.Verbs, "list") {
						continue
					}
					if items, err := w.list(of); err != nil {
						w.found("%v", err)
					} else if len(items) > 0 {
						names = append(names, of)
					}
				}
			}
		}
	}
	return names
}

// copyAnswer sends an answer of the server to a client, with the given body.
func copyAnswer(rw http.ResponseWriter, answer *httptest.ResponseRecorder, body []byte) {
	for name, values := range answer.Header() {
		if name != "Content-Length" {
			rw.Header()[name] = values
		}
	}
	rw.WriteHeader(answer.Code)
	_, _ = fmt.Fprintf(rw, "%s", body)
}
