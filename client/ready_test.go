package client_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

func TestUntilReadyByKind(t *testing.T) {
	const (
		seen      = `"observedGeneration":3`
		available = `{"type":"Available","status":"True"}`
		rolled    = `{"type":"Progressing","status":"True","reason":"NewReplicaSetAvailable"}`
		late      = `{"type":"Progressing","status":"False","reason":"ProgressDeadlineExceeded","message":"too slow"}`
	)
	for _, test := range []struct {
		name         string
		kind         string // group/version Kind
		spec, status string
		want         string // empty where it is ready; "error: ..." where it never will be
	}{
		// Any kind.
		{"a kind without a status", "v1 ConfigMap", ``, ``, ""},
		{"no condition Ready", "example.com/v1 Site", ``, `"conditions":[{"type":"Other","status":"False"}]`, ""},
		{"Ready", "example.com/v1 Site", ``, `"conditions":[{"type":"Ready","status":"True"}]`, ""},
		{"not Ready", "example.com/v1 Site", ``, `"conditions":[{"type":"Ready","status":"False","reason":"Busy"}]`, "condition Ready False: Busy"},
		{"Ready is unknown", "example.com/v1 Site", ``, `"conditions":[{"type":"Ready","status":"Unknown"}]`, "condition Ready Unknown"},
		{
			"Ready for an earlier generation", "example.com/v1 Site", ``, `"conditions":[{"type":"Ready","status":"True","observedGeneration":2}]`,
			"condition Ready True (of generation 2, and the object's is 3)",
		},
		{
			"a status of an earlier generation", "example.com/v1 Site", ``, `"observedGeneration":2,"conditions":[{"type":"Ready","status":"True"}]`,
			"its controller has seen generation 2, and the object's is 3",
		},
		{
			"a status of this generation", "example.com/v1 Site", ``, seen + `,"conditions":[{"type":"Ready","status":"True"}]`, "",
		},
		{
			"reconciling", "example.com/v1 Site", ``,
			`"conditions":[{"type":"Ready","status":"True"},{"type":"Reconciling","status":"True","message":"step 2"}]`,
			"condition Reconciling True: step 2",
		},
		{"not reconciling", "example.com/v1 Site", ``, `"conditions":[{"type":"Reconciling","status":"False"}]`, ""},
		{
			"stalled", "example.com/v1 Site", ``, `"conditions":[{"type":"Stalled","status":"True","reason":"NoQuota","message":"ask for more"}]`,
			"error: it is stalled: NoQuota: ask for more",
		},
		{"stalled before this generation", "example.com/v1 Site", ``, `"conditions":[{"type":"Stalled","status":"True","observedGeneration":2}]`, ""},
		{"not stalled", "example.com/v1 Site", ``, `"conditions":[{"type":"Stalled","status":"False"}]`, ""},
		{"stalled, of a kind with rules", "v1 Service", ``, `"conditions":[{"type":"Stalled","status":"True"}]`, "error: it is stalled: no reason given"},
		{
			"conditions that are none", "example.com/v1 Site", ``, `"conditions":7`,
			"its conditions cannot be read: read status.conditions: decode into []client.statusCondition: a JSON number does not fit (byte 0)",
		},

		{"a new one", "apps/v1 Deployment", `"replicas":0`, ``, "its controller has not seen it yet"},
		{"of an earlier template", "apps/v1 Deployment", `"replicas":3`, seen + `,"replicas":3,"updatedReplicas":2`, "2 of 3 replicas are updated"},
		{"one replica by default", "apps/v1 Deployment", ``, seen, "0 of 1 replicas are updated"},
		{"with old replicas", "apps/v1 Deployment", `"replicas":3`, seen + `,"replicas":4,"updatedReplicas":3`, "1 old replicas are left"},
		{
			"not all available", "apps/v1 Deployment", `"replicas":3`, seen + `,"replicas":3,"updatedReplicas":3,"availableReplicas":1`,
			"1 of 3 updated replicas are available",
		},
		{
			"not all ready", "apps/v1 Deployment", `"replicas":3`,
			seen + `,"replicas":3,"updatedReplicas":3,"availableReplicas":3,"readyReplicas":2`, "2 of 3 replicas are ready",
		},
		{
			"its replica set is not done", "apps/v1 Deployment", `"progressDeadlineSeconds":600`,
			seen + `,"replicas":1,"updatedReplicas":1,"availableReplicas":1,"readyReplicas":1,"conditions":[` + available + `]`,
			"the newest replica set is not available: no condition Progressing",
		},
		{
			"not Available", "apps/v1 Deployment", `"progressDeadlineSeconds":600`,
			seen + `,"replicas":1,"updatedReplicas":1,"availableReplicas":1,"readyReplicas":1,"conditions":[` + rolled + `]`, "no condition Available",
		},
		{
			"rolled out", "apps/v1 Deployment", `"progressDeadlineSeconds":600`,
			seen + `,"replicas":1,"updatedReplicas":1,"availableReplicas":1,"readyReplicas":1,"conditions":[` + available + `,` + rolled + `]`, "",
		},
		{
			"rolled out without a deadline", "apps/v1 Deployment", `"progressDeadlineSeconds":2147483647`,
			seen + `,"replicas":1,"updatedReplicas":1,"availableReplicas":1,"readyReplicas":1,"conditions":[` + available + `]`, "",
		},
		{"past its deadline", "apps/v1 Deployment", ``, seen + `,"conditions":[` + late + `]`, "error: the deployment makes no progress: ProgressDeadlineExceeded: too slow"},
		{"scaled to zero", "extensions/v1beta1 Deployment", `"replicas":0`, seen + `,"conditions":[` + available + `]`, ""},

		{"a new one", "apps/v1 StatefulSet", `"replicas":0`, ``, "its controller has not seen it yet"},
		{"on delete", "apps/v1 StatefulSet", `"updateStrategy":{"type":"OnDelete"}`, ``, ""},
		{"not all ready", "apps/v1 StatefulSet", `"replicas":3`, seen + `,"replicas":3,"readyReplicas":2`, "2 of 3 replicas are ready"},
		{"too many", "apps/v1 StatefulSet", `"replicas":1`, seen + `,"replicas":2,"readyReplicas":2`, "1 surplus replicas are left"},
		{
			"not all updated", "apps/v1 StatefulSet", `"replicas":3,"updateStrategy":{"rollingUpdate":{"partition":0}}`,
			seen + `,"replicas":3,"readyReplicas":3,"updatedReplicas":2`, "2 of 3 replicas are updated",
		},
		{
			"updated down to the partition", "apps/v1 StatefulSet", `"replicas":3,"updateStrategy":{"rollingUpdate":{"partition":1}}`,
			seen + `,"replicas":3,"readyReplicas":3,"updatedReplicas":2,"currentRevision":"a","updateRevision":"b"`, "",
		},
		{
			"not updated down to it", "apps/v1 StatefulSet", `"replicas":3,"updateStrategy":{"rollingUpdate":{"partition":1}}`,
			seen + `,"replicas":3,"readyReplicas":3,"updatedReplicas":1`, "1 of 2 replicas are updated",
		},
		{
			"of two revisions", "apps/v1 StatefulSet", ``, seen + `,"replicas":1,"readyReplicas":1,"updatedReplicas":1,"currentRevision":"a","updateRevision":"b"`,
			"the updated revision is not the current one",
		},
		{
			"rolled out", "apps/v1 StatefulSet", ``, seen + `,"replicas":1,"readyReplicas":1,"updatedReplicas":1,"currentRevision":"b","updateRevision":"b"`, "",
		},

		{"a new one", "apps/v1 DaemonSet", ``, ``, "its controller has not seen it yet"},
		{"not scheduled", "apps/v1 DaemonSet", ``, seen + `,"desiredNumberScheduled":3,"currentNumberScheduled":2`, "2 of 3 pods are scheduled"},
		{"not updated", "apps/v1 DaemonSet", ``, seen + `,"desiredNumberScheduled":3,"currentNumberScheduled":3,"updatedNumberScheduled":1`, "1 of 3 pods are updated"},
		{
			"not updated, on delete", "apps/v1 DaemonSet", `"updateStrategy":{"type":"OnDelete"}`,
			seen + `,"desiredNumberScheduled":1,"currentNumberScheduled":1,"numberAvailable":1,"numberReady":1`, "",
		},
		{
			"not available", "apps/v1 DaemonSet", ``, seen + `,"desiredNumberScheduled":1,"currentNumberScheduled":1,"updatedNumberScheduled":1,"numberReady":1`,
			"0 of 1 pods are available",
		},
		{
			"not ready", "apps/v1 DaemonSet", ``, seen + `,"desiredNumberScheduled":1,"currentNumberScheduled":1,"updatedNumberScheduled":1,"numberAvailable":1`,
			"0 of 1 pods are ready",
		},
		{"for no node", "apps/v1 DaemonSet", ``, seen + `,"desiredNumberScheduled":0`, ""},

		{"a new one", "apps/v1 ReplicaSet", `"replicas":0`, ``, "its controller has not seen it yet"},
		{
			"that cannot make pods", "apps/v1 ReplicaSet", ``, seen + `,"conditions":[{"type":"ReplicaFailure","status":"True","reason":"FailedCreate"}]`,
			"condition ReplicaFailure True: FailedCreate",
		},
		{"not available", "apps/v1 ReplicaSet", `"replicas":2`, seen + `,"replicas":2,"readyReplicas":2,"availableReplicas":1`, "1 of 2 replicas are available"},
		{"not ready", "apps/v1 ReplicaSet", `"replicas":2`, seen + `,"replicas":2,"readyReplicas":1,"availableReplicas":2`, "1 of 2 replicas are ready"},
		{"too many", "v1 ReplicationController", `"replicas":0`, seen + `,"replicas":1`, "1 surplus replicas are left"},
		{"all of them", "apps/v1 ReplicaSet", `"replicas":2`, seen + `,"replicas":2,"readyReplicas":2,"availableReplicas":2`, ""},

		{"a new one", "v1 Pod", ``, ``, "it has no phase yet"},
		{"pending", "v1 Pod", ``, `"phase":"Pending"`, "phase Pending"},
		{
			"that fits nowhere", "v1 Pod", ``, `"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"0/3 nodes"}]`,
			"phase Pending, not scheduled: Unschedulable: 0/3 nodes",
		},
		{
			"that crashes", "v1 Pod", ``,
			`"phase":"Running","conditions":[{"type":"Ready","status":"False"}],"containerStatuses":[{"name":"web","state":{"waiting":{"reason":"CrashLoopBackOff"}}}]`,
			"phase Running, condition Ready False, container web waits: CrashLoopBackOff",
		},
		{
			"without its image", "v1 Pod", ``, `"phase":"Pending","initContainerStatuses":[{"name":"i","state":{"waiting":{"reason":"ErrImagePull"}}}]`,
			"phase Pending, container i waits: ErrImagePull",
		},
		{"running", "v1 Pod", ``, `"phase":"Running"`, "phase Running, no condition Ready"},
		{"ready", "v1 Pod", ``, `"phase":"Running","conditions":[{"type":"Ready","status":"True"}]`, ""},
		{"that has succeeded", "v1 Pod", ``, `"phase":"Succeeded","conditions":[{"type":"Ready","status":"False"}]`, ""},
		{"that has failed", "v1 Pod", ``, `"phase":"Failed","reason":"Evicted"`, "error: the pod has failed: Evicted"},

		{"a new one", "v1 PersistentVolumeClaim", ``, ``, "it has no phase yet"},
		{"pending", "v1 PersistentVolumeClaim", ``, `"phase":"Pending"`, "phase Pending"},
		{"bound", "v1 PersistentVolumeClaim", ``, `"phase":"Bound"`, ""},
		{"lost", "v1 PersistentVolumeClaim", ``, `"phase":"Lost"`, "error: the claim has lost its volume"},

		{"within the cluster", "v1 Service", `"type":"ClusterIP"`, ``, ""},
		{"without an address", "v1 Service", `"type":"LoadBalancer","clusterIP":"10.0.0.1"`, `"loadBalancer":{}`, "the load balancer has no address yet"},
		{"with an address", "v1 Service", `"type":"LoadBalancer"`, `"loadBalancer":{"ingress":[{"ip":"192.0.2.1"}]}`, ""},
		{"of another group", "serving.knative.dev/v1 Service", `"type":"LoadBalancer"`, ``, ""},

		{"a new one", "batch/v1 Job", ``, ``, "it has not started"},
		{"under way", "batch/v1 Job", ``, `"startTime":"2026-01-02T03:04:05Z"`, ""},
		{"complete", "batch/v1 Job", ``, `"conditions":[{"type":"Complete","status":"True"}]`, ""},
		{"suspended", "batch/v1 Job", ``, `"conditions":[{"type":"Suspended","status":"True"}]`, ""},
		{
			"failed", "batch/v1 Job", ``, `"startTime":"2026-01-02T03:04:05Z","conditions":[{"type":"Failed","status":"True","reason":"BackoffLimitExceeded"}]`,
			"error: the job has failed: BackoffLimitExceeded",
		},

		{"a new one", "policy/v1 PodDisruptionBudget", ``, ``, "its controller has not seen it yet"},
		{"seen", "policy/v1 PodDisruptionBudget", ``, seen, ""},
		{"of an earlier generation", "policy/v1 PodDisruptionBudget", ``, `"observedGeneration":1`, "its controller has seen generation 1, and the object's is 3"},

		{"a new one", "apiextensions.k8s.io/v1 CustomResourceDefinition", ``, ``, "no condition Established"},
		{"established", "apiextensions.k8s.io/v1 CustomResourceDefinition", ``, `"conditions":[{"type":"Established","status":"True"}]`, ""},
		{
			"whose names are taken", "apiextensions.k8s.io/v1 CustomResourceDefinition", ``,
			`"conditions":[{"type":"NamesAccepted","status":"False","reason":"Conflict"},{"type":"Established","status":"False"}]`,
			"error: the names are not accepted: Conflict",
		},
		{
			"whose earlier names were taken", "apiextensions.k8s.io/v1 CustomResourceDefinition", ``,
			`"conditions":[{"type":"NamesAccepted","status":"False","reason":"Conflict","observedGeneration":2},{"type":"Established","status":"False"}]`,
			"condition Established False",
		},
	} {
		t.Run(test.kind+" "+test.name, func(t *testing.T) {
			var apiVersion, kind string
			if _, err := fmt.Sscan(test.kind, &apiVersion, &kind); err != nil {
				t.Fatal(err)
			}
			text := fmt.Sprintf(`{"kind":%q,"apiVersion":%q,"metadata":{"name":"a","uid":"u","generation":3},"spec":{%s},"status":{%s}}`,
				kind, apiVersion, test.spec, test.status)
			obj := new(meta.Raw)
			if err := json.Unmarshal([]byte(text), obj); err != nil {
				t.Fatal(err)
			}
			met, got, err := client.UntilReady().Met(obj)
			if err != nil {
				got = "error: " + err.Error()
			}
			if got != test.want || met != (test.want == "") {
				t.Errorf("ready is %v, because %q; want %q", met, got, test.want)
			}
			when := meta.Time{}
			obj.DeletionTimestamp = &when
			if met, state, err := client.UntilReady().Met(obj); met || err != nil || state != "it is being deleted" {
				t.Errorf("being deleted it is ready: %v, %q, %v", met, state, err)
			}
		})
	}
	// The text had a phase as the server sent it.
	for _, status := range []map[string]any{
		{"phase": "\x1b[2J" + strings.Repeat("x", 100_000)},
		{"phase": "Pending", "containerStatuses": slices.Repeat([]any{map[string]any{
			"name": strings.Repeat("x", 1000), "state": map[string]any{"waiting": map[string]any{"reason": "Err\x1b[2J"}},
		}}, 100)},
	} {
		text, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "Pod", "status": status})
		obj := new(meta.Raw)
		if err := errors.Join(err, json.Unmarshal(text, obj)); err != nil {
			t.Fatal(err)
		}
		if _, state, _ := client.UntilReady().Met(obj); len(state) > 5000 || strings.Contains(state, "\x1b") || !strings.HasPrefix(state, "phase ") {
			t.Errorf("a text of %d bytes: %.50q", len(state), state)
		}
	}
	if met, state, err := client.UntilReady().Met(nil); met || state != "" || err != nil {
		t.Errorf("nothing is ready: %v, %q, %v", met, state, err)
	}
}
