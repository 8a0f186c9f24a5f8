package strategy

import (
	"net/netip"
	"slices"
	"strings"
)

// checkAddress checks an IP address. A value of kept is accepted as it is.
func checkAddress(v value, kept []string) bool {
	if slices.Contains(kept, v.text()) {
		return true
	}
	a, _ := netip.ParseAddr(v.text())
	return v.fits(slices.Concat(address(v.text()), notMapped(a)))
}

// checkBlock checks a range of IP addresses. A value of kept is accepted as it is.
func checkBlock(v value, text string, kept []string) {
	if slices.Contains(kept, text) {
		return
	}
	if !v.fits(block(text)) {
		return
	}
	p, _ := netip.ParsePrefix(text)
	switch why := notMapped(p.Addr()); {
	case len(why) > 0:
		v.fits(why)
	case p != p.Masked():
		v.invalid("must not have bits set beyond the prefix length")
	}
}

// notMapped is the form of every address except an IPv4 address that is written as IPv6.
func notMapped(a netip.Addr) []string {
	if a.Is4In6() {
		return []string{"must not be an IPv4-mapped IPv6 address"}
	}
	return nil
}

// checkReachable refuses addresses that an endpoint of a service cannot have.
func checkReachable(v value) {
	a, err := netip.ParseAddr(v.text())
	switch {
	case err != nil || a.Zone() != "":
		v.invalid("must be a valid IP address")
	case a.Unmap().IsUnspecified():
		v.invalid("may not be unspecified")
	case a.Unmap().IsLoopback():
		v.invalid("may not be in the loopback range (127.0.0.0/8, ::1/128)")
	case a.Unmap().IsLinkLocalUnicast():
		v.invalid("may not be in the link-local range (169.254.0.0/16, fe80::/10)")
	case a.Unmap().IsLinkLocalMulticast():
		v.invalid("may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)")
	}
}

// isAddress reports whether a text is an IP address.
func isAddress(s string) bool { return len(address(s)) == 0 }

// isIPv6 reports whether a text is an IPv6 address.
func isIPv6(s string) bool { return isAddress(s) && strings.Contains(s, ":") }

// protocols are the protocols of a port.
func protocols() []string { return []string{"SCTP", "TCP", "UDP"} }

// checkHostname checks the name of a load balancer, which must not be an address.
func checkHostname(v value) {
	if v.text() == "" {
		return
	}
	v.fits(subdomain(v.text()))
	if isAddress(v.text()) {
		v.invalid("must be a DNS name, not an IP address")
	}
}

// texts returns the texts of a list.
func (v value) texts() []string {
	var all []string
	for _, e := range v.items() {
		all = append(all, e.text())
	}
	return all
}

// unique reports each element of a list that repeats an earlier one. at returns the value of an element that must be
// unique; the error is at its place.
func (v value) unique(at func(value) value) {
	seen := map[string]bool{}
	for _, e := range v.items() {
		if e = at(e); seen[e.text()] {
			e.duplicate()
		}
		seen[e.text()] = true
	}
}

// canonical reports an address that is not in the form of RFC 5952.
func (v value) canonical() bool {
	if a, err := netip.ParseAddr(v.text()); err == nil && a.String() != v.text() {
		v.invalid("must be in canonical form (%q)", a)
		return false
	}
	return true
}
