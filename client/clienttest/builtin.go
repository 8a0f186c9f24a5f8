package clienttest

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/kinds"
	"github.com/bowline-go/bowline/client/clienttest/internal/kubectl"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/records"
	"github.com/bowline-go/bowline/client/clienttest/internal/strategy"
	"github.com/bowline-go/bowline/client/meta"
)

// builtinKinds returns every built-in resource, without objects, and the reviews. The first server reads them. They do
// not change: each server has copies.
var builtinKinds = sync.OnceValue(func() []resource {
	rows := kinds.All()
	own, printers, plain := ownTraits(), kubectl.Printers(), &custom{}
	kinds := make([]resource, 0, len(rows))
	for i, row := range rows {
		r := resource{custom: plain, Resource: Resource{
			Group: row.Group, Version: row.Version, Kind: row.Kind, Resource: row.Resource, Singular: row.Singular,
			ShortNames: row.ShortNames, Categories: row.Categories, SelectableFields: row.Fields,
			Status: slices.Contains(row.Subresources, "status"),
		}}
		if row.Cluster {
			r.Scope = meta.Cluster
		}
		name := r.groupResource()
		r.builtinTraits = own[name]
		r.Type = object.Type{Of: r.GVK(), Builtin: true, Traits: row.Traits, Apart: r.Status, Selectable: row.Fields}
		r.NameSegment = r.NameSegment || row.Kind == "ClusterTrustBundle" // its name depends on its signer
		r.Defaults = func(content jsontree.Object) { strategies().Complete(r.Of, content) }
		r.order = i
		if row.Kind == "Event" { // it is stored as a core Event
			r.Selected, r.Ungrouped = records.Selected, true
		}
		if len(row.Blank) > 0 {
			r.Blank = object.NewBlank(row.Blank)
		}
		if len(row.Status) > 0 {
			r.initial, _ = jsontree.Parse(row.Status) // the file is valid
		}
		subresources := make(map[string]*subresource, len(row.Subresources))
		for _, sub := range row.Subresources {
			served := r.subresources[sub]
			if served == nil && sub == "status" {
				served = &subresource{part: statusPart}
			}
			if served == nil && sub == "scale" {
				served = &subresource{kind: scaleKind()}
			}
			if served == nil {
				panic(fmt.Sprintf("clienttest: kinds.json has %s/%s, and ownTraits does not say what its objects are", name, sub))
			}
			subresources[sub] = served
		}
		r.subresources = subresources
		r.columns, r.print = kubectl.Columns(row.Columns), printers[name]
		setVerbs(&r)
		kinds = append(kinds, r)
	}
	return kinds
})

// strategies has the defaults and the rules of built-in kinds.
var strategies = sync.OnceValue(strategy.New)

// ownTraits returns the traits that need code and cannot be in a table.
func ownTraits() map[string]builtinTraits {
	review := builtinTraits{review: true}
	return map[string]builtinTraits{
		"namespaces": {
			prepare: prepareNamespace, settle: settleNamespace,
			// The finalizer "kubernetes" has no effect without Options.NamespaceController.
			subresources: map[string]*subresource{"finalize": {part: memberPart("spec", "finalizers")}},
		},
		"pods": {
			graceful: true, admit: admitPod, settle: settlePod, refuse: refusePod,
			subresources: map[string]*subresource{
				"binding":             {kind: meta.GVK{Kind: "Binding"}},
				"ephemeralcontainers": {part: memberPart("spec", "ephemeralContainers")},
				"eviction":            {kind: meta.GVK{Group: "policy", Version: "v1", Kind: "Eviction"}},
				"resize":              {part: resizePart},
				"status":              {part: podStatusPart},
			},
		},
		"secrets":                                {prepare: prepareSecret},
		"services":                               {settle: settleService, allocates: true},
		"nodes":                                  {settle: settleNode},
		"resourcequotas":                         {settle: settleQuota, allocates: true},
		"endpointslices.discovery.k8s.io":        {settle: settleEndpointSlice},
		"persistentvolumeclaims":                 {settle: settleClaim, protects: "kubernetes.io/pvc-protection"},
		"persistentvolumes":                      {settle: settleVolume, protects: "kubernetes.io/pv-protection"},
		"volumeattributesclasses.storage.k8s.io": {settle: settleAttributesClass, protects: "kubernetes.io/vac-protection"},
		"resourceclaims.resource.k8s.io":         {settle: settleResourceClaim},
		"devicetaintrules.resource.k8s.io":       {settle: settleTaintRule},
		"csidrivers.storage.k8s.io":              {settle: settleCSIDriver},
		"replicationcontrollers":                 {prepare: labelWorkload},
		"daemonsets.apps":                        {prepare: prepareDaemonSet, settle: settleDaemonSet},
		"deployments.apps":                       {settle: settleDeployment},
		"jobs.batch":                             {prepare: labelWorkload, settle: settleJob},
		"cronjobs.batch":                         {settle: settleCronJob},
		"leases.coordination.k8s.io":             {settle: settleLease},
		"priorityclasses.scheduling.k8s.io":      {settle: settlePriorityClass, once: true},
		"ingresses.networking.k8s.io":            {admit: admitIngress},
		"apiservices.apiregistration.k8s.io":     {settle: settleAPIService},
		"mutatingadmissionpolicybindings.admissionregistration.k8s.io": {settle: settleMutatingBinding},
		"customresourcedefinitions.apiextensions.k8s.io":               {prepare: prepareDefinition},
		"events":               recordTraits(""),
		"events.events.k8s.io": recordTraits(records.Group),
		"serviceaccounts": {settle: settleServiceAccount, subresources: map[string]*subresource{
			"token": {kind: meta.GVK{Group: "authentication.k8s.io", Version: "v1", Kind: "TokenRequest"}},
		}},
		"certificatesigningrequests.certificates.k8s.io": {
			fixed:    true,
			complete: completeRequest, check: checkRequest, refuse: refuseRequest,
			subresources: map[string]*subresource{"approval": {part: approvalPart}, "status": {part: certificatePart}},
		},
		"bindings":          review,
		"componentstatuses": review,
		"localsubjectaccessreviews.authorization.k8s.io": review,
		"selfsubjectaccessreviews.authorization.k8s.io":  review,
		"selfsubjectrulesreviews.authorization.k8s.io":   review,
		"subjectaccessreviews.authorization.k8s.io":      review,
		"selfsubjectreviews.authentication.k8s.io":       review,
		"tokenreviews.authentication.k8s.io":             review,
	}
}

// prepareNamespace sets the fields of a namespace that controllers and admission set on a real server.
func prepareNamespace(d *object.Draft, _ bool) {
	if d.Meta.Labels == nil {
		d.Meta.Labels = map[string]string{}
	}
	d.Meta.Labels["kubernetes.io/metadata.name"] = d.Meta.Name
}

// prepareSecret moves stringData, which is write-only, into data.
func prepareSecret(d *object.Draft, _ bool) {
	if _, found := d.Content["type"]; !found {
		d.Content["type"] = "Opaque"
	}
	text, _ := d.Content["stringData"].(jsontree.Object)
	delete(d.Content, "stringData")
	if len(text) == 0 {
		return
	}
	data, _ := d.Content["data"].(jsontree.Object)
	data, _ = jsontree.Merge(maps.Clone(data), text).(jsontree.Object)
	for k := range text {
		s, _ := text[k].(string)
		data[k] = base64.StdEncoding.EncodeToString([]byte(s))
	}
	d.Content["data"] = data
}

// An Event is served by two groups, as two resources with the same objects. A write to one of them is a write to its
// twin as well, in the same transaction.

// recordTraits are the traits of Events in a group.
func recordTraits(group string) builtinTraits {
	rules := records.Rules{Group: group, Qualified: object.NewValidator().Qualified}
	return builtinTraits{
		checkNew: func(d *object.Draft, metadata []meta.StatusCause) []meta.StatusCause {
			return rules.New(d.Content, d.Meta.Namespace, metadata)
		},
		check: func(old, d *object.Draft, _ string) []meta.StatusCause {
			return rules.Changed(old.Content, d.Content, d.Meta.Namespace)
		},
	}
}

// viewOf returns an Event in the form of this resource, given the Event in the form of either.
func (r *resource) viewOf(d *object.Draft) *object.Draft {
	if d.APIVersion == r.GVK().APIVersion() {
		return d
	}
	v := &object.Draft{APIVersion: r.GVK().APIVersion(), Kind: r.Kind, Meta: d.Meta, Content: records.View(d.Content, r.Group)}
	r.Fill(v)
	return v
}
