package client

// This file decides whether an object of any kind is ready, by the rules of kstatus (sigs.k8s.io/cli-utils), which
// GitOps tools and kpt use.

import (
	"fmt"
	"strings"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/shown"
)

// UntilReady is met when the object's controller, whatever the kind, has finished its work on the object's latest
// state. The rules are those of kstatus:
//
//   - While the object is being deleted, and while status.observedGeneration is behind metadata.generation, it is not
//     ready.
//   - A condition Stalled that is True is an error. A condition Reconciling that is True means not ready.
//   - The kinds of the table below have rules of their own.
//   - Any other kind is ready if its condition Ready is True, and also if it has no such condition, as a ConfigMap. So
//     an object whose controller has not written a status yet is ready; use [UntilTrue] for a kind whose controller
//     sets Ready.
//
// A condition with an observedGeneration counts only if that is not lower than the object's generation.
//
//	Deployment               its replicas are of the newest template and available, and no others are left;
//	                         an error when its progress deadline has passed
//	StatefulSet              its replicas are ready and updated down to the partition; with OnDelete at once
//	DaemonSet                each node has an available pod, of the newest template unless the strategy is OnDelete
//	ReplicaSet               its replicas are available
//	Pod                      it is Ready or has Succeeded; an error when it has Failed
//	PersistentVolumeClaim    it is Bound; an error when it is Lost
//	Service                  of type LoadBalancer: it has an address; others at once
//	Job                      it has started, is complete or is suspended; an error when it has failed; see
//	                         [UntilComplete]
//	PodDisruptionBudget      its controller has seen it
//	CustomResourceDefinition it is established; an error when its names are not accepted
//
// Here an error means that the object cannot become ready by itself. Pods that crash or cannot be scheduled may still
// recover. So the wait goes on where kstatus says Failed, and the error of a wait that ends describes the failure. A
// LoadBalancer must have an address, where kstatus asks for an address within the cluster.
func UntilReady() Condition {
	return Condition{Name: "ready", Met: func(obj *meta.Raw) (bool, string, error) {
		if obj == nil {
			return false, "", nil
		}
		r := readiness{statusOf(obj)}
		switch stalled, isStalled := r.current("Stalled", "True"); {
		case obj.DeletionTimestamp != nil:
			return false, "it is being deleted", nil
		case r.err != nil:
			return false, r.text("Ready"), nil
		case !r.observedNow():
			return false, fmt.Sprintf("its controller has seen generation %d, and the object's is %d", r.number(0, "status", "observedGeneration"), obj.Generation), nil
		case isStalled:
			return false, r.text("Stalled"), fmt.Errorf("it is stalled: %s", withReason("", stalled.Reason, stalled.Message))
		case r.isTrue("Reconciling"):
			return false, r.text("Reconciling"), nil
		}
		waits, err := r.byKind()
		return waits == "" && err == nil, waits, err
	}}
}

// readiness examines one state of an object.
type readiness struct{ objectStatus }

// byKind describes what the object waits for by the rules of its kind; empty if it is ready. err says why it will never
// be ready.
func (r readiness) byKind() (waits string, err error) {
	group, _ := meta.SplitAPIVersion(r.obj.APIVersion)
	switch (meta.GVK{Group: group, Kind: r.obj.Kind}) {
	case meta.GVK{Group: "apps", Kind: "Deployment"}, meta.GVK{Group: "extensions", Kind: "Deployment"}:
		return r.deployment()
	case meta.GVK{Group: "apps", Kind: "StatefulSet"}:
		return r.statefulSet(), nil
	case meta.GVK{Group: "apps", Kind: "DaemonSet"}, meta.GVK{Group: "extensions", Kind: "DaemonSet"}:
		return r.daemonSet(), nil
	case meta.GVK{Group: "apps", Kind: "ReplicaSet"}, meta.GVK{Group: "extensions", Kind: "ReplicaSet"}, meta.GVK{Kind: "ReplicationController"}:
		return r.replicaSet(), nil
	case meta.GVK{Kind: "Pod"}:
		return r.pod()
	case meta.GVK{Kind: "PersistentVolumeClaim"}:
		return r.claim()
	case meta.GVK{Kind: "Service"}:
		return r.service(), nil
	case meta.GVK{Group: "batch", Kind: "Job"}:
		return r.job()
	case meta.GVK{Group: "policy", Kind: "PodDisruptionBudget"}:
		return r.unseen(), nil
	case meta.GVK{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}:
		return r.definition()
	}
	if _, found := r.find("Ready"); found && !r.isTrue("Ready") {
		return r.text("Ready"), nil
	}
	return "", nil
}

func (r readiness) deployment() (waits string, err error) {
	if progress, ok := r.current("Progressing", "False"); ok && progress.Reason == "ProgressDeadlineExceeded" {
		return r.text("Progressing"), fmt.Errorf("the deployment makes no progress: %s", withReason("", progress.Reason, progress.Message))
	}
	want := r.number(1, "spec", "replicas")
	all, updated := r.number(0, "status", "replicas"), r.number(0, "status", "updatedReplicas")
	available, ready := r.number(0, "status", "availableReplicas"), r.number(0, "status", "readyReplicas")
	switch {
	case r.unseen() != "":
		return r.unseen(), nil
	case updated < want:
		return fmt.Sprintf("%d of %d replicas are updated", updated, want), nil
	case all > want:
		return fmt.Sprintf("%d old replicas are left", all-want), nil
	case available < updated:
		return fmt.Sprintf("%d of %d updated replicas are available", available, updated), nil
	case ready < want:
		return fmt.Sprintf("%d of %d replicas are ready", ready, want), nil
	}
	// Without a deadline the controller sets no condition Progressing. In the API the largest number means no deadline.
	const noDeadline = 1<<31 - 1
	if progress, found := r.find("Progressing"); r.number(noDeadline, "spec", "progressDeadlineSeconds") != noDeadline &&
		(!found || progress.Status != "True" || progress.Reason != "NewReplicaSetAvailable") {
		return "the newest replica set is not available: " + r.text("Progressing"), nil
	}
	if !r.isTrue("Available") {
		return r.text("Available"), nil
	}
	return "", nil
}

func (r readiness) statefulSet() (waits string) {
	if r.string("spec", "updateStrategy", "type") == "OnDelete" {
		return ""
	}
	want := r.number(1, "spec", "replicas")
	all, ready := r.number(0, "status", "replicas"), r.number(0, "status", "readyReplicas")
	updated, partition := r.number(0, "status", "updatedReplicas"), r.number(0, "spec", "updateStrategy", "rollingUpdate", "partition")
	switch {
	case r.unseen() != "":
		return r.unseen()
	case ready < want:
		return fmt.Sprintf("%d of %d replicas are ready", ready, want)
	case all > want:
		return fmt.Sprintf("%d surplus replicas are left", all-want)
	case updated < want-partition:
		return fmt.Sprintf("%d of %d replicas are updated", updated, want-partition)
	case partition == 0 && r.member("currentRevision") != r.member("updateRevision"):
		return "the updated revision is not the current one"
	}
	return ""
}

func (r readiness) daemonSet() (waits string) {
	want := r.number(0, "status", "desiredNumberScheduled")
	scheduled, updated := r.number(0, "status", "currentNumberScheduled"), r.number(0, "status", "updatedNumberScheduled")
	available, ready := r.number(0, "status", "numberAvailable"), r.number(0, "status", "numberReady")
	switch {
	case r.unseen() != "":
		return r.unseen()
	case scheduled < want:
		return fmt.Sprintf("%d of %d pods are scheduled", scheduled, want)
	case updated < want && r.string("spec", "updateStrategy", "type") != "OnDelete":
		return fmt.Sprintf("%d of %d pods are updated", updated, want)
	case available < want:
		return fmt.Sprintf("%d of %d pods are available", available, want)
	case ready < want:
		return fmt.Sprintf("%d of %d pods are ready", ready, want)
	}
	return ""
}

func (r readiness) replicaSet() (waits string) {
	want, all := r.number(1, "spec", "replicas"), r.number(0, "status", "replicas")
	available, ready := r.number(0, "status", "availableReplicas"), r.number(0, "status", "readyReplicas")
	switch {
	case r.unseen() != "":
		return r.unseen()
	case r.isTrue("ReplicaFailure"):
		return r.text("ReplicaFailure")
	case available < want:
		return fmt.Sprintf("%d of %d replicas are available", available, want)
	case ready < want:
		return fmt.Sprintf("%d of %d replicas are ready", ready, want)
	case all > want:
		return fmt.Sprintf("%d surplus replicas are left", all-want)
	}
	return ""
}

func (r readiness) pod() (waits string, err error) {
	phase := r.member("phase")
	waits = shown.Text("phase " + phase)
	switch {
	case phase == "Succeeded" || phase == "Running" && r.isTrue("Ready"):
		return "", nil
	case phase == "Failed":
		return waits, fmt.Errorf("the pod has failed: %s", withReason("", r.member("reason"), r.member("message")))
	case phase == "":
		return "it has no phase yet", nil
	case phase == "Pending":
		if scheduled, found := r.find("PodScheduled"); found && scheduled.Status == "False" {
			waits += ", " + withReason("not scheduled", scheduled.Reason, scheduled.Message)
		}
	default:
		waits += ", " + r.text("Ready")
	}
	for _, of := range []string{"initContainerStatuses", "containerStatuses"} {
		containers, _, _ := meta.Nested[[]map[string]any](r.obj, "status", of)
		for _, c := range containers {
			if len(waits) > shown.MaxText {
				break
			}
			name, _, _ := meta.Nested[string](c, "name")
			reason, _, _ := meta.Nested[string](c, "state", "waiting", "reason")
			if strings.HasSuffix(reason, "BackOff") || strings.HasPrefix(reason, "Err") {
				waits += ", container " + name + " waits: " + reason
			}
		}
	}
	return shown.Text(waits), nil
}

func (r readiness) claim() (waits string, err error) {
	switch phase := r.member("phase"); phase {
	case "Bound":
		return "", nil
	case "Lost":
		return "phase Lost", fmt.Errorf("the claim has lost its volume")
	case "":
		return "it has no phase yet", nil
	default:
		return shown.Text("phase " + phase), nil
	}
}

func (r readiness) service() (waits string) {
	if r.string("spec", "type") != "LoadBalancer" {
		return ""
	}
	if points, _, _ := meta.Nested[[]any](r.obj, "status", "loadBalancer", "ingress"); len(points) == 0 {
		return "the load balancer has no address yet"
	}
	return ""
}

func (r readiness) job() (waits string, err error) {
	if failed, ok := r.current("Failed", "True"); ok {
		return r.text("Failed"), fmt.Errorf("the job has failed: %s", withReason("", failed.Reason, failed.Message))
	}
	if r.isTrue("Complete") || r.isTrue("Suspended") || r.member("startTime") != "" {
		return "", nil
	}
	return "it has not started", nil
}

func (r readiness) definition() (waits string, err error) {
	if r.isTrue("Established") {
		return "", nil
	}
	if names, ok := r.current("NamesAccepted", "False"); ok {
		err = fmt.Errorf("the names are not accepted: %s", withReason("", names.Reason, names.Message))
	}
	return r.text("Established"), err
}

// unseen returns a text if the object's controller has not written a status. It is for kinds whose controllers always
// write status.observedGeneration.
func (r readiness) unseen() string {
	if _, found, _ := meta.Nested[int64](r.obj, "status", "observedGeneration"); !found {
		return "its controller has not seen it yet"
	}
	return ""
}

// observedNow reports whether the status is about the object's present generation, if it names one.
func (r readiness) observedNow() bool {
	observed, found, err := meta.Nested[int64](r.obj, "status", "observedGeneration")
	return !found || err != nil || observed >= r.obj.Generation
}

// number returns a number of the object. If the number is missing, it returns the argument otherwise.
func (r readiness) number(otherwise int64, path ...string) int64 {
	if n, found, err := meta.Nested[int64](r.obj, path...); found && err == nil {
		return n
	}
	return otherwise
}

// string returns a string of the object, or "" if it is missing.
func (r readiness) string(path ...string) string {
	text, _, _ := meta.Nested[string](r.obj, path...)
	return text
}
