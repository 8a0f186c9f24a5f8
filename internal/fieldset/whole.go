package fieldset

import (
	"slices"
	"strings"
)

// OwnedWhole reports whether an object that is the member of that name of an object of the apiVersion, anywhere in it,
// is owned whole: a change of a part of it is a change of all, and a set has it without anything within it. In a set
// that looks like an object that was applied empty, so it takes knowledge of the kinds to tell them apart, which is
// small: it is about groups that Kubernetes itself serves, and of their members those that are owned whole wherever
// that name is. internal/proof/e2e compares it with what the server publishes. False says nothing.
func OwnedWhole(apiVersion, member string) bool {
	group, _, found := strings.Cut(apiVersion, "/")
	if !found {
		group = "" // the core group has no name
	}
	return slices.Contains(builtInGroups, group) && slices.Contains(ownedWhole, member)
}

var builtInGroups = []string{
	"", "admissionregistration.k8s.io", "apps", "autoscaling", "batch", "certificates.k8s.io", "coordination.k8s.io", "discovery.k8s.io",
	"events.k8s.io", "flowcontrol.apiserver.k8s.io", "networking.k8s.io", "node.k8s.io", "policy", "rbac.authorization.k8s.io",
	"resource.k8s.io", "scheduling.k8s.io", "storage.k8s.io",
}

var ownedWhole = []string{
	"claimRef", "configMapKeyRef", "dataSource", "fieldRef", "fileKeyRef", "involvedObject", "labelSelector", "matchConstraints",
	"matchResources", "namespaceSelector", "nodeSelector", "objectSelector", "paramKind", "paramRef", "podSelector", "preference",
	"regarding", "related", "required", "requiredDuringSchedulingIgnoredDuringExecution", "resourceFieldRef", "roleRef", "scopeSelector",
	"secretKeyRef", "selector", "targetRef",
}
