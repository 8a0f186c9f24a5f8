package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// What the client really sends, and what it makes of an answer: the whole path, not the encoder alone.
func TestTheClientSendsAndReadsWhatEncodingJSONDoes(t *testing.T) {
	t.Run("pods", func(t *testing.T) { testWire(t, pods) })
	t.Run("configmaps", func(t *testing.T) { testWire(t, configMaps) })
	t.Run("secrets", func(t *testing.T) { testWire(t, secrets) })
	t.Run("nodes, which have no namespace", func(t *testing.T) { testWire(t, nodes) })
	t.Run("deployments", func(t *testing.T) { testWire(t, deployments) })
}

func testWire[T meta.Object](t *testing.T, resource client.Type[T]) {
	a := of[T](resource.Group, resource.Version)
	var body, answer []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/json")
		if _, err := w.Write(answer); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	c, err := client.New(client.Config{Server: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	r := client.For(c, resource)

	for seed := range int64(10) {
		obj := named(random[T](seed), resource.Scope)
		saying := meta.Clone(obj)
		a.setVersion(saying, a.apiVersion(), a.kind)
		want, err := json.Marshal(saying)
		if err != nil {
			t.Fatal(err)
		}
		answer = want
		decoded, err := a.stdlib(want)
		if err != nil {
			t.Fatal(err)
		}
		unborn := meta.Clone(obj) // what is created has no version
		version(unborn).SetString("")
		wantUnborn := meta.Clone(saying)
		version(wantUnborn).SetString("")
		born, err := json.Marshal(wantUnborn)
		if err != nil {
			t.Fatal(err)
		}
		for verb, write := range map[string]struct {
			call func(context.Context, T) (T, error)
			obj  T
			want []byte
		}{
			"create":        {r.Create, unborn, born},
			"update":        {r.Update, obj, want},
			"status update": {r.Status().Update, obj, want},
		} {
			got, err := write.call(t.Context(), write.obj)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if !bytes.Equal(body, write.want) {
				t.Fatalf("seed %d: %s sent\n%s\nwant\n%s", seed, verb, body, write.want)
			}
			if !reflect.DeepEqual(any(got), decoded) {
				t.Fatalf("seed %d: %s returned\n%+v\nwant\n%+v", seed, verb, got, decoded)
			}
		}
		got, err := r.Get(t.Context(), meta.KeyOf(obj))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(any(got), decoded) {
			t.Fatalf("seed %d: get returned\n%+v\nwant\n%+v", seed, got, decoded)
		}

		// The items of a list do not say what they are; the client does.
		item, err := json.Marshal(obj)
		if err != nil {
			t.Fatal(err)
		}
		answer = []byte(`{"kind":"` + a.kind + `List","apiVersion":"` + a.apiVersion() + `","metadata":{"resourceVersion":"9"},"items":[` +
			string(item) + `]}`)
		list, err := r.List(t.Context(), client.ListOptions{KeepManagedFields: true})
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(list.Items, []T{decoded.(T)}) {
			t.Fatalf("seed %d: list returned\n%+v\nwant\n%+v", seed, list.Items, decoded)
		}
		list, err = r.List(t.Context(), client.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		reflect.ValueOf(decoded).Elem().FieldByName("ObjectMeta").FieldByName("ManagedFields").SetZero()
		if !reflect.DeepEqual(list.Items, []T{decoded.(T)}) {
			t.Fatalf("seed %d: list without managed fields returned\n%+v\nwant\n%+v", seed, list.Items, decoded)
		}
	}
}

// named gives an object a key that can be in a path, and a version.
func named[T meta.Object](obj T, scope meta.Scope) T {
	metadata := reflect.ValueOf(obj).Elem().FieldByName("ObjectMeta")
	metadata.FieldByName("Name").SetString("a")
	metadata.FieldByName("Namespace").SetString("")
	if scope == meta.Namespaced {
		metadata.FieldByName("Namespace").SetString("default")
	}
	metadata.FieldByName("UID").SetString("0a1b")
	version(obj).SetString("8")
	return obj
}

func version(obj any) reflect.Value {
	return reflect.ValueOf(obj).Elem().FieldByName("ObjectMeta").FieldByName("ResourceVersion")
}

// A zero object is where omitempty shows: what k8s.io/api always writes is written, and nothing else.
func TestZeroObjectsAreWrittenAsEncodingJSONDoes(t *testing.T) {
	testZero(t, pods, &corev1.Pod{},
		`{"kind":"Pod","apiVersion":"v1","metadata":{"namespace":"default"},"spec":{"containers":null},"status":{}}`)
	testZero(t, configMaps, &corev1.ConfigMap{},
		`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"namespace":"default"}}`)
	testZero(t, deployments, &appsv1.Deployment{},
		`{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"namespace":"default"},"spec":{"selector":null,`+
			`"template":{"metadata":{},"spec":{"containers":null}},"strategy":{}},"status":{}}`)
}

func testZero[T meta.Object](t *testing.T, resource client.Type[T], obj T, want string) {
	t.Helper()
	reflect.ValueOf(obj).Elem().FieldByName("ObjectMeta").FieldByName("Namespace").SetString("default")
	var body []byte
	c, err := client.New(client.Config{Server: "http://nowhere.invalid", Wrap: func(http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			body, _ = io.ReadAll(r.Body)
			return nil, io.ErrClosedPipe
		})
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.For(c, resource).Create(t.Context(), obj); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("create returned %v, want %v", err, io.ErrClosedPipe)
	}
	if string(body) != want {
		t.Errorf("sent %s\nwant %s", body, want)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
