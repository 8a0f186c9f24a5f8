package clienttest

import (
	"maps"
	"slices"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
)

// The parts of objects that subresources write.

func statusPart(old, d *object.Draft) *object.Draft {
	status, found := d.Content["status"]
	d = old.Clone()
	delete(d.Content, "status")
	if found {
		d.Content["status"] = status
	}
	return d
}

// resizePart is the part that resize writes: the resources of the containers, which are matched by name.
func resizePart(old, d *object.Draft) *object.Draft {
	containers := func(d *object.Draft) []any {
		spec, _ := d.Content["spec"].(jsontree.Object)
		list, _ := spec["containers"].([]any)
		return list
	}
	wanted := map[any]any{}
	for _, v := range containers(d) {
		if m, ok := v.(jsontree.Object); ok {
			wanted[m["name"]] = m["resources"]
		}
	}
	list := slices.Clone(containers(old))
	for i, v := range list {
		m, _ := v.(jsontree.Object)
		if resources := wanted[m["name"]]; m != nil && resources != nil {
			m = maps.Clone(m)
			m["resources"] = resources
			list[i] = m
		}
	}
	if len(list) == 0 {
		return old.Clone()
	}
	spec := old.Member("spec")
	spec["containers"] = list
	d = old.Clone()
	d.Content["spec"] = spec
	return d
}

// memberPart returns the part that is the member inner of the member outer.
func memberPart(outer, inner string) part {
	return func(old, d *object.Draft) *object.Draft {
		from, _ := d.Content[outer].(jsontree.Object)
		d = old.Clone()
		into := d.Member(outer)
		delete(into, inner)
		if v, found := from[inner]; found {
			into[inner] = v
		}
		d.Content[outer] = into
		return d
	}
}

// metadataPart says which members of the metadata a write of a subresource changes besides its own part of the object.
type metadataPart struct{ labels, annotations, finalizers, owners bool }

// metadataPart returns the metadataPart of a subresource. On a real server it is in each kind's strategy: the older
// compiled-in kinds let a write change every member that an update may change, the newer ones and custom resources
// none. internal/proof/e2e tests for every kind that this server does the same.
func (r *resource) metadataPart(subresource string) metadataPart {
	all := metadataPart{labels: true, annotations: true, finalizers: true, owners: true}
	switch {
	case !r.Builtin:
		return metadataPart{}
	case subresource == "approval", subresource == "finalize":
		return all
	case subresource != "status":
		return metadataPart{}
	}
	switch r.groupResource() {
	case "apiservices.apiregistration.k8s.io", "csinodes.storage.k8s.io", "devicetaintrules.resource.k8s.io",
		"flowschemas.flowcontrol.apiserver.k8s.io", "podcertificaterequests.certificates.k8s.io",
		"prioritylevelconfigurations.flowcontrol.apiserver.k8s.io", "resourceclaims.resource.k8s.io",
		"servicecidrs.networking.k8s.io", "storageversionmigrations.storagemigration.k8s.io",
		"validatingadmissionpolicies.admissionregistration.k8s.io", "volumeattachments.storage.k8s.io":
		return metadataPart{}
	case "deployments.apps":
		all.labels = false
	case "pods":
		all.owners = false
	}
	return all
}

// copy replaces these members of the metadata in d by those in from.
func (p metadataPart) copy(d, from *object.Draft) {
	if p.labels {
		d.Meta.Labels = maps.Clone(from.Meta.Labels)
	}
	if p.annotations {
		d.Meta.Annotations = maps.Clone(from.Meta.Annotations)
	}
	if p.finalizers {
		d.Meta.Finalizers = from.Meta.Finalizers
	}
	if p.owners {
		d.Meta.OwnerReferences = from.Meta.OwnerReferences
	}
}
