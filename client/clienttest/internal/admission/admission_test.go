package admission_test

import (
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/clienttest/internal/admission"
	"github.com/bowline-go/bowline/client/meta"
)

// version returns a version of pages.
func version(v string) admission.Version {
	return admission.Version{
		Resource: meta.GVR{Group: "example.com", Version: v, Resource: "pages"}, Kind: meta.GVK{Group: "example.com", Version: v, Kind: "Page"},
	}
}

// hook reads a webhook with a rule and further members.
func hook(t *testing.T, rule, more string) *admission.Hook {
	t.Helper()
	all, err := admission.Read([]byte(`{"metadata":{"name":"c"},"webhooks":[{"name":"h.example.com","timeoutSeconds":5,"admissionReviewVersions":["v2","v1"],
		"sideEffects":"None","rules":[` + rule + `]` + more + `}]}`))
	if err != nil || len(all) != 1 || all[0].Configuration != "c" {
		t.Fatalf("read %v, %v", all, err)
	}
	return all[0]
}

func TestRulesSelectOperations(t *testing.T) {
	const all = `"apiGroups":["*"],"apiVersions":["*"]`
	for _, test := range []struct {
		rule, operation, subresource, namespace string
		want                                    string // the version that is shown, or empty
	}{
		{`{"operations":["*"],"resources":["pages"],` + all + `}`, "CREATE", "", "n", "v1"},
		{`{"operations":["CREATE"],"resources":["pages"],` + all + `}`, "UPDATE", "", "n", ""},
		{`{"operations":["*"],"resources":["others"],` + all + `}`, "CREATE", "", "n", ""},
		{`{"operations":["*"],"resources":["*"],` + all + `}`, "CREATE", "status", "n", ""},
		{`{"operations":["*"],"resources":["*/status"],` + all + `}`, "CREATE", "status", "n", "v1"},
		{`{"operations":["*"],"resources":["pages/*"],` + all + `}`, "CREATE", "", "n", "v1"},
		{`{"operations":["*"],"resources":["pages/*"],` + all + `}`, "CREATE", "scale", "n", "v1"},
		{`{"operations":["*"],"resources":["*"],"scope":"Namespaced",` + all + `}`, "CREATE", "", "n", "v1"},
		{`{"operations":["*"],"resources":["*"],"scope":"Namespaced",` + all + `}`, "CREATE", "", "", ""},
		{`{"operations":["*"],"resources":["*"],"scope":"Cluster",` + all + `}`, "CREATE", "", "n", ""},
		{`{"operations":["*"],"resources":["*"],"scope":"*",` + all + `}`, "CREATE", "", "", "v1"},
		{`{"operations":["*"],"resources":["*"],"apiGroups":["example.com"],"apiVersions":["v2"]}`, "CREATE", "", "n", "v2"},
		{`{"operations":["*"],"resources":["*"],"apiGroups":["other"],"apiVersions":["*"]}`, "CREATE", "", "n", ""},
	} {
		v, shown := hook(t, test.rule, "").Matches(test.operation, test.subresource, test.namespace, []admission.Version{version("v1"), version("v2")})
		if v.Resource.Version != test.want || shown != (test.want != "") {
			t.Errorf("%s: %s of %q in %q is shown as %q, want %q", test.rule, test.operation, test.subresource, test.namespace, v.Resource.Version, test.want)
		}
	}
	exact := hook(t, `{"operations":["*"],"resources":["*"],"apiGroups":["*"],"apiVersions":["v2"]}`, `,"matchPolicy":"Exact"`)
	if _, shown := exact.Matches("CREATE", "", "n", []admission.Version{version("v1"), version("v2")}); shown {
		t.Error("an exact rule is shown another version")
	}
}

func TestANamespaceIsNotInItself(t *testing.T) {
	namespaces := admission.Version{Resource: meta.GVR{Version: "v1", Resource: "namespaces"}}
	for scope, want := range map[string]bool{"Cluster": true, "Namespaced": false} {
		h := hook(t, `{"operations":["*"],"resources":["*"],"apiGroups":["*"],"apiVersions":["*"],"scope":"`+scope+`"}`, "")
		if _, shown := h.Matches("CREATE", "", "a", []admission.Version{namespaces}); shown != want {
			t.Errorf("scope %s: shown %t, want %t", scope, shown, want)
		}
	}
}

func TestSelectorsSelectByEitherState(t *testing.T) {
	labels := func(text string) admission.Labels {
		if text == "" {
			return nil
		}
		m := map[string]string{"l": text}
		return &m
	}
	h := hook(t, "", `,"namespaceSelector":{"matchLabels":{"l":"home"}},"objectSelector":{"matchLabels":{"l":"x"}}`)
	for _, test := range []struct {
		home, is, was string
		want          bool
	}{
		{"home", "x", "", true},
		{"home", "", "x", true},
		{"home", "y", "x", true},
		{"home", "y", "y", false},
		{"home", "", "", false},
		{"other", "x", "x", false},
		{"", "x", "", true}, // of no namespace
	} {
		if got := h.Selects(labels(test.home), labels(test.is), labels(test.was)); got != test.want {
			t.Errorf("%+v: %t", test, got)
		}
	}
	if every := hook(t, "", ""); !every.Selects(nil, nil, nil) {
		t.Error("empty selectors do not select an object without labels")
	}
}

func TestAConstraintMayNameAndExclude(t *testing.T) {
	const rule = `{"operations":["*"],"resources":["pages"],"apiGroups":["*"],"apiVersions":["*"]`
	versions := []admission.Version{version("v1")}
	for _, test := range []struct {
		constraint, name string
		want             bool
	}{
		{`{}`, "a", true},
		{`{"resourceRules":[` + rule + `}]}`, "a", true},
		{`{"resourceRules":[` + rule + `,"resourceNames":["a"]}]}`, "a", true},
		{`{"resourceRules":[` + rule + `,"resourceNames":["a"]}]}`, "b", false},
		{`{"excludeResourceRules":[` + rule + `,"resourceNames":["a"]}]}`, "a", false},
		{`{"excludeResourceRules":[` + rule + `,"resourceNames":["a"]}]}`, "b", true},
	} {
		c, err := admission.ReadConstraint([]byte(test.constraint))
		if err != nil {
			t.Fatal(err)
		}
		if _, got := c.Matches("CREATE", "", "n", test.name, versions); got != test.want {
			t.Errorf("%s: %s is matched: %t", test.constraint, test.name, got)
		}
	}
}

func TestAnAnswerIsChecked(t *testing.T) {
	for _, test := range []struct {
		answer, want string
		mutating     bool
	}{
		{`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"u","allowed":true}}`, "", false},
		{`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}`, "webhook response was absent", false},
		{`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"x","allowed":true}}`, `expected response.uid="u", got "x"`, false},
		{`{"kind":"Review","apiVersion":"admission.k8s.io/v1","response":{"uid":"u","allowed":true}}`, "expected webhook response of admission.k8s.io/v1", false},
		{`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1","response":{"uid":"u","allowed":true}}`, "unknown conversion", false},
		{`{"apiVersion":"admission.k8s.io/v1"}`, "Object 'Kind' is missing", false},
		{`[]`, "couldn't get version/kind", false},
		{`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"u","allowed":true,"patch":"W10=","patchType":"JSONPatch"}}`, "", true},
		{`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"u","allowed":true,"patch":"W10="}}`, "patch but not response.patchType", true},
		{`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"u","allowed":true,"patchType":"JSONPatch"}}`, "patchType but not response.patch", true},
		{`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"u","allowed":true,"patch":"eA==","patchType":"JSONPatch"}}`, "undecodable patch", true},
		{`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"u","allowed":true,"patch":"W10=","patchType":"Merge"}}`, `unsupported patch type "Merge"`, true},
		{`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"u","allowed":true,"patch":"W10=","patchType":""}}`, "invalid response.patchType", true},
		{`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"u","allowed":true,"patch":"W10="}}`, "may not return response.patch", false},
		{`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"u","allowed":true,"patchType":"JSONPatch"}}`, "may not return response.patchType", false},
		{`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"u","status":{"code":200}}}`, `admission webhook "h.example.com" denied the request without explanation`, false},
		{`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"u","status":{"message":"no"}}}`, "denied the request: no", false},
	} {
		server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if timeout := r.URL.Query().Get("timeout"); timeout != "5s" {
				t.Errorf("the timeout is %s", timeout)
			}
			_, _ = w.Write([]byte(test.answer))
		}))
		h := hook(t, "", "")
		h.Client.URL, h.Client.CABundle = server.URL, certificate(server)
		_, err := new(admission.Caller).Ask(t.Context(), h, &admission.Request{UID: "u"}, test.mutating)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error is %v, want %q", test.answer, err, test.want)
		}
		server.Close()
	}
}

func TestADryRunNeedsAWebhookWithoutSideEffects(t *testing.T) {
	h := hook(t, "", "")
	h.SideEffects = "Some"
	_, err := new(admission.Caller).Ask(t.Context(), h, &admission.Request{UID: "u", DryRun: true}, false)
	if want := `admission webhook "h.example.com" does not support dry run`; err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
	h.SideEffects, h.AdmissionReviewVersions = "NoneOnDryRun", []string{"v2"}
	_, err = new(admission.Caller).Ask(t.Context(), h, &admission.Request{UID: "u", DryRun: true}, false)
	if want := "does not accept known AdmissionReview versions"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error is %v, want %s", err, want)
	}
}

func TestARequestNamesBothVersions(t *testing.T) {
	r := admission.Request{UID: "u"}
	r.As(version("v1"), version("v2"), "status")
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"kind":{"group":"example.com","version":"v1","kind":"Page"}`, `"requestKind":{"group":"example.com","version":"v2","kind":"Page"}`,
		`"resource":{"group":"example.com","version":"v1","resource":"pages"}`, `"requestResource":{"group":"example.com","version":"v2","resource":"pages"}`,
		`"subResource":"status"`, `"requestSubResource":"status"`, `"object":null`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s lacks %s", text, want)
		}
	}
}

// certificate returns the certificate of a server.
func certificate(s *httptest.Server) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
}
