package clienttest_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/clienttest"
)

const (
	inDefault = "/api/v1/namespaces/default/"
	quotas    = inDefault + "resourcequotas"
)

// podOf returns a pod whose container has resources, and whose spec has more members.
func podOf(name, resources, more string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"containers":[{"name":"c","image":"i","resources":{%s}}]%s}}`, name, resources, more)
}

// A quota refuses what exceeds it, in the words of a real server.
func TestQuotasRefuseWhatExceedsThem(t *testing.T) {
	const exceeded = `"b" is forbidden: exceeded quota: q, `
	service := func(name, more string) string {
		return `{"metadata":{"name":"` + name + `"},"spec":{"selector":{"a":"b"},"ports":[{"name":"x","port":80},{"name":"y","port":81}]` + more + `}}`
	}
	claim := func(name, size string) string {
		return `{"metadata":{"name":"` + name + `"},"spec":{"storageClassName":"gold","accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"` + size + `"}}}}`
	}
	for _, test := range []struct {
		name, spec, resource string
		first, second        string
		want                 string // the message of the refusal of the second; empty if it is admitted
	}{
		{"pods", `"hard":{"pods":"1"}`, "pods", podOf("a", "", ""), podOf("b", "", ""), "pods " + exceeded + "requested: pods=1, used: pods=1, limited: pods=1"},
		{
			"requests", `"hard":{"requests.cpu":"1","memory":"1Gi"}`, "pods", podOf("a", `"requests":{"cpu":"700m","memory":"600Mi"}`, ""),
			podOf("b", `"requests":{"cpu":"500m","memory":"600Mi"}`, ""),
			"pods " + exceeded + "requested: memory=600Mi,requests.cpu=500m, used: memory=600Mi,requests.cpu=700m, limited: memory=1Gi,requests.cpu=1",
		},
		{
			"extended resources", `"hard":{"requests.example.com/gpu":"1"}`, "pods", podOf("a", `"limits":{"example.com/gpu":"1"}`, ""),
			podOf("b", `"limits":{"example.com/gpu":"1"}`, ""),
			"pods " + exceeded + "requested: requests.example.com/gpu=1, used: requests.example.com/gpu=1, limited: requests.example.com/gpu=1",
		},
		{
			"limits that are missing", `"hard":{"limits.cpu":"1","requests.memory":"1Gi"}`, "pods", podOf("a", `"limits":{"cpu":"1","memory":"1"}`, ""),
			podOf("b", "", ""), `pods "b" is forbidden: failed quota: q: must specify limits.cpu for: c; requests.memory for: c`,
		},
		{
			"a scope that applies", `"hard":{"pods":"1"},"scopes":["BestEffort","NotTerminating"]`, "pods", podOf("a", "", ""), podOf("b", "", ""),
			"pods " + exceeded + "requested: pods=1, used: pods=1, limited: pods=1",
		},
		{"a scope that does not apply", `"hard":{"pods":"1"},"scopes":["BestEffort"]`, "pods", podOf("a", "", ""), podOf("b", `"requests":{"cpu":"1"}`, ""), ""},
		{"a deadline", `"hard":{"pods":"1"},"scopes":["Terminating"]`, "pods", podOf("a", "", ""), podOf("b", "", `,"activeDeadlineSeconds":5`), ""},
		{
			"a priority class", `"hard":{"pods":"0"},"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"In","values":["system-node-critical"]}]}`,
			"pods", podOf("a", "", ""), podOf("b", "", `,"priorityClassName":"system-node-critical"`), "pods " + exceeded + "requested: pods=1, used: pods=0, limited: pods=0",
		},
		{
			"other namespaces", `"hard":{"pods":"0"},"scopes":["CrossNamespacePodAffinity"]`, "pods", podOf("a", "", ""),
			podOf("b", "", `,"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"k","namespaces":["x"]}]}}`),
			"pods " + exceeded + "requested: pods=1, used: pods=0, limited: pods=0",
		},
		{
			"counts", `"hard":{"configmaps":"2","count/configmaps":"1"}`, "configmaps", `{"metadata":{"name":"a"}}`, `{"metadata":{"name":"b"}}`,
			"configmaps " + exceeded + "requested: count/configmaps=1, used: count/configmaps=1, limited: count/configmaps=1",
		},
		{
			"node ports", `"hard":{"services.nodeports":"3","services":"5"}`, "services", service("a", `,"type":"NodePort"`), service("b", `,"type":"LoadBalancer"`),
			"services " + exceeded + "requested: services.nodeports=2, used: services.nodeports=2, limited: services.nodeports=3",
		},
		{
			"storage of a class", `"hard":{"gold.storageclass.storage.k8s.io/requests.storage":"3Gi"}`, "persistentvolumeclaims", claim("a", "2Gi"), claim("b", "2Gi"),
			"persistentvolumeclaims " + exceeded + "requested: gold.storageclass.storage.k8s.io/requests.storage=2Gi, " +
				"used: gold.storageclass.storage.k8s.io/requests.storage=2Gi, limited: gold.storageclass.storage.k8s.io/requests.storage=3Gi",
		},
	} {
		for _, order := range []string{"the quota is first", "the quota is later"} {
			t.Run(test.name+"/"+order, func(t *testing.T) {
				h := newHarness(t, clienttest.Options{})
				steps := [][2]string{{quotas, `{"metadata":{"name":"q"},"spec":{` + test.spec + `}}`}, {inDefault + test.resource, test.first}}
				if order == "the quota is later" {
					steps[0], steps[1] = steps[1], steps[0]
				}
				for _, step := range steps {
					h.must(t, http.MethodPost, step[0], step[1])
				}
				for _, dry := range []string{"?dryRun=All", ""} {
					got := h.do(t, http.MethodPost, inDefault+test.resource+dry, test.second)
					message := ""
					if got.code != http.StatusCreated {
						message = got.status(t).Message
					}
					if message != test.want {
						t.Errorf("%d\ngot  %s\nwant %s", got.code, message, test.want)
					}
				}
			})
		}
	}
}

// The use of a quota falls when an object is deleted, ends, or needs less.
func TestQuotasCountWhatIsThere(t *testing.T) {
	h := newHarness(t, clienttest.Options{})
	h.must(t, http.MethodPost, inDefault+"configmaps", `{"metadata":{"name":"before"}}`)
	first := h.must(t, http.MethodPost, quotas, `{"metadata":{"name":"q"},
		"spec":{"hard":{"pods":"2","count/pods":"9","requests.cpu":"2","services.nodeports":"2","configmaps":"3","resourcequotas":"1","count/deployments.apps":"1"}}}`)
	if got := at(first, "status", "hard", "pods"); got != "2" {
		t.Errorf("the status of a new quota has hard limits %q", got)
	}
	used := func(want string) {
		t.Helper()
		body := h.must(t, http.MethodGet, quotas+"/q", "")
		got := ""
		for _, name := range []string{"pods", "count/pods", "requests.cpu", "services.nodeports", "configmaps", "resourcequotas", "count/deployments.apps"} {
			got += at(body, "status", "used", name) + " "
		}
		if got != want+" " {
			t.Errorf("used %s, want %s", got, want)
		}
	}
	used("0 0 0 0 1 1 0")
	pod := func(name string) string { return podOf(name, `"requests":{"cpu":"750m"}`, "") }
	pods := inDefault + "pods"
	h.must(t, http.MethodPost, pods, pod("a"))
	h.must(t, http.MethodPost, pods, pod("b"))
	used("2 2 1500m 0 1 1 0")
	h.must(t, http.MethodDelete, pods+"/a", "")
	used("1 1 750m 0 1 1 0")
	h.must(t, http.MethodPatch, pods+"/b/resize", `{"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"500m"}}}]}}`)
	used("1 1 500m 0 1 1 0")
	if got := h.do(t, http.MethodPatch, pods+"/b/resize", `{"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"3"}}}]}}`); got.code != http.StatusForbidden {
		t.Errorf("a resize that is too much is answered with %d", got.code)
	}
	h.must(t, http.MethodPatch, pods+"/b/status", `{"status":{"phase":"Succeeded"}}`)
	used("0 1 0 0 1 1 0")
	h.must(t, http.MethodPost, pods, pod("c"))
	h.must(t, http.MethodDelete, inDefault+"configmaps", "")
	used("1 2 750m 0 0 1 0")
	h.must(t, http.MethodPost, inDefault+"services", `{"metadata":{"name":"s"},"spec":{"type":"NodePort","selector":{"a":"b"},"ports":[{"port":80}]}}`)
	used("1 2 750m 1 0 1 0")
	h.must(t, http.MethodPatch, inDefault+"services/s", `{"spec":{"type":"ClusterIP"}}`)
	used("1 2 750m 0 0 1 0")
	h.must(t, http.MethodPost, "/apis/apps/v1/namespaces/default/deployments", `{"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},
		"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`)
	used("1 2 750m 0 0 1 1")
}

// A quota counts custom resources, follows its limits, and takes a status that a test writes. It does not keep its
// namespace from being deleted.
func TestQuotasFollowTheirLimitsAndTheirStatus(t *testing.T) {
	h := newHarness(t, clienttest.Options{Resources: []clienttest.Resource{
		{Group: "example.com", Version: "v1", Kind: "Page", Resource: "pages"},
	}})
	h.must(t, http.MethodPost, "/api/v1/namespaces", `{"metadata":{"name":"team"}}`)
	const pages, quota = "/apis/example.com/v1/namespaces/team/pages", "/api/v1/namespaces/team/resourcequotas"
	create := func(name string, want int) {
		t.Helper()
		body := `{"apiVersion":"example.com/v1","kind":"Page","metadata":{"name":"` + name + `"}}`
		if got := h.do(t, http.MethodPost, pages, body); got.code != want {
			t.Errorf("a create is answered with %d, want %d: %s", got.code, want, got.body)
		}
	}
	made := h.must(t, http.MethodPost, quota, `{"metadata":{"name":"q"},"spec":{"hard":{"count/pages.example.com":"1"}}}`)
	if got := at(made, "metadata", "managedFields"); strings.Contains(got, "f:status") {
		t.Errorf("the creator owns the status: %s", got)
	}
	create("a", http.StatusCreated)
	create("b", http.StatusForbidden)
	h.must(t, http.MethodPatch, quota+"/q", `{"spec":{"hard":{"count/pages.example.com":"2"}}}`)
	create("b", http.StatusCreated)
	create("b", http.StatusForbidden)
	h.must(t, http.MethodDelete, pages+"/a", "")
	h.must(t, http.MethodPatch, quota+"/q/status", `{"status":{"used":{"count/pages.example.com":"2"}}}`)
	create("c", http.StatusForbidden)
	h.must(t, http.MethodDelete, pages+"/b", "")
	create("c", http.StatusCreated)
	h.must(t, http.MethodDelete, "/api/v1/namespaces/team", "")
	if got := h.do(t, http.MethodGet, quota+"/q", ""); got.code != http.StatusNotFound {
		t.Errorf("the quota of a deleted namespace is answered with %d", got.code)
	}
}

// A quota counts the objects that others write while admission is asked.
func TestQuotasCountConcurrentWrites(t *testing.T) {
	var h *harness
	other := false
	h = newHarness(t, clienttest.Options{Validate: func(_ context.Context, a *clienttest.Admission) error {
		if !other && a.Key.Name != "other" && a.Resource.Resource != "namespaces" {
			other = true
			h.must(t, http.MethodPost, inDefault+"configmaps", `{"metadata":{"name":"other"}}`)
		}
		return nil
	}})
	body := h.must(t, http.MethodPost, quotas, `{"metadata":{"name":"q"},"spec":{"hard":{"configmaps":"2"}}}`)
	if got := at(body, "status", "used", "configmaps"); got != "1" {
		t.Errorf("%s config maps are counted, want 1", got)
	}
	h.must(t, http.MethodDelete, inDefault+"configmaps/other", "")
	h.must(t, http.MethodPatch, quotas+"/q", `{"spec":{"hard":{"configmaps":"1"}}}`)
	other = false
	if got := h.do(t, http.MethodPost, inDefault+"configmaps", `{"metadata":{"name":"mine"}}`); got.code != http.StatusForbidden {
		t.Errorf("a create is answered with %d, want a refusal", got.code)
	}
}
