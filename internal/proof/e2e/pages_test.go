package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// The custom resource of examples/operator, and an editor that changes pages while replicas of the operator come and go.

// page is the operator's custom resource.
type page struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Text string `json:"text"`
	} `json:"spec"`
	Status struct {
		Conditions []meta.Condition `json:"conditions,omitempty"`
	} `json:"status"`
}

// ready returns the condition of this generation, the zero value if there is none.
func (p *page) ready() meta.Condition {
	c := meta.FindCondition(p.Status.Conditions, "Ready")
	if c == nil || c.ObservedGeneration != p.Generation {
		return meta.Condition{}
	}
	return *c
}

// pageMap is what the operator makes of it.
type pageMap struct {
	meta.ObjectMeta `json:"metadata"`
	Data            map[string]string `json:"data,omitempty"`
}

// pageRecord is what it records.
type pageRecord struct {
	meta.ObjectMeta     `json:"metadata"`
	Type                string `json:"type"`
	Reason              string `json:"reason"`
	Note                string `json:"note"`
	ReportingController string `json:"reportingController"`
	Regarding           struct {
		Kind string `json:"kind"`
		Name string `json:"name"`
		UID  string `json:"uid"`
	} `json:"regarding"`
}

var (
	pages       = client.Type[*page]{Group: "example.com", Version: "v1", Kind: "Page", Resource: "pages"}
	pageMaps    = client.Type[*pageMap]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}
	pageRecords = client.Type[*pageRecord]{Group: "events.k8s.io", Version: "v1", Kind: "Event", Resource: "events"}
)

// editor changes pages as people do, and plays the garbage collector. One goroutine at a time uses it.
type editor struct {
	t         *testing.T
	pages     client.Resource[*page]
	maps      client.Resource[*pageMap]
	namespace string

	want     map[meta.Key]string // the texts of the pages that should exist
	gone     map[meta.Key]bool   // the pages that were deleted, and not made again
	cleanups map[meta.Key]int    // how many pages with the finalizer were deleted; has each key that was deleted
}

func newEditor(t *testing.T, c *client.Client, namespace string) *editor {
	return &editor{
		t: t, pages: client.For(c, pages), maps: client.For(c, pageMaps), namespace: namespace,
		want: map[meta.Key]string{}, gone: map[meta.Key]bool{}, cleanups: map[meta.Key]int{},
	}
}

// keys returns the pages that should exist.
func (e *editor) keys() []meta.Key { return slices.SortedFunc(maps.Keys(e.want), meta.Key.Compare) }

// work changes something every while until stop is closed.
func (e *editor) work(stop <-chan struct{}) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-tick.C:
		case <-stop:
			return
		}
		keys := e.keys()
		switch n % 8 {
		case 0, 1, 2:
			e.create(e.key(n), fmt.Sprint("text ", n))
		case 3, 4, 5:
			e.change(keys[n%len(keys)], fmt.Sprint("text ", n))
		case 6:
			e.delete(keys[n%len(keys)])
		case 7:
			e.recreate(fmt.Sprint("text ", n))
			e.collect()
		}
	}
}

func (e *editor) key(n int) meta.Key {
	return meta.Key{Namespace: e.namespace, Name: fmt.Sprint("page-", n)}
}

// create makes a page that is not there. If it is there, a request whose answer was lost has made it.
func (e *editor) create(key meta.Key, text string) {
	e.t.Helper()
	made := &page{ObjectMeta: key.ObjectMeta()}
	made.Spec.Text = text
	e.insist(func(ctx context.Context) error {
		_, err := e.pages.Create(ctx, made)
		return apierrors.Ignore(err, apierrors.AlreadyExists)
	})
	e.want[key] = text
	delete(e.gone, key)
}

func (e *editor) change(key meta.Key, text string) {
	e.t.Helper()
	e.insist(func(ctx context.Context) error {
		_, err := e.pages.Modify(ctx, key, func(p *page) error { p.Spec.Text = text; return nil })
		return err
	})
	e.want[key] = text
}

func (e *editor) delete(key meta.Key) {
	e.t.Helper()
	cleans := false
	e.insist(func(ctx context.Context) error {
		found, err := e.pages.Get(ctx, key)
		if err == nil {
			cleans = len(found.Finalizers) > 0
			err = e.pages.Delete(ctx, key, client.DeleteOptions{UID: found.UID})
		}
		return apierrors.Ignore(err, apierrors.NotFound) // an earlier attempt has done it
	})
	n := e.cleanups[key]
	if cleans {
		n++
	}
	e.cleanups[key] = n // also if it is 0: the finalizer may have come after that
	delete(e.want, key)
	e.gone[key] = true
}

// recreate makes a page again that was deleted and is gone, if there is one.
func (e *editor) recreate(text string) {
	e.t.Helper()
	for _, key := range slices.SortedFunc(maps.Keys(e.gone), meta.Key.Compare) {
		there := false
		e.insist(func(ctx context.Context) error {
			_, err := e.pages.Get(ctx, key)
			there = err == nil
			return apierrors.Ignore(err, apierrors.NotFound)
		})
		if !there {
			e.create(key, text)
			return
		}
	}
}

// collect deletes the ConfigMaps whose owners are gone, as the garbage collector of a cluster does. It lists the ConfigMaps
// first, because the owner of each is older.
func (e *editor) collect() {
	e.t.Helper()
	e.insist(func(ctx context.Context) error {
		made, err := e.maps.List(ctx, client.ListOptions{Namespace: e.namespace})
		if err != nil {
			return err
		}
		all, err := e.pages.List(ctx, client.ListOptions{Namespace: e.namespace})
		if err != nil {
			return err
		}
		for _, m := range made.Items {
			owner, owned := meta.ControllerOf(m)
			if owned && !slices.ContainsFunc(all.Items, func(p *page) bool { return p.UID == owner.UID }) {
				err = errors.Join(err, apierrors.Ignore(e.maps.Delete(ctx, m.Key(), client.DeleteOptions{UID: m.UID}), apierrors.NotFound))
			}
		}
		return err
	})
}

// insist does something until it succeeds: the server may be away.
func (e *editor) insist(do func(ctx context.Context) error) {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(e.t.Context(), patience)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := do(ctx)
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			e.t.Errorf("the editor gives up: %v", err)
			return
		}
	}
}

// settled returns nil if the pages that should exist do, and no others, and each has its ConfigMap, and its condition. Without
// leftovers there is no other ConfigMap.
func (e *editor) settled(leftovers bool) error {
	all, err := e.pages.List(e.t.Context(), client.ListOptions{Namespace: e.namespace})
	if err != nil {
		return err
	}
	made, err := e.maps.List(e.t.Context(), client.ListOptions{Namespace: e.namespace})
	if err != nil {
		return err
	}
	var errs []error
	byKey := map[meta.Key]*pageMap{}
	for _, m := range made.Items {
		byKey[m.Key()] = m
	}
	for _, p := range all.Items {
		m := byKey[p.Key()]
		delete(byKey, p.Key())
		text, wanted := e.want[p.Key()]
		switch {
		case !wanted:
			errs = append(errs, fmt.Errorf("%s was deleted, and has the finalizers %q", p.Key(), p.Finalizers))
			continue
		case p.Spec.Text != text || p.ready().Status != meta.ConditionTrue || !slices.Equal(p.Finalizers, []string{"example.com/unpublish"}):
			errs = append(errs, fmt.Errorf("%s should have the text %q: it is %+v", p.Key(), text, p))
		case m == nil:
			errs = append(errs, fmt.Errorf("%s has no ConfigMap", p.Key()))
			continue
		}
		if owner, _ := meta.ControllerOf(m); owner.UID != p.UID || len(m.OwnerReferences) != 1 || !maps.Equal(m.Data, map[string]string{"text": text}) {
			errs = append(errs, fmt.Errorf("the ConfigMap of %s should have the text %q and the owner %s: it is %+v", p.Key(), text, p.UID, m))
		}
	}
	if len(all.Items) < len(e.want) {
		errs = append(errs, fmt.Errorf("there are %d pages, want %d", len(all.Items), len(e.want)))
	}
	for key := range byKey {
		if !leftovers || !e.gone[key] {
			errs = append(errs, fmt.Errorf("the ConfigMap %s should not exist", key))
		}
	}
	return errors.Join(errs...)
}
