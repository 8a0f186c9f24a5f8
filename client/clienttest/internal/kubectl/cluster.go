package kubectl

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
)

// This file prints the kinds that govern a cluster: nodes, events, quotas, roles, policies, requests and definitions.

func printNode(o *Object) []any {
	state := "Unknown"
	switch o.condition("Ready") {
	case "True":
		state = "Ready"
	case "":
	default:
		state = "NotReady"
	}
	if o.at("spec.unschedulable").isTrue() {
		state += ",SchedulingDisabled"
	}
	var roles []string
	for k, v := range o.meta.Labels {
		switch role, found := strings.CutPrefix(k, "node-role.kubernetes.io/"); {
		case found && role != "":
			roles = append(roles, role)
		case k == "kubernetes.io/role" && v != "":
			roles = append(roles, v)
		}
	}
	slices.Sort(roles)
	address := func(typ string) any {
		for _, a := range o.at("status.addresses").list() {
			if a.at("type").text() == typ {
				return a.at("address").text()
			}
		}
		return none
	}
	info := o.at("status.nodeInfo")
	kernel := info.at("kernelVersion").or(unknown)
	if architecture := info.at("architecture").text(); architecture != "" && kernel != unknown {
		kernel += " (" + architecture + ")"
	}
	return []any{
		o.name(), state, cmp.Or(strings.Join(slices.Compact(roles), ","), none), o.age(), info.at("kubeletVersion").text(),
		address("InternalIP"), address("ExternalIP"), info.at("osImage").or(unknown), kernel,
		info.at("containerRuntimeVersion").or(unknown),
	}
}

// printRecord prints an event of events.k8s.io, many of whose fields have other names.
func printRecord(o *Object) []any {
	content := jsontree.Object{}
	for name, v := range o.v.(jsontree.Object) {
		switch name {
		case "regarding":
			name = "involvedObject"
		case "note":
			name = "message"
		case "reportingController":
			name = "reportingComponent"
		default:
			if old, found := strings.CutPrefix(name, "deprecated"); found {
				name = strings.ToLower(old[:1]) + old[1:]
			}
		}
		content[name] = v
	}
	return printEvent(&Object{value: value{content}, meta: o.meta, now: o.now})
}

func printEvent(o *Object) []any {
	first := cmp.Or(o.at("firstTimestamp").text(), o.at("eventTime").text())
	last, count := cmp.Or(o.at("lastTimestamp").text(), first), o.at("count").number()
	switch {
	case o.has("series"):
		last, count = o.at("series.lastObservedTime").text(), o.at("series.count").number()
	case count == 0:
		count = 1
	}
	about := strings.ToLower(o.at("involvedObject.kind").text())
	if name := o.at("involvedObject.name").text(); name != "" {
		about += "/" + name
	}
	source := o.at("source.component").or(o.at("reportingComponent").text())
	if host := o.at("source.host").or(o.at("reportingInstance").text()); host != "" {
		source += ", " + host
	}
	return []any{
		o.since(value{last}), o.at("type").text(), o.at("reason").text(), about, o.at("involvedObject.fieldPath").text(), source,
		strings.TrimSpace(o.at("message").text()), o.since(value{first}), count, o.name(),
	}
}

func printQuota(o *Object) []any {
	var requests, limits []string
	hard, _ := o.at("status.hard").v.(jsontree.Object)
	for _, name := range slices.Sorted(maps.Keys(hard)) {
		used, _ := o.at("status.used").v.(jsontree.Object)
		text := fmt.Sprintf("%s: %s/%s", name, value{used[name]}.or("0"), value{hard[name]}.scalar())
		if strings.HasPrefix(name, "limits") {
			limits = append(limits, text)
		} else {
			requests = append(requests, text)
		}
	}
	return []any{o.name(), strings.Join(requests, ", "), strings.Join(limits, ", "), o.age()}
}

func printRevision(o *Object) []any {
	controller := none
	for _, ref := range o.meta.OwnerReferences {
		if ref.Controller != nil && *ref.Controller {
			group, _ := meta.SplitAPIVersion(ref.APIVersion)
			controller = strings.ToLower(status.Qualified(ref.Kind, group)) + "/" + ref.Name
		}
	}
	return []any{o.name(), controller, o.at("revision").number(), o.age()}
}

func printAPIService(o *Object) []any {
	service, available := "Local", "Unknown"
	if s := o.at("spec.service"); s.v != nil {
		service = s.at("namespace").text() + "/" + s.at("name").text()
	}
	for _, c := range o.at("status.conditions").list() {
		if c.at("type").text() != "Available" {
			continue
		}
		if available = c.at("status").text(); available != "True" {
			available += " (" + c.at("reason").text() + ")"
		}
	}
	return []any{o.name(), service, available, o.age()}
}

func printDefinition(o *Object) []any {
	var versions []string
	for _, v := range o.at("spec.versions").list() {
		switch name := v.at("name").text(); {
		case v.at("storage").isTrue():
			versions = append(versions, name+"(storage)")
		case v.at("served").isTrue():
			versions = append(versions, name)
		}
	}
	names := o.at("spec.names")
	return []any{
		o.name(), o.at("spec.scope").text(), strings.Join(versions, ","), o.created(), o.at("spec.group").text(), names.at("kind").text(),
		strings.Join(names.at("shortNames").texts(), ","), o.condition("Established") == "True",
	}
}

func printRequest(o *Object) []any {
	duration := none
	if o.has("spec.expirationSeconds") {
		start := time.Unix(0, 0)
		duration = Age(start, start.Add(time.Duration(o.at("spec.expirationSeconds").number())*time.Second))
	}
	has := func(typ string) bool {
		return slices.ContainsFunc(o.at("status.conditions").list(), func(c value) bool { return c.at("type").text() == typ })
	}
	state := "Pending"
	switch {
	case has("Denied"):
		state = "Denied"
	case has("Approved"):
		state = "Approved"
	}
	if has("Failed") {
		state += ",Failed"
	}
	if o.at("status.certificate").text() != "" {
		state += ",Issued"
	}
	return []any{o.name(), o.age(), o.at("spec.signerName").or(none), o.at("spec.username").text(), duration, state}
}

func printBundle(o *Object) []any { return []any{o.name(), o.at("spec.signerName").or(none)} }

func printPodCertificate(o *Object) []any {
	spec := o.at("spec")
	return []any{
		o.name(), spec.at("podName").text(), spec.at("serviceAccountName").text(), spec.at("nodeName").text(),
		spec.at("signerName").text(), o.lastTrue("Pending"), spec.at("unverifiedUserAnnotations").labels(),
	}
}

func printPriority(o *Object) []any {
	return []any{o.name(), o.at("value").number(), o.at("globalDefault").isTrue(), o.age(), o.at("preemptionPolicy").or("PreemptLowerPriority")}
}

func printMigration(o *Object) []any {
	return []any{o.name(), status.Qualified(o.at("spec.resource.resource").text(), o.at("spec.resource.group").text()), o.lastTrue("Unknown")}
}

func printFlow(o *Object) []any {
	return []any{
		o.name(), o.at("spec.priorityLevelConfiguration.name").text(), o.at("spec.matchingPrecedence").number(),
		o.at("spec.distinguisherMethod.type").or(none), o.age(), cmp.Or(o.condition("Dangling"), "?"),
	}
}

func printLevel(o *Object) []any {
	number := func(path string) any {
		if o.has(path) {
			return o.at(path).number()
		}
		return none
	}
	const queuing = "spec.limited.limitResponse.queuing."
	return []any{
		o.name(), o.at("spec.type").text(), number("spec.limited.nominalConcurrencyShares"), number(queuing + "queues"),
		number(queuing + "handSize"), number(queuing + "queueLengthLimit"), o.age(),
	}
}

func printPolicy(list string) Printer {
	return func(o *Object) []any {
		kind := unset
		if p := o.at("spec.paramKind"); p.v != nil {
			kind = p.at("apiVersion").text() + "/" + p.at("kind").text()
		}
		return []any{o.name(), o.at(list).size(), kind, o.age()}
	}
}

func printPolicyBinding(o *Object) []any {
	ref := unset
	if p := o.at("spec.paramRef"); p.v != nil {
		switch name, namespace := p.at("name").text(), p.at("namespace").text(); {
		case p.has("selector"):
			ref = p.at("selector").dump()
		case namespace != "":
			ref = namespace + "/" + name
		default:
			ref = "*/" + name
		}
	}
	return []any{o.name(), o.at("spec.policyName").text(), ref, o.age()}
}

// dump prints a LabelSelector as the String method of a real server's type does.
func (v value) dump() string {
	var labels, expressions strings.Builder
	m, _ := v.at("matchLabels").v.(jsontree.Object)
	for _, k := range slices.Sorted(maps.Keys(m)) {
		fmt.Fprintf(&labels, "%s: %s,", k, m[k])
	}
	for _, e := range v.at("matchExpressions").list() {
		fmt.Fprintf(&expressions, "LabelSelectorRequirement{Key:%s,Operator:%s,Values:%v,},", e.at("key").text(), e.at("operator").text(), e.at("values").texts())
	}
	return fmt.Sprintf("&LabelSelector{MatchLabels:map[string]string{%s},MatchExpressions:[]LabelSelectorRequirement{%s},}", &labels, &expressions)
}

func printRoleBinding(o *Object) []any {
	subjects := map[string][]string{}
	for _, s := range o.at("subjects").list() {
		name, kind := s.at("name").text(), s.at("kind").text()
		if kind == "ServiceAccount" && s.at("namespace").text() != "" {
			name = s.at("namespace").text() + "/" + name
		}
		subjects[kind] = append(subjects[kind], name)
	}
	return []any{
		o.name(), o.at("roleRef.kind").text() + "/" + o.at("roleRef.name").text(), o.age(),
		strings.Join(subjects["User"], ", "), strings.Join(subjects["Group"], ", "), strings.Join(subjects["ServiceAccount"], ", "),
	}
}

// lastTrue returns the type of the last condition that is true, or otherwise if there is none.
func (o *Object) lastTrue(otherwise string) string {
	for _, c := range slices.Backward(o.at("status.conditions").list()) {
		if c.at("status").text() == "True" {
			return c.at("type").text()
		}
	}
	return otherwise
}
