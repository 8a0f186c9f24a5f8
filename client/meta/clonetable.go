package meta

import (
	"slices"
	"strings"
)

// This file lists the values that servers and controllers write into objects. A test in internal/proof/e2e creates
// copies of all built-in kinds at a real kube-apiserver.

func stripMetadata(metadata map[string]any) {
	for _, name := range []string{
		"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
		"selfLink", "managedFields", "ownerReferences", "finalizers",
	} {
		delete(metadata, name)
	}
	drop(metadata, "labels", generatedLabels())
	drop(metadata, "annotations", []string{
		"autoscaling.alpha.kubernetes.io/conditions", "autoscaling.alpha.kubernetes.io/current-metrics",
		"batch.kubernetes.io/cronjob-scheduled-timestamp", "batch.kubernetes.io/job-tracking",
		"deployment.kubernetes.io/desired-replicas", "deployment.kubernetes.io/max-replicas",
		"deployment.kubernetes.io/revision", "deployment.kubernetes.io/revision-history",
		"deprecated.daemonset.template.generation", "endpoints.kubernetes.io/last-change-trigger-time",
		"endpoints.kubernetes.io/over-capacity", "kubectl.kubernetes.io/last-applied-configuration",
		"kubernetes.io/config.hash", "kubernetes.io/config.mirror", "kubernetes.io/config.seen", "kubernetes.io/config.source",
		"kubernetes.io/limit-ranger", "kubernetes.io/service-account.uid",
		"pv.kubernetes.io/bind-completed", "pv.kubernetes.io/bound-by-controller", "pv.kubernetes.io/migrated-to",
		"volume.beta.kubernetes.io/storage-provisioner", "volume.kubernetes.io/selected-node",
		"volume.kubernetes.io/storage-provisioner", "volume.kubernetes.io/storage-resizer",
	})
}

// generatedLabels are the labels that distinguish the pods and replica sets of one owner from those of another, and
// those that repeat the name or the uid of an object.
func generatedLabels() []string {
	return []string{
		"apps.kubernetes.io/pod-index", "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-completion-index",
		"batch.kubernetes.io/job-name", "controller-revision-hash", "controller-uid", "job-name",
		"kube-aggregator.kubernetes.io/automanaged", "kubernetes.io/metadata.name", "pod-template-generation",
		"pod-template-hash", "statefulset.kubernetes.io/pod-name",
	}
}

// stripped is the copy of an object; its methods remove the values that servers and controllers have set.
type stripped struct {
	content map[string]any
	to      CloneTarget
}

func (s stripped) kind(kind GVK) {
	delete(s.content, "status")
	switch kind.Group + "/" + kind.Kind {
	case "/Namespace":
		s.drop("spec", "finalizers")
	case "/Node":
		s.drop("spec", "podCIDR", "podCIDRs", "providerID")
		s.filter("spec", "taints", func(taint map[string]any) bool { return !isText(taint, "key", "node.kubernetes.io/") })
	case "/PersistentVolume":
		s.volume()
	case "/PersistentVolumeClaim":
		s.drop("spec", "volumeName")
	case "/Pod":
		s.pod()
	case "/Secret":
		if s.content["type"] == "kubernetes.io/service-account-token" {
			s.drop("data", "token", "ca.crt", "namespace")
		}
	case "/Service":
		s.service()
	case "/Event", "events.k8s.io/Event":
		s.event()
	case "apps/ReplicaSet":
		s.drop("spec.selector.matchLabels", "pod-template-hash")
		s.drop("spec.template.metadata.labels", "pod-template-hash")
	case "batch/Job":
		s.job()
	case "certificates.k8s.io/CertificateSigningRequest":
		s.drop("spec", "username", "uid", "groups", "extra")
	}
}

// pod drops the fields that admission plugins and the scheduler have set, and the fields that a create refuses. The
// server adds the volume of the service account again.
func (s stripped) pod() {
	s.drop("spec", "nodeName", "priority", "preemptionPolicy", "ephemeralContainers")
	if spec := s.at("spec"); spec["runtimeClassName"] != nil {
		delete(spec, "overhead")
	}
	const token = "kube-api-access-"
	s.filter("spec", "volumes", func(volume map[string]any) bool { return volume["projected"] == nil || !isText(volume, "name", token) })
	for _, list := range []string{"containers", "initContainers"} {
		s.filter("spec", list, func(container map[string]any) bool {
			stripped{container, s.to}.filter("", "volumeMounts", func(mount map[string]any) bool { return !isText(mount, "name", token) })
			return true
		})
	}
}

// volume drops the reference to a claim if a controller has chosen the claim. If a user has set the reference, volume
// drops only the claim's uid and resource version from it.
func (s stripped) volume() {
	if s.at("metadata.annotations")["pv.kubernetes.io/bound-by-controller"] != nil {
		s.drop("spec", "claimRef")
	}
	s.drop("spec.claimRef", "uid", "resourceVersion")
}

// service drops the addresses and ports that the server has allocated. A headless service stays headless.
func (s stripped) service() {
	spec := s.at("spec")
	if spec["clusterIP"] != "None" {
		s.drop("spec", "clusterIP", "clusterIPs")
	}
	s.drop("spec", "healthCheckNodePort")
	if s.to.OtherCluster {
		s.drop("spec", "ipFamilies", "ipFamilyPolicy")
	}
	s.filter("spec", "ports", func(port map[string]any) bool {
		delete(port, "nodePort")
		return true
	})
}

// job drops the selector that the server makes from the uid of a job, and the labels that the selector matches.
func (s stripped) job() {
	if spec := s.at("spec"); spec["manualSelector"] != true {
		delete(spec, "selector")
		s.drop("spec.template.metadata.labels",
			"batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name", "controller-uid", "job-name")
	}
}

// event sets the namespace of the object that the event is about, because the server requires that it equals the
// namespace of the event.
func (s stripped) event() {
	for _, name := range []string{"involvedObject", "regarding"} {
		if object := s.at(name); s.to.Namespace != "" && object["namespace"] != nil {
			object["namespace"] = s.to.Namespace
		}
	}
}

// at returns the object at a path of members, nil if there is none.
func (s stripped) at(path string) map[string]any {
	object := s.content
	for name := range strings.SplitSeq(path, ".") {
		if name != "" {
			object, _ = object[name].(map[string]any)
		}
	}
	return object
}

// drop deletes members of the object at a path.
func (s stripped) drop(path string, names ...string) {
	object := s.at(path)
	for _, name := range names {
		delete(object, name)
	}
}

// filter keeps the objects of a list for which keep returns true. If the list becomes empty, filter deletes it.
func (s stripped) filter(path, name string, keep func(map[string]any) bool) {
	object := s.at(path)
	list, ok := object[name].([]any)
	if !ok {
		return
	}
	list = slices.DeleteFunc(list, func(element any) bool {
		e, ok := element.(map[string]any)
		return ok && !keep(e)
	})
	if object[name] = list; len(list) == 0 {
		delete(object, name)
	}
}

// drop deletes entries of the map in a member, and the member if nothing else is in the map.
func drop(object map[string]any, name string, keys []string) {
	entries, ok := object[name].(map[string]any)
	if !ok {
		return
	}
	for _, key := range keys {
		delete(entries, key)
	}
	if len(entries) == 0 {
		delete(object, name)
	}
}

// isText reports whether a member is a text with that prefix.
func isText(object map[string]any, name, prefix string) bool {
	text, ok := object[name].(string)
	return ok && strings.HasPrefix(text, prefix)
}
