package conformance

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// collect returns the first n events of a watch, or fewer if it ends; it fails the test on an error.
func collect(t *testing.T, s suite, o client.WatchOptions, n int) []client.Event[*ConfigMap] {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var events []client.Event[*ConfigMap]
	for e, err := range s.configMaps.Watch(ctx, o) {
		if err != nil {
			t.Fatalf("after %d events: %v", len(events), err)
		}
		if events = append(events, e); len(events) == n {
			break
		}
	}
	if len(events) != n {
		t.Fatalf("the watch brought %d events, want %d", len(events), n)
	}
	return events
}

func describe(events []client.Event[*ConfigMap]) []string {
	var out []string
	for _, e := range events {
		out = append(out, string(e.Type)+" "+e.Identity.Name)
	}
	return out
}

func testWatch(t *testing.T, s suite) {
	ns := s.namespace(t)
	before := s.configMap(t, ns, "before", nil)
	version := must[meta.List[*ConfigMap]](t)(s.configMaps.List(t.Context(), client.ListOptions{Namespace: ns})).ResourceVersion

	a := s.configMap(t, ns, "a", nil)
	a.Data["k"] = "changed"
	changed := must[*ConfigMap](t)(s.configMaps.Update(t.Context(), a))
	if err := s.configMaps.Delete(t.Context(), meta.KeyOf(a), client.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	s.configMap(t, ns, "b", nil)

	// The history since a version is replayed, in order.
	events := collect(t, s, client.WatchOptions{Namespace: ns, ResourceVersion: version}, 4)
	if want := []string{"ADDED a", "MODIFIED a", "DELETED a", "ADDED b"}; !slices.Equal(describe(events), want) {
		t.Fatalf("events are %v, want %v", describe(events), want)
	}
	equal(t, "version of the modification", events[1].Identity.ResourceVersion, changed.ResourceVersion)
	equal(t, "data of the modification", events[1].Object.Data["k"], "changed")
	equal(t, "data of the deletion", events[2].Object.Data["k"], "changed")
	if events[2].Identity.ResourceVersion == changed.ResourceVersion {
		t.Error("the deletion has the version of the last modification, want one of its own")
	}
	// Resuming after an event brings the next ones, and not that one.
	resumed := collect(t, s, client.WatchOptions{Namespace: ns, ResourceVersion: events[1].Identity.ResourceVersion}, 2)
	if want := []string{"DELETED a", "ADDED b"}; !slices.Equal(describe(resumed), want) {
		t.Errorf("resumed events are %v, want %v", describe(resumed), want)
	}
	// Without a version the present objects come first.
	present := collect(t, s, client.WatchOptions{Namespace: ns}, 2)
	got := describe(present)
	slices.Sort(got)
	if want := []string{"ADDED b", "ADDED before"}; !slices.Equal(got, want) {
		t.Errorf("a watch without a version starts with %v, want %v", got, want)
	}
	equal(t, "uid", before.UID, present[slices.IndexFunc(present, func(e client.Event[*ConfigMap]) bool { return e.Identity.Name == "before" })].Identity.UID)

	// The server ends the watch after the timeout, which is not an error.
	for e, err := range s.configMaps.Watch(t.Context(), client.WatchOptions{
		Namespace: ns, ResourceVersion: events[3].Identity.ResourceVersion, Timeout: time.Second,
	}) {
		t.Errorf("the watch brought %v, %v, want nothing", e, err)
	}
	// Ending the context ends the watch with the context's error.
	ctx, cancel := context.WithCancel(t.Context())
	for _, err := range s.configMaps.Watch(ctx, client.WatchOptions{Namespace: ns}) {
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("the end of the context gives %v", err)
		}
		cancel()
	}
	cancel()
	for _, err := range s.configMaps.Watch(t.Context(), client.WatchOptions{Namespace: ns, ResourceVersion: "many"}) {
		wantStatus(t, err, 500) // the real server's answer, although the mistake is the client's
	}
}

func testWatchSelector(t *testing.T, s suite) {
	ns := s.namespace(t)
	version := must[meta.List[*ConfigMap]](t)(s.configMaps.List(t.Context(), client.ListOptions{Namespace: ns})).ResourceVersion
	label := func(name, value string) {
		must[*ConfigMap](t)(s.configMaps.Modify(t.Context(), meta.Key{Namespace: ns, Name: name}, func(c *ConfigMap) error {
			c.Labels = map[string]string{"in": value}
			return nil
		}))
	}
	s.configMap(t, ns, "a", map[string]string{"in": "no"})
	s.configMap(t, ns, "b", map[string]string{"in": "yes"})
	label("a", "yes")
	label("b", "no")
	if err := s.configMaps.Delete(t.Context(), meta.Key{Namespace: ns, Name: "b"}, client.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	label("a", "no")
	events := collect(t, s, client.WatchOptions{Namespace: ns, ResourceVersion: version, LabelSelector: "in=yes"}, 4)
	if want := []string{"ADDED b", "ADDED a", "DELETED b", "DELETED a"}; !slices.Equal(describe(events), want) {
		t.Errorf("events are %v, want %v", describe(events), want)
	}
	// An object that has left the selection comes with the resource version of the change, so a watch can resume from
	// that version.
	left := events[2].Identity
	next := collect(t, s, client.WatchOptions{Namespace: ns, ResourceVersion: left.ResourceVersion}, 1)
	if next[0].Identity.ResourceVersion == left.ResourceVersion {
		t.Errorf("the event by which %s left comes again when resumed from its version", left.Name)
	}
	byName := collect(t, s, client.WatchOptions{Namespace: ns, ResourceVersion: version, FieldSelector: "metadata.name=b"}, 3)
	if want := []string{"ADDED b", "MODIFIED b", "DELETED b"}; !slices.Equal(describe(byName), want) {
		t.Errorf("events of b are %v, want %v", describe(byName), want)
	}
}

// behaviour 333, fault F6: a watch from a version that the server has forgotten fails with an error that is both
// Expired and Gone.
func testExpiredWatch(t *testing.T, s suite, forget func()) {
	ns := s.namespace(t)
	old := s.configMap(t, ns, "a", nil)
	s.configMap(t, ns, "b", nil) // of two changes at least the first is forgotten
	s.configMap(t, ns, "c", nil)
	forget()
	refused := false
	for e, err := range s.configMaps.Watch(t.Context(), client.WatchOptions{Namespace: ns, ResourceVersion: old.ResourceVersion, Timeout: 5 * time.Second}) {
		if refused = errors.Is(err, apierrors.Expired) && errors.Is(err, apierrors.Gone); !refused {
			t.Errorf("the watch brings %s %s, %v; want an error that is Expired and Gone", e.Type, e.Identity.Name, err)
		}
		break
	}
	if !refused {
		t.Error("the watch is not refused")
	}
	// The list that follows is whole, and a watch from it goes on.
	list := must[meta.List[*ConfigMap]](t)(s.configMaps.List(t.Context(), client.ListOptions{Namespace: ns}))
	equal(t, "objects", len(list.Items), 3)
	s.configMap(t, ns, "d", nil)
	after := collect(t, s, client.WatchOptions{Namespace: ns, ResourceVersion: list.ResourceVersion}, 1)
	if want := []string{"ADDED d"}; !slices.Equal(describe(after), want) {
		t.Errorf("after the list come %v, want %v", describe(after), want)
	}
}

// behaviour 81, fault F10: a list whose version is forgotten between its pages ends with Expired, and is never a short
// one.
func testExpiredList(t *testing.T, s suite, forget func()) {
	ns := s.namespace(t)
	names := numbered("page", 6)
	for _, name := range names {
		s.configMap(t, ns, name, nil)
	}
	seen, expired := 0, false
	for c, err := range s.configMaps.All(t.Context(), client.ListOptions{Namespace: ns, PageSize: 1}) {
		if err != nil {
			expired = errors.Is(err, apierrors.Expired)
			if !expired {
				t.Error(err)
			}
			break
		}
		if seen++; seen == 1 {
			s.configMap(t, ns, "z", nil)
			forget()
		}
		if c.Name == "z" {
			t.Error("the list has an object that was made after its first page")
		}
	}
	if !expired || seen == len(names) {
		t.Errorf("the list brought %d of %d objects, and is Expired: %v", seen, len(names), expired)
	}
}

func testBookmarks(t *testing.T, s suite) {
	ns := s.namespace(t)
	made := s.configMap(t, ns, "a", nil)
	// A server sends a bookmark every minute, and in the last two seconds before the requested end of the watch. A busy
	// server may miss these seconds; then a later watch brings the bookmark.
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var last client.Event[*ConfigMap]
	for n := 0; n == 0; {
		for e, err := range s.configMaps.Watch(ctx, client.WatchOptions{
			Namespace: ns, ResourceVersion: made.ResourceVersion, Bookmarks: true, Timeout: 3 * time.Second,
		}) {
			if err != nil {
				t.Fatalf("after %d bookmarks: %v", n, err)
			}
			if e.Type != client.Bookmark || e.Identity.ResourceVersion == "" || e.Object != nil {
				t.Errorf("got %+v, want a bookmark with a version and no object", e)
			}
			last = e
			n++
		}
	}
	s.configMap(t, ns, "b", nil)
	after := collect(t, s, client.WatchOptions{Namespace: ns, ResourceVersion: last.Identity.ResourceVersion}, 1)
	if want := []string{"ADDED b"}; !slices.Equal(describe(after), want) {
		t.Errorf("after the bookmark come %v, want %v", describe(after), want)
	}
}
