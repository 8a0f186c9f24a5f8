package canned

// The collections that a server may serve.

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// Plain is the name of the collection in which every ten pods belong to one workload.
const Plain = "pods"

// Collection is what a server serves: some objects of one kind.
type Collection struct {
	path, apiVersion, kind string
	objects                []object
}

// maker makes n objects of a collection.
type maker struct {
	path, apiVersion, kind string
	share                  int // it makes one object for each share that are asked for; above 1 for large objects
	objects                func(n int) ([]metav1.Object, error)
}

// makers are the collections by name.
var makers = map[string]maker{
	Plain:         {"/api/v1/pods", "v1", "Pod", 1, each(plainPod)},
	"pods-1":      pods(1),
	"pods-20":     pods(20),
	"pods-1000":   pods(1000),
	"pods-unique": {"/api/v1/pods", "v1", "Pod", 1, each(uniquePod)},
	"pods-real":   {"/api/v1/pods", "v1", "Pod", 1, realPods},
	"deployments": {"/apis/apps/v1/deployments", "apps/v1", "Deployment", 1, each(newDeployment)},
	"secrets":     {"/api/v1/secrets", "v1", "Secret", 10, each(newSecret)},
	"custom":      {"/apis/example.com/v1/certificates", "example.com/v1", "Certificate", 1, each(newCertificate)},
}

// Collections returns the names of the collections:
//
//   - pods-1, pods-20 and pods-1000 have one, 20 and 1,000 pods of each workload, which differ in their names, uids,
//     nodes, addresses, times, and in a checksum and identifiers of containers
//   - pods has ten pods of each workload, which are in different namespaces and also have different images
//   - pods-unique has pods of which no part equals one of another pod
//   - pods-real has pods like those of a real cluster: of agents, services, databases and jobs
//   - deployments, and secrets of 32 kB of random data
//   - custom has custom resources, such as certificates
func Collections() []string { return slices.Sorted(maps.Keys(makers)) }

// Count returns how many objects the collection has if n are asked for. Large objects are fewer.
func Count(name string, n int) int { return max(n/makers[name].share, 1) }

// Collect makes the objects of a collection: Count(name, n) of them.
func Collect(name string, n int) (Collection, error) {
	m, found := makers[name]
	if !found {
		return Collection{}, fmt.Errorf("no collection is called %q, they are %q", name, Collections())
	}
	all, err := m.objects(Count(name, n))
	if err != nil {
		return Collection{}, err
	}
	c := Collection{path: m.path, apiVersion: m.apiVersion, kind: m.kind, objects: make([]object, len(all))}
	for i, obj := range all {
		if c.objects[i], err = newObject(m, obj); err != nil {
			return Collection{}, fmt.Errorf("encode %s %d: %w", m.kind, i, err)
		}
	}
	return c, nil
}

// Size returns how many bytes of JSON the objects have.
func (c Collection) Size() (size int) {
	for _, o := range c.objects {
		size += len(o.raw)
	}
	return size
}

// each returns the function that makes objects one by one.
func each[T metav1.Object](one func(i int) T) func(n int) ([]metav1.Object, error) {
	return func(n int) ([]metav1.Object, error) {
		all := make([]metav1.Object, n)
		for i := range all {
			all[i] = one(i)
		}
		return all, nil
	}
}

// pods returns the maker of a collection with perWorkload pods of each workload. The pods of a workload are in one
// namespace.
func pods(perWorkload int) maker {
	return maker{"/api/v1/pods", "v1", "Pod", 1, each(func(i int) *corev1.Pod {
		return newPod(i, i/perWorkload, i/perWorkload%Namespaces)
	})}
}

func realPods(n int) ([]metav1.Object, error) {
	pods, err := clusterPods(n)
	if err != nil {
		return nil, err
	}
	return each(func(i int) *corev1.Pod { return pods[i] })(n)
}

// uniquePod is the only pod of its workload, and each of its parts contains the number of the pod.
func uniquePod(i int) *corev1.Pod {
	pod := newPod(i, i, i%Namespaces)
	number := strconv.Itoa(i)
	spec := &pod.Spec
	for c := range spec.Containers {
		own := &spec.Containers[c]
		own.Args = append(own.Args, "--pod="+number)
		for p := range own.Ports {
			own.Ports[p].HostPort = int32(1 + i%60_000)
		}
		for e := range own.Env {
			own.Env[e].Name += "_" + number
		}
		for m := range own.VolumeMounts {
			own.VolumeMounts[m].SubPath = number
		}
		for _, list := range []corev1.ResourceList{own.Resources.Requests, own.Resources.Limits} {
			for name, quantity := range list {
				quantity.Set(quantity.Value() + int64(i))
				list[name] = quantity
			}
		}
		for _, probe := range []*corev1.Probe{own.LivenessProbe, own.ReadinessProbe} {
			if probe != nil {
				probe.PeriodSeconds = int32(10 + i)
				probe.HTTPGet.Path += "/" + number
			}
		}
	}
	for t := range spec.Tolerations {
		spec.Tolerations[t].Key += "-" + number
	}
	for v := range spec.Volumes {
		spec.Volumes[v].Name += "-" + number
	}
	return pod
}

// newDeployment is a deployment of the pods of newPod.
func newDeployment(i int) *appsv1.Deployment {
	pod := newPod(10*i, i, i%Namespaces)
	app, replicas, limit := pod.Labels["app.kubernetes.io/name"], int32(2+i%9), int32(10)
	at := pod.CreationTimestamp
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: pod.Labels, Annotations: pod.Annotations}, Spec: pod.Spec}
	delete(template.Labels, "pod-template-hash")
	template.Spec.NodeName, template.Spec.Priority = "", nil
	var conditions []appsv1.DeploymentCondition
	for _, c := range []struct {
		name         appsv1.DeploymentConditionType
		reason, text string
	}{
		{appsv1.DeploymentAvailable, "MinimumReplicasAvailable", "Deployment has minimum availability."},
		{appsv1.DeploymentProgressing, "NewReplicaSetAvailable", fmt.Sprintf("ReplicaSet %q has successfully progressed.", pod.GenerateName[:len(pod.GenerateName)-1])},
	} {
		conditions = append(conditions, appsv1.DeploymentCondition{
			Type: c.name, Status: corev1.ConditionTrue, Reason: c.reason, Message: c.text, LastUpdateTime: at, LastTransitionTime: at,
		})
	}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Name: app, Namespace: pod.Namespace, UID: pod.UID, ResourceVersion: pod.ResourceVersion, CreationTimestamp: at, Generation: int64(1 + i%30),
			Labels:        template.Labels,
			Annotations:   map[string]string{"deployment.kubernetes.io/revision": strconv.Itoa(1 + i%30), "meta.helm.sh/release-name": app, "meta.helm.sh/release-namespace": pod.Namespace},
			ManagedFields: pod.ManagedFields,
		},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, RevisionHistoryLimit: &limit, ProgressDeadlineSeconds: new(int32(600)),
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app.kubernetes.io/name": app, "app.kubernetes.io/instance": app}},
			Template: template,
			Strategy: appsv1.DeploymentStrategy{Type: appsv1.RollingUpdateDeploymentStrategyType},
		},
		Status: appsv1.DeploymentStatus{
			ObservedGeneration: int64(1 + i%30), Replicas: replicas, UpdatedReplicas: replicas, ReadyReplicas: replicas, AvailableReplicas: replicas,
			Conditions: conditions,
		},
	}
}

// newSecret is a secret of 32 kB in JSON, such as one in which a package manager keeps a release. Its data repeats
// nothing.
func newSecret(i int) *corev1.Secret {
	release := make([]byte, 24_000)
	random := rand.New(rand.NewPCG(3, uint64(i)))
	for b := range release {
		release[b] = byte(random.Uint32())
	}
	name := fmt.Sprintf("sh.helm.release.v1.app-%d.v%d", i/3, 1+i%3)
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: fmt.Sprintf("team-%d", i%Namespaces), UID: types.UID(UID(i)), ResourceVersion: fmt.Sprint(100_000 + i),
			CreationTimestamp: metav1.NewTime(time.Date(2026, 1, 1, 0, 0, i, 0, time.UTC)),
			Labels:            map[string]string{"name": fmt.Sprintf("app-%d", i/3), "owner": "helm", "status": "deployed", "version": strconv.Itoa(1 + i%3), "modifiedAt": strconv.Itoa(1_767_225_600 + i)},
		},
		Type: "helm.sh/release.v1",
		Data: map[string][]byte{"release": release},
	}
}

// newCertificate is a custom resource. The items of a list of custom resources have their kind.
func newCertificate(i int) *unstructured.Unstructured {
	host := fmt.Sprintf("app-%d.team-%d.example.com", i, i%Namespaces)
	at := time.Date(2026, 1, 1, 0, 0, i, 0, time.UTC)
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Certificate",
		"metadata": map[string]any{
			"name": fmt.Sprintf("app-%d-tls", i), "namespace": fmt.Sprintf("team-%d", i%Namespaces), "uid": UID(i), "resourceVersion": fmt.Sprint(100_000 + i),
			"creationTimestamp": at.Format(time.RFC3339), "generation": int64(1 + i%3),
			"labels": map[string]any{
				"app.kubernetes.io/name": fmt.Sprintf("app-%d", i), "app.kubernetes.io/managed-by": "Helm", "helm.sh/chart": "service-4.11.0",
			},
			"annotations": map[string]any{"meta.helm.sh/release-name": fmt.Sprintf("app-%d", i), "meta.helm.sh/release-namespace": fmt.Sprintf("team-%d", i%Namespaces)},
		},
		"spec": map[string]any{
			"secretName": fmt.Sprintf("app-%d-tls", i), "duration": "2160h0m0s", "renewBefore": "360h0m0s", "revisionHistoryLimit": int64(3),
			"dnsNames":   []any{host, "www." + host},
			"issuerRef":  map[string]any{"group": "example.com", "kind": "ClusterIssuer", "name": "letsencrypt-production"},
			"privateKey": map[string]any{"algorithm": "ECDSA", "size": int64(256), "rotationPolicy": "Always"},
			"usages":     []any{"digital signature", "key encipherment", "server auth"},
		},
		"status": map[string]any{
			"notBefore": at.Format(time.RFC3339), "notAfter": at.Add(2160 * time.Hour).Format(time.RFC3339),
			"renewalTime": at.Add(1800 * time.Hour).Format(time.RFC3339), "revision": int64(1 + i%9),
			"conditions": []any{map[string]any{
				"type": "Ready", "status": "True", "reason": "Ready", "message": "Certificate is up to date and has not expired",
				"observedGeneration": int64(1 + i%3), "lastTransitionTime": at.Add(time.Minute).Format(time.RFC3339),
			}},
		},
	}}
}

// newObject encodes an object.
func newObject(m maker, obj metav1.Object) (object, error) {
	raw, err := json.Marshal(obj)
	if err != nil {
		return object{}, err
	}
	o, err := wireObject(raw)
	if err != nil {
		return object{}, err
	}
	if typed, ok := obj.(marshaller); ok { // custom resources have no protobuf
		o.binary, err = newMessage(typed, m.apiVersion, m.kind)
	}
	return o, err
}
