package fieldset

import (
	"slices"
	"strings"
)

// OwnedWhole reports whether a member of that name, anywhere in an object of the apiVersion, is an object that is
// owned whole: a manager owns all of its fields or none. A set names such an object without the fields within it. An
// empty object that was applied looks the same in a set, so only knowledge of the kinds tells the two apart.
// OwnedWhole knows only the groups that Kubernetes itself serves, and only members that are owned whole wherever their
// name occurs in a group. If the result is false, the member may still be owned whole. internal/proof/e2e compares
// the list with the schemas that the server publishes.
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
