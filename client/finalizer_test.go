package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// patch answers a JSON patch as a server does, after what somebody else does.
func (s *row) patch(w http.ResponseWriter, r *http.Request, meddle func(*row), apply func(doc, patch []byte) ([]byte, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	s.puts = append(s.puts, string(body))
	if meddle != nil {
		meddle(s)
	}
	doc, _ := json.Marshal(s.live)
	changed, err := apply(doc, body)
	if err != nil || strings.Contains(string(changed), "bad.example") {
		answer{code: 422, body: status(422, "Invalid", "no")}.write(w)
		return
	}
	s.live = nil
	_ = json.Unmarshal(changed, &s.live)
	s.touch()
	changed, _ = json.Marshal(s.live)
	answer{body: string(changed)}.write(w)
}

func (s *row) finalizers() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprint(s.live["metadata"].(map[string]any)["finalizers"])
}

func (s *row) setFinalizers(names ...any) {
	s.live["metadata"].(map[string]any)["finalizers"] = names
	s.touch()
}

func TestAFinalizerIsSentAsAGuardedPatch(t *testing.T) {
	for _, test := range []struct {
		name, live, want string
		call             func(context.Context, client.Resource[*Slim]) (*Slim, error)
	}{
		{
			"the first", `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"namespace":"web","name":"a","uid":"u"}}`,
			`[{"op":"test","path":"/metadata/uid","value":"u"},{"op":"test","path":"/metadata/resourceVersion","value":"1"},{"op":"add","path":"/metadata/finalizers","value":["e.x/a"]}]`,
			func(ctx context.Context, r client.Resource[*Slim]) (*Slim, error) {
				return r.AddFinalizer(ctx, web, "e.x/a", meta.FinalizerOptions{})
			},
		},
		{
			"another", unknownFields,
			`[{"op":"test","path":"/metadata/uid","value":"u"},{"op":"test","path":"/metadata/finalizers","value":["f"]},{"op":"add","path":"/metadata/finalizers/-","value":"e.x/a"}]`,
			func(ctx context.Context, r client.Resource[*Slim]) (*Slim, error) {
				return r.AddFinalizer(ctx, web, "e.x/a", meta.FinalizerOptions{})
			},
		},
		{
			"one less", unknownFields,
			`[{"op":"test","path":"/metadata/uid","value":"u"},{"op":"test","path":"/metadata/finalizers/0","value":"f"},{"op":"remove","path":"/metadata/finalizers/0"}]`,
			func(ctx context.Context, r client.Resource[*Slim]) (*Slim, error) {
				return r.RemoveFinalizer(ctx, web, "f", meta.FinalizerOptions{})
			},
		},
		{
			"one of the garbage collector's", unknownFields,
			`[{"op":"test","path":"/metadata/uid","value":"u"},{"op":"test","path":"/metadata/finalizers","value":["f"]},{"op":"add","path":"/metadata/finalizers/-","value":"orphan"}]`,
			func(ctx context.Context, r client.Resource[*Slim]) (*Slim, error) {
				return r.AddFinalizer(ctx, web, "orphan", meta.FinalizerOptions{})
			},
		},
		{
			"the other one of the garbage collector's", unknownFields,
			`[{"op":"test","path":"/metadata/uid","value":"u"},{"op":"test","path":"/metadata/finalizers","value":["f"]},{"op":"add","path":"/metadata/finalizers/-","value":"foregroundDeletion"}]`,
			func(ctx context.Context, r client.Resource[*Slim]) (*Slim, error) {
				return r.AddFinalizer(ctx, web, "foregroundDeletion", meta.FinalizerOptions{})
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			srv, h := jsonPatched(t, test.live, nil)
			got := must[*Slim](t)(test.call(t.Context(), client.For(connect(t, h), slims)))
			if got.ResourceVersion != "2" || len(srv.puts) != 1 || srv.puts[0] != test.want {
				t.Errorf("sent %v, want %s", srv.puts, test.want)
			}
		})
	}
}

func TestAFinalizerIsTriedAgainAfterConcurrentWrites(t *testing.T) {
	for _, test := range []struct {
		name   string
		meddle func(n int, s *row) // before the n-th patch
		add    string              // or remove
		remove string
		left   string
		sent   int
	}{
		{"added beside another's", func(n int, s *row) {
			if n <= 2 {
				s.setFinalizers("f", fmt.Sprint("o", n))
			}
		}, "e.x/a", "", "[f o2 e.x/a]", 3},
		{"added after another has removed the last", func(n int, s *row) {
			if n == 1 {
				s.setFinalizers()
			}
		}, "e.x/a", "", "[e.x/a]", 2},
		{"added by another first", func(_ int, s *row) { s.setFinalizers("f", "e.x/a") }, "e.x/a", "", "[f e.x/a]", 1},
		{"removed from another place", func(n int, s *row) {
			if n == 1 {
				s.setFinalizers("o", "f")
			}
		}, "", "f", "[o]", 2},
		{"removed by another first", func(_ int, s *row) { s.setFinalizers("o") }, "", "f", "[o]", 1},
		{"removed, and another's comes behind it", func(_ int, s *row) { s.setFinalizers("f", "o") }, "", "f", "[o]", 1},
		{"removed while something else is written", func(_ int, s *row) { s.touch() }, "", "f", "[]", 1},
		{"removed from what another object has taken the place of", func(_ int, s *row) {
			s.live["metadata"].(map[string]any)["uid"] = "u2"
			s.touch()
		}, "", "f", "[f]", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv, h := jsonPatched(t, unknownFields, func(s *row) { test.meddle(len(s.puts), s) })
				r := client.For(connect(t, h), slims)
				var err error
				if test.add != "" {
					_, err = r.AddFinalizer(t.Context(), web, test.add, meta.FinalizerOptions{})
				} else {
					_, err = r.RemoveFinalizer(t.Context(), web, test.remove, meta.FinalizerOptions{})
				}
				if err != nil || srv.finalizers() != test.left || len(srv.puts) != test.sent {
					t.Errorf("%v: finalizers are %s by %d patches, want %s by %d", err, srv.finalizers(), len(srv.puts), test.left, test.sent)
				}
			})
		})
	}
}

// The server says Invalid of a test that fails, and of a finalizer that is no good.
func TestAnInvalidFinalizerIsNotTakenForAConflict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, h := jsonPatched(t, unknownFields, nil)
		_, err := client.For(connect(t, h), slims).AddFinalizer(t.Context(), web, "bad.example/a", meta.FinalizerOptions{})
		wantErr(t, err, `patch configmaps "web/a": server said Invalid (422): no`)
		if len(srv.puts) != 1 || srv.gets != 2 {
			t.Errorf("%d patches and %d reads", len(srv.puts), srv.gets)
		}
	})
}

func TestAFinalizerGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, h := jsonPatched(t, unknownFields, func(s *row) { s.setFinalizers(fmt.Sprint("o", s.version)) })
		r := client.For(connect(t, h), slims)
		_, err := r.AddFinalizer(t.Context(), web, "e.x/a", meta.FinalizerOptions{})
		wantErr(t, err, `add finalizer to configmaps "web/a": gave up after attempt 50, lost against "m" (resource version "51"): patch configmaps "web/a": server said Invalid (422): no`)
		if len(srv.puts) != 50 {
			t.Errorf("%d patches", len(srv.puts))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		start := time.Now()
		if _, err = r.AddFinalizer(ctx, web, "e.x/a", meta.FinalizerOptions{}); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 2*time.Second {
			t.Errorf("error is %v after %v", err, time.Since(start))
		}
	})
}

func TestAFinalizerOfAnObjectThatIsBeingDeleted(t *testing.T) {
	live := strings.Replace(unknownFields, `"uid"`, `"deletionTimestamp":"2026-01-02T03:04:05Z","uid"`, 1)
	srv, h := jsonPatched(t, live, nil)
	r := client.For(connect(t, h), slims)
	got, err := r.AddFinalizer(t.Context(), web, "e.x/a", meta.FinalizerOptions{})
	wantErr(t, err, `add finalizer to configmaps "web/a": the object is being deleted, and waits for the finalizers ["f"]`)
	if e := is[*client.DeletingError](t, err); got != nil || !errors.Is(err, apierrors.Conflict) || len(srv.puts) != 0 {
		t.Errorf("got %v, %+v, sent %v", got, e, srv.puts)
	}
	must[*Slim](t)(r.RemoveFinalizer(t.Context(), web, "f", meta.FinalizerOptions{}))
}

func TestAFinalizerOfAMissingObject(t *testing.T) {
	absent := strings.Replace(status(404, "NotFound", "no"), `"code"`, `"details":{"name":"a","kind":"configmaps"},"code"`, 1)
	r := client.For(connect(t, answers(answer{code: 404, body: absent})), slims)
	if got, err := r.RemoveFinalizer(t.Context(), web, "e.x/a", meta.FinalizerOptions{}); got != nil || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := r.AddFinalizer(t.Context(), web, "e.x/a", meta.FinalizerOptions{}); !errors.Is(err, apierrors.NotFound) {
		t.Errorf("error is %v", err)
	}
	// A path that leads nowhere says nothing of an object.
	r = client.For(connect(t, answers(answer{code: 404, header: http.Header{"Content-Type": {"text/plain"}}, body: "404 page not found"})), slims)
	if _, err := r.RemoveFinalizer(t.Context(), web, "e.x/a", meta.FinalizerOptions{}); !errors.Is(err, apierrors.NotFound) {
		t.Errorf("error is %v", err)
	}
}

// Between the cleanup of an object and the removal of its finalizer, the object can go and another of its name can come. The new one
// lost its finalizer, and was never cleaned up.
func TestAFinalizerOfTheObjectWithAUID(t *testing.T) {
	server := clienttest.Start(t, clienttest.Options{})
	r, ctx, key := client.For(dial(t, server.Config()), configMaps), t.Context(), meta.Key{Namespace: "default", Name: "a"}
	const finalizer = "e.x/a"
	create := func() *ConfigMap {
		made := &ConfigMap{ObjectMeta: key.ObjectMeta()}
		made.Finalizers = []string{finalizer}
		return must[*ConfigMap](t)(r.Create(ctx, made))
	}
	old := create()
	must[*ConfigMap](t)(r.RemoveFinalizer(ctx, key, finalizer, meta.FinalizerOptions{}))
	if err := r.Delete(ctx, key, client.DeleteOptions{UID: old.UID}); err != nil {
		t.Fatal(err)
	}
	made := create()

	if got, err := r.RemoveFinalizer(ctx, key, finalizer, meta.FinalizerOptions{UID: old.UID}); got != nil || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
	_, err := r.AddFinalizer(ctx, key, "e.x/b", meta.FinalizerOptions{UID: old.UID})
	wantErr(t, err, `add finalizer to configmaps "default/a": metadata.uid must be "`+old.UID+`", but the object has "`+made.UID+`"`)
	isConflict(t, err)
	if live := must[*ConfigMap](t)(r.Get(ctx, key)); live.ResourceVersion != made.ResourceVersion {
		t.Errorf("the new object has changed: %+v", live)
	}
	own := meta.FinalizerOptions{UID: made.UID}
	if got := must[*ConfigMap](t)(r.AddFinalizer(ctx, key, "e.x/b", own)); len(got.Finalizers) != 2 {
		t.Errorf("the finalizers are %v", got.Finalizers)
	}
	if got := must[*ConfigMap](t)(r.RemoveFinalizer(ctx, key, "e.x/b", own)); len(got.Finalizers) != 1 {
		t.Errorf("the finalizers are %v", got.Finalizers)
	}
	must[*ConfigMap](t)(r.RemoveFinalizer(ctx, key, finalizer, meta.FinalizerOptions{}))
	if err := r.Delete(ctx, key, client.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.AddFinalizer(ctx, key, finalizer, own); !errors.Is(err, apierrors.NotFound) {
		t.Errorf("the error about no object is %v", err)
	}
}

func TestFinalizersThatAreRefused(t *testing.T) {
	srv := says(object("a", "1"))
	r := client.For(connect(t, srv), slims)
	const must = `the finalizer must be a domain, a slash and a name of letters, digits, "-", "_" and ".", such as "example.com/cleanup", got `
	for _, test := range []struct {
		name string
		err  error
		want string
	}{
		{"nothing", drop(r.AddFinalizer(t.Context(), web, "", meta.FinalizerOptions{})), `add finalizer to configmaps "web/a": ` + must + `""`},
		{"no domain", drop(r.AddFinalizer(t.Context(), web, "cleanup", meta.FinalizerOptions{})), must + `"cleanup"`},
		{"an empty domain", drop(r.AddFinalizer(t.Context(), web, "/cleanup", meta.FinalizerOptions{})), must + `"/cleanup"`},
		{"two slashes", drop(r.AddFinalizer(t.Context(), web, "a/b/c", meta.FinalizerOptions{})), must + `"a/b/c"`},
		{"spaces", drop(r.AddFinalizer(t.Context(), web, "a.b/c d", meta.FinalizerOptions{})), must + `"a.b/c d"`},
		{"nothing to remove", drop(r.RemoveFinalizer(t.Context(), web, "", meta.FinalizerOptions{})), `remove finalizer from configmaps "web/a": the finalizer must not be empty`},
		{"no object", drop(r.AddFinalizer(t.Context(), meta.Key{Namespace: "web"}, "a.b/c", meta.FinalizerOptions{})), `name must not be empty`},
	} {
		t.Run(test.name, func(t *testing.T) {
			wantErr(t, test.err, test.want)
			is[*client.UsageError](t, test.err)
		})
	}
	if len(srv.all()) != 0 {
		t.Errorf("sent %v", srv.all())
	}
}
