package canned

// The pods that the server serves: about 7 KB of JSON each, like the pods of a Deployment on a cluster. They have
// probes, volumes, tolerations, conditions, statuses, and the managed fields of three writers.

import (
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Nodes is how many nodes the pods are on.
const Nodes = 100

// Pod returns a pod of the collection Plain as JSON, without kind and apiVersion, like an item of a list.
func Pod(i int) ([]byte, error) { return json.Marshal(plainPod(i)) }

// plainPod is pod i of the collection Plain. Every ten pods belong to one workload, and are in ten namespaces.
func plainPod(i int) *corev1.Pod { return newPod(i, i/10, i%50) }

// UID returns the uid of pod i.
func UID(i int) string { return fmt.Sprintf("%08x-0000-4000-8000-%012x", i, i) }

// newPod returns pod i, of a workload and in a namespace. One in ten is pending, the others run.
func newPod(i, workload, namespace int) *corev1.Pod {
	created := metav1.NewTime(time.Date(2026, 1, 1, 0, 0, i, 0, time.UTC))
	app := fmt.Sprintf("app-%d", workload)
	replicas := fmt.Sprintf("%s-%08x", app, workload*2654435761%(1<<32))
	yes, grace, priority := true, int64(30), int32(0)
	phase := corev1.PodRunning
	if i%10 == 9 {
		phase = corev1.PodPending
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:              fmt.Sprintf("%s-%05x", replicas, i),
			GenerateName:      replicas + "-",
			Namespace:         fmt.Sprintf("team-%d", namespace),
			UID:               types.UID(UID(i)),
			ResourceVersion:   fmt.Sprint(100_000 + i),
			CreationTimestamp: created,
			Labels: map[string]string{
				"app.kubernetes.io/name": app, "app.kubernetes.io/instance": app, "app.kubernetes.io/version": "1.27.3",
				"app.kubernetes.io/managed-by": "helm", "pod-template-hash": replicas[len(app)+1:],
			},
			Annotations: map[string]string{
				"prometheus.io/scrape": "true", "prometheus.io/port": "9090",
				"checksum/config": fmt.Sprintf("%064x", i),
			},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "apps/v1", Kind: "ReplicaSet", Name: replicas, UID: types.UID(fmt.Sprintf("%08x-0000-4000-9000-000000000000", workload)),
				Controller: &yes, BlockOwnerDeletion: &yes,
			}},
			ManagedFields: managedFields(created, fmt.Sprintf("%08x-0000-4000-9000-000000000000", workload)),
		},
		Spec: corev1.PodSpec{
			NodeName: fmt.Sprintf("node-%03d", i%Nodes), ServiceAccountName: app, SchedulerName: "default-scheduler",
			RestartPolicy: corev1.RestartPolicyAlways, DNSPolicy: corev1.DNSClusterFirst,
			TerminationGracePeriodSeconds: &grace, Priority: &priority, EnableServiceLinks: &yes,
			Containers: []corev1.Container{container(app, namespace), sidecar()},
			Tolerations: []corev1.Toleration{
				{Key: "node.kubernetes.io/not-ready", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute},
				{Key: "node.kubernetes.io/unreachable", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute},
			},
			Volumes: []corev1.Volume{
				{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
					LocalObjectReference: corev1.LocalObjectReference{Name: app},
				}}},
				{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			},
		},
		Status: status(phase, created, i, workload),
	}
}

func container(app string, namespace int) corev1.Container {
	probe := &corev1.Probe{
		ProbeHandler:  corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/healthz", Port: intstr.FromString("http"), Scheme: "HTTP"}},
		PeriodSeconds: 10, TimeoutSeconds: 1, SuccessThreshold: 1, FailureThreshold: 3,
	}
	return corev1.Container{
		Name: "app", Image: fmt.Sprintf("registry.example.com/team-%d/%s:1.27.3", namespace, app), ImagePullPolicy: corev1.PullIfNotPresent,
		Args: []string{"--listen=:8080", "--metrics=:9090", "--config=/etc/app/config.yaml"},
		Ports: []corev1.ContainerPort{
			{Name: "http", ContainerPort: 8080, Protocol: corev1.ProtocolTCP},
			{Name: "metrics", ContainerPort: 9090, Protocol: corev1.ProtocolTCP},
		},
		Env: []corev1.EnvVar{
			{Name: "LOG_LEVEL", Value: "info"},
			{Name: "DATABASE_HOST", Value: app + "-db.example.svc.cluster.local"},
			{Name: "POD_NAME", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.name"}}},
			{Name: "DATABASE_PASSWORD", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
				LocalObjectReference: corev1.LocalObjectReference{Name: app}, Key: "password",
			}}},
		},
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{"cpu": resource.MustParse("100m"), "memory": resource.MustParse("128Mi")},
			Limits:   corev1.ResourceList{"cpu": resource.MustParse("500m"), "memory": resource.MustParse("512Mi")},
		},
		VolumeMounts: []corev1.VolumeMount{
			{Name: "config", MountPath: "/etc/app", ReadOnly: true},
			{Name: "tmp", MountPath: "/tmp"},
		},
		LivenessProbe: probe, ReadinessProbe: probe,
		TerminationMessagePath: "/dev/termination-log", TerminationMessagePolicy: corev1.TerminationMessageReadFile,
	}
}

func sidecar() corev1.Container {
	return corev1.Container{
		Name: "proxy", Image: "registry.example.com/mesh/proxy:2.4.1", ImagePullPolicy: corev1.PullIfNotPresent,
		Args:  []string{"sidecar", "--concurrency=2"},
		Ports: []corev1.ContainerPort{{Name: "proxy", ContainerPort: 15001, Protocol: corev1.ProtocolTCP}},
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{"cpu": resource.MustParse("10m"), "memory": resource.MustParse("40Mi")},
		},
		TerminationMessagePath: "/dev/termination-log", TerminationMessagePolicy: corev1.TerminationMessageReadFile,
	}
}

func status(phase corev1.PodPhase, at metav1.Time, i, workload int) corev1.PodStatus {
	started := true
	var conditions []corev1.PodCondition
	for _, name := range []corev1.PodConditionType{
		"PodReadyToStartContainers", corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady, corev1.PodScheduled,
	} {
		conditions = append(conditions, corev1.PodCondition{Type: name, Status: corev1.ConditionTrue, LastTransitionTime: at})
	}
	var containers []corev1.ContainerStatus
	for _, name := range []string{"app", "proxy"} {
		containers = append(containers, corev1.ContainerStatus{
			Name: name, Ready: true, Started: &started, Image: "registry.example.com/" + name,
			ImageID:     fmt.Sprintf("registry.example.com/%s@sha256:%064x", name, workload),
			ContainerID: fmt.Sprintf("containerd://%064x", i),
			State:       corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at}},
		})
	}
	ip := fmt.Sprintf("10.%d.%d.%d", i>>16&255, i>>8&255, i&255)
	return corev1.PodStatus{
		Phase: phase, Conditions: conditions, ContainerStatuses: containers, StartTime: &at, QOSClass: corev1.PodQOSBurstable,
		HostIP: fmt.Sprintf("10.255.0.%d", i%Nodes), HostIPs: []corev1.HostIP{{IP: fmt.Sprintf("10.255.0.%d", i%Nodes)}},
		PodIP: ip, PodIPs: []corev1.PodIP{{IP: ip}},
	}
}

// managedFields are those of the controller that made the pod, the scheduler, and the kubelet that runs the pod.
func managedFields(at metav1.Time, owner string) []metav1.ManagedFieldsEntry {
	const container = `".":{},"f:args":{},"f:image":{},"f:imagePullPolicy":{},"f:name":{},"f:ports":{".":{},` +
		`"k:{\"containerPort\":8080,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{},"f:name":{},"f:protocol":{}}},` +
		`"f:resources":{".":{},"f:limits":{".":{},"f:cpu":{},"f:memory":{}},"f:requests":{".":{},"f:cpu":{},"f:memory":{}}},` +
		`"f:terminationMessagePath":{},"f:terminationMessagePolicy":{},"f:volumeMounts":{".":{},` +
		`"k:{\"mountPath\":\"/etc/app\"}":{".":{},"f:mountPath":{},"f:name":{},"f:readOnly":{}}}`
	const condition = `":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}},"k:{\"type\":\"`
	controller := `{"f:metadata":{"f:annotations":{".":{},"f:checksum/config":{},"f:prometheus.io/port":{},"f:prometheus.io/scrape":{}},` +
		`"f:generateName":{},"f:labels":{".":{},"f:app.kubernetes.io/instance":{},"f:app.kubernetes.io/managed-by":{},` +
		`"f:app.kubernetes.io/name":{},"f:app.kubernetes.io/version":{},"f:pod-template-hash":{}},"f:ownerReferences":{".":{},` +
		`"k:{\"uid\":\"` + owner + `\"}":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":{` + container + `},` +
		`"k:{\"name\":\"proxy\"}":{` + container + `}},"f:dnsPolicy":{},"f:enableServiceLinks":{},"f:restartPolicy":{},` +
		`"f:schedulerName":{},"f:serviceAccountName":{},"f:terminationGracePeriodSeconds":{},"f:volumes":{".":{},` +
		`"k:{\"name\":\"config\"}":{".":{},"f:configMap":{".":{},"f:defaultMode":{},"f:name":{}},"f:name":{}}}}}`
	kubelet := `{"f:status":{"f:conditions":{"k:{\"type\":\"ContainersReady\"}` + condition + `Initialized\"}` + condition +
		`Ready\"}":{".":{},"f:status":{},"f:type":{}}},"f:containerStatuses":{},"f:hostIP":{},"f:hostIPs":{},"f:phase":{},` +
		`"f:podIP":{},"f:podIPs":{".":{},"k:{\"ip\":\"10.0.0.1\"}":{".":{},"f:ip":{}}},"f:startTime":{}}}`
	entry := func(manager, subresource, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{
			Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", Time: &at,
			FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields), Subresource: subresource,
		}
	}
	return []metav1.ManagedFieldsEntry{
		entry("kube-controller-manager", "", controller),
		entry("kube-scheduler", "binding", `{"f:spec":{"f:nodeName":{}}}`),
		entry("kubelet", "status", kubelet),
	}
}
