package clienttest

import (
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/kinds"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/printing"
	"github.com/bowline-go/bowline/client/clienttest/internal/records"
	"github.com/bowline-go/bowline/client/meta"
)

// builtinKinds is every resource of the file, without objects, and the reviews. The first server reads it. It does not change:
// each server has copies.
var builtinKinds = sync.OnceValue(func() []resource {
	rows := kinds.All()
	own, reviews, printers := ownTraits(), reviews(), printing.Printers()
	kinds := make([]resource, 0, len(rows))
	for i, row := range rows {
		r := resource{Resource: Resource{
			Group: row.Group, Version: row.Version, Kind: row.Kind, Resource: row.Resource, Singular: row.Singular,
			ShortNames: row.ShortNames, Categories: row.Categories, SelectableFields: row.Fields,
			Status: slices.Contains(row.Subresources, "status"),
		}}
		if row.Cluster {
			r.Scope = meta.Cluster
		}
		name := r.groupResource()
		r.builtinTraits, r.review = own[name], reviews[name]
		r.Type = object.Type{Of: r.GVK(), Builtin: true, Traits: row.Traits, Apart: r.Status, Selectable: row.Fields}
		r.order = i
		if row.Kind == "Event" { // it is stored as that of the core
			r.Selected, r.Ungrouped = records.Selected, true
		}
		if len(row.Blank) > 0 {
			r.Blank = string(row.Blank[1 : len(row.Blank)-1])
		}
		if len(row.Status) > 0 {
			r.initial, _ = jsontree.Parse(row.Status) // the file is valid
		}
		subresources := make(map[string]*subresource, len(row.Subresources))
		for _, sub := range row.Subresources {
			switch served := r.subresources[sub]; {
			case served != nil:
				subresources[sub] = served
			case sub == "scale":
				subresources[sub] = scaleSubresource()
			case sub == "status":
				subresources[sub] = partOf(statusPart)
			default:
				panic(fmt.Sprintf("clienttest: nothing serves %s/%s", name, sub))
			}
		}
		r.subresources = subresources
		r.columns, r.print = printing.Columns(row.Columns), printers[name]
		kinds = append(kinds, r)
	}
	return kinds
})

// ownTraits are the traits that need code and cannot be in a table.
func ownTraits() map[string]builtinTraits {
	return map[string]builtinTraits{
		"namespaces": {
			prepare: prepareNamespace,
			// No effect: this server finishes namespaces by itself.
			subresources: map[string]*subresource{"finalize": {verbs: []string{"update"}, part: finalizePart}},
		},
		"pods": {
			graceful: true,
			subresources: map[string]*subresource{
				"binding":             callOf("", "", "Binding", (*call).bind),
				"ephemeralcontainers": partOf(ephemeralPart),
				"eviction":            callOf("policy", "v1", "Eviction", (*call).evict),
				"resize":              partOf(resizePart),
			},
		},
		"secrets":              {prepare: prepareSecret},
		"events":               recordTraits(""),
		"events.events.k8s.io": recordTraits(records.Group),
		"serviceaccounts": {subresources: map[string]*subresource{
			"token": callOf("authentication.k8s.io", "v1", "TokenRequest", (*call).token),
		}},
		"certificatesigningrequests.certificates.k8s.io": {
			fixed:    true,
			complete: completeRequest, check: checkRequest,
			subresources: map[string]*subresource{"approval": partOf(approvalPart), "status": partOf(certificatePart)},
		},
	}
}

// firstStatus returns the status of a new object, given the one that its writer wants.
func (r *resource) firstStatus(wanted any) any {
	first := withNow(r.initial, timeText(now()))
	if !r.StatusOnCreate || wanted == nil {
		return first
	}
	return jsontree.Merge(first, wanted)
}

func timeText(t meta.Time) string { return t.UTC().Format(time.RFC3339) }

// prepareNamespace sets the fields of a namespace that controllers and admission set on a real server.
func prepareNamespace(d *object.Draft, _ bool) {
	d.Meta.Labels = withEntry(d.Meta.Labels, "kubernetes.io/metadata.name", d.Meta.Name)
	d.Content["spec"] = jsontree.Object{"finalizers": []any{"kubernetes"}}
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

func withEntry(m map[string]string, key, value string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	m[key] = value
	return m
}

// warnDeprecated adds the warning that a real server gives with every answer about a deprecated resource. The only deprecated
// resource that is served is endpoints.
func (r *resource) warnDeprecated(w http.ResponseWriter) {
	if r.Builtin && r.groupResource() == "endpoints" {
		w.Header().Add("Warning", fmt.Sprintf("299 - %q", "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"))
	}
}
