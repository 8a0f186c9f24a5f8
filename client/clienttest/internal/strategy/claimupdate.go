package strategy

import (
	"maps"
	"slices"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
)

const betaClass = "volume.beta.kubernetes.io/storage-class"

// checkClaimUpdate checks the changes of a claim.
func checkClaimUpdate(v value) {
	spec := v.at("spec")
	if class := v.at("metadata", "annotations").key(betaClass); class.text() != before(class).text() {
		class.path = "metadata.annotations[" + betaClass + "]"
		class.invalid("field is immutable")
	}
	sized := spec.at("resources", "requests").exists() // requests may change, if there are any
	if !jsontree.Equal(fixedClaim(v, sized), fixedClaim(before(v), sized)) {
		spec.forbidden("is immutable after creation except resources.requests and volumeAttributesClassName for bound claims")
	}
	size, capacity := spec.at("resources", "requests", "storage"), before(v.at("status", "capacity", "storage"))
	if size.amount().Cmp(before(size).amount()) < 0 && size.amount().Cmp(capacity.amount()) <= 0 {
		size.forbidden("field can not be less than status.capacity")
	}
	mode := spec.at("volumeMode")
	mode.path = "volumeMode"
	mode.immutable()
	attributes, current := spec.at("volumeAttributesClassName"), v.at("status", "currentVolumeAttributesClassName")
	if !attributes.unchanged() && attributes.text() == "" && before(current).exists() {
		attributes.forbidden("may not be removed once a class is in use")
	}
}

// fixedClaim returns the spec of a claim without the members that may change now. sized says whether the size may
// change.
func fixedClaim(v value, sized bool) jsontree.Object {
	old, _ := v.at("spec").was.(jsontree.Object) // even if v is the old claim
	m, _ := v.at("spec").is.(jsontree.Object)
	m = maps.Clone(m)
	if name, _ := old["volumeName"].(string); name == "" {
		delete(m, "volumeName")
	}
	if old["storageClassName"] == nil {
		delete(m, "storageClassName")
	}
	if v.at("status", "phase").text() == "Bound" {
		delete(m, "volumeAttributesClassName")
		resources := maps.Clone(inner(m, "resources"))
		requests := maps.Clone(inner(resources, "requests"))
		delete(requests, "storage")
		if resources != nil && sized {
			resources["requests"], m["resources"] = requests, resources
		}
	}
	return m
}

func checkClaimStatus(v value) {
	status := v.at("status")
	capacity := status.at("capacity")
	for _, name := range capacity.keys() {
		if q := capacity.key(name); q.isNegative() {
			q.invalid("must be a valid resource quantity")
		}
	}
	states := status.at("allocatedResourceStatuses")
	for _, name := range states.keys() {
		states.claimResource(name)
		if !slices.Contains([]string{
			"ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizePending", "NodeResizeInProgress",
			"NodeResizeInfeasible",
		}, states.key(name).text()) {
			states.unsupported("ControllerResizeInProgress")
		}
	}
	allocated := status.at("allocatedResources")
	for _, name := range allocated.keys() {
		if q := allocated.key(name); allocated.claimResource(name) && q.isNegative() {
			q.invalid("must be greater than or equal to 0")
		}
	}
}

// claimResource reports the name of a resource that no claim can have.
func (v value) claimResource(name string) bool {
	if why := qualified(name); len(why) > 0 {
		return v.fits(why)
	}
	if isNative(name) && name != "storage" {
		v.unsupported("storage")
		return false
	}
	return true
}
