package clienttest_test

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/internal/protobuf"
)

// recorded is one command of kubectl v1.36.3 with the requests that it sent to this server, and what they were
// answered. The command succeeded, or failed as it should. To record them again, let Intercept return a handler that
// notes each request, calls ServeHTTP, and notes the answer.
type recorded struct {
	Command  string
	Requests []struct {
		Method, Path, Accept, ContentType string
		Body, Base64                      string
		Code                              int
		AnswerType, AnswerKind            string
	}
}

func TestKubectlGetsTheAnswersThatItWorksWith(t *testing.T) {
	b, err := os.ReadFile("testdata/kubectl.json")
	if err != nil {
		t.Fatal(err)
	}
	var commands []recorded
	if err := json.Unmarshal(b, &commands); err != nil {
		t.Fatal(err)
	}
	h := newHarness(t, clienttest.Options{Resources: []clienttest.Resource{widgets()}})
	for _, command := range commands { // in order: each builds on what those before did
		for _, r := range command.Requests {
			body := r.Body
			if r.Base64 != "" {
				raw, err := base64.StdEncoding.DecodeString(r.Base64)
				if err != nil {
					t.Fatal(err)
				}
				body = string(raw)
			}
			header := []string{"Accept", r.Accept}
			if r.ContentType != "" {
				header = append(header, "Content-Type", r.ContentType)
			}
			resp := h.open(t, r.Method, r.Path, body, header...)
			if resp.StatusCode != r.Code || resp.Header.Get("Content-Type") != r.AnswerType {
				t.Errorf("%s: %s %s: got %d %s, want %d %s", command.Command, r.Method, r.Path,
					resp.StatusCode, resp.Header.Get("Content-Type"), r.Code, r.AnswerType)
			}
			if strings.Contains(r.Path, "watch=true") {
				if e := (&stream{resp, json.NewDecoder(resp.Body)}).next(t); at(string(e.Object), "kind") != "Table" {
					t.Errorf("%s: the watch gave %s", command.Command, e.Object)
				}
				resp.Body.Close()
				continue
			}
			answer, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			kind := r.AnswerKind
			if strings.HasPrefix(r.Path, "/openapi") {
				kind = ""
			}
			got := at(string(answer), "kind")
			if e, err := protobuf.Open(answer); err == nil {
				got = e.Kind
			}
			if got != kind {
				t.Errorf("%s: %s %s: got a %s, want a %s", command.Command, r.Method, r.Path, got, kind)
			}
		}
	}
}

func TestDiscovery(t *testing.T) {
	h := newHarness(t, clienttest.Options{Resources: []clienttest.Resource{
		widgets(),
		{Group: "apps", Version: "v1beta1", Kind: "Old", Resource: "olds", Scope: 1},
	}})
	for _, test := range []struct{ name, path, accept, want string }{
		{"the versions of the core group", "/api", "", `"versions":["v1"]`},
		{"the groups", "/apis", "", `{"name":"example.dev","versions":[{"groupVersion":"example.dev/v1","version":"v1"}],` +
			`"preferredVersion":{"groupVersion":"example.dev/v1","version":"v1"}}`},
		{"one group, with two versions", "/apis/apps", "", `"versions":[{"groupVersion":"apps/v1","version":"v1"},` +
			`{"groupVersion":"apps/v1beta1","version":"v1beta1"}]`},
		{"the resources of a version", "/apis/example.dev/v1", "", `{"name":"widgets","singularName":"widget","namespaced":true,` +
			`"kind":"Widget","verbs":["create","delete","deletecollection","get","list","patch","update","watch"],` +
			`"shortNames":["wd"],"categories":["all"]},{"name":"widgets/status","singularName":"","namespaced":true,` +
			`"kind":"Widget","verbs":["get","patch","update"]}`},
		{"a cluster-wide resource", "/api/v1", "", `{"name":"nodes","singularName":"node","namespaced":false`},
		{
			"everything at once", "/apis", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json",
			`{"metadata":{"name":"example.dev"},"versions":[{"version":"v1","resources":[{"resource":"widgets",` +
				`"responseKind":{"group":"example.dev","version":"v1","kind":"Widget"},"scope":"Namespaced"`,
		},
		{"the version", "/version", "", `"gitVersion":"v1.37.1"`},
		{"that a patch knows fieldValidation", "/openapi/v3/apis/example.dev/v1", "", `"name":"fieldValidation"`},
		{"health", "/healthz", "", "ok"},
		{"readiness", "/readyz", "", "ok"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := h.must(t, "GET", test.path, "", "Accept", test.accept)
			if !strings.Contains(got, test.want) {
				t.Errorf("got %s, want it to have %s", got, test.want)
			}
		})
	}
	t.Run("a resource that is registered later is there at once", func(t *testing.T) {
		const path = "/apis/late.dev/v1/lates"
		if a := h.do(t, "GET", path, ""); a.code != 404 {
			t.Errorf("before: got %d", a.code)
		}
		late := clienttest.Resource{Group: "late.dev", Version: "v1", Kind: "Late", Resource: "lates", Scope: 1}
		if err := h.server.Register(late); err != nil {
			t.Fatal(err)
		}
		h.must(t, "GET", path, "")
		h.must(t, "GET", "/apis/late.dev/v1", "")
		late.Version = "v2"
		if err := h.server.Register(late); err == nil {
			t.Error("a second version: no error")
		}
	})
}

// widgets is a custom resource.
func widgets() clienttest.Resource {
	return clienttest.Resource{
		Group: "example.dev", Version: "v1", Kind: "Widget", Resource: "widgets", Status: true,
		ShortNames: []string{"wd"}, Categories: []string{"all"}, SelectableFields: []string{"spec.color"},
	}
}

const widgetPath = "/apis/example.dev/v1/namespaces/default/widgets"
