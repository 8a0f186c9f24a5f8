package strategy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/meta"
)

// addServices adds Service.
func addServices(all map[meta.GVK]kind) {
	all[meta.GVK{Version: "v1", Kind: "Service"}] = kind{check: checkService, status: checkServiceStatus}
}

// The types of services.
const (
	clusterIP    = "ClusterIP"
	nodePort     = "NodePort"
	loadBalancer = "LoadBalancer"
	externalName = "ExternalName"
)

// addServiceDefaults adds the defaults of services.
func addServiceDefaults(all map[string]func(jsontree.Object)) {
	all["core.v1.Service"] = func(m jsontree.Object) {
		spec := inner(m, "spec")
		if spec == nil {
			spec = jsontree.Object{}
			m["spec"] = spec
		}
		setServiceDefaults(spec)
		balancer := inner(inner(m, "status"), "loadBalancer")
		ingress, _ := balancer["ingress"].([]any)
		for _, e := range ingress {
			if e, _ := e.(jsontree.Object); spec["type"] == loadBalancer && e["ip"] != nil && e["ip"] != "" {
				setDefault(e, "ipMode", "VIP")
			}
		}
	}
	all["core.v1.ServicePort"] = func(m jsontree.Object) {
		setText(m, "protocol", "TCP")
		if target := m["targetPort"]; target == nil || target == "" || target == number(0) {
			m["targetPort"] = number(0)
			if port := m["port"]; port != nil {
				m["targetPort"] = port
			}
		}
	}
}

// setServiceDefaults sets the defaults of the spec of a service.
func setServiceDefaults(spec jsontree.Object) {
	setText(spec, "sessionAffinity", "None")
	switch spec["sessionAffinity"] {
	case "None":
		delete(spec, "sessionAffinityConfig")
	case "ClientIP":
		if inner(inner(spec, "sessionAffinityConfig"), "clientIP")["timeoutSeconds"] == nil {
			spec["sessionAffinityConfig"] = jsontree.Object{"clientIP": jsontree.Object{"timeoutSeconds": number(10800)}}
		}
	}
	setText(spec, "type", clusterIP)
	if external(spec) {
		setText(spec, "externalTrafficPolicy", "Cluster")
	}
	switch spec["type"] {
	case loadBalancer:
		setDefault(spec, "allocateLoadBalancerNodePorts", true)
		fallthrough
	case clusterIP, nodePort:
		setDefault(spec, "internalTrafficPolicy", "Cluster")
	}
}

// external reports whether a service may be reached from outside.
func external(spec jsontree.Object) bool {
	ips, _ := spec["externalIPs"].([]any)
	return spec["type"] == loadBalancer || spec["type"] == nodePort || spec["type"] == clusterIP && len(ips) > 0
}

// needsHealthCheck reports whether a service has a healthCheckNodePort.
func needsHealthCheck(spec value) bool {
	return spec.at("type").text() == loadBalancer && spec.at("externalTrafficPolicy").text() == "Local"
}

// headless reports whether a service has no address of its own.
func headless(spec value) bool { return slices.Equal(spec.at("clusterIPs").texts(), []string{"None"}) }

// checkService checks a service.
func checkService(v value) {
	spec := v.at("spec")
	if v.updates {
		checkServiceUpdate(spec, before(spec))
	}
	const hints, mode = "service.kubernetes.io/topology-aware-hints", "service.kubernetes.io/topology-mode"
	notes := v.at("metadata", "annotations")
	if a, b := notes.key(hints), notes.key(mode); a.exists() && b.exists() && a.text() != b.text() {
		b.invalid("must match annotations[%s] when both are specified", hints)
	}
	checkServiceType(spec)
	checkServicePorts(spec)
	checkLabels(spec.at("selector"))
	checkAffinity(spec)
	checkFamilies(spec)
	kept := before(spec.at("externalIPs")).texts()
	for _, ip := range spec.at("externalIPs").items() {
		if checkAddress(ip, kept) {
			checkReachable(ip)
		}
	}
	checkSourceRanges(v, spec)
	checkBalancer(spec)
	checkTraffic(spec)
}

// checkServiceType checks what the type of a service requires and forbids.
func checkServiceType(spec value) {
	if spec.at("ports").len() == 0 && !headless(spec) && spec.at("type").text() != externalName {
		spec.at("ports").required("")
	}
	switch name := spec.at("type").text(); name {
	case loadBalancer, nodePort:
		if headless(spec) {
			spec.at("clusterIPs").items()[0].invalid("may not be set to 'None' for %s services", name)
		}
	case externalName:
		for _, name := range []string{"clusterIPs", "ipFamilies", "ipFamilyPolicy"} {
			if f := spec.at(name); f.len() > 0 || name == "ipFamilyPolicy" && f.exists() {
				f.forbidden("may not be set for ExternalName services")
			}
		}
		name := spec.at("externalName")
		if alias := strings.TrimSuffix(name.text(), "."); alias != "" {
			name.fits(subdomain(alias))
		} else {
			name.required("")
		}
	}
	spec.at("type").oneOf(clusterIP, externalName, loadBalancer, nodePort)
}

// checkServicePorts checks the ports of a service.
func checkServicePorts(spec value) {
	ports := spec.at("ports")
	names, numbers, nodes := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, p := range ports.items() {
		name, protocol, node := p.at("name"), p.at("protocol").text(), p.at("nodePort")
		switch {
		case name.text() == "" && ports.len() > 1:
			name.required("")
		case name.text() != "":
			name.fits(label(name.text()))
			if names[name.text()] {
				name.duplicate()
			}
			names[name.text()] = true
		}
		p.at("port").between(1, 65535)
		p.at("protocol").oneOf(protocols()...)
		checkPort(p.at("targetPort"))
		if app := p.at("appProtocol"); app.exists() {
			app.fits(qualified(app.text()))
		}
		if node.number() != 0 {
			if spec.at("type").text() == clusterIP {
				node.forbidden("may not be used when `type` is 'ClusterIP'")
			}
			id := fmt.Sprint(protocol, node.number())
			if nodes[id] {
				node.duplicate()
			}
			nodes[id] = true
		}
		id := fmt.Sprint(protocol, p.at("port").number())
		if numbers[id] {
			p.duplicate()
		}
		numbers[id] = true
	}
}

// checkAffinity checks for how long a client reaches the same pod.
func checkAffinity(spec value) {
	spec.at("sessionAffinity").oneOf("ClientIP", "None")
	seconds := spec.at("sessionAffinityConfig", "clientIP", "timeoutSeconds")
	if n := seconds.number(); spec.at("sessionAffinity").text() == "ClientIP" && (n <= 0 || n > 86400) {
		seconds.invalid("must be greater than 0 and less than 86400")
	}
}

// checkFamilies checks the addresses of a service, and the families of its addresses.
func checkFamilies(spec value) {
	if spec.at("type").text() == externalName {
		return
	}
	ips, families, policy := spec.at("clusterIPs"), spec.at("ipFamilies"), spec.at("ipFamilyPolicy")
	switch first := spec.at("clusterIP").text(); {
	case first != "" && ips.len() == 0:
		ips.required("")
	case first != "" && ips.texts()[0] != first:
		ips.invalid("first value must match `clusterIP`")
	case first == "" && ips.len() > 0:
		ips.invalid("must be empty when `clusterIP` is not specified")
	}
	for _, f := range families.items() {
		f.among("IPv4", "IPv6")
	}
	families.unique(func(f value) value { return f })
	if policy.exists() {
		policy.among("PreferDualStack", "RequireDualStack", "SingleStack")
	}
	valid := true
	kept := before(ips).texts()
	for i, ip := range ips.items() {
		switch {
		case i > 0 || ip.text() != "None":
			valid = checkAddress(ip, kept) && valid
		case ips.len() > 1:
			ips.invalid("'None' must be the first and only value")
			valid = false
		}
	}
	if ips.len() > 2 {
		ips.invalid("may only hold up to 2 values")
	}
	if valid {
		checkStacks(spec, ips, families)
	}
}

// checkStacks checks that the addresses of a service are of different families, and of those that it names.
func checkStacks(spec, ips, families value) {
	six := 0
	for _, ip := range ips.texts() {
		if isIPv6(ip) {
			six++
		}
	}
	if ips.len() > 1 && (six == 0 || six == ips.len()) {
		ips.invalid("may specify no more than one IP for each IP family")
	}
	if headless(spec) {
		return
	}
	for i, ip := range ips.items() {
		if i >= families.len() {
			break
		}
		want, six := families.texts()[i], isIPv6(ip.text())
		if want == "IPv4" && six || want == "IPv6" && !six {
			ip.invalid("expected an %s value as indicated by `ipFamilies[%d]`", want, i)
		}
	}
}

// checkSourceRanges checks the field, or else the annotation, that says who may use a load balancer.
func checkSourceRanges(v, spec value) {
	const form = "may only be used when `type` is 'LoadBalancer'"
	isBalancer := spec.at("type").text() == loadBalancer
	ranges := spec.at("loadBalancerSourceRanges")
	ranges.path = "spec.LoadBalancerSourceRanges" // as in a real server's errors
	if ranges.len() > 0 {
		if !isBalancer {
			ranges.forbidden(form)
		}
		kept := before(ranges).texts()
		for i := range kept {
			kept[i] = strings.TrimSpace(kept[i])
		}
		for _, r := range ranges.items() {
			checkBlock(r, strings.TrimSpace(r.text()), kept)
		}
		return
	}
	note := v.at("metadata", "annotations").key("service.beta.kubernetes.io/load-balancer-source-ranges")
	if !note.exists() {
		return
	}
	if !isBalancer {
		note.forbidden(form)
	}
	if text := strings.TrimSpace(note.text()); text != "" && !note.unchanged() {
		for part := range strings.SplitSeq(text, ",") {
			checkBlock(note, strings.TrimSpace(part), nil)
		}
	}
}

// checkBalancer checks the fields that are for load balancers.
func checkBalancer(spec value) {
	const form = "may only be used when `type` is 'LoadBalancer'"
	allocates, class := spec.at("allocateLoadBalancerNodePorts"), spec.at("loadBalancerClass")
	switch {
	case spec.at("type").text() == loadBalancer:
		if class.exists() {
			class.fits(qualified(class.text()))
		}
		return
	case class.exists():
		class.forbidden(form)
	}
	if allocates.exists() {
		allocates.forbidden(form)
	}
}

// checkTraffic checks where a service sends requests.
func checkTraffic(spec value) {
	m, _ := spec.is.(jsontree.Object)
	outer, inside := spec.at("externalTrafficPolicy"), spec.at("internalTrafficPolicy")
	health := spec.at("healthCheckNodePort")
	switch {
	case external(m):
		outer.oneOf("Cluster", "Local")
	case outer.text() != "":
		outer.invalid("may only be set for externally-accessible services")
	}
	switch {
	case needsHealthCheck(spec):
		if health.number() == 0 {
			health.required("")
		} else {
			health.between(1, 65535)
		}
	case health.number() != 0:
		health.invalid("may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'")
	}
	if inside.exists() {
		inside.among("Cluster", "Local")
	}
	if d := spec.at("trafficDistribution"); d.exists() {
		d.among("PreferClose", "PreferSameZone", "PreferSameNode")
	}
}

// checkServiceUpdate checks what may not change in a service.
func checkServiceUpdate(spec, old value) {
	if spec.at("type").text() != externalName && old.at("type").text() != externalName {
		if !headless(spec) || !headless(old) {
			checkReleased(spec, "clusterIPs")
		}
		if !headless(spec) && !headless(old) {
			checkReleased(spec, "ipFamilies")
		}
	}
	class := spec.at("loadBalancerClass")
	if spec.at("type").text() == loadBalancer && old.at("type").text() == loadBalancer && !same(class.is, class.was) {
		class.invalid("may not change once set")
	}
	health := spec.at("healthCheckNodePort")
	if needsHealthCheck(spec) && needsHealthCheck(old) && health.number() != before(health).number() {
		health.forbidden("field is immutable")
	}
}

// checkReleased checks that the first element of a list stays, and that the second goes only when it is no longer
// wanted.
func checkReleased(spec value, name string) {
	list := spec.at(name)
	is, was := list.texts(), before(list).texts()
	first := list
	first.path += "[0]"
	if len(is) == len(was) {
		for i := range is {
			if is[i] == was[i] {
				continue
			}
			if name == "clusterIPs" {
				first.path = fmt.Sprintf("%s[%d]", list.path, i)
			}
			first.invalid("may not change once set")
		}
		return
	}
	if len(is) > 0 && len(was) > 0 && is[0] != was[0] {
		first.invalid("may not change once set")
	}
	if len(is) > len(was) {
		return
	}
	if spec.at("clusterIPs").len() == 0 {
		first.invalid("the primary one can not be unset")
	}
	if policy := spec.at("ipFamilyPolicy"); len(is) == 1 && policy.text() != "SingleStack" {
		policy.invalid("must be set to 'SingleStack' when releasing the secondary one")
	}
}

// checkServiceStatus checks the load balancer in the status of a service.
func checkServiceStatus(v value) {
	list := v.at("status", "loadBalancer", "ingress")
	if v.at("spec", "type").text() != loadBalancer && list.len() > 0 {
		list.forbidden("may only be used when `spec.type` is 'LoadBalancer'")
		return
	}
	kept := addressesOf(before(list))
	for _, e := range list.items() {
		ip, mode := e.at("ip"), e.at("ipMode")
		if ip.text() != "" {
			checkAddress(ip, kept)
		}
		switch {
		case !mode.exists() && ip.text() != "":
			mode.required("must be specified when `ip` is set")
		case mode.exists() && ip.text() == "":
			mode.forbidden("may not be specified when `ip` is not set")
		case mode.exists():
			mode.among("Proxy", "VIP")
		}
		checkHostname(e.at("hostname"))
	}
}
