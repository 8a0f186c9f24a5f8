package strategy

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// checkDeviceClaimStatus checks the status of a ResourceClaim: which devices are allocated, and for whom.
func checkDeviceClaimStatus(v value) {
	status := v.at("status")
	allocation, reserved, devices := status.at("allocation"), status.at("reservedFor"), status.at("devices")
	checkAdminResults(v)
	if reserved.atMost(256) {
		checkConsumers(reserved)
	}
	results := allocation.at("devices", "results")
	var allocated []string
	for _, r := range results.items() {
		allocated = append(allocated, deviceID(r))
	}
	seen := map[string]bool{}
	for _, d := range devices.items() {
		checkDeviceStatus(d, allocated)
		if seen[deviceID(d)] {
			d.duplicate()
		}
		seen[deviceID(d)] = true
	}
	switch old := before(reserved).list(); {
	case reserved.len() == 0:
	case !allocation.exists():
		reserved.forbidden("may not be specified when `allocated` is not set")
	case v.at("metadata", "deletionTimestamp").exists() && slices.ContainsFunc(reserved.list(), func(r any) bool {
		return !slices.ContainsFunc(old, func(was any) bool { return same(r, was) })
	}):
		reserved.forbidden("new entries may not be added while the claim is deleted")
	}
	switch {
	case !allocation.exists():
	case !before(allocation).exists():
		checkAllocation(allocation, requestNames(v.at("spec", "devices", "requests")))
	case !sameSpec(allocation.is, allocation.was):
		allocation.invalid("field is immutable")
	}
}

// checkAdminResults refuses new access of administrators to devices, unless the namespace allows it.
func checkAdminResults(v value) {
	results := v.at("status", "allocation", "devices", "results")
	granted := func(r value) bool { return r.at("adminAccess").flag() }
	if v.to.admin || slices.ContainsFunc(before(results).items(), granted) {
		return
	}
	if i := slices.IndexFunc(results.items(), granted); i >= 0 {
		results.item(i).at("adminAccess").forbidden("requires a label of the namespace")
	}
}

// Deallocated returns the statuses of devices, which drivers have written, without those of devices that were allocated
// and no longer are. old and now are allocations.
func Deallocated(devices []any, old, now any) (kept []any) {
	ids := func(allocation any) (all []string) {
		for _, r := range (value{is: allocation}).at("devices", "results").items() {
			all = append(all, deviceID(r))
		}
		return all
	}
	was, is := ids(old), ids(now)
	for _, d := range devices {
		if id := deviceID(value{is: d}); !slices.Contains(was, id) || slices.Contains(is, id) {
			kept = append(kept, d)
		}
	}
	return kept
}

// deviceID returns a text that only one device has.
func deviceID(v value) string {
	return strings.Join([]string{v.at("driver").text(), v.at("pool").text(), v.at("device").text(), v.at("shareID").text()}, "\n")
}

// checkConsumers checks for whom devices are reserved.
func checkConsumers(list value) {
	seen := map[string]bool{}
	for _, c := range list.items() {
		for _, name := range []string{"resource", "name", "uid"} {
			c.at(name).must()
		}
		uid := c.at("uid").text()
		if seen[uid] {
			c.duplicate()
		}
		seen[uid] = true
	}
}

// checkAllocation checks a new allocation of devices for requests.
func checkAllocation(v value, names []string) {
	results, config := v.at("devices", "results"), v.at("devices", "config")
	if results.atMost(32) {
		for _, r := range results.items() {
			checkRequestName(r.at("request"), names)
			checkDriverName(r.at("driver"))
			checkPool(r.at("pool"))
			r.at("device").fits(label(r.at("device").text()))
			checkBindingConditions(r)
			checkDeviceTolerations(r.at("tolerations"))
			checkShare(r.at("shareID"))
		}
	}
	if config.atMost(64) {
		for _, c := range config.items() {
			c.at("source").oneOf("FromClaim", "FromClass")
			checkRequestNames(c.at("requests"), names)
			checkOpaque(c.at("opaque"))
		}
	}
	if selector := v.at("nodeSelector"); selector.exists() {
		checkNodeSelector(selector)
	}
}

// checkShare checks the identifier of a share of a device (RFC 4122).
func checkShare(v value) {
	if v.exists() {
		v.fits(matching(regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`))(v.text()))
	}
}

// checkDeviceStatus checks the status that a driver has written for an allocated device.
func checkDeviceStatus(v value, allocated []string) {
	checkDriverName(v.at("driver"))
	checkPool(v.at("pool"))
	v.at("device").fits(label(v.at("device").text()))
	checkShare(v.at("shareID"))
	if !slices.Contains(allocated, deviceID(v)) {
		v.invalid("must be an allocated device in the claim")
	}
	v.at("conditions").atMost(8)
	checkStatusConditions(v.at("conditions"))
	if data := v.at("data"); data.exists() {
		checkRaw(data)
	}
	network := v.at("networkData")
	for name, limit := range map[string]int{"interfaceName": 256, "hardwareAddress": 128} {
		if text := network.at(name); text.len() > limit {
			text.tooLong(limit)
		}
	}
	if ips := network.at("ips"); ips.atMost(16) {
		for _, ip := range ips.items() {
			if p, err := netip.ParsePrefix(ip.text()); err != nil || p.Addr().Is4In6() || p.String() != ip.text() {
				ip.invalid("must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)")
			}
		}
		ips.unique(func(ip value) value { return ip })
	}
}
