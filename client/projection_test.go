package client_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// shelf has one object, and what is asked about its name and its status. Writes are answered and change nothing.
type shelf struct {
	mu     sync.Mutex // guards the rest
	body   string
	status int // how GET of the status is answered; 0 = 404
	calls  []string
}

func (s *shelf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, at, _ := strings.Cut(r.URL.Path, "/a")
	_, at, _ = strings.Cut(at, "/a")
	if r.URL.Path == "/api/v1/namespaces/web/configmaps" {
		at = "list"
	}
	s.calls = append(s.calls, strings.TrimSpace(r.Method+" "+strings.TrimPrefix(at, "/")))
	a := answer{body: s.body}
	switch {
	case at == "list" && r.Method == http.MethodGet && r.URL.Query().Get("watch") != "":
		a.body = event("ADDED", s.body)
	case at == "list" && r.Method == http.MethodGet:
		a.body = listOf("9", "", s.body)
	case r.Method == http.MethodGet && s.body == "":
		a = answer{code: 404, body: status(404, "NotFound", "no")}
	case r.Method == http.MethodGet && strings.HasSuffix(at, "/status") && s.status != 200:
		code := s.status
		if code == 0 {
			code = 404
		}
		a = answer{code: code, body: status(code, "", "no")}
	}
	a.write(w)
}

func (s *shelf) called() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	calls := strings.Join(s.calls, ", ")
	s.calls = nil
	return calls
}

const more = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"namespace":"web","name":"a","uid":"u","resourceVersion":"1",
	"creationTimestamp":"2026-01-02T03:04:05Z","generation":1,"managedFields":[{"manager":"m"}]%s},"data":{"k":"v"}%s}`

// However an object came, from then on a T that has no place for some of it does not replace one that it would rob of it.
func TestUpdateRefusesAProjection(t *testing.T) {
	for name, read := range map[string]func(t *testing.T, r client.Resource[*Slim]) *Slim{
		"get": func(t *testing.T, r client.Resource[*Slim]) *Slim { return must[*Slim](t)(r.Get(t.Context(), web)) },
		"list": func(t *testing.T, r client.Resource[*Slim]) *Slim {
			return must[meta.List[*Slim]](t)(r.List(t.Context(), client.ListOptions{Namespace: "web"})).Items[0]
		},
		"watch": func(t *testing.T, r client.Resource[*Slim]) *Slim {
			for e, err := range r.Watch(t.Context(), client.WatchOptions{Namespace: "web"}) {
				if err != nil {
					t.Fatal(err)
				}
				return e.Object
			}
			return nil
		},
		"create": func(t *testing.T, r client.Resource[*Slim]) *Slim {
			return must[*Slim](t)(r.Create(t.Context(), &Slim{Identity: at(web)}))
		},
		"patch": func(t *testing.T, r client.Resource[*Slim]) *Slim {
			return must[*Slim](t)(r.Patch(t.Context(), web, noChange))
		},
		"status": func(t *testing.T, r client.Resource[*Slim]) *Slim {
			return must[*Slim](t)(r.Status().Patch(t.Context(), web, noChange))
		},
		"another handle": func(t *testing.T, r client.Resource[*Slim]) *Slim {
			return must[*Slim](t)(r.In("web").With(client.WriteOptions{DryRun: true}).Get(t.Context(), meta.Key{Name: "a"}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			srv := &shelf{body: fmt.Sprintf(more, `,"labels":{"l":"1"}`, `,"immutable":false,"binaryData":{"b":"AA=="}`)}
			r := client.For(connect(t, srv), slims)
			obj := read(t, r)
			srv.called()
			got, err := r.Update(t.Context(), obj)
			wantErr(t, err, `update configmaps "web/a": *client_test.Slim has no field for /binaryData, /immutable, /metadata/labels, which the server's object has and this update would remove: use Modify or Patch`)
			if is[*client.UsageError](t, err); got != nil {
				t.Errorf("beside the error there is %v", got)
			}
			if calls := srv.called(); calls != "GET" {
				t.Errorf("sent %s", calls)
			}
		})
	}
}

// What an update costs: nothing, unless the T has been seen to lose something; and nothing is refused that loses nothing.
func TestUpdateReadsFirstOnlyIfItsTypeHasLostFields(t *testing.T) {
	const labels, binary = `,"labels":{"l":"1"}`, `,"binaryData":{"b":"AA=="}`
	slim := func(version string) *Slim {
		return &Slim{Identity: meta.Identity{Namespace: "web", Name: "a", ResourceVersion: version}}
	}
	for _, test := range []struct {
		name   string
		seen   string // of an object that has been read before
		live   string
		status int
		update func(t *testing.T, c *client.Client) error
		calls  string
		lost   string
	}{
		{
			"a T that has lost nothing", fmt.Sprintf(more, "", ""), fmt.Sprintf(more, "", ""), 0,
			func(t *testing.T, c *client.Client) error {
				return drop(client.For(c, slims).Update(t.Context(), slim("1")))
			}, "PUT", "",
		},
		{
			"a T that has lost fields that the object no longer has", fmt.Sprintf(more, labels, binary), fmt.Sprintf(more, `,"labels":null`, `,"binaryData":null`), 0,
			func(t *testing.T, c *client.Client) error {
				return drop(client.For(c, slims).Update(t.Context(), slim("1")))
			}, "GET, PUT", "",
		},
		{
			"no resource version", fmt.Sprintf(more, labels, ""), fmt.Sprintf(more, labels, ""), 0,
			func(t *testing.T, c *client.Client) error {
				return drop(client.For(c, slims).Update(t.Context(), slim("")))
			}, "GET", "/metadata/labels",
		},
		{
			"a resource version that will conflict", fmt.Sprintf(more, labels, ""), fmt.Sprintf(more, labels, ""), 0,
			func(t *testing.T, c *client.Client) error {
				return drop(client.For(c, slims).Update(t.Context(), slim("0")))
			}, "GET, PUT", "",
		},
		{
			"an object that is gone", fmt.Sprintf(more, labels, ""), "", 0,
			func(t *testing.T, c *client.Client) error {
				err := drop(client.For(c, slims).Update(t.Context(), slim("1")))
				if err != nil && strings.Contains(err.Error(), "update configmaps") { // the shelf answers nothing
					return nil
				}
				return err
			}, "GET, PUT", "",
		},
		{
			"a T that has every field", fmt.Sprintf(more, labels, binary), fmt.Sprintf(more, labels, binary), 0,
			func(t *testing.T, c *client.Client) error {
				r := client.For(c, client.Type[*meta.Unstructured]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"})
				return drop(r.Update(t.Context(), must[*meta.Unstructured](t)(r.Get(t.Context(), web))))
			}, "GET, PUT", "",
		},
		{
			"a map", fmt.Sprintf(more, labels, binary), fmt.Sprintf(more, labels, binary), 0,
			func(t *testing.T, c *client.Client) error {
				r := client.For(c, client.Type[mapped]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"})
				return drop(r.Update(t.Context(), must[mapped](t)(r.Get(t.Context(), web))))
			}, "GET, PUT", "",
		},
		{
			"raw JSON", fmt.Sprintf(more, labels, binary), fmt.Sprintf(more, labels, binary), 0,
			func(t *testing.T, c *client.Client) error {
				r := client.For(c, client.Type[*meta.Raw]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"})
				return drop(r.Update(t.Context(), must[*meta.Raw](t)(r.Get(t.Context(), web))))
			}, "GET, PUT", "",
		},
		{
			"an invalid name", fmt.Sprintf(more, labels, ""), fmt.Sprintf(more, labels, ""), 0,
			func(t *testing.T, c *client.Client) error {
				err := drop(client.For(c, slims).Update(t.Context(), &Slim{Identity: meta.Identity{Namespace: "web", Name: "a/b"}}))
				is[*client.UsageError](t, err)
				return nil
			}, "", "",
		},
		{
			"an object with a status subresource", fmt.Sprintf(more, "", `,"status":{"s":1}`), fmt.Sprintf(more, "", `,"status":{"s":1}`), 200,
			func(t *testing.T, c *client.Client) error {
				first := drop(client.For(c, slims).Update(t.Context(), slim("1")))
				return errors.Join(first, drop(client.For(c, slims).Update(t.Context(), slim("1"))))
			}, "GET, GET status, PUT, GET, PUT", "",
		},
		{
			"an object without a status subresource", fmt.Sprintf(more, "", `,"status":{"s":1}`), fmt.Sprintf(more, "", `,"status":{"s":1}`), 404,
			func(t *testing.T, c *client.Client) error {
				return drop(client.For(c, slims).Update(t.Context(), slim("1")))
			}, "GET, GET status", "/status",
		},
		{
			"an object whose status is forbidden to read", fmt.Sprintf(more, labels, `,"status":{"s":1}`), fmt.Sprintf(more, labels, `,"status":{"s":1}`), 403,
			func(t *testing.T, c *client.Client) error {
				return drop(client.For(c, slims).Update(t.Context(), slim("1")))
			},
			"GET, GET status", "/metadata/labels /status",
		},
		{
			"a status, which cannot lose a spec", fmt.Sprintf(more, "", `,"spec":{"s":1}`), fmt.Sprintf(more, "", `,"spec":{"s":1}`), 200,
			func(t *testing.T, c *client.Client) error {
				return drop(client.For(c, slims).Status().Update(t.Context(), slim("1")))
			},
			"GET status, PUT status", "",
		},
		{
			"a status, with labels", fmt.Sprintf(more, labels, binary), fmt.Sprintf(more, labels, `,"status":{"s":1},"spec":{"s":1}`), 200,
			func(t *testing.T, c *client.Client) error {
				return drop(client.For(c, slims).Status().Update(t.Context(), slim("1")))
			},
			"GET status", "/metadata/labels /status",
		},
		{
			"a subresource that may not be readable", fmt.Sprintf(more, labels, ""), fmt.Sprintf(more, labels, `,"status":{"s":1}`), 200,
			func(t *testing.T, c *client.Client) error {
				return drop(client.For(c, slims).Sub("finalize").Update(t.Context(), slim("1")))
			}, "GET", "/metadata/labels /status",
		},
		{
			"a subresource of another kind", fmt.Sprintf(more, "", binary), fmt.Sprintf(more, "", binary), 200,
			func(t *testing.T, c *client.Client) error {
				return drop(client.SubOf[*Slim](client.For(c, slims), "scale").Update(t.Context(), slim("1")))
			}, "GET scale", "/binaryData",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			srv := &shelf{body: test.seen, status: test.status}
			c := connect(t, srv)
			must[*Slim](t)(client.For(c, slims).Get(t.Context(), web))
			srv.called()
			srv.body = test.live
			err := test.update(t, c)
			if err != nil && test.lost != "" {
				is[*client.UsageError](t, err)
				wantErr(t, err, " has no field for "+strings.ReplaceAll(test.lost, " ", ", ")+", which")
			} else if err != nil || test.lost != "" {
				t.Errorf("error is %v, want %q to be lost", err, test.lost)
			}
			if calls := srv.called(); calls != test.calls {
				t.Errorf("sent %s, want %s", calls, test.calls)
			}
		})
	}
}

// Where it cannot be seen what would be lost, nothing is written.
func TestUpdateFailsIfItCannotReadFirst(t *testing.T) {
	seen := answer{body: fmt.Sprintf(more, `,"labels":{"l":"1"}`, "")}
	for name, look := range map[string]answer{
		"server said Forbidden (403)":                     {code: 403, body: status(403, "Forbidden", "no")},
		`decode "web/a"`:                                  {body: strings.Replace(seen.body, `{"k":"v"}`, `7`, 1)},
		"server sent v1 Secret, want v1 ConfigMap":        {body: strings.Replace(seen.body, `ConfigMap`, `Secret`, 1)},
		"server said ServiceUnavailable (503): try later": {code: 503, body: status(503, "ServiceUnavailable", "try later")},
	} {
		srv := answers(seen, look)
		r := client.For(connect(t, srv), slims)
		obj := must[*Slim](t)(r.Get(t.Context(), web))
		_, err := r.Update(t.Context(), obj)
		wantErr(t, err, `get configmaps "web/a": `)
		wantErr(t, err, name)
		for _, c := range srv.all() {
			if c.method != http.MethodGet {
				t.Errorf("sent %v", c)
			}
		}
	}
}

// Another client, and another resource, have not seen it.
func TestTheClientRemembersLostFieldsOfEachResource(t *testing.T) {
	srv := &shelf{body: fmt.Sprintf(more, `,"labels":{"l":"1"}`, "")}
	c := connect(t, srv)
	obj := must[*Slim](t)(client.For(c, slims).Get(t.Context(), web))
	srv.called()
	if err := errors.Join(drop(client.For(connect(t, srv), slims).Update(t.Context(), obj))); err != nil {
		t.Error(err)
	}
	other := slims
	other.Resource = "others"
	if err := drop(client.For(c, other).Update(t.Context(), obj)); err != nil {
		t.Error(err)
	}
	if _, err := client.For(c, slims).Update(t.Context(), obj); err == nil {
		t.Error("it was updated")
	}
	if calls := srv.called(); calls != "PUT, PUT, GET" {
		t.Errorf("sent %s", calls)
	}
}

// A wide object has more to lose than an error says.
func TestTheErrorOfAnUpdateThatWouldLoseFieldsNamesTen(t *testing.T) {
	members := map[string]any{}
	for i := range 100 {
		members[fmt.Sprintf("m%02d", i)] = i
	}
	text, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	srv := &shelf{body: fmt.Sprintf(more, "", ","+string(text[1:len(text)-1]))}
	r := client.For(connect(t, srv), slims)
	_, err = r.Update(t.Context(), must[*Slim](t)(r.Get(t.Context(), web)))
	is[*client.UsageError](t, err)
	wantErr(t, err, "for /m00, /m01, /m02, /m03, /m04, /m05, /m06, /m07, /m08, /m09 and others, which")
	if errors.Is(err, apierrors.Conflict) {
		t.Error("it reads like a conflict")
	}
}
