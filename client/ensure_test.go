package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/patch"
)

// A write says all that the server has, and the version that it was made from.
func TestEnsureWritesTheWholeObject(t *testing.T) {
	version := func(v string) string {
		return strings.Replace(unknownFields, `"uid"`, `"resourceVersion":"`+v+`","uid"`, 1)
	}
	srv := says(version("1"), strings.Replace(version("2"), `"k":"v"`, `"k":"w"`, 1))
	want := &Slim{Identity: at(web), Data: map[string]string{"k": "w"}}
	got, outcome, err := client.For(connect(t, srv), slims).Ensure(t.Context(), want, client.EnsureOptions{})
	if err != nil || outcome.Outcome != client.Updated || got.ResourceVersion != "2" || want.UID != "" {
		t.Fatalf("got %+v, %v, %v, and want is %+v", got, outcome, err, want)
	}
	write := srv.all()[1]
	if write.String() != "PUT /api/v1/namespaces/web/configmaps/a" || want.Data["k"] != "w" {
		t.Errorf("sent %s", write)
	}
	body := write.body
	for _, part := range []string{`"resourceVersion":"1"`, `"big":9007199254740993`, `"finalizers":["f"]`, `"managedFields":[{"manager":"m"}]`, `"binaryData":{"b":"AA=="}`, `"other":"o"`} {
		if !strings.Contains(body, part) {
			t.Errorf("sent %s, without %s", body, part)
		}
	}
}

// behaviour 328
func TestEnsureOfAnUnchangedObjectWritesNothing(t *testing.T) {
	srv := newRow(t, unknownFields)
	got, outcome, err := client.For(connect(t, srv), slims).Ensure(t.Context(), &Slim{Identity: at(web), Data: map[string]string{"k": "v"}}, client.EnsureOptions{})
	if err != nil || outcome.Outcome != client.Unchanged || got.ResourceVersion != "1" || len(got.Data) != 2 || len(srv.puts) != 0 || srv.gets != 1 {
		t.Errorf("got %+v, %v, %v, by %d reads and %v", got, outcome, err, srv.gets, srv.puts)
	}
}

func TestEnsureTriesAgainAfterConcurrentWrites(t *testing.T) {
	absent := answer{code: 404, body: status(404, "NotFound", "no")}
	exists := answer{code: 409, body: status(409, "AlreadyExists", "no")}
	conflict := answer{code: 409, body: status(409, "Conflict", "no")}
	without, with := answer{body: object("a", "1")}, answer{body: object("a", "2", "k")}
	for _, test := range []struct {
		name    string
		answers []answer
		outcome client.Outcome
		calls   string
	}{
		{"nobody", []answer{absent, with}, client.Created, "GET POST"},
		{"another creates it", []answer{absent, exists, with}, client.Unchanged, "GET POST GET"},
		{"another creates another", []answer{absent, exists, without, with}, client.Updated, "GET POST GET PUT"},
		{"another changes it", []answer{without, conflict, without, with}, client.Updated, "GET PUT GET PUT"},
		{"another does the same", []answer{without, conflict, with}, client.Unchanged, "GET PUT GET"},
		{"another deletes it", []answer{without, absent, absent, with}, client.Created, "GET PUT GET POST"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := answers(test.answers...)
				got, outcome, err := client.For(connect(t, srv), slims).Ensure(t.Context(), &Slim{Identity: at(web), Data: map[string]string{"k": "k"}}, client.EnsureOptions{})
				if err != nil || outcome.Outcome != test.outcome || got.Data["k"] != "k" {
					t.Errorf("got %+v, %v, %v, want %v", got, outcome, err, test.outcome)
				}
				var calls []string
				for _, c := range srv.all() {
					calls = append(calls, c.method)
				}
				if strings.Join(calls, " ") != test.calls {
					t.Errorf("sent %v, want %s", calls, test.calls)
				}
			})
		})
	}
}

func TestEnsureGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := newRow(t, unknownFields)
		srv.before = (*row).touch
		r := client.For(connect(t, srv), slims)
		want := &Slim{Identity: at(web), Data: map[string]string{"k": "new"}}
		got, outcome, err := r.Ensure(t.Context(), want, client.EnsureOptions{})
		wantErr(t, err, `ensure configmaps "web/a": gave up after attempt 50, lost against "m" (resource version "51"): update configmaps "web/a": server said Conflict (409): the object has been modified`)
		if got != nil || outcome.Outcome != client.Unchanged || len(srv.puts) != 50 || !errors.Is(err, apierrors.Conflict) {
			t.Errorf("got %+v, %v after %d writes", got, outcome, len(srv.puts))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		start := time.Now()
		_, _, err = r.Ensure(ctx, want, client.EnsureOptions{})
		if took := time.Since(start); took != 3*time.Second || !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, apierrors.Conflict) {
			t.Errorf("error is %v after %v", err, took)
		}
	})
}

type statused struct {
	meta.ObjectMeta `json:"metadata"`
	Status          struct {
		Phase string   `json:"phase"`
		Ready bool     `json:"ready"`
		Count int      `json:"count"`
		List  []string `json:"list"`
		Inner *struct {
			A string `json:"a"`
		} `json:"inner"`
	} `json:"status"`
}

func TestEnsureRefusesInvalidObjects(t *testing.T) {
	srv := says(object("a", "1"))
	c := connect(t, srv)
	r := client.For(c, slims)
	call := func(key meta.Key) error {
		return drop3(r.Ensure(t.Context(), &Slim{Identity: at(key)}, client.EnsureOptions{}))
	}
	for _, test := range []struct {
		name string
		err  error
		want string
	}{
		{"nil", drop3(r.Ensure(t.Context(), nil, client.EnsureOptions{})), `ensure configmaps: the object must not be nil`},
		{"no name", call(meta.Key{Namespace: "web"}), `ensure configmaps in "web": metadata.name must be set; use Create for a name that the server generates`},
		{"no namespace", call(meta.Key{Name: "a"}), `ensure configmaps "a": namespace must not be empty for a namespaced resource`},
		{"a name that leads elsewhere", call(meta.Key{Namespace: "web", Name: "a/b"}), `ensure configmaps "web/a/b": name must be one path segment`},
		{"another namespace", drop3(r.In("db").Ensure(t.Context(), &Slim{Identity: at(web)}, client.EnsureOptions{})), `namespace must be "db" or empty`},
		{"metadata alone", drop3(client.Metadata(r).Ensure(t.Context(), &meta.Partial{ObjectMeta: meta.ObjectMeta{Namespace: "web", Name: "a"}}, client.EnsureOptions{})), `cannot write whole objects`},
		{"no client", drop3(client.Resource[*Slim]{}.Ensure(t.Context(), &Slim{Identity: at(web)}, client.EnsureOptions{})), `the zero client.Resource has no client`},
		{"another kind", drop3(client.For(c, configMaps).Ensure(t.Context(), &ConfigMap{
			TypeMeta: meta.TypeMeta{Kind: "Secret"}, ObjectMeta: meta.ObjectMeta{Namespace: "web", Name: "a"},
		}, client.EnsureOptions{})), `encode *client_test.ConfigMap: its kind must be "ConfigMap" or empty, got "Secret"`},
		{"a status", func() error {
			s := &statused{ObjectMeta: meta.ObjectMeta{Namespace: "web", Name: "a"}}
			s.Status.Count = 1
			return drop3(client.For(c, client.Type[*statused](client.Type[*statused]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"})).Ensure(t.Context(), s, client.EnsureOptions{}))
		}(), `ensure configmaps "web/a": status must be empty, because Ensure does not write it: use Status().Modify`},
	} {
		t.Run(test.name, func(t *testing.T) {
			wantErr(t, test.err, test.want)
			is[*client.UsageError](t, test.err)
		})
	}
	if calls := srv.all(); len(calls) != 0 {
		t.Errorf("sent %v", calls)
	}
	empty := client.For(c, client.Type[*statused]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"})
	if _, outcome, err := empty.Ensure(t.Context(), &statused{ObjectMeta: meta.ObjectMeta{Namespace: "web", Name: "a"}}, client.EnsureOptions{}); err != nil || outcome.Outcome != client.Unchanged {
		t.Errorf("an empty status: %v, %v", outcome, err)
	}
}

func drop3[A, B any](_ A, _ B, err error) error { return err }

func TestEnsureDoesNotRetryPermanentErrors(t *testing.T) {
	deleting := strings.Replace(object("a", "1"), `"uid"`, `"deletionTimestamp":"2026-01-02T03:04:05Z","finalizers":["x/y"],"uid"`, 1)
	absent := answer{code: 404, body: status(404, "NotFound", "no")}
	for _, test := range []struct {
		name    string
		answers []answer
		want    string
		is      error
	}{
		{"a read that is refused", []answer{{code: 403, body: status(403, "Forbidden", "no")}}, `get configmaps "web/a": server said Forbidden (403): no`, apierrors.Forbidden},
		{"a creation that is refused", []answer{absent, {code: 422, body: status(422, "Invalid", "no")}}, `create configmaps "web/a": server said Invalid (422): no`, apierrors.Invalid},
		{"a namespace that is not there", []answer{absent, absent}, `create configmaps "web/a": server said NotFound (404): no`, apierrors.NotFound},
		{"a write that is refused", []answer{{body: object("a", "1")}, {code: 422, body: status(422, "Invalid", "no")}}, `update configmaps "web/a": server said Invalid (422): no`, apierrors.Invalid},
		{"an object that is being deleted", []answer{{body: deleting}}, `ensure configmaps "web/a": the object is being deleted, and waits for the finalizers ["x/y"]`, apierrors.Conflict},
		{"an object without a version", []answer{{body: object("a", "")}}, `server sent the object without a uid or a resource version`, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			srv := answers(test.answers...)
			got, outcome, err := client.For(connect(t, srv), slims).Ensure(t.Context(), &Slim{Identity: at(web), Data: map[string]string{"k": "k"}}, client.EnsureOptions{})
			wantErr(t, err, test.want)
			is[*client.OpError](t, err)
			if got != nil || outcome.Outcome != client.Unchanged || test.is != nil && !errors.Is(err, test.is) || len(srv.all()) != len(test.answers) {
				t.Errorf("got %+v, %v, %v", got, outcome, err)
			}
		})
	}
}

func TestPreconditionsOfAnEnsure(t *testing.T) {
	live, absent := answer{body: object("a", "7")}, answer{code: 404, body: status(404, "NotFound", "no")}
	for _, test := range []struct {
		name         string
		uid, version string
		answer       answer
		want         string
	}{
		{"another uid", "x", "", live, `ensure configmaps "web/a": metadata.uid must be "x", but the object has "u-a"`},
		{"another version", "u-a", "8", live, `ensure configmaps "web/a": metadata.resourceVersion must be "8", but the object has "7"`},
		{"a uid and no object", "x", "7", absent, `ensure configmaps "web/a": metadata.uid must be "x", but the object does not exist`},
		{"a version and no object", "", "7", absent, `ensure configmaps "web/a": metadata.resourceVersion must be "7", but the object does not exist`},
	} {
		t.Run(test.name, func(t *testing.T) {
			srv := answers(test.answer)
			want := &Slim{Identity: meta.Identity{Namespace: "web", Name: "a", UID: test.uid, ResourceVersion: test.version}}
			_, _, err := client.For(connect(t, srv), slims).Ensure(t.Context(), want, client.EnsureOptions{})
			wantErr(t, err, test.want)
			isConflict(t, err)
			if !errors.Is(err, apierrors.Conflict) || errors.Is(err, apierrors.NotFound) || srv.one(t).method != http.MethodGet {
				t.Errorf("error is %v after %v", err, srv.all())
			}
		})
	}
}

func TestOutcomesHaveNames(t *testing.T) {
	if got := fmt.Sprint(client.Unchanged, client.Created, client.Updated, client.NotKept, client.Outcome(7)); got != "Unchanged Created Updated NotKept Outcome(7)" {
		t.Error(got)
	}
	var zero client.Outcome
	if zero != client.Unchanged {
		t.Errorf("the zero Outcome is %v", zero)
	}
}

// jsonPatched is a server of one object that takes JSON patches.
func jsonPatched(t *testing.T, text string, meddle func(*row)) (*row, http.Handler) {
	s := newRow(t, text)
	return s, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPatch {
			s.ServeHTTP(w, r)
			return
		}
		s.patch(w, r, meddle, patch.ApplyJSON)
	})
}
