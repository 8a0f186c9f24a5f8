package clienttest_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/clienttest"
)

// messageOf returns the message of a Status.
func messageOf(body string) string {
	var status struct{ Message string }
	_ = json.Unmarshal([]byte(body), &status) // what is no Status has none
	return status.Message
}

// The cases here are as on a real server, too, but Bowline's client, which internal/proof/conformance uses, does not send them.
func TestOddPathsAreAnsweredAsByTheServer(t *testing.T) {
	h := newHarness(t, clienttest.Options{Resources: []clienttest.Resource{{Group: "example.com", Version: "v1", Kind: "Widget", Resource: "widgets"}}})
	const widgets = "/apis/example.com/v1/namespaces/default/widgets"
	h.must(t, http.MethodPost, widgets, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"}}`)
	h.create(t, "a")
	for _, test := range []struct {
		name, method, path string
		code               int
		text               string // the start of the body, or of the message of a Status
	}{
		{"a name of one dot", http.MethodGet, configMaps + "/%2e", 400, `Name parameter invalid: ".": may not be '.'`},
		{"a name of two dots", http.MethodGet, configMaps + "/%2e%2e", 400, `Name parameter invalid: "..": may not be '..'`},
		{"deletion by two dots", http.MethodDelete, configMaps + "/%2e%2e", 400, `Name parameter invalid: "..": may not be '..'`},
		{"a custom resource of two dots", http.MethodGet, widgets + "/%2e%2e", 400, `Name parameter invalid: "..": may not be '..'`},
		{"a name with a percent sign", http.MethodGet, configMaps + "/a%25b", 400, `Name parameter invalid: "a%b": may not contain '%'`},
		{"a namespace of two dots", http.MethodGet, "/api/v1/namespaces/%2e%2e/configmaps", 500, `invalid key: "/configmaps/.."`},
		{"head of an object", http.MethodHead, configMaps + "/a", 405, ""},
		{"head of a list", http.MethodHead, configMaps, 405, ""},
		{"head of a custom resource", http.MethodHead, widgets + "/a", 200, ""},
		{"head of discovery", http.MethodHead, "/api", 405, ""},
		{"head of the version", http.MethodHead, "/version", 405, ""},
		{"head of the health", http.MethodHead, "/readyz", 200, ""},
		{"head of a watch", http.MethodHead, "/apis/example.com/v1/watch/namespaces/default/widgets", 405, ""},
		{"a custom resource in no namespace", http.MethodGet, "/apis/example.com/v1/widgets/a", 404, "404 page not found\n"},
		{"create of one in no namespace", http.MethodPost, "/apis/example.com/v1/widgets", 404, "404 page not found\n"},
		{"custom resources of all namespaces", http.MethodGet, "/apis/example.com/v1/widgets", 200, `{"apiVersion":"example.com/v1"`},
		{"a method that is none", "FOO", widgets, 405, ` is not supported on resources of kind "widgets.example.com"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := h.do(t, test.method, test.path, "")
			text := a.body
			if strings.HasPrefix(text, `{"kind":"Status"`) {
				text = messageOf(text)
			}
			if a.code != test.code || !strings.HasPrefix(text, test.text) {
				t.Errorf("got %d %s, want %d %s", a.code, a.body, test.code, test.text)
			}
		})
	}
}

// A namespace waits for what is in it: for pods on nodes, and for its own finalizers.
func TestNamespaceWaits(t *testing.T) {
	h := newHarness(t, clienttest.Options{})
	const ns = "/api/v1/namespaces/a"
	exists := func(want bool) {
		t.Helper()
		if a := h.do(t, http.MethodGet, ns, ""); (a.code == 200) != want {
			t.Errorf("the namespace: %d %s", a.code, a.body)
		}
	}
	h.must(t, http.MethodPost, "/api/v1/namespaces", `{"metadata":{"name":"a"}}`)
	h.must(t, http.MethodPost, ns+"/pods", `{"metadata":{"name":"p"},"spec":{"nodeName":"n","containers":[{"name":"a","image":"b"}]}}`)
	h.must(t, http.MethodPost, ns+"/configmaps", `{"metadata":{"name":"c","finalizers":["orphan"]}}`)
	if got := at(h.must(t, http.MethodDelete, ns+"?propagationPolicy=Foreground", ""), "metadata", "finalizers"); got != `["foregroundDeletion"]` {
		t.Errorf("finalizers are %s", got)
	}
	if a := h.do(t, http.MethodGet, ns+"/configmaps/c", ""); a.code != 404 {
		t.Errorf("what waited for the garbage collector is deleted in the background: %d %s", a.code, a.body)
	}
	h.must(t, http.MethodPatch, ns, `{"metadata":{"finalizers":null}}`)
	exists(true)
	if got := at(h.must(t, http.MethodGet, ns+"/pods/p", ""), "metadata", "deletionGracePeriodSeconds"); got != "30" {
		t.Errorf("the pod has %s seconds", got)
	}
	h.must(t, http.MethodDelete, ns+"/pods/p?gracePeriodSeconds=0", "")
	exists(false)

	h.must(t, http.MethodPost, "/api/v1/namespaces", `{"metadata":{"name":"a"}}`)
	h.must(t, http.MethodDelete, ns+"?propagationPolicy=Foreground", "")
	exists(true)
	h.must(t, http.MethodPatch, ns, `{"metadata":{"finalizers":null}}`)
	exists(false)
}

// A client reads the same from YAML as from JSON, whatever the texts look like.
func TestYAMLTexts(t *testing.T) {
	h := newHarness(t, clienttest.Options{})
	texts := `{"a":"yes","b":"1","c":"","d":"a: b","e":"- x","f":"null","g":"~","h":"0x10","i":"1_000","j":"2001-01-01","k":" x","l":"x #y",` +
		`"m":"x\ny\n","n":"\u0001é\u2028","o":"12:30:45","p":"=","q":"<<","r":"1e3","s":"!x","t":"'\"","u":"on","v":"0o7","w":"---"}`
	h.must(t, http.MethodPost, configMaps, `{"metadata":{"name":"a"},"data":`+texts+`}`)
	yaml := h.must(t, http.MethodGet, configMaps+"/a", "", "Accept", "application/yaml")
	want := at(h.must(t, http.MethodGet, configMaps+"/a", ""), "data")
	again := h.must(t, http.MethodPut, configMaps+"/a?dryRun=All", yaml, "Content-Type", "application/yaml")
	if got := at(again, "data"); got != want {
		t.Errorf("from YAML came %s, want %s; it was %s", got, want, yaml)
	}
}

// A watch whose time is over before it starts says so, and ends at once.
func TestAWatchWhoseTimeIsOverEndsWithAnError(t *testing.T) {
	h := newHarness(t, clienttest.Options{})
	h.create(t, "a")
	got := h.must(t, http.MethodGet, configMaps+"?watch=1&timeoutSeconds=-1", "")
	if at(got, "type") != "ERROR" || messageOf(at(got, "object")) != "context deadline exceeded" {
		t.Errorf("got %s", got)
	}
}
