package clienttest_test

import (
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/clienttest"
)

// A new server has what a new kube-apiserver has, and the kinds of it that no row by hand was written for.
func TestANewServerIsLikeAFreshCluster(t *testing.T) {
	h := newHarness(t, clienttest.Options{})
	for path, want := range map[string][]string{
		"/api/v1/namespaces":                         {`"name":"default"`, `"name":"kube-node-lease"`, `"name":"kube-public"`, `"name":"kube-system"`},
		"/api/v1/services":                           {`"name":"kubernetes","namespace":"default"`, `"clusterIP":"10.0.0.1"`, `"targetPort":6443`},
		"/apis/scheduling.k8s.io/v1/priorityclasses": {`"name":"system-cluster-critical"`, `"name":"system-node-critical"`},
		"/apis/networking.k8s.io/v1/servicecidrs":    {`"name":"kubernetes"`, `"type":"Ready"`},
	} {
		got := h.must(t, "GET", path, "")
		for _, text := range want {
			if !strings.Contains(got, text) {
				t.Errorf("%s lacks %s: %s", path, text, got)
			}
		}
		if strings.Contains(got, `"now"`) {
			t.Errorf("%s has a time that was not filled in: %s", path, got)
		}
	}
	// RBAC names may have any form that a path can have.
	h.must(t, "POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles", `{"metadata":{"name":"system:a"},"rules":[]}`)
	// The generation, the scale and the first status are those of the kind.
	made := h.must(t, "POST", "/apis/apps/v1/namespaces/default/replicasets", `{"metadata":{"name":"a"},"spec":{"replicas":2,"selector":{"matchLabels":{"a":"b"}},
		"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"a","image":"b"}]}}}}`)
	if !strings.Contains(made, `"generation":1`) || !strings.Contains(made, `"status":{"replicas":0}`) {
		t.Errorf("made %s", made)
	}
	if got := h.must(t, "GET", "/apis/apps/v1/namespaces/default/replicasets/a/scale", ""); !strings.Contains(got, `"selector":"a=b"`) {
		t.Errorf("the scale is %s", got)
	}
	rc := `{"metadata":{"name":"a"},"spec":{"replicas":2,"selector":{"a":"b"},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"a","image":"b"}]}}}}`
	h.must(t, "POST", "/api/v1/namespaces/default/replicationcontrollers", rc)
	if got := h.must(t, "GET", "/api/v1/namespaces/default/replicationcontrollers/a/scale", ""); !strings.Contains(got, `"selector":"a=b"`) {
		t.Errorf("the scale of the older kind is %s", got)
	}
}
