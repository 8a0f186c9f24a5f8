package strategy

import (
	"strings"

	"github.com/bowline-go/bowline/client/meta"
)

// addMigrations adds StorageVersionMigration.
func addMigrations(all map[meta.GVK]kind) {
	all[meta.GVK{Group: "storagemigration.k8s.io", Version: "v1", Kind: "StorageVersionMigration"}] = kind{
		check: checkMigration, status: checkMigrationStatus,
	}
}

// checkMigration checks a StorageVersionMigration.
func checkMigration(v value) {
	spec := v.at("spec")
	group, resource := spec.at("resource", "group"), spec.at("resource", "resource")
	if resource.must() {
		resource.fits(label1035(resource.text()))
	}
	if group.text() != "" {
		group.fits(subdomain(group.text()))
	}
	spec.immutable()
}

// checkMigrationStatus checks the status of a StorageVersionMigration: it ends once, with success or without.
func checkMigrationStatus(v value) {
	version, conditions := v.at("status", "resourceVersion"), v.at("status", "conditions")
	if text := version.text(); text != "" && (strings.Trim(text, digits) != "" || text[0] == '0') {
		version.invalid("must be a resource version")
	}
	checkStatusConditions(conditions)
	if before(version).text() != "" {
		version.immutable()
	}
	if hasTrue(conditions, "Succeeded") && hasTrue(conditions, "Failed") {
		conditions.invalid("cannot be both succeeded and failed")
	}
	for _, name := range []string{"Succeeded", "Failed"} {
		if hasTrue(before(conditions), name) && !hasTrue(conditions, name) {
			conditions.invalid("cannot be taken back")
		}
	}
}
