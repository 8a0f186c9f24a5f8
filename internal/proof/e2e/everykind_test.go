package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// manifest is a built-in kind with the least that it takes and with much of what it has.
type manifest struct {
	gvk           meta.GVK
	resource      string
	scope         meta.Scope
	minimal, full string
	typed         func(t *testing.T, c *client.Client, m manifest, ns, name, text string) []string
	// inForms returns the object, as the type of k8s.io/api, from a list and from the initial events of a watch.
	inForms func(t *testing.T, c *client.Client, key meta.Key) (listed, watched any)
}

// of makes a manifest of a type of k8s.io/api.
func of[T meta.Object](group, version, kind, resource string, scope meta.Scope, minimal, full string) manifest {
	return manifest{
		meta.GVK{Group: group, Version: version, Kind: kind},
		resource, scope, minimal, full,
		func(t *testing.T, c *client.Client, m manifest, ns, name, text string) []string {
			obj := reflect.New(reflect.TypeFor[T]().Elem())
			return twice(t, c, client.Type[T]{Group: group, Version: version, Kind: kind, Resource: resource, Scope: scope}, obj.Interface().(T), m, ns, name, text)
		},
		func(t *testing.T, c *client.Client, key meta.Key) (listed, watched any) {
			return read(t, client.For(c, client.Type[T]{Group: group, Version: version, Kind: kind, Resource: resource, Scope: scope}), key)
		},
	}
}

// twice ensures an object twice, and returns what that has done; of an object that the server refuses that is its word.
func twice[T meta.Object](t *testing.T, c *client.Client, typ client.Type[T], want T, m manifest, ns, name, text string) []string {
	t.Helper()
	text = strings.NewReplacer("NAME", name, "NSPACE", ns).Replace(text)
	if named := namesOf[m.gvk.Kind]; named != nil {
		name = named(name)
	}
	metadata := fmt.Sprintf(`{"metadata":{"name":%q}}`, name)
	if m.scope != meta.Cluster {
		metadata = fmt.Sprintf(`{"metadata":{"name":%q,"namespace":%q}}`, name, ns)
	}
	for _, text := range []string{text, metadata} {
		if err := json.Unmarshal([]byte(text), want); err != nil {
			t.Fatal(err)
		}
	}
	var outcomes []string
	for range 2 {
		_, done, err := client.For(c, typ).Ensure(t.Context(), want, client.EnsureOptions{})
		switch {
		case errors.Is(err, apierrors.Invalid):
			return append(outcomes, "refused: "+err.Error())
		case err != nil:
			t.Fatal(err)
		}
		outcomes = append(outcomes, done.String())
	}
	return outcomes
}

// own is an object of a type that somebody might write: of any kind, without omitempty below.
type own struct {
	meta.ObjectMeta   `json:"metadata"`
	Spec              any               `json:"spec,omitempty"`
	Data              map[string]string `json:"data,omitempty"`
	StringData        map[string]string `json:"stringData,omitempty"`
	Type              string            `json:"type,omitempty"`
	Rules             any               `json:"rules,omitempty"`
	RoleRef           any               `json:"roleRef,omitempty"`
	Subjects          any               `json:"subjects,omitempty"`
	Webhooks          any               `json:"webhooks,omitempty"`
	Endpoints         any               `json:"endpoints,omitempty"`
	Ports             any               `json:"ports,omitempty"`
	AddressType       string            `json:"addressType,omitempty"`
	Template          any               `json:"template,omitempty"`
	Value             int               `json:"value,omitempty"`
	GlobalDefault     *bool             `json:"globalDefault,omitempty"`
	Description       *string           `json:"description,omitempty"`
	Provisioner       string            `json:"provisioner,omitempty"`
	VolumeBindingMode string            `json:"volumeBindingMode,omitempty"`
	Handler           string            `json:"handler,omitempty"`
	Overhead          any               `json:"overhead,omitempty"`
	Scheduling        any               `json:"scheduling,omitempty"`
	ImagePullSecrets  any               `json:"imagePullSecrets,omitempty"`

	Subsets             any     `json:"subsets,omitempty"`
	InvolvedObject      any     `json:"involvedObject,omitempty"`
	Regarding           any     `json:"regarding,omitempty"`
	EventTime           *string `json:"eventTime,omitempty"`
	ReportingController string  `json:"reportingController,omitempty"`
	ReportingInstance   string  `json:"reportingInstance,omitempty"`
	Action              *string `json:"action,omitempty"`
	Reason              *string `json:"reason,omitempty"`
	Message             *string `json:"message,omitempty"`
	Revision            *int64  `json:"revision,omitempty"`
	StorageClassName    *string `json:"storageClassName,omitempty"`
	Capacity            *string `json:"capacity,omitempty"`
	NodeTopology        any     `json:"nodeTopology,omitempty"`
	DriverName          *string `json:"driverName,omitempty"`
	Parameters          any     `json:"parameters,omitempty"`
}

// typeOf returns a Go type that has the fields of JSON values, none of which leaves zeros out. An object in JSON becomes a
// pointer to a struct, or a map if its names are free.
func typeOf(name string, values ...any) reflect.Type {
	switch values[0].(type) {
	case string:
		if strings.HasSuffix(name, "Time") { // no empty text is one
			return reflect.TypeFor[*string]()
		}
		return reflect.TypeFor[string]()
	case bool:
		return reflect.TypeFor[bool]()
	case float64:
		return reflect.TypeFor[int64]()
	case []any:
		var all []any
		for _, v := range values {
			all = append(all, v.([]any)...)
		}
		if len(all) == 0 {
			return reflect.TypeFor[[]string]()
		}
		return reflect.SliceOf(typeOf("", all...))
	}
	if slices.Contains([]string{"labels", "annotations", "matchLabels", "nodeSelector", "limits", "requests", "capacity", "hard", "max", "default", "podFixed", "parameters"}, name) {
		return reflect.TypeFor[map[string]string]()
	}
	members := map[string][]any{}
	var names []string
	for _, v := range values {
		for name, member := range v.(map[string]any) {
			if members[name] == nil {
				names = append(names, name)
			}
			members[name] = append(members[name], member)
		}
	}
	slices.Sort(names)
	if name == "selector" && members["matchLabels"] == nil {
		return reflect.TypeFor[map[string]string]()
	}
	var fields []reflect.StructField
	for i, n := range names {
		fields = append(fields, reflect.StructField{Name: fmt.Sprint("F", i), Type: typeOf(n, members[n]...), Tag: reflect.StructTag(fmt.Sprintf(`json:"%s"`, n))})
	}
	return reflect.PointerTo(reflect.StructOf(fields))
}

// ownOf returns an object of a type with the fields of both manifests.
func ownOf(t *testing.T, m manifest) *own {
	t.Helper()
	var least, most map[string]any
	for text, into := range map[string]*map[string]any{m.minimal: &least, m.full: &most} {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
	}
	obj := new(own)
	v := reflect.ValueOf(obj).Elem()
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if v.Field(i).Kind() != reflect.Interface {
			continue
		}
		var values []any
		for _, object := range []map[string]any{least, most} {
			if member, ok := object[name]; ok {
				values = append(values, member)
			}
		}
		if len(values) > 0 && least[name] != nil {
			v.Field(i).Set(reflect.New(typeOf(name, values...)))
		}
	}
	return obj
}

// Ensure of an object that is as it should be writes nothing, whatever the kind, with the types of k8s.io/api and with a struct without
// omitempty, whose zeros the server leaves out, fills in or replaces. Where the server has another word, it is here with the reason.
func TestEnsureWritesNothingForAnUnchangedObjectOfEveryKind(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	// Kinds whose server refuses a zero of the struct without omitempty, and which: what is wanted is an error then, and nothing is lost.
	refused := map[string]string{
		"HorizontalPodAutoscaler":        "scaling to zero replicas",
		"Ingress":                        "spec.ingressClassName",
		"Lease":                          "spec.leaseDurationSeconds",
		"ValidatingWebhookConfiguration": "webhooks[0].failurePolicy",
		"MutatingWebhookConfiguration":   "webhooks[0].failurePolicy",
		"ValidatingAdmissionPolicy":      "spec.failurePolicy",
		"MutatingAdmissionPolicy":        "spec.failurePolicy",
		"CertificateSigningRequest":      "spec.expirationSeconds",
		"ResourceSlice":                  "spec.nodeName",
	}
	for _, m := range slices.Concat(manifests, moreManifests) {
		t.Run(m.resource+" of "+m.gvk.Group+" "+m.gvk.Version, func(t *testing.T) {
			kind := strings.ToLower(m.gvk.Kind + m.gvk.Version)
			if m.gvk.Group == "events.k8s.io" { // which are also those of the core
				kind = "record"
			}
			check := func(how string, got []string) {
				t.Helper()
				if why := refused[m.gvk.Kind]; why != "" && how == "own minimal" {
					if len(got) != 1 || !strings.Contains(got[0], why) {
						t.Errorf("%s: %q, want that it is refused for %s", how, got, why)
					}
				} else if len(got) != 2 || got[0] != "Created" || got[1] != "Unchanged" {
					t.Errorf("%s: %q", how, got)
				}
			}
			check("minimal", m.typed(t, c, m, ns, "e2e-min-"+kind, m.minimal))
			check("full", m.typed(t, c, m, ns, "e2e-full-"+kind, m.full))
			typ := client.Type[*own]{Group: m.gvk.Group, Version: m.gvk.Version, Kind: m.gvk.Kind, Resource: m.resource, Scope: m.scope}
			check("own minimal", twice(t, c, typ, ownOf(t, m), m, ns, "e2e-own-"+kind, m.minimal))
			check("own full", twice(t, c, typ, new(own), m, ns, "e2e-ownfull-"+kind, m.full))
		})
	}
}

// Admission adds to the tolerations of a Pod, which is a list without keys. Ensure leaves there what it adds.
func TestEnsureLeavesElementsThatAdmissionAdds(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	const added = `{"key":"node.kubernetes.io/%s","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}`
	const own = `,"tolerations":[{"key":"a","operator":"Exists"}`
	for name, test := range map[string]struct{ tolerations, first, second string }{
		"own": {own + "]", "Created", "Unchanged"},
		"no":  {"", "Created", "Unchanged"},
		"all": {own + "," + fmt.Sprintf(added, "not-ready") + "," + fmt.Sprintf(added, "unreachable") + "]", "Created", "Unchanged"},
	} {
		r := client.For(c, client.Type[object]{Version: "v1", Kind: "Pod", Resource: "pods"}).In(ns)
		want := parse(t, fmt.Sprintf(`{"metadata":{"name":"e2e-%s"},"spec":{%s%s}}`, name, podLeast, test.tolerations))
		first, did, err := r.Ensure(t.Context(), want, client.EnsureOptions{})
		if err != nil || did.String() != test.first || !did.New {
			t.Fatalf("%s: %v, %v, want %s", name, did, err, test.first)
		}
		second, did, err := r.Ensure(t.Context(), want, client.EnsureOptions{})
		if err != nil || did.String() != test.second || second.GetResourceVersion() != first.GetResourceVersion() {
			t.Errorf("%s, again: %v, %v, from version %s to %s, want %s", name, did, err, first.GetResourceVersion(), second.GetResourceVersion(), test.second)
		}
	}
}

const (
	podLeast  = `"containers":[{"name":"a","image":"example.invalid/a:1"}]`
	podLabels = `"metadata":{"labels":{"app":"a"}}`
	// podFull is a pod without what only a pod that is no template has.
	podFull = `"initContainers":[{"name":"i","image":"example.invalid/i","command":["x"]}],
		"containers":[{"name":"a","image":"example.invalid/a:1","args":["-v"],"workingDir":"/w","stdin":true,"tty":true,
			"ports":[{"name":"http","containerPort":80},{"containerPort":53,"protocol":"UDP"}],
			"env":[{"name":"A","value":"1"},{"name":"B","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}},{"name":"C","valueFrom":{"secretKeyRef":{"name":"s","key":"k","optional":true}}},
				{"name":"D","valueFrom":{"resourceFieldRef":{"resource":"limits.cpu"}}}],
			"envFrom":[{"prefix":"P","configMapRef":{"name":"m"}}],
			"resources":{"limits":{"cpu":"1000m","memory":"1024Mi"},"requests":{"cpu":"0.5"}},
			"volumeMounts":[{"name":"tmp","mountPath":"/tmp"},{"name":"etc","mountPath":"/etc/a","readOnly":true,"subPath":"x"}],
			"livenessProbe":{"httpGet":{"path":"/h","port":80},"periodSeconds":20},"readinessProbe":{"exec":{"command":["true"]}},
			"lifecycle":{"preStop":{"exec":{"command":["true"]}}},"imagePullPolicy":"Always",
			"securityContext":{"runAsNonRoot":true,"capabilities":{"drop":["ALL"]},"readOnlyRootFilesystem":true}}],
		"volumes":[{"name":"tmp","emptyDir":{"sizeLimit":"1Gi"}},{"name":"etc","configMap":{"name":"m","items":[{"key":"a","path":"b"}]}},{"name":"sec","secret":{"secretName":"s"}},
			{"name":"pvc","persistentVolumeClaim":{"claimName":"c"}},{"name":"pro","projected":{"sources":[{"serviceAccountToken":{"path":"t"}},{"downwardAPI":{"items":[{"path":"l","fieldRef":{"fieldPath":"metadata.labels"}}]}}]}}],
		"nodeSelector":{"disk":"ssd"},"terminationGracePeriodSeconds":5,"hostNetwork":false,"serviceAccountName":"default",
		"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"k","operator":"In","values":["v"]}]}]}}},
		"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"a"}}}],
		"hostAliases":[{"ip":"10.0.0.1","hostnames":["h"]}],"dnsConfig":{"nameservers":["10.0.0.2"],"options":[{"name":"ndots","value":"2"}]},
		"securityContext":{"runAsUser":1000,"seccompProfile":{"type":"RuntimeDefault"}}`
	tolerations = `,"tolerations":[{"key":"a","operator":"Exists"},{"key":"b","value":"c","effect":"NoExecute"}]`
	selected    = `"selector":{"matchLabels":{"app":"a"}}`
	podTemplate = `"template":{` + podLabels + `,"spec":{` + podLeast + `}}`
	fullPods    = `"template":{` + podLabels + `,"spec":{` + podFull + tolerations + `}}`
	jobPods     = `"template":{` + podLabels + `,"spec":{"restartPolicy":"Never",` + podLeast + `}}`
	fullJobPods = `"template":{` + podLabels + `,"spec":{"restartPolicy":"OnFailure",` + podFull + tolerations + `}}`
	claim       = `"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1024Mi"}}`
	webhook     = `"name":"a.example.com","clientConfig":{"url":"https://example.invalid/a"},"sideEffects":"None","admissionReviewVersions":["v1"]`
	webhookFull = `"name":"a.example.com","clientConfig":{"service":{"namespace":"n","name":"s","path":"/p"}},"sideEffects":"None","admissionReviewVersions":["v1"],
		"failurePolicy":"Ignore","rules":[{"operations":["CREATE"],"apiGroups":["e2e.example.com"],"apiVersions":["v1"],"resources":["knots"]}],
		"namespaceSelector":{"matchLabels":{"a":"b"}},"matchConditions":[{"name":"c","expression":"true"}],"timeoutSeconds":3`
)

var manifests = []manifest{
	of[*corev1.ConfigMap]("", "v1", "ConfigMap", "configmaps", meta.Namespaced, `{}`, `{"metadata":{"labels":{"a":"b"},"annotations":{"c":""}},"data":{"a":"b","e":""}}`),
	of[*corev1.Secret]("", "v1", "Secret", "secrets", meta.Namespaced, `{"type":"Opaque"}`, `{"type":"Opaque","data":{"a":"YWI="},"stringData":{"b":"c"}}`),
	of[*corev1.Service]("", "v1", "Service", "services", meta.Namespaced, `{"spec":{"ports":[{"port":80}]}}`,
		`{"spec":{"type":"NodePort","selector":{"app":"a"},"sessionAffinity":"ClientIP","ports":[{"name":"a","port":80,"targetPort":8080},{"name":"b","port":53,"protocol":"UDP"}]}}`),
	of[*corev1.ServiceAccount]("", "v1", "ServiceAccount", "serviceaccounts", meta.Namespaced, `{}`, `{"imagePullSecrets":[{"name":"s"}]}`),
	of[*corev1.Pod]("", "v1", "Pod", "pods", meta.Namespaced, `{"spec":{`+podLeast+`}}`, `{"spec":{`+podFull+`}}`),
	of[*corev1.PodTemplate]("", "v1", "PodTemplate", "podtemplates", meta.Namespaced, `{`+podTemplate+`}`, `{`+fullPods+`}`),
	of[*corev1.ReplicationController]("", "v1", "ReplicationController", "replicationcontrollers", meta.Namespaced, `{"spec":{`+podTemplate+`}}`, `{"spec":{"replicas":0,"selector":{"app":"a"},`+fullPods+`}}`),
	of[*corev1.PersistentVolume]("", "v1", "PersistentVolume", "persistentvolumes", meta.Cluster, `{"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"hostPath":{"path":"/x"}}}`,
		`{"spec":{"capacity":{"storage":"1024Mi"},"accessModes":["ReadWriteOnce","ReadOnlyMany"],"storageClassName":"s","persistentVolumeReclaimPolicy":"Delete","nfs":{"server":"n","path":"/p"},"mountOptions":["hard"]}}`),
	of[*corev1.PersistentVolumeClaim]("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", meta.Namespaced, `{"spec":{`+claim+`}}`, `{"spec":{`+claim+`,"storageClassName":"s","selector":{"matchLabels":{"a":"b"}}}}`),
	of[*corev1.LimitRange]("", "v1", "LimitRange", "limitranges", meta.Namespaced, `{"spec":{"limits":[{"type":"PersistentVolumeClaim","max":{"storage":"1Ti"}}]}}`, `{"spec":{"limits":[{"type":"PersistentVolumeClaim","max":{"storage":"1024Gi"}}]}}`),
	of[*corev1.ResourceQuota]("", "v1", "ResourceQuota", "resourcequotas", meta.Namespaced, `{"spec":{}}`, `{"spec":{"hard":{"count/knots.example.com":"1k"},"scopes":["Terminating"]}}`),
	of[*appsv1.Deployment]("apps", "v1", "Deployment", "deployments", meta.Namespaced, `{"spec":{`+selected+`,`+podTemplate+`}}`,
		`{"spec":{"replicas":0,"paused":true,"minReadySeconds":3,"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1,"maxUnavailable":0}},`+selected+`,`+fullPods+`}}`),
	of[*appsv1.ReplicaSet]("apps", "v1", "ReplicaSet", "replicasets", meta.Namespaced, `{"spec":{`+selected+`,`+podTemplate+`}}`, `{"spec":{"replicas":0,`+selected+`,`+fullPods+`}}`),
	of[*appsv1.DaemonSet]("apps", "v1", "DaemonSet", "daemonsets", meta.Namespaced, `{"spec":{`+selected+`,`+podTemplate+`}}`, `{"spec":{"updateStrategy":{"type":"OnDelete"},`+selected+`,`+fullPods+`}}`),
	of[*appsv1.StatefulSet]("apps", "v1", "StatefulSet", "statefulsets", meta.Namespaced, `{"spec":{"serviceName":"s",`+selected+`,`+podTemplate+`}}`,
		`{"spec":{"serviceName":"s","replicas":0,"podManagementPolicy":"Parallel",`+selected+`,`+fullPods+`,"volumeClaimTemplates":[{"metadata":{"name":"d"},"spec":{`+claim+`}}]}}`),
	of[*batchv1.Job]("batch", "v1", "Job", "jobs", meta.Namespaced, `{"spec":{`+jobPods+`}}`, `{"spec":{"suspend":true,"parallelism":2,"completions":2,"backoffLimit":0,"ttlSecondsAfterFinished":0,`+fullJobPods+`}}`),
	of[*batchv1.CronJob]("batch", "v1", "CronJob", "cronjobs", meta.Namespaced, `{"spec":{"schedule":"* * * * *","jobTemplate":{"spec":{`+jobPods+`}}}}`,
		`{"spec":{"schedule":"0 0 * * *","concurrencyPolicy":"Forbid","suspend":true,"successfulJobsHistoryLimit":0,"jobTemplate":{"spec":{`+fullJobPods+`}}}}`),
	of[*autoscalingv2.HorizontalPodAutoscaler]("autoscaling", "v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", meta.Namespaced, `{"spec":{"maxReplicas":2,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"a"}}}`,
		`{"spec":{"minReplicas":1,"maxReplicas":2,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"a"},"metrics":[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":50}}}],"behavior":{"scaleDown":{"stabilizationWindowSeconds":0}}}}`),
	of[*networkingv1.NetworkPolicy]("networking.k8s.io", "v1", "NetworkPolicy", "networkpolicies", meta.Namespaced, `{"spec":{"podSelector":{}}}`,
		`{"spec":{"podSelector":{"matchLabels":{"a":"b"}},"policyTypes":["Ingress","Egress"],"ingress":[{"from":[{"podSelector":{}}],"ports":[{"port":80}]}],"egress":[{"to":[{"ipBlock":{"cidr":"10.0.0.0/8","except":["10.1.0.0/16"]}}]}]}}`),
	of[*networkingv1.Ingress]("networking.k8s.io", "v1", "Ingress", "ingresses", meta.Namespaced, `{"spec":{"defaultBackend":{"service":{"name":"s","port":{"number":80}}}}}`,
		`{"spec":{"ingressClassName":"c","tls":[{"hosts":["h.example.com"],"secretName":"s"}],"rules":[{"host":"h.example.com","http":{"paths":[{"path":"/","pathType":"Prefix","backend":{"service":{"name":"s","port":{"name":"p"}}}}]}}]}}`),
	of[*networkingv1.IngressClass]("networking.k8s.io", "v1", "IngressClass", "ingressclasses", meta.Cluster, `{"spec":{"controller":"example.com/c"}}`, `{"spec":{"controller":"example.com/c","parameters":{"apiGroup":"example.com","kind":"P","name":"p"}}}`),
	of[*policyv1.PodDisruptionBudget]("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", meta.Namespaced, `{"spec":{"minAvailable":1}}`, `{"spec":{"minAvailable":0,`+selected+`}}`),
	of[*rbacv1.Role]("rbac.authorization.k8s.io", "v1", "Role", "roles", meta.Namespaced, `{"rules":[]}`, `{"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get"],"resourceNames":["a"]}]}`),
	of[*rbacv1.ClusterRole]("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", meta.Cluster, `{"rules":[]}`, `{"rules":[{"apiGroups":["apps"],"resources":["*"],"verbs":["*"]},{"nonResourceURLs":["/x"],"verbs":["get"]}]}`),
	of[*rbacv1.RoleBinding]("rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings", meta.Namespaced, `{"roleRef":{"kind":"Role","name":"r"}}`,
		`{"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"view"},"subjects":[{"kind":"User","name":"u"},{"kind":"ServiceAccount","name":"s","namespace":"n"}]}`),
	of[*rbacv1.ClusterRoleBinding]("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings", meta.Cluster, `{"roleRef":{"kind":"ClusterRole","name":"r"}}`,
		`{"roleRef":{"kind":"ClusterRole","name":"view"},"subjects":[{"kind":"Group","name":"g"}]}`),
	of[*coordinationv1.Lease]("coordination.k8s.io", "v1", "Lease", "leases", meta.Namespaced, `{"spec":{}}`, `{"spec":{"holderIdentity":"h","leaseDurationSeconds":5,"renewTime":"2026-01-02T03:04:05.000000Z"}}`),
	of[*discoveryv1.EndpointSlice]("discovery.k8s.io", "v1", "EndpointSlice", "endpointslices", meta.Namespaced, `{"addressType":"IPv4","endpoints":[]}`,
		`{"addressType":"IPv4","endpoints":[{"addresses":["10.0.0.1"],"conditions":{"ready":true},"nodeName":"n"}],"ports":[{"name":"","port":80}]}`),
	of[*schedulingv1.PriorityClass]("scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", meta.Cluster, `{"value":0}`, `{"value":7,"description":"d","globalDefault":false}`),
	of[*storagev1.StorageClass]("storage.k8s.io", "v1", "StorageClass", "storageclasses", meta.Cluster, `{"provisioner":"example.com/p"}`, `{"provisioner":"example.com/p","volumeBindingMode":"WaitForFirstConsumer"}`),
	of[*storagev1.CSIDriver]("storage.k8s.io", "v1", "CSIDriver", "csidrivers", meta.Cluster, `{"spec":{}}`, `{"spec":{"attachRequired":false,"podInfoOnMount":true,"volumeLifecycleModes":["Ephemeral"],"tokenRequests":[{"audience":"a"}]}}`),
	of[*nodev1.RuntimeClass]("node.k8s.io", "v1", "RuntimeClass", "runtimeclasses", meta.Cluster, `{"handler":"h"}`, `{"handler":"h","overhead":{"podFixed":{"cpu":"100m"}},"scheduling":{"nodeSelector":{"a":"b"},"tolerations":[{"key":"k"}]}}`),
	of[*admissionregistrationv1.ValidatingWebhookConfiguration]("admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", meta.Cluster, `{"webhooks":[{`+webhook+`}]}`, `{"webhooks":[{`+webhookFull+`}]}`),
	of[*admissionregistrationv1.MutatingWebhookConfiguration]("admissionregistration.k8s.io", "v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", meta.Cluster, `{"webhooks":[{`+webhook+`}]}`, `{"webhooks":[{`+webhookFull+`,"reinvocationPolicy":"IfNeeded"}]}`),
	of[*admissionregistrationv1.ValidatingAdmissionPolicy]("admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicy", "validatingadmissionpolicies", meta.Cluster,
		`{"spec":{"validations":[{"expression":"true"}],"matchConstraints":{"resourceRules":[{"operations":["CREATE"],"apiGroups":["e2e.example.com"],"apiVersions":["v1"],"resources":["knots"]}]}}}`,
		`{"spec":{"failurePolicy":"Ignore","variables":[{"name":"v","expression":"1"}],"validations":[{"expression":"true","message":"m"}],"matchConditions":[{"name":"c","expression":"true"}],"matchConstraints":{"resourceRules":[{"operations":["CREATE"],"apiGroups":["e2e.example.com"],"apiVersions":["v1"],"resources":["knots"]}]}}}`),
	of[*flowcontrolv1.FlowSchema]("flowcontrol.apiserver.k8s.io", "v1", "FlowSchema", "flowschemas", meta.Cluster, `{"spec":{"priorityLevelConfiguration":{"name":"catch-all"}}}`,
		`{"spec":{"priorityLevelConfiguration":{"name":"catch-all"},"matchingPrecedence":9000,"distinguisherMethod":{"type":"ByUser"},"rules":[{"subjects":[{"kind":"User","user":{"name":"u"}}],"resourceRules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"],"namespaces":["*"]}]}]}}`),
}
