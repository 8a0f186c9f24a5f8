package strategy

import (
	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/schema"
	"github.com/bowline-go/bowline/client/meta"
)

// disabled returns the members, by type, that Kubernetes 1.37 drops because the features that they are for are alpha.
func disabled() map[string][]string {
	return map[string][]string{
		"core.v1.PodSpec":                           {"schedulingGroup", "evictionResponders"},
		"core.v1.EmptyDirVolumeSource":              {"mode"},
		"core.v1.VolumeMount":                       {"bindMountOptions"},
		"core.v1.HTTPGetAction":                     {"protocol"},
		"core.v1.GRPCAction":                        {"mode"},
		"core.v1.Lifecycle":                         {"stopSignal"},
		"core.v1.KeyToPath":                         {"user"},
		"core.v1.DownwardAPIVolumeFile":             {"user"},
		"core.v1.ServiceAccountTokenProjection":     {"user"},
		"core.v1.ClusterTrustBundleProjection":      {"user"},
		"core.v1.PodCertificateProjection":          {"user"},
		"core.v1.SecretVolumeSource":                {"defaultUser"},
		"core.v1.ConfigMapVolumeSource":             {"defaultUser"},
		"core.v1.DownwardAPIVolumeSource":           {"defaultUser"},
		"core.v1.ProjectedVolumeSource":             {"defaultUser"},
		"storage.v1.CSINodeStatus":                  {"storageHealth"},
		"resource.v1.ExactDeviceRequest":            {"derivedAttributes"},
		"resource.v1.DeviceSubRequest":              {"derivedAttributes"},
		"resource.v1.ResourceSliceSpec":             {"skipNodeOperations", "partitionTypeAttribute"},
		"resource.v1.Device":                        {"nodeAllocatableResources"},
		"resource.v1.DeviceAttribute":               {"ints", "bools", "strings", "versions"},
		"resource.v1.DeviceCounterConsumption":      {"compatibilityGroups"},
		"resource.v1.DeviceRequestAllocationResult": {"skipNodeOperations"},
	}
}

// MayDrop reports whether an object, other than a pod, may have members that are for alpha features.
func MayDrop(kind meta.GVK, content jsontree.Object) bool {
	spec := inner(content, "spec")
	return spec["template"] != nil || spec["jobTemplate"] != nil || content["template"] != nil ||
		kind.Group == "resource.k8s.io" || kind.Kind == "CSINode"
}

// DropDisabled drops the members of an object that are for alpha features.
func (s *Strategy) DropDisabled(kind meta.GVK, content jsontree.Object) {
	s.dropDisabled(schema.Builtin().Of(kind), content)
}

// dropDisabled drops the members of a value, and of the values in it.
func (s *Strategy) dropDisabled(shape *schema.Shape, v any) {
	if shape == nil {
		return
	}
	if m, ok := v.(jsontree.Object); ok {
		for _, member := range s.disabled[shape.TypeName()] {
			delete(m, member)
		}
		if hooks := inner(m, "lifecycle"); len(hooks) == 1 && hooks["stopSignal"] != nil {
			delete(m, "lifecycle")
		}
	}
	shape.Each(v, s.dropDisabled)
}
