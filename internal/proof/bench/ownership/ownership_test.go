// Package ownership_test compares who owns the fields of an object, and what becomes of it, on client/clienttest and by the field
// manager of kube-apiserver, which is sigs.k8s.io/structured-merge-diff in k8s.io/apimachinery.
package ownership_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	bowline "github.com/bowline-go/bowline/errors"
)

var (
	firstSeed = flag.Uint64("seed", 0, "the seed of the first sequence of writes; 0 takes any")
	sequences = flag.Int("sequences", 400, "how many sequences of writes there are")
)

// Both sides get the same random writes of three who write, and must agree after each: about the object, about its managedFields,
// about conflicts and other errors in all their words, and about whether anything has changed. The time is virtual, because
// the order of managedFields, and so whether a write changes anything, depends on the second in which each side writes.
func TestOwnershipIsThatOfTheRealFieldManager(t *testing.T) {
	seed := *firstSeed
	if seed == 0 {
		seed = rand.Uint64() >> 1
	}
	synctest.Test(t, func(t *testing.T) { playSequences(t, seed) })
}

func playSequences(t *testing.T, seed uint64) {
	s := newServer(t)
	var all tally
	for i := range *sequences {
		if !s.sequence(t, seed+uint64(i), &all) {
			t.Fatalf("replay it with: go test ./ownership -seed %d -sequences 1", seed+uint64(i))
		}
	}
	t.Logf("%+v from seed %d on", all, seed)
	if *sequences >= 100 && (all.Conflicts == 0 || all.Refused == 0 || all.Unchanged == 0) {
		t.Errorf("the writes are %+v, want some of each kind", all)
	}
}

// tally is what became of the writes.
type tally struct{ Changed, Unchanged, Conflicts, Refused int }

// server is a server in the process that has things.
type server struct{ client *client.Client }

func newServer(t *testing.T) *server {
	t.Helper()
	// The writes have duplicates in lists with keys. A server that checks values refuses them, and the field manager alone does not.
	s := clienttest.Start(t, clienttest.Options{Lenient: true, Resources: []clienttest.Resource{{
		Group: kind.Group, Version: kind.Version, Kind: kind.Kind, Resource: "things", Schema: json.RawMessage(thingSchema),
	}}})
	c, err := client.New(s.Config())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return &server{c}
}

const collection = "/apis/ownership.bowline.example/v1/namespaces/default/things"

func (s *server) raw(t *testing.T, r client.RawRequest) (*unstructured.Unstructured, error) {
	t.Helper()
	resp, err := s.client.Raw(t.Context(), r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	obj := &unstructured.Unstructured{}
	return obj, obj.UnmarshalJSON(b)
}

// do does a write. live is the object as it is, or nil.
func (s *server) do(t *testing.T, w write, live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	t.Helper()
	obj := &unstructured.Unstructured{Object: plain(w.object).(map[string]any)}
	obj.SetGroupVersionKind(kind)
	obj.SetName(name)
	r := client.RawRequest{Method: http.MethodPatch, Path: collection + "/" + name, Query: url.Values{"fieldManager": {w.by}}}
	r.Header = http.Header{"Content-Type": {"application/apply-patch+yaml"}}
	switch {
	case w.how == force:
		r.Query.Set("force", "true")
	case w.how == update && live == nil:
		r.Method, r.Path = http.MethodPost, collection
	case w.how == update:
		r.Method = http.MethodPut
		obj.SetResourceVersion(live.GetResourceVersion())
	}
	if w.how == update {
		r.Header.Set("Content-Type", "application/json")
	}
	b, err := obj.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	r.Body = bytes.TrimSpace(b)
	return s.raw(t, r)
}

// sequence does some writes to one object on both sides, and reports whether they agree.
func (s *server) sequence(t *testing.T, seed uint64, all *tally) bool {
	t.Helper()
	r := newRandom(seed)
	ref := newReference(t)
	var live *unstructured.Unstructured
	var done []write
	for range 2 + r.IntN(10) {
		w := r.write(ref.live.Object)
		if live != nil && r.oneIn(8) {
			w = done[r.IntN(len(done))] // again
		}
		done = append(done, w)
		if r.oneIn(3) {
			time.Sleep(time.Second)
		}
		changed, wantErr := ref.do(w)
		got, err := s.do(t, w, live)
		if differ := s.compare(ref, live, got, changed, wantErr, err, all); differ != "" {
			for _, w := range done {
				t.Log(w)
			}
			t.Errorf("seed %d: %s", seed, differ)
			return false
		}
		if err == nil {
			live = got
		}
	}
	if live != nil {
		// What holds it goes first.
		release := client.RawRequest{
			Method: http.MethodPatch, Path: collection + "/" + name, Body: []byte(`{"metadata":{"finalizers":null}}`),
			Header: http.Header{"Content-Type": {"application/merge-patch+json"}},
		}
		for _, r := range []client.RawRequest{release, {Method: http.MethodDelete, Path: collection + "/" + name}} {
			if _, err := s.raw(t, r); err != nil {
				t.Fatal(err)
			}
		}
	}
	return true
}

// compare says how the two sides differ after a write.
func (s *server) compare(ref *reference, live, got *unstructured.Unstructured, changed bool, wantErr, err error, all *tally) string {
	var status *bowline.StatusError
	switch {
	case (err == nil) != (wantErr == nil):
		return fmt.Sprintf("the error is %v, want %v", err, wantErr)
	case err != nil && !errors.As(err, &status):
		return err.Error()
	case err != nil:
		var said []string
		for _, c := range status.Causes() {
			said = append(said, fmt.Sprintf("%s: %s: %s", c.Reason, c.Field, c.Message))
		}
		slices.Sort(said)
		all.Conflicts++
		if len(said) == 0 {
			said = []string{status.Status.Message}
			all.Conflicts--
			all.Refused++
		}
		if want := saidOf(wantErr); !slices.Equal(said, want) && !sameLines(said[0], want[0]) {
			return fmt.Sprintf("the error says %q, want %q", said, want)
		}
		return ""
	}
	all.Unchanged++
	if changed {
		all.Changed++
		all.Unchanged--
	}
	if live != nil && (live.GetResourceVersion() != got.GetResourceVersion()) != changed {
		return fmt.Sprintf("the version is %s after %s, want it to change: %t", got.GetResourceVersion(), live.GetResourceVersion(), changed)
	}
	if a, b := entriesOf(got.GetManagedFields()), entriesOf(ref.live.GetManagedFields()); !slices.Equal(a, b) {
		return fmt.Sprintf("the owners are\n%s\nwant\n%s", lines(a), lines(b))
	}
	if a, b := content(got), content(ref.live); a != b {
		return fmt.Sprintf("the object is\n%s\nwant\n%s", a, b)
	}
	return ""
}

// content is the part of an object that its writers write, as text.
func content(obj *unstructured.Unstructured) string {
	b, err := json.Marshal(map[string]any{"labels": obj.GetLabels(), "finalizers": obj.GetFinalizers(), "spec": obj.Object["spec"]})
	if err != nil {
		panic(err)
	}
	return string(b)
}

func lines(list []string) string {
	var b bytes.Buffer
	for _, l := range list {
		b.WriteString("  " + l + "\n")
	}
	return b.String()
}

// sameLines compares several errors in one, of which the order is any.
func sameLines(a, b string) bool {
	sorted := func(text string) string {
		l := bytes.Split([]byte(text), []byte("\n"))
		slices.SortFunc(l, bytes.Compare)
		return string(bytes.Join(l, nil))
	}
	return sorted(a) == sorted(b)
}
