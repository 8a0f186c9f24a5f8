package collectors

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer"
)

type object = *meta.Unstructured

// The kinds of the objects. A ReplicationController orphans its dependents by default.
var kinds = []client.Type[object]{
	{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"},
	{Version: "v1", Kind: "Secret", Resource: "secrets"},
	{Version: "v1", Kind: "ReplicationController", Resource: "replicationcontrollers"},
	{Group: "example.com", Version: "v1", Kind: "Page", Resource: "pages"},
	{Group: "node.k8s.io", Version: "v1", Kind: "RuntimeClass", Resource: "runtimeclasses", Scope: meta.Cluster},
}

var definitions = client.Type[object]{
	Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition", Resource: "customresourcedefinitions", Scope: meta.Cluster,
}

func kindOf(name string) client.Type[object] {
	return kinds[slices.IndexFunc(kinds, func(t client.Type[object]) bool { return t.Kind == name })]
}

// side is one of the two servers, with all histories.
type side struct {
	c      *client.Client
	caches map[string]*informer.Informer[*meta.Partial]

	mu    sync.Mutex        // guards the following
	uids  map[string]string // of the objects that were created last, by place.full
	names map[string]string // the places of all uids
	last  time.Time         // of the last event
}

// newSide creates what a number of histories needs, and starts the caches, which end with ctx. The function that it
// returns waits for their end.
func newSide(ctx context.Context, t *testing.T, config client.Config, number int) (*side, func()) {
	t.Helper()
	c, err := client.New(config)
	if err != nil {
		t.Fatal(err)
	}
	s := &side{c: c, caches: map[string]*informer.Informer[*meta.Partial]{}, uids: map[string]string{}, names: map[string]string{}}
	s.define(t)
	s.prepare(t, 0, number)
	var all []informer.Runner
	for _, kind := range kinds {
		inf := informer.New(client.Metadata(client.For(c, kind)), informer.Options{})
		inf.Subscribe(s)
		s.caches[kind.Kind] = inf
		all = append(all, inf)
	}
	done := make(chan error, 1)
	go func() { done <- informer.Run(ctx, all...) }()
	for _, inf := range s.caches {
		if err := inf.WaitSynced(ctx); err != nil {
			t.Fatal(err)
		}
	}
	return s, func() {
		if err := <-done; err != nil {
			t.Error(err)
		}
		c.Close()
	}
}

// The side is a handler that notes when something happens.

func (s *side) OnAdd(*meta.Partial)         { s.note() }
func (s *side) OnUpdate(_, _ *meta.Partial) { s.note() }
func (s *side) OnDelete(*meta.Partial)      { s.note() }

func (s *side) note() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = time.Now()
}

// quiet returns when nothing has happened for the given time.
func (s *side) quiet(for_ time.Duration) {
	s.note()
	for {
		s.mu.Lock()
		wait := for_ - time.Since(s.last)
		s.mu.Unlock()
		if wait <= 0 {
			return
		}
		time.Sleep(wait)
	}
}

// do makes a step of a history, and returns the outcome in short.
func (s *side) do(ctx context.Context, h int, p step) string {
	kind := kindOf(p.at.kind)
	r, key := client.For(s.c, kind), p.at.in(h)
	var err error
	switch p.verb {
	case create:
		err = s.create(ctx, h, p)
	case remove:
		err = r.Delete(ctx, key, client.DeleteOptions{Propagation: p.policy})
	case removeOrphaning:
		err = s.removeOrphaning(ctx, kind, key, p.orphan)
	case addFinalizer:
		_, err = r.AddFinalizer(ctx, key, p.finalizer, meta.FinalizerOptions{})
	case removeFinalizer:
		_, err = r.RemoveFinalizer(ctx, key, p.finalizer, meta.FinalizerOptions{})
	case setOwners:
		_, err = r.Modify(ctx, key, func(o object) error {
			o.SetOwnerReferences(s.references(h, p.owners))
			return nil
		})
	}
	return outcome(err)
}

func outcome(err error) string {
	if err == nil {
		return "ok"
	}
	if deleting := (*client.DeletingError)(nil); errors.As(err, &deleting) {
		return "deleting"
	}
	if reason := apierrors.ReasonOf(err); reason != "" {
		return string(reason)
	}
	return err.Error()
}

func (s *side) create(ctx context.Context, h int, p step) error {
	kind := kindOf(p.at.kind)
	o := newObject(kind.Kind, p.at.in(h))
	o.SetOwnerReferences(s.references(h, p.owners))
	if p.finalizer != "" {
		o.Object["metadata"].(map[string]any)["finalizers"] = []any{p.finalizer}
	}
	made, err := client.For(s.c, kind).Create(ctx, o)
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.uids[p.at.full(h)] = made.GetUID()
		s.names[made.GetUID()] = p.at.String()
	}
	return err
}

// newObject returns an object of a kind with what the server requires.
func newObject(kind string, key meta.Key) object {
	o := &meta.Unstructured{Object: map[string]any{"apiVersion": typeOf(kind).GVK().APIVersion(), "kind": kind}}
	containers := []any{map[string]any{"name": "a", "image": "b"}}
	switch kind {
	case "RuntimeClass":
		o.Object["handler"] = "none"
	case "ReplicationController":
		o.Object["spec"] = map[string]any{
			"replicas": 0, "selector": map[string]any{"a": "b"},
			"template": map[string]any{"metadata": map[string]any{"labels": map[string]any{"a": "b"}}, "spec": map[string]any{"containers": containers}},
		}
	case "Pod":
		o.Object["spec"] = map[string]any{"terminationGracePeriodSeconds": 2, "containers": containers}
	}
	o.SetName(key.Name)
	o.SetNamespace(key.Namespace)
	return o
}

// removeOrphaning deletes an object with the field orphanDependents, which came before propagation policies.
func (s *side) removeOrphaning(ctx context.Context, kind client.Type[object], key meta.Key, orphan bool) error {
	path := "/apis/" + kind.Group
	if kind.Group == "" {
		path = "/api"
	}
	path += "/" + kind.Version
	if key.Namespace != "" {
		path += "/namespaces/" + key.Namespace
	}
	answer, err := s.c.Raw(ctx, client.RawRequest{
		Method: http.MethodDelete, Path: path + "/" + kind.Resource + "/" + key.Name, Header: http.Header{"Content-Type": {"application/json"}},
		Body: fmt.Appendf(nil, `{"kind":"DeleteOptions","apiVersion":"v1","orphanDependents":%t}`, orphan),
	})
	if err == nil {
		err = answer.Body.Close()
	}
	return err
}

// references returns owner references as the server knows them.
func (s *side) references(h int, owners []owner) (all []meta.OwnerReference) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range owners {
		kind := kindOf(o.at.kind)
		r := meta.OwnerReference{
			APIVersion: kind.GVK().APIVersion(), Kind: kind.Kind, Name: o.at.in(h).Name, UID: s.uids[o.at.full(h)],
		}
		if o.block {
			r.BlockOwnerDeletion = new(true)
		}
		switch o.wrong {
		case wrongUID:
			r.UID = "00000000-0000-0000-0000-" + fmt.Sprintf("%012d", h*100+len(o.at.name))
		case wrongName:
			r.Name += "-other"
		case wrongKind:
			r.APIVersion, r.Kind = "v1", "Service"
		case unknownKind:
			r.APIVersion, r.Kind = "nowhere.example.com/v1", "Nothing"
		}
		if r.UID == "" { // there was never such an object
			r.UID = "00000000-0000-0000-0001-" + fmt.Sprintf("%012d", h)
		}
		if !slices.ContainsFunc(all, func(other meta.OwnerReference) bool { return other.UID == r.UID }) {
			all = append(all, r)
		}
	}
	return all
}

// snapshot is what a history has.
type snapshot struct {
	places []place // in order
	lines  []string
}

// snapshots describes all objects of all histories.
func (s *side) snapshots(histories int) []snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]snapshot, histories)
	for _, kind := range kinds {
		for o := range s.caches[kind.Kind].Reader().All() {
			if at, h, ours := placeOf(kind.Kind, o.Key()); ours && h < histories {
				all[h].places = append(all[h].places, at)
				all[h].lines = append(all[h].lines, s.describe(at, h, o))
			}
		}
	}
	for h := range all {
		slices.SortFunc(all[h].places, func(a, b place) int { return strings.Compare(a.String(), b.String()) })
		slices.Sort(all[h].lines)
	}
	return all
}

func (s *side) describe(at place, h int, o *meta.Partial) string {
	text := at.String()
	if s.uids[at.full(h)] != o.UID {
		text += " WITH ANOTHER UID"
	}
	if meta.IsDeleting(o) {
		text += " deleting"
	}
	finalizers := slices.Clone(o.Finalizers)
	slices.Sort(finalizers)
	text += fmt.Sprint(" ", finalizers)
	var owners []string
	for _, r := range o.OwnerReferences {
		of, known := s.names[r.UID]
		switch {
		case !known:
			of = "nothing"
		case s.uids[fmt.Sprint(h, " ", of)] != r.UID:
			of += "(an earlier one)"
		}
		if r.BlockOwnerDeletion != nil && *r.BlockOwnerDeletion {
			of += "!"
		}
		owners = append(owners, of+"="+r.Kind+"/"+strings.TrimPrefix(r.Name, fmt.Sprintf("h%d-", h)))
	}
	slices.Sort(owners)
	return text + fmt.Sprint(" of ", owners)
}
