package clienttest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/clienttest"
)

func TestAPodGetsWhatItsRuntimeClassSays(t *testing.T) {
	h := newHarness(t, clienttest.Options{})
	h.must(t, http.MethodPost, "/apis/node.k8s.io/v1/runtimeclasses", `{"metadata":{"name":"sandbox"},"handler":"h",
		"overhead":{"podFixed":{"cpu":"100m"}},"scheduling":{"nodeSelector":{"sandbox":"yes"},"tolerations":[{"key":"a","operator":"Exists"}]}}`)
	const pods = "/api/v1/namespaces/default/pods"
	pod := func(spec string) string {
		return `{"metadata":{"generateName":"a-"},"spec":{"containers":[{"name":"a","image":"a"}]` + spec + `}}`
	}
	got := h.must(t, http.MethodPost, pods, pod(`,"runtimeClassName":"sandbox","nodeSelector":{"zone":"b"},
		"tolerations":[{"key":"a","operator":"Equal","value":"b","effect":"NoSchedule"}]`))
	for path, want := range map[string]string{
		"overhead": `{"cpu":"100m"}`, "nodeSelector": `{"sandbox":"yes","zone":"b"}`,
	} {
		if is := at(got, "spec", path); is != want {
			t.Errorf("%s is %s, want %s", path, is, want)
		}
	}
	if is := at(got, "spec", "tolerations"); !strings.Contains(is, `{"key":"a","operator":"Exists"}`) || strings.Contains(is, "Equal") {
		t.Errorf("the tolerations are %s, want that of the class, which covers the pod's", is)
	}
	for spec, why := range map[string]string{
		`,"runtimeClassName":"other"`:                                   `RuntimeClass \"other\" not found`,
		`,"runtimeClassName":"sandbox","overhead":{"cpu":"200m"}`:       "doesn't match RuntimeClass's defined Overhead",
		`,"overhead":{"cpu":"200m"}`:                                    "without corresponding RuntimeClass",
		`,"runtimeClassName":"sandbox","nodeSelector":{"sandbox":"no"}`: "conflict: runtimeClass.scheduling.nodeSelector[sandbox]",
	} {
		if a := h.do(t, http.MethodPost, pods, pod(spec)); a.code != http.StatusForbidden || !strings.Contains(string(a.body), why) {
			t.Errorf("%s: %d %s, want %q", spec, a.code, a.body, why)
		}
	}
}
