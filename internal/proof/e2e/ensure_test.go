package e2e

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// wanted are objects as people write them, with what a server spells in a way of its own. Each is followed by changes; a change
// has the place of the whole, and is there afterwards.
var wanted = []struct {
	resource client.Type[object]
	want     string
	changes  []string
}{
	{deployments, `{"metadata":{"name":"web","labels":{"app":"web"},"creationTimestamp":null},"status":{},"spec":{
		"replicas":1,"strategy":{},"selector":{"matchLabels":{"app":"web"}},
		"template":{"metadata":{"labels":{"app":"web"},"creationTimestamp":null},"spec":{
			"volumes":[{"name":"tmp","emptyDir":{"sizeLimit":"1024Mi"}},{"name":"etc","configMap":{"name":"etc"}},
				{"name":"api","projected":{"sources":[{"downwardAPI":{"items":[{"path":"cpu","resourceFieldRef":{"containerName":"main","resource":"limits.cpu","divisor":"1000m"}}]}}]}}],
			"initContainers":[],
			"containers":[
				{"name":"main","image":"example.com/web:1","ports":[{"containerPort":80},{"containerPort":8080,"name":"admin"}],
					"env":[{"name":"A","value":"1000m"},{"name":"B","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}],
					"resources":{"limits":{"cpu":"1000m","memory":"1024Mi"},"requests":{"cpu":"0.5","memory":"0.5Gi"}},
					"volumeMounts":[{"name":"tmp","mountPath":"/a"},{"name":"tmp","mountPath":"/b","readOnly":false}],
					"livenessProbe":{"httpGet":{"path":"/","port":80},"initialDelaySeconds":0},
					"securityContext":{"runAsNonRoot":true}},
				{"name":"side","image":"example.com/side:1","resources":{},"env":[],"args":null}],
			"tolerations":[{"key":"a","effect":"NoSchedule"},{"key":"a","effect":"NoExecute","tolerationSeconds":5}],
			"affinity":{"podAntiAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[
				{"weight":1,"podAffinityTerm":{"topologyKey":"zone","namespaceSelector":{},"labelSelector":{"matchLabels":{"app":"web"}}}}]}},
			"imagePullSecrets":[{"name":"pull"}],"securityContext":{}}}}}`, []string{
		`{"metadata":{"name":"web","labels":{"more":"x"}},"spec":{"replicas":3}}`,
		`{"metadata":{"name":"web"},"spec":{"strategy":{"type":"Recreate"}}}`,
		`{"metadata":{"name":"web"},"spec":{"template":{"spec":{"containers":[{"name":"side"},{"name":"main","image":"example.com/web:2"}]}}}}`,
		`{"metadata":{"name":"web"},"spec":{"template":{"spec":{"volumes":[{"name":"tmp","emptyDir":{}},{"name":"etc","secret":{"secretName":"etc"}},{"name":"api"}]}}}}`,
		`{"metadata":{"name":"web"},"spec":{"template":{"spec":{"containers":[{"name":"side"},{"name":"main","env":[{"name":"B","value":"x"},{"name":"C","value":""}],
			"livenessProbe":{"exec":{"command":["true"]}},"resources":{"limits":{"cpu":"1001m"}}}]}}}}`,
		`{"metadata":{"name":"web"},"spec":{"template":{"spec":{"tolerations":[{"key":"b","operator":"Equal","value":"v","effect":"NoSchedule"}],"securityContext":{"seccompProfile":{"type":"Localhost","localhostProfile":"x"}}}}}}`,
		`{"metadata":{"name":"web"},"spec":{"template":{"spec":{"tolerations":[{"key":"b","operator":"Exists"}],"securityContext":{"seccompProfile":{"type":"RuntimeDefault"}}}}}}`,
		`{"metadata":{"name":"web"},"spec":{"template":{"spec":{"automountServiceAccountToken":false,"containers":[{"name":"main"}]}}}}`,
	}},
	{services, `{"metadata":{"name":"web"},"status":{"loadBalancer":{}},"spec":{"selector":{"app":"web"},"ports":[{"port":80}]}}`, []string{
		`{"metadata":{"name":"web"},"spec":{"ports":[{"name":"a","port":80,"targetPort":"http"},{"name":"b","port":443}]}}`,
		`{"metadata":{"name":"web"},"spec":{"type":"NodePort","ports":[{"name":"b","port":443},{"name":"a","port":80,"protocol":"TCP"}]}}`,
		`{"metadata":{"name":"web"},"spec":{"ports":[{"name":"a","port":81},{"name":"b","port":443}]}}`,
		`{"metadata":{"name":"web"},"spec":{"type":"ClusterIP"}}`,
	}},
	{client.Type[object]{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget", Resource: "poddisruptionbudgets"}, `{"metadata":{"name":"a"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"a":"b"}}}}`, []string{
		`{"metadata":{"name":"a"},"spec":{"maxUnavailable":"50%"}}`, `{"metadata":{"name":"a"},"spec":{"selector":{"matchExpressions":[{"key":"c","operator":"In","values":["d"]}]}}}`,
		`{"metadata":{"name":"a"},"spec":{"minAvailable":0,"selector":{"matchExpressions":[{"key":"c","operator":"Exists"}]}}}`,
	}},
	{client.Type[object]{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress", Resource: "ingresses"}, `{"metadata":{"name":"a"},"spec":{"defaultBackend":{"service":{"name":"s","port":{"number":80}}}}}`, []string{
		`{"metadata":{"name":"a"},"spec":{"defaultBackend":{"service":{"port":{"name":"http"}}}}}`,
		`{"metadata":{"name":"a"},"spec":{"defaultBackend":{"resource":{"apiGroup":"example.com","kind":"Bucket","name":"b"}}}}`,
	}},
	{client.Type[object]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}, `{"metadata":{"name":"a"},"data":{"a":"1000m","empty":""},"binaryData":{"b":"YW\nI="}}`, []string{
		`{"metadata":{"name":"a"},"data":{"a":"1"}}`, `{"metadata":{"name":"a"},"data":{"empty":"full"},"immutable":false}`,
	}},
	{secrets, `{"metadata":{"name":"a"},"type":"Opaque","data":{"a":"YWI="},"stringData":{"b":"text","c":""}}`, []string{
		`{"metadata":{"name":"a"},"stringData":{"a":"other"}}`, `{"metadata":{"name":"a"},"data":{"b":"YWI=\n"}}`,
	}},
	{client.Type[object]{Version: "v1", Kind: "PersistentVolumeClaim", Resource: "persistentvolumeclaims"}, `{"metadata":{"name":"a"},"status":{},"spec":{
		"accessModes":["ReadWriteOnce"],"storageClassName":"","resources":{"requests":{"storage":"1024Mi"}}}}`, []string{`{"metadata":{"name":"a","annotations":{"x":"y"}}}`}},
	{client.Type[object]{Version: "v1", Kind: "ResourceQuota", Resource: "resourcequotas"}, `{"metadata":{"name":"a"},"spec":{"hard":{"pods":"1e1","requests.cpu":"1500m","limits.memory":"2048Mi"}}}`, []string{
		`{"metadata":{"name":"a"},"spec":{"hard":{"pods":"11"}}}`,
	}},
	{client.Type[object]{Version: "v1", Kind: "LimitRange", Resource: "limitranges"}, `{"metadata":{"name":"a"},"spec":{"limits":[{"type":"Container","max":{"cpu":"2000m"},"default":{"cpu":"0.5"},"defaultRequest":{"cpu":0.25}}]}}`, nil},
	{client.Type[object]{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler", Resource: "horizontalpodautoscalers"}, `{"metadata":{"name":"a"},"spec":{
		"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"web"},"maxReplicas":3,
		"metrics":[{"type":"Pods","pods":{"metric":{"name":"x"},"target":{"type":"AverageValue","averageValue":"1000m"}}}]}}`, []string{`{"metadata":{"name":"a"},"spec":{"maxReplicas":4}}`}},
	{client.Type[object]{Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy", Resource: "networkpolicies"}, `{"metadata":{"name":"a"},"spec":{
		"podSelector":{},"ingress":[{"from":[{"podSelector":{"matchLabels":{"a":"b"}}}],"ports":[{"port":80}]}],"egress":[],"policyTypes":["Ingress"]}}`, []string{
		`{"metadata":{"name":"a"},"spec":{"ingress":[{"from":[{"podSelector":{"matchLabels":{"a":"b"}},"namespaceSelector":{}}],"ports":[{"port":80}]}]}}`,
	}},
	{client.Type[object]{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease", Resource: "leases"}, `{"metadata":{"name":"a"},"spec":{"renewTime":"2026-01-02T04:04:05.123456+01:00"}}`, []string{
		`{"metadata":{"name":"a"},"spec":{"renewTime":"2026-01-02T04:04:05.123457+01:00"}}`,
	}},
	{roles, `{"metadata":{"name":"a"},"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get"],"resourceNames":[]}]}`, []string{
		`{"metadata":{"name":"a"},"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get","list"]},{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]}`,
	}},
	{client.Type[object]{Group: "batch", Version: "v1", Kind: "CronJob", Resource: "cronjobs"}, `{"metadata":{"name":"a"},"spec":{"schedule":"* * * * *","startingDeadlineSeconds":0,"jobTemplate":{"spec":{"template":{"spec":{
		"restartPolicy":"Never","containers":[{"name":"a","image":"a"}]}}}}}}`, []string{`{"metadata":{"name":"a"},"spec":{"suspend":true}}`}},
	{client.Type[object]{Group: "apps", Version: "v1", Kind: "StatefulSet", Resource: "statefulsets"}, `{"metadata":{"name":"a"},"spec":{"serviceName":"a","selector":{"matchLabels":{"a":"b"}},
		"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"a","image":"a"}]}},
		"volumeClaimTemplates":[{"metadata":{"name":"d"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1024Mi"}}}}]}}`, []string{
		`{"metadata":{"name":"a"},"spec":{"replicas":2,"updateStrategy":{"type":"OnDelete"}}}`,
	}},
}

// pains 34 and behaviour 328: what the server fills in or spells otherwise causes no second write, for whole objects of many kinds.
func TestEnsureSendsNothingTwice(t *testing.T) {
	t.Parallel()
	_, ns := admin(t)
	var writes atomic.Int64
	cfg := adminConfig()
	cfg.Hooks.Request = func(_ context.Context, r client.RequestInfo) {
		if r.Method != http.MethodGet {
			writes.Add(1)
		}
	}
	c := open(t, cfg)
	for _, test := range wanted {
		t.Run(test.resource.Kind, func(t *testing.T) {
			r := client.For(c, test.resource).In(ns)
			ensure := func(text string, outcome client.Outcome, sent int64) {
				t.Helper()
				before := writes.Load()
				_, got, err := r.Ensure(t.Context(), parse(t, text), client.EnsureOptions{})
				if err != nil {
					t.Errorf("%v of %s", err, text)
				} else if n := writes.Load() - before; got.Outcome != outcome || n != sent {
					t.Errorf("%v by %d writes, want %v by %d, of %s", got, n, outcome, sent, text)
				}
			}
			ensure(test.want, client.Created, 1)
			ensure(test.want, client.Unchanged, 0)
			for _, change := range test.changes {
				ensure(change, client.Updated, 1)
				ensure(change, client.Unchanged, 0)
			}
		})
	}
}

// plainKnot is a knot with members that the server drops, fills in, or keeps, and none of which is left out.
type plainKnot struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Rope  string   `json:"rope"`
		Turns int      `json:"turns"`
		Tags  []string `json:"tags"`
		Inner *struct {
			A string `json:"a"`
		} `json:"inner"`
	} `json:"spec"`
	Status struct {
		Turns int `json:"turns"`
	} `json:"status"`
}

func TestEnsureHandlesACustomResource(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	const group = "ensure.e2e.bowline.example"
	install(t, c, group)
	r := client.For(c, client.Type[*plainKnot](client.Type[*plainKnot]{Group: group, Version: "v1", Kind: "Knot", Resource: "knots"})).In(ns)
	want := &plainKnot{ObjectMeta: meta.ObjectMeta{Name: "bowline"}}
	want.Spec.Rope = "hemp"
	var outcomes []string
	ensure := func() *plainKnot {
		obj, outcome, err := r.Ensure(t.Context(), want, client.EnsureOptions{})
		if err != nil {
			t.Fatal(err)
		}
		outcomes = append(outcomes, outcome.String())
		return obj
	}
	ensure()
	ensure()
	want.Spec.Turns, want.Labels = 3, map[string]string{"a": "b"}
	ensure()
	must(r.Status().Modify(t.Context(), meta.Key{Name: "bowline"}, func(k *plainKnot) error {
		k.Status.Turns = 2
		return nil
	}))(t)
	equal(t, "status", ensure().Status.Turns, 2)
	want.Spec.Turns = 0
	ensure()
	got := ensure()
	// What the schema does not have is dropped, each time.
	want.Spec.Inner = &struct {
		A string `json:"a"`
	}{"x"}
	ensure()
	equal(t, "outcomes", fmt.Sprint(outcomes), "[Created Unchanged Updated Unchanged Updated Unchanged NotKept: /spec/inner]")
	if got.Spec.Turns != 0 || got.Spec.Rope != "hemp" || got.Labels["a"] != "b" {
		t.Errorf("got %+v", got)
	}
	want.Status.Turns = 5
	if _, _, err := r.Ensure(t.Context(), want, client.EnsureOptions{}); err == nil || !strings.Contains(err.Error(), "status must be empty") {
		t.Errorf("error is %v, want that status is not Ensure's", err)
	}
}

// The server checks the values of an immutable Secret at each write. Metadata may change, so a patch of finalizers passes.
func TestFinalizersOfAnImmutableSecretCanBeChanged(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	obj := create(t, client.For(c, secrets), ns, `{"metadata":{"name":"a"},"immutable":true}`)
	r := client.For(c, secrets)
	must(r.AddFinalizer(t.Context(), meta.KeyOf(obj), "example.com/a", meta.FinalizerOptions{}))(t)
	got := must(r.RemoveFinalizer(t.Context(), meta.KeyOf(obj), "example.com/a", meta.FinalizerOptions{}))(t)
	equal(t, "finalizers", len(got.GetFinalizers()), 0)
}
