package clienttest

import "maps"

// metadataPart says which members of the metadata a write of a subresource changes beside its own part of the object.
type metadataPart struct{ labels, annotations, finalizers, owners bool }

// metadataPart returns that of a subresource. A real server says it in each kind's strategy: the older compiled-in kinds let
// everything through that an update may change, the newer ones and custom resources nothing. That this is the same here is
// tested for every kind in internal/e2e.
func (r *resource) metadataPart(subresource string) metadataPart {
	all := metadataPart{labels: true, annotations: true, finalizers: true, owners: true}
	switch {
	case !r.builtin:
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

// copy makes these members of the metadata in d those in from.
func (p metadataPart) copy(d, from *draft) {
	if p.labels {
		d.meta.Labels = maps.Clone(from.meta.Labels)
	}
	if p.annotations {
		d.meta.Annotations = maps.Clone(from.meta.Annotations)
	}
	if p.finalizers {
		d.meta.Finalizers = from.meta.Finalizers
	}
	if p.owners {
		d.meta.OwnerReferences = from.meta.OwnerReferences
	}
}
