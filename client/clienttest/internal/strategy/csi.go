package strategy

import (
	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
)

// defaultCSIDriver completes a CSIDriver.
func defaultCSIDriver(m jsontree.Object) {
	spec := section(m, "spec")
	setDefault(spec, "attachRequired", true)
	for _, name := range []string{
		"podInfoOnMount", "storageCapacity", "requiresRepublish", "seLinuxMount", "preventPodSchedulingIfMissing",
	} {
		setDefault(spec, name, false)
	}
	setDefault(spec, "fsGroupPolicy", "ReadWriteOnceWithFSType")
	if modes, _ := spec["volumeLifecycleModes"].([]any); len(modes) == 0 {
		spec["volumeLifecycleModes"] = []any{"Persistent"}
	}
}

// checkCSIDriver checks a CSIDriver.
func checkCSIDriver(v value) {
	spec := v.at("spec")
	attach, modes, tokens := spec.at("attachRequired"), spec.at("volumeLifecycleModes"), spec.at("tokenRequests")
	attach.path = "spec.attachedRequired" // as in a real server's errors
	attach.immutable()
	modes.immutable()
	for _, mode := range modes.items() {
		if mode.text() != "Persistent" && mode.text() != "Ephemeral" {
			modes.unsupported("Persistent", "Ephemeral")
		}
	}
	if policy := spec.at("fsGroupPolicy"); policy.exists() {
		policy.among("File", "None", "ReadWriteOnceWithFSType")
	}
	checkTokenRequests(tokens)
	if period := spec.at("nodeAllocatableUpdatePeriodSeconds"); period.exists() {
		period.atLeast(10)
	}
	if secrets := spec.at("serviceAccountTokenInSecrets"); secrets.exists() && tokens.len() == 0 {
		secrets.invalid("serviceAccountTokenInSecrets needs tokenRequests")
	}
}

// checkTokenRequests checks the tokens that a CSI driver wants. Their audiences must differ.
func checkTokenRequests(list value) {
	seen := map[string]bool{}
	for _, request := range list.items() {
		audience, seconds := request.at("audience"), request.at("expirationSeconds")
		if seen[audience.text()] {
			audience.duplicate()
			continue
		}
		seen[audience.text()] = true
		if seconds.exists() {
			seconds.between(600, 1<<32)
		}
	}
}

// checkCSINode checks a CSINode.
func checkCSINode(v value) {
	drivers := v.at("spec", "drivers")
	seen := map[string]bool{}
	for _, driver := range drivers.items() {
		name, id := driver.at("name"), driver.at("nodeID")
		checkDriverName(name)
		if seen[name.text()] {
			name.duplicate()
		}
		seen[name.text()] = true
		if id.must() && id.len() > 256 {
			id.invalid("must be 256 characters or less")
		}
		driver.at("allocatable", "count").natural()
		checkTopologyKeys(driver)
	}
	for _, old := range before(drivers).items() {
		for _, driver := range drivers.items() {
			same := same(lacking(driver.is, "allocatable"), lacking(old.is, "allocatable"))
			if driver.at("name").text() == old.at("name").text() && !same {
				drivers.invalid("field is immutable")
			}
		}
	}
}

// checkTopologyKeys checks the labels of nodes that a driver knows. A real server names the driver, not the label.
func checkTopologyKeys(driver value) {
	seen := map[string]bool{}
	for _, key := range driver.at("topologyKeys").items() {
		key = key.as(driver)
		key.must()
		if seen[key.text()] {
			key.duplicate()
		}
		seen[key.text()] = true
		key.fits(qualified(key.text()))
	}
}

// checkCSIStorageCapacity checks a CSIStorageCapacity.
func checkCSIStorageCapacity(v value) {
	topology, class := v.at("nodeTopology"), v.at("storageClassName")
	checkSelector(topology)
	class.fits(subdomain(class.text()))
	if v.at("capacity").isNegative() {
		v.at("capacity").invalid("must be greater than or equal to 0")
	}
	if v.updates && !sameSpec(topology.is, topology.was) {
		topology.invalid("field is immutable")
	}
	class.immutable()
}

// checkVolumeAttributesClass checks a VolumeAttributesClass.
func checkVolumeAttributesClass(v value) {
	driver, parameters := v.at("driverName"), v.at("parameters")
	if driver.must() {
		driver.fits(qualified(lowered(driver.text())))
	}
	checkParameters(parameters)
	if parameters.len() == 0 {
		parameters.required("must contain at least one key/value pair")
	}
	for _, of := range []value{driver, parameters} {
		if v.updates && !of.unchanged() {
			of.forbidden("may not change")
		}
	}
}
