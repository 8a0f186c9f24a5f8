package strategy

import "net/netip"

// checkIPAddress checks an IPAddress, which records who uses an address of services.
func checkIPAddress(v value) {
	name, ref := v.at("metadata", "name"), v.at("spec", "parentRef")
	if v.creates() {
		a, err := netip.ParseAddr(name.text())
		switch {
		case err != nil || a.Zone() != "":
			name.fits(address(name.text()))
		case a.Is4In6():
			name.fits(notMapped(a))
		default:
			name.canonical()
		}
	}
	if v.updates && !sameSpec(ref.is, ref.was) {
		ref.invalid("field is immutable")
	}
	if !ref.exists() {
		ref.required("")
		return
	}
	if group := ref.at("group"); group.text() != "" {
		group.fits(subdomain(group.text()))
	}
	for _, part := range []string{"resource", "name"} {
		if p := ref.at(part); p.must() {
			p.fits(segment(p.text()))
		}
	}
	ref.at("namespace").fits(segment(ref.at("namespace").text()))
}

// checkServiceCIDR checks a ServiceCIDR, a range of addresses of services.
func checkServiceCIDR(v value) {
	cidrs := v.at("spec", "cidrs")
	old, is := before(cidrs).texts(), cidrs.texts()
	switch {
	case v.creates():
		checkCIDRs(cidrs)
	case len(old) == len(is):
		for _, c := range cidrs.items() {
			c.immutable()
		}
	case len(old) == 1 && len(is) == 2:
		cidrs.items()[0].immutable()
		checkCIDRs(cidrs)
	default:
		cidrs.invalid("field is immutable")
	}
}

// checkCIDRs checks one range of addresses, or one of each family.
func checkCIDRs(v value) {
	switch n := v.len(); {
	case n == 0:
		v.required("at least one CIDR required")
		return
	case n > 2:
		v.invalid("may only hold up to 2 values")
		return
	}
	for _, c := range v.items() {
		checkBlock(c, c.text(), nil)
	}
	if both, valid := dualStack(v.texts()); v.len() == 2 && valid && !both {
		v.invalid("may specify no more than one IP for each IP family")
	}
}
