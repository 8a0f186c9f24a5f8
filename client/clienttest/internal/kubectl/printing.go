package kubectl

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/meta"
)

// Printer returns the cells of a row, one for each column of the resource.
type Printer func(o *Object) []any

// Object is an object whose row is printed, and the time of printing.
type Object struct {
	value
	meta meta.ObjectMeta
	now  time.Time
}

// NewObject returns an object from its metadata and its content, which is everything else.
func NewObject(content jsontree.Object, m meta.ObjectMeta, now time.Time) *Object {
	return &Object{value: value{content}, meta: m, now: now}
}

func (o *Object) name() any { return o.meta.Name }

func (o *Object) age() any { return Age(o.meta.CreationTimestamp.Time, o.now) }

func (o *Object) created() any { return o.meta.CreationTimestamp.UTC().Format(time.RFC3339) }

// since returns the age of a timestamp as kubectl prints it.
func (o *Object) since(t value) string { return Age(t.time(), o.now) }

// value is a part of an object. Its v is nil if the part is absent, and it then prints as empty.
type value struct{ v any }

// at returns the value at a path of members, such as "spec.nodeName".
func (v value) at(path string) value {
	for name := range strings.SplitSeq(path, ".") {
		m, _ := v.v.(jsontree.Object)
		v = value{m[name]}
	}
	return v
}

// has reports whether the value at a path is there and not null.
func (v value) has(path string) bool { return v.at(path).v != nil }

func (v value) text() string {
	s, _ := v.v.(string)
	return s
}

// texts returns the texts of a list.
func (v value) texts() (out []string) {
	for _, e := range v.list() {
		out = append(out, e.text())
	}
	return out
}

func (v value) number() int64 {
	n, _ := v.v.(json.Number)
	i, _ := n.Int64()
	return i
}

func (v value) isTrue() bool {
	b, _ := v.v.(bool)
	return b
}

func (v value) time() (t time.Time) {
	t, _ = time.Parse(time.RFC3339, v.text())
	return t
}

// scalar returns a number or a text as text: an IntOrString, or a quantity.
func (v value) scalar() string {
	switch s := v.v.(type) {
	case string:
		return s
	case json.Number:
		return s.String()
	}
	return ""
}

func (v value) list() (out []value) {
	list, _ := v.v.([]any)
	for _, e := range list {
		out = append(out, value{e})
	}
	return out
}

func (v value) size() int {
	switch s := v.v.(type) {
	case []any:
		return len(s)
	case jsontree.Object:
		return len(s)
	}
	return 0
}

// or returns the scalar, or another text if it is empty.
func (v value) or(other string) string { return cmp.Or(v.scalar(), other) }

// condition returns the status of a condition.
func (v value) condition(typ string) string {
	for _, c := range v.at("status.conditions").list() {
		if c.at("type").text() == typ {
			return c.at("status").text()
		}
	}
	return ""
}

// labels prints a map of texts.
func (v value) labels() string {
	m, _ := v.v.(jsontree.Object)
	var out []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, fmt.Sprintf("%s=%s", k, m[k]))
	}
	return cmp.Or(strings.Join(out, ","), none)
}

// selector prints a LabelSelector.
func (v value) selector() string {
	var s meta.LabelSelector
	if json.Unmarshal(jsontree.Append(nil, v.v), &s) != nil {
		return "<error>"
	}
	sel, err := s.Selector()
	if err != nil {
		return "<error>"
	}
	if v.v == nil {
		return none
	}
	return cmp.Or(sel.String(), none)
}

// containers prints the names and the images of the containers of a pod's spec.
func (v value) containers() (names, images any) {
	var ns, is []string
	for _, c := range v.at("containers").list() {
		ns, is = append(ns, c.at("name").text()), append(is, c.at("image").text())
	}
	return strings.Join(ns, ","), strings.Join(is, ",")
}

// Texts for absent values.
const (
	none    = "<none>"
	unset   = "<unset>"
	unknown = "<unknown>"
)

// some joins the first few texts of a list, and adds how many more there are.
func some(list []string, limit int, separator, empty string) string {
	if len(list) > limit {
		return fmt.Sprintf("%s + %d more...", strings.Join(list[:limit], separator), len(list)-limit)
	}
	return cmp.Or(strings.Join(list, separator), empty)
}

// paths prints the name, the values at some paths, and the age.
func paths(path ...string) Printer {
	return func(o *Object) []any {
		cells := []any{o.name()}
		for _, p := range path {
			cells = append(cells, o.at(p).scalar())
		}
		return append(cells, o.age())
	}
}

// Printers returns the printers of the built-in resources by their names, such as "deployments.apps".
func Printers() map[string]Printer {
	all := map[string]Printer{
		"configmaps": func(o *Object) []any {
			return []any{o.name(), o.at("data").size() + o.at("binaryData").size(), o.age()}
		},
		"secrets": func(o *Object) []any {
			return []any{o.name(), o.at("type").text(), o.at("data").size(), o.age()}
		},
		"namespaces":                         paths("status.phase"),
		"serviceaccounts":                    paths(),
		"leases.coordination.k8s.io":         paths("spec.holderIdentity"),
		"runtimeclasses.node.k8s.io":         paths("handler"),
		"nodes":                              printNode,
		"events":                             printEvent,
		"events.events.k8s.io":               printRecord,
		"limitranges":                        printCreated,
		"resourcequotas":                     printQuota,
		"controllerrevisions.apps":           printRevision,
		"apiservices.apiregistration.k8s.io": printAPIService,
		"customresourcedefinitions.apiextensions.k8s.io":                 printDefinition,
		"certificatesigningrequests.certificates.k8s.io":                 printRequest,
		"clustertrustbundles.certificates.k8s.io":                        printBundle,
		"podcertificaterequests.certificates.k8s.io":                     printPodCertificate,
		"priorityclasses.scheduling.k8s.io":                              printPriority,
		"storageversionmigrations.storagemigration.k8s.io":               printMigration,
		"flowschemas.flowcontrol.apiserver.k8s.io":                       printFlow,
		"prioritylevelconfigurations.flowcontrol.apiserver.k8s.io":       printLevel,
		"mutatingwebhookconfigurations.admissionregistration.k8s.io":     printCount("webhooks"),
		"validatingwebhookconfigurations.admissionregistration.k8s.io":   printCount("webhooks"),
		"mutatingadmissionpolicies.admissionregistration.k8s.io":         printPolicy("spec.mutations"),
		"validatingadmissionpolicies.admissionregistration.k8s.io":       printPolicy("spec.validations"),
		"mutatingadmissionpolicybindings.admissionregistration.k8s.io":   printPolicyBinding,
		"validatingadmissionpolicybindings.admissionregistration.k8s.io": printPolicyBinding,
		"roles.rbac.authorization.k8s.io":                                printCreated,
		"clusterroles.rbac.authorization.k8s.io":                         printCreated,
		"rolebindings.rbac.authorization.k8s.io":                         printRoleBinding,
		"clusterrolebindings.rbac.authorization.k8s.io":                  printRoleBinding,
	}
	maps.Copy(all, workloadPrinters())
	maps.Copy(all, networkPrinters())
	maps.Copy(all, storagePrinters())
	return all
}

// printCreated prints the time at which an object was made, instead of its age.
func printCreated(o *Object) []any { return []any{o.name(), o.created()} }

// printCount prints how many elements a list has.
func printCount(path string) Printer {
	return func(o *Object) []any { return []any{o.name(), o.at(path).size(), o.age()} }
}
