package strategy

import (
	"slices"
	"strings"
)

// checkEndpoints checks an Endpoints.
func checkEndpoints(v value) {
	subsets := v.at("subsets")
	if subsets.unchanged() {
		return
	}
	for _, s := range subsets.items() {
		ready, waiting, ports := s.at("addresses"), s.at("notReadyAddresses"), s.at("ports")
		if ready.len() == 0 && waiting.len() == 0 {
			s.required("must specify `addresses` or `notReadyAddresses`")
		}
		for _, a := range slices.Concat(ready.items(), waiting.items()) {
			checkEndpointAddress(a)
		}
		for _, p := range ports.items() {
			name := p.at("name")
			if name.text() != "" {
				name.fits(label(name.text()))
			} else if ports.len() > 1 {
				name.required("")
			}
			p.at("port").between(1, 65535)
			checkEndpointPort(p)
		}
	}
}

// checkEndpointAddress checks an address of an Endpoints.
func checkEndpointAddress(v value) {
	checkAddress(v.at("ip"), nil)
	checkReachable(v.at("ip"))
	if name := v.at("hostname"); name.text() != "" {
		name.fits(label(name.text()))
	}
	if node := v.at("nodeName"); node.exists() {
		node.fits(subdomain(node.text()))
	}
}

// checkEndpointPort checks the protocols of a port.
func checkEndpointPort(v value) {
	v.at("protocol").among(protocols()...)
	if app := v.at("appProtocol"); app.exists() {
		app.fits(qualified(app.text()))
	}
}

// checkEndpointSlice checks an EndpointSlice.
func checkEndpointSlice(v value) {
	kind, ports, endpoints := v.at("addressType"), v.at("ports"), v.at("endpoints")
	kind.oneOf("FQDN", "IPv4", "IPv6")
	kind.immutable()
	for _, p := range ports.items() {
		if name := p.at("name"); name.text() != "" {
			name.fits(label(name.text()))
		}
		checkEndpointPort(p)
	}
	ports.unique(func(p value) value { return p.at("name") })
	switch {
	case endpoints.unchanged():
	case endpoints.len() > 1000:
		endpoints.tooMany(1000)
	default:
		for _, e := range endpoints.items() {
			checkEndpoint(e, kind.text())
		}
	}
}

// checkEndpoint checks an endpoint of an EndpointSlice.
func checkEndpoint(v value, addressType string) {
	addresses := v.at("addresses")
	if addresses.must() && addresses.len() > 100 {
		addresses.tooMany(100)
	}
	for _, a := range addresses.items() {
		switch addressType {
		case "IPv4":
			if checkAddress(a, nil) {
				checkFamily(a, addresses, !isIPv6(a.text()), addressType)
			}
		case "IPv6":
			if checkAddress(a, nil) && a.canonical() {
				checkFamily(a, addresses, isIPv6(a.text()), addressType)
			}
		case "FQDN":
			checkDomain(a)
		}
	}
	if node := v.at("nodeName"); node.exists() {
		node.fits(subdomain(node.text()))
	}
	if name := v.at("hostname"); name.exists() {
		name.fits(label(name.text()))
	}
	checkHints(v.at("hints"))
}

// checkFamily checks an address of an endpoint that is an IP address. fits says whether it is of the wanted family.
func checkFamily(v, list value, fits bool, want string) {
	if !fits {
		list.invalid("must be an %s address", want)
	}
	checkReachable(v)
}

// checkDomain checks a DNS name of at least two labels.
func checkDomain(v value) {
	name := strings.TrimSuffix(v.text(), ".")
	switch {
	case !v.must() || !v.fits(subdomain(name)):
	case !strings.Contains(name, "."):
		v.invalid("should be a domain with at least two segments separated by dots")
	default:
		for part := range strings.SplitSeq(name, ".") {
			if !v.fits(label(part)) {
				return
			}
		}
	}
}

// checkHints checks the zones and nodes that an endpoint is for.
func checkHints(v value) {
	zones, nodes := v.at("forZones"), v.at("forNodes")
	if zones.len() > 8 {
		zones.tooMany(8)
		return
	}
	for _, z := range zones.items() {
		z.at("name").fits(labelValue(z.at("name").text()))
	}
	zones.unique(func(z value) value { return z.at("name") })
	if nodes.len() > 8 {
		nodes.tooMany(8)
		return
	}
	for _, n := range nodes.items() {
		n.at("name").fits(subdomain(n.at("name").text()))
	}
	nodes.unique(func(n value) value { return n.at("name") })
}
