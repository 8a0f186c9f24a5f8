package strategy

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/meta"
)

// addNetworks adds the kinds of networks and endpoints.
func addNetworks(all map[meta.GVK]kind) {
	const group = "networking.k8s.io"
	all[meta.GVK{Group: group, Version: "v1", Kind: "Ingress"}] = kind{check: checkIngress, status: checkIngressStatus}
	all[meta.GVK{Group: group, Version: "v1", Kind: "IngressClass"}] = kind{check: checkIngressClass}
	all[meta.GVK{Group: group, Version: "v1", Kind: "NetworkPolicy"}] = kind{check: checkNetworkPolicy}
	all[meta.GVK{Group: group, Version: "v1", Kind: "IPAddress"}] = kind{check: checkIPAddress}
	all[meta.GVK{Group: group, Version: "v1", Kind: "ServiceCIDR"}] = kind{check: checkServiceCIDR}
	all[meta.GVK{Version: "v1", Kind: "Endpoints"}] = kind{check: checkEndpoints}
	all[meta.GVK{Group: "discovery.k8s.io", Version: "v1", Kind: "EndpointSlice"}] = kind{check: checkEndpointSlice}
}

// addNetworkDefaults adds the defaults of networks and endpoints.
func addNetworkDefaults(all map[string]func(jsontree.Object)) {
	all["networking.v1.IngressClassParametersReference"] = func(m jsontree.Object) { setDefault(m, "scope", "Cluster") }
	all["networking.v1.NetworkPolicyPort"] = func(m jsontree.Object) { setDefault(m, "protocol", "TCP") }
	all["networking.v1.NetworkPolicy"] = func(m jsontree.Object) {
		spec := inner(m, "spec")
		if spec == nil {
			spec = jsontree.Object{}
			m["spec"] = spec
		}
		if types, _ := spec["policyTypes"].([]any); len(types) > 0 {
			return
		}
		spec["policyTypes"] = []any{"Ingress"}
		if egress, _ := spec["egress"].([]any); len(egress) > 0 {
			spec["policyTypes"] = []any{"Ingress", "Egress"}
		}
	}
	all["core.v1.EndpointPort"] = func(m jsontree.Object) { setText(m, "protocol", "TCP") }
	all["discovery.v1.EndpointPort"] = func(m jsontree.Object) {
		setDefault(m, "name", "")
		setDefault(m, "protocol", "TCP")
	}
}

// checkNetworkPolicy checks a NetworkPolicy.
func checkNetworkPolicy(v value) {
	spec := v.at("spec")
	checkSelector(spec.at("podSelector"))
	kept := append(blocksOf(before(spec), "ingress", "from"), blocksOf(before(spec), "egress", "to")...)
	for _, direction := range [][2]string{{"ingress", "from"}, {"egress", "to"}} {
		for _, rule := range spec.at(direction[0]).items() {
			for _, port := range rule.at("ports").items() {
				checkPolicyPort(port)
			}
			for _, peer := range rule.at(direction[1]).items() {
				checkPeer(peer, kept)
			}
		}
	}
	types := spec.at("policyTypes")
	if types.len() > 2 {
		types.invalid("may not specify more than two policyTypes")
		return
	}
	for _, t := range types.items() {
		t.among("Ingress", "Egress")
	}
}

// blocksOf returns the ranges of addresses in the rules of a policy for one direction.
func blocksOf(spec value, direction, peers string) (all []string) {
	for _, rule := range spec.at(direction).items() {
		for _, peer := range rule.at(peers).items() {
			if block := peer.at("ipBlock"); block.exists() {
				all = append(append(all, block.at("cidr").text()), block.at("except").texts()...)
			}
		}
	}
	return all
}

// checkPolicyPort checks a port, or a range of ports, of a policy.
func checkPolicyPort(v value) {
	if v.at("protocol").exists() {
		v.at("protocol").among("TCP", "UDP", "SCTP")
	}
	port, end := v.at("port"), v.at("endPort")
	if port.exists() {
		checkPort(port)
	}
	switch {
	case !end.exists():
	case !port.exists() || port.isText():
		end.invalid("may not be specified when `port` is not a number")
	default:
		if end.number() < port.number() {
			end.invalid("must be greater than or equal to `port`")
		}
		end.between(1, 65535)
	}
}

// checkPeer checks a peer of a policy. A range of addresses that is one of kept may be invalid.
func checkPeer(v value, kept []string) {
	block, selectors := v.at("ipBlock"), 0
	for _, name := range []string{"podSelector", "namespaceSelector"} {
		if s := v.at(name); s.exists() {
			checkSelector(s)
			selectors++
		}
	}
	if block.exists() {
		checkIPBlock(block, kept)
	}
	switch {
	case !block.exists() && selectors == 0:
		v.required("must specify a peer")
	case block.exists() && selectors > 0:
		v.forbidden("may not specify both ipBlock and another peer")
	}
}

// checkIPBlock checks a range of addresses, and those that it excepts.
func checkIPBlock(v value, kept []string) {
	whole := v.at("cidr")
	if !whole.must() {
		return
	}
	checkBlock(whole, whole.text(), kept)
	outer, err := netip.ParsePrefix(whole.text())
	if err != nil {
		return
	}
	for _, e := range v.at("except").items() {
		checkBlock(e, e.text(), kept)
		part, err := netip.ParsePrefix(e.text())
		if err == nil && (!outer.Masked().Contains(part.Masked().Addr()) || outer.Bits() >= part.Bits()) {
			e.invalid("must be a strict subset of `cidr`")
		}
	}
}

// checkIngressClass checks an IngressClass.
func checkIngressClass(v value) {
	controller, parameters := v.at("spec", "controller"), v.at("spec", "parameters")
	if controller.len() > 250 {
		controller.tooLong(250)
	}
	controller.immutable()
	checkPrefixedPath(controller)
	if !parameters.exists() {
		return
	}
	checkReference(parameters)
	namespace := parameters.at("namespace")
	switch scope := parameters.at("scope"); scope.text() {
	case "Namespace":
		if namespace.exists() {
			namespace.fits(label(namespace.text()))
		} else {
			namespace.required("`parameters.scope` is set to 'Namespace'")
		}
	case "Cluster":
		if namespace.exists() {
			namespace.forbidden("`parameters.scope` is set to 'Cluster'")
		}
	default:
		scope.unsupported("Cluster", "Namespace")
	}
}

// checkPrefixedPath checks a path that starts with a DNS name.
func checkPrefixedPath(v value) {
	if !v.must() {
		return
	}
	host, path, _ := strings.Cut(v.text(), "/")
	if host == "" || path == "" {
		v.invalid("must be a domain-prefixed path (such as \"acme.io/foo\")")
		return
	}
	v.fits(subdomain(host))
	v.fits(matching(regexp.MustCompile(`^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$`))(path))
}

// checkReference checks a reference to an object of any kind.
func checkReference(v value) {
	if group := v.at("apiGroup"); group.exists() {
		group.fits(subdomain(group.text()))
	}
	for _, name := range []string{"kind", "name"} {
		if part := v.at(name); part.must() {
			part.fits(segment(part.text()))
		}
	}
}

// checkIngress checks an Ingress.
func checkIngress(v value) {
	spec := v.at("spec")
	rules := spec.at("rules")
	if rules.len() == 0 && !spec.at("defaultBackend").exists() {
		spec.invalid("either `defaultBackend` or `rules` must be specified")
	}
	if b := spec.at("defaultBackend"); b.exists() {
		checkBackend(b)
	}
	for _, rule := range rules.items() {
		checkIngressRule(rule)
	}
	for _, t := range spec.at("tls").items() {
		for _, host := range t.at("hosts").items() {
			host.fits(hostForm(host.text()))
		}
		if secret := t.at("secretName"); secret.text() != "" {
			secret.fits(subdomain(secret.text()))
		}
	}
	class := spec.at("ingressClassName")
	if class.exists() {
		class.fits(subdomain(class.text()))
	}
	const name = "kubernetes.io/ingress.class"
	annotation := v.at("metadata", "annotations").key(name)
	if v.creates() && annotation.exists() && class.exists() && annotation.text() != class.text() {
		annotation.path = "annotations." + name // as in a real server's errors
		annotation.invalid("must match `ingressClassName` when both are specified")
	}
}

// hostForm is the form of a host, which may have "*" as its first label.
func hostForm(s string) []string {
	if strings.Contains(s, "*") {
		return wildcard(s)
	}
	return subdomain(s)
}

// checkIngressRule checks the host and the paths of a rule.
func checkIngressRule(v value) {
	if host := v.at("host"); host.text() != "" {
		if isAddress(host.text()) {
			host.invalid("must be a DNS name, not an IP address")
		}
		host.fits(hostForm(host.text()))
	}
	if !v.at("http").exists() {
		return
	}
	paths := v.at("http", "paths")
	paths.must()
	for _, p := range paths.items() {
		checkIngressPath(p)
	}
}

// checkIngressPath checks a path of a host.
func checkIngressPath(v value) {
	kind, path := v.at("pathType"), v.at("path")
	switch {
	case !kind.exists():
		kind.required("pathType must be specified")
		return
	case !kind.among("Exact", "ImplementationSpecific", "Prefix"):
	case kind.text() != "ImplementationSpecific":
		checkCleanPath(path)
	case path.text() != "" && !strings.HasPrefix(path.text(), "/"):
		path.invalid("must be an absolute path")
	}
	checkBackend(v.at("backend"))
}

// checkCleanPath checks an absolute path without segments that a client could resolve in several ways.
func checkCleanPath(v value) {
	if !strings.HasPrefix(v.text(), "/") {
		v.invalid("must be an absolute path")
	}
	for _, part := range []string{"//", "/./", "/../", "%2f", "%2F"} {
		if strings.Contains(v.text(), part) {
			v.invalid("must not contain '%s'", part)
		}
	}
	for _, end := range []string{"/..", "/."} {
		if strings.HasSuffix(v.text(), end) {
			v.invalid("cannot end with '%s'", end)
		}
	}
}

// checkBackend checks where requests go.
func checkBackend(v value) {
	resource, service := v.at("resource"), v.at("service")
	switch {
	case resource.exists() && service.exists():
		v.invalid("cannot set both resource and service backends")
	case resource.exists():
		checkReference(resource)
	case service.exists():
		if name := service.at("name"); name.must() {
			name.fits(label(name.text()))
		}
		checkBackendPort(v, service.at("port", "name"), service.at("port", "number"))
	default:
		v.invalid("resource or service backend is required")
	}
}

// checkBackendPort checks that a port has either a name or a number.
func checkBackendPort(backend, name, number value) {
	named, numbered := name.text() != "", number.number() != 0
	switch {
	case named && numbered:
		backend.invalid("cannot set both port name & port number")
	case named:
		name.fits(portName(name.text()))
	case numbered:
		number.between(1, 65535)
	default:
		backend.required("port name or number is required")
	}
}

// checkIngressStatus checks the load balancer in the status of an Ingress.
func checkIngressStatus(v value) {
	list := v.at("status", "loadBalancer", "ingress")
	kept := addressesOf(before(list))
	for _, e := range list.items() {
		if e.at("ip").text() != "" {
			checkAddress(e.at("ip"), kept)
		}
		checkHostname(e.at("hostname"))
	}
}

// addressesOf returns the addresses of load balancers.
func addressesOf(list value) (all []string) {
	for _, e := range list.items() {
		all = append(all, e.at("ip").text())
	}
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}
