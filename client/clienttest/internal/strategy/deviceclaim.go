package strategy

import (
	"slices"
	"strings"
)

// checkDeviceClaim checks a ResourceClaim, whose spec does not change.
func checkDeviceClaim(v value) {
	spec := v.at("spec")
	if v.creates() {
		checkAdmin(v, spec.at("devices", "requests"))
		checkDeviceRequests(spec.at("devices"))
	} else if !sameSpec(spec.is, spec.was) {
		spec.invalid("field is immutable")
	}
}

// checkDeviceClaimTemplate checks a ResourceClaimTemplate.
func checkDeviceClaimTemplate(v value) {
	spec := v.at("spec")
	if v.creates() {
		checkAdmin(v, spec.at("spec", "devices", "requests"))
	}
	checkTemplateMetadata(spec.at("metadata"))
	checkDeviceRequests(spec.at("spec", "devices"))
	if v.updates && !sameSpec(spec.is, spec.was) {
		spec.invalid("field is immutable")
	}
}

// checkAdmin refuses access of administrators to devices, unless the namespace allows it. As a real server does, it
// reports only the first such request of a claim or of a template, at a field that does not exist.
func checkAdmin(v, requests value) {
	for i, r := range requests.items() {
		if r.at("exactly", "adminAccess").flag() && !v.to.admin {
			v.at("spec", "devices", "requests").item(i).at("adminAccess").forbidden("requires a label of the namespace")
			return
		}
	}
}

// checkDeviceRequests checks the devices that a claim asks for.
func checkDeviceRequests(v value) {
	requests, constraints, config := v.at("requests"), v.at("constraints"), v.at("config")
	names := requestNames(requests)
	if requests.atMost(32) {
		for _, r := range requests.items() {
			checkDeviceRequest(r)
		}
		uniqueNames(requests)
	}
	if constraints.atMost(32) {
		for _, c := range constraints.items() {
			checkRequestNames(c.at("requests"), names)
			match, distinct := c.at("matchAttribute"), c.at("distinctAttribute")
			if !match.exists() && !distinct.exists() {
				c.required("exactly one of matchAttribute and distinctAttribute is required")
			}
			for _, name := range []value{match, distinct} {
				if name.exists() {
					checkMember(name, name.text(), true)
				}
			}
		}
	}
	if config.atMost(32) {
		for _, c := range config.items() {
			checkRequestNames(c.at("requests"), names)
			checkOpaque(c.at("opaque"))
		}
	}
}

// uniqueNames reports the elements of a list that have the name of an earlier one.
func uniqueNames(list value) {
	seen := map[string]bool{}
	for _, e := range list.items() {
		name := e.at("name").text()
		if seen[name] {
			e.duplicate()
		}
		seen[name] = true
	}
}

// checkDeviceRequest checks a request for devices: one exact request, or several of which the first that is available
// counts.
func checkDeviceRequest(v value) {
	name, exactly, first := v.at("name"), v.at("exactly"), v.at("firstAvailable")
	name.fits(label(name.text()))
	switch {
	case !exactly.exists() && first.len() == 0:
		v.required("exactly one of `exactly` or `firstAvailable` is required")
	case exactly.exists() && first.len() > 0:
		v.invalid("exactly one of `exactly` or `firstAvailable` is required")
		for _, r := range first.items() { // a server checks some of it nevertheless
			checkRequestClass(r.at("deviceClassName"))
		}
	case exactly.exists():
		checkExactRequest(exactly)
	case first.atMost(8):
		for _, r := range first.items() {
			r.at("name").fits(label(r.at("name").text()))
			checkExactRequest(r)
		}
		uniqueNames(first)
	}
}

func checkRequestClass(v value) {
	if v.must() {
		v.fits(subdomain(v.text()))
	}
}

// checkExactRequest checks which devices a request is for, and how many.
func checkExactRequest(v value) {
	count := v.at("count")
	checkRequestClass(v.at("deviceClassName"))
	checkSelectors(v.at("selectors"))
	switch mode := v.at("allocationMode"); {
	case !mode.among("All", "ExactCount"):
	case mode.text() == "All" && count.number() != 0:
		count.invalid("must not be specified when allocationMode is 'All'")
	case mode.text() == "ExactCount":
		positive(count)
	}
	checkDeviceTolerations(v.at("tolerations"))
}

// requestNames returns the names of requests, and those of their subrequests after a slash.
func requestNames(requests value) (names []string) {
	for _, r := range requests.items() {
		name := r.at("name").text()
		names = append(names, name)
		for _, sub := range r.at("firstAvailable").items() {
			names = append(names, name+"/"+sub.at("name").text())
		}
	}
	return names
}

// checkRequestNames checks a list of names of requests.
func checkRequestNames(list value, names []string) {
	if !list.atMost(32) {
		return
	}
	for _, name := range list.items() {
		checkRequestName(name, names)
	}
	list.unique(func(name value) value { return name })
}

func checkRequestName(v value, names []string) {
	parts := strings.Split(v.text(), "/")
	if len(parts) <= 2 {
		for _, part := range parts {
			v.fits(label(part))
		}
	}
	if !slices.Contains(names, v.text()) {
		v.invalid("must be the name of a request in the claim or the name of a request and a subrequest separated by '/'")
	}
}
