package e2e

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/protobuf"
	"github.com/bowline-go/bowline/client/protobuf/all"
	"github.com/bowline-go/bowline/internal/controlplane/build"
)

// forms counts the answers by their Content-Type.
type forms struct {
	http.RoundTripper
	mu sync.Mutex
	n  map[string]int
}

func (f *forms) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := f.RoundTripper.RoundTrip(r)
	if err == nil && r.Method == http.MethodGet {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.n[resp.Header.Get("Content-Type")]++
	}
	return resp, err
}

// take returns the types of the answers since the last call.
func (f *forms) take() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	types := slices.Sorted(maps.Keys(f.n))
	clear(f.n)
	return types
}

// inProtobuf makes a client that asks for protobuf, and counts what it gets.
func inProtobuf(t *testing.T, cfg client.Config) (*client.Client, *forms) {
	t.Helper()
	f := &forms{n: map[string]int{}}
	cfg.Protobuf = protobuf.New(all.Tables()...)
	cfg.Wrap = func(next http.RoundTripper) http.RoundTripper {
		f.RoundTripper = next
		return f
	}
	return open(t, cfg), f
}

var errFound = errors.New("found")

// read returns the object of a key from a list, and from the initial events of a watch.
func read[T meta.Object](t *testing.T, r client.Resource[T], key meta.Key) (listed, watched any) {
	t.Helper()
	ctx := t.Context()
	_, err := r.ListEach(ctx, client.ListOptions{Namespace: key.Namespace}, nil, func(i client.Item[T]) error {
		if i.Err != nil {
			return i.Err
		}
		if i.Identity.Key() == key {
			listed = i.Object
		}
		return nil
	})
	if err != nil || listed == nil {
		t.Fatalf("list: %v, %v", listed, err)
	}
	err = r.WatchEach(ctx, client.WatchOptions{Namespace: key.Namespace, InitialEvents: true}, nil, func(e client.Event[T]) error {
		switch {
		case e.Err != nil:
			return e.Err
		case e.Type == client.Added && e.Identity.Key() == key:
			watched = e.Object
		case e.InitialEventsEnd:
			return errFound
		}
		return nil
	})
	if !errors.Is(err, errFound) || watched == nil {
		t.Fatalf("watch: %v, %v", watched, err)
	}
	return listed, watched
}

// Every built-in kind of the real server that lists is the same from JSON and from protobuf: as the type of k8s.io/api, as its
// metadata alone, in a list and in a watch.
func TestEveryKindIsTheSameInBothForms(t *testing.T) {
	t.Parallel()
	plain, ns := admin(t)
	binary, forms := inProtobuf(t, adminConfig())
	const typ = "application/vnd.kubernetes.protobuf"
	compared := 0
	for _, m := range slices.Concat(manifests, moreManifests) {
		t.Run(m.resource+" of "+m.gvk.Group+" "+m.gvk.Version, func(t *testing.T) {
			made, key := m.object(t, m.full, "p", ns)
			dynamic := client.Type[object]{Group: m.gvk.Group, Version: m.gvk.Version, Kind: m.gvk.Kind, Resource: m.resource, Scope: m.scope}
			objects := client.For(plain, dynamic)
			must(objects.Create(t.Context(), made))(t)
			defer func() {
				if err := objects.Delete(t.Context(), key, client.DeleteOptions{GracePeriod: client.NoGracePeriod}); err != nil {
					t.Error(err)
				}
			}()
			compared++
			forms.take()
			compareForms(t, "an object", plain, binary, func(c *client.Client) (listed, watched any) { return m.inForms(t, c, key) })
			want := []string{typ, typ + ";stream=watch"}
			if m.gvk.Kind == "StatefulSet" || m.gvk.Kind == "CustomResourceDefinition" { // their types have what protobuf does not
				want = []string{"application/json"}
			}
			if got := forms.take(); !slices.Equal(got, want) {
				t.Errorf("the answers were %q, want %q", got, want)
			}
			compareForms(t, "metadata", plain, binary, func(c *client.Client) (listed, watched any) {
				return read(t, client.Metadata(client.For(c, dynamic)), key)
			})
			if got := forms.take(); len(got) != 2 || !strings.HasPrefix(got[0], typ) || !strings.HasPrefix(got[1], typ) {
				t.Errorf("the answers with metadata were %q", got)
			}
		})
	}
	if newest := plane.Kubernetes == build.Minors()[0]; newest && compared < 40 {
		t.Errorf("%d kinds were compared, want more", compared)
	}
}

// compareForms compares what read returns of an object as JSON and as protobuf. Controllers of the server may change the object in
// between; then it is read again.
func compareForms(t *testing.T, what string, plain, binary *client.Client, read func(*client.Client) (listed, watched any)) {
	t.Helper()
	version := func(obj any) string { return obj.(meta.Object).GetResourceVersion() }
	for range 20 {
		listed, watched := read(plain)
		binaryListed, binaryWatched := read(binary)
		if version(listed) != version(watched) || version(listed) != version(binaryListed) || version(listed) != version(binaryWatched) {
			continue
		}
		for how, got := range map[string]any{"list": binaryListed, "watch": binaryWatched} {
			if !reflect.DeepEqual(got, listed) {
				t.Errorf("%s in a %s: from protobuf\n%s\nfrom JSON\n%s", what, how,
					must(json.MarshalIndent(got, "", " "))(t), must(json.MarshalIndent(listed, "", " "))(t))
			}
		}
		if !reflect.DeepEqual(watched, listed) {
			t.Errorf("%s: a watch and a list differ", what)
		}
		return
	}
	t.Errorf("%s: it changes all the time", what)
}
