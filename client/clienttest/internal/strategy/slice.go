package strategy

import (
	"math/big"
	"regexp"
	"slices"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
)

// checkSlice checks a ResourceSlice, a part of a pool of devices.
func checkSlice(v value) {
	spec := v.at("spec")
	driver, pool, devices, counters := spec.at("driver"), spec.at("pool"), spec.at("devices"), spec.at("sharedCounters")
	checkDriverName(driver)
	checkPool(pool.at("name"))
	positive(pool.at("resourceSliceCount"))
	pool.at("generation").natural()
	for _, fixed := range []value{pool.at("name"), driver, spec.at("nodeName")} {
		if v.updates && !jsontree.Equal(fixed.is, fixed.was) {
			fixed.invalid("field is immutable")
		}
	}
	checkNodes(spec, "nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection")
	if terms := spec.at("nodeSelector", "nodeSelectorTerms"); spec.at("nodeSelector").exists() && terms.len() != 1 {
		terms.invalid("must have exactly one node selector term")
	}
	if counters.exists() && devices.exists() {
		spec.invalid("only one of `sharedCounters` or `devices` is allowed")
	}
	limit := 128
	if slices.ContainsFunc(devices.items(), func(d value) bool { return d.at("taints").len()+d.at("consumesCounters").len() > 0 }) {
		limit = 64
	}
	if devices.atMost(limit) {
		for _, d := range devices.items() {
			checkDevice(d, spec)
		}
		uniqueNames(devices)
	}
	if counters.atMost(8) {
		for _, c := range counters.items() {
			checkCounters(c, c.at("name"))
		}
		uniqueNames(counters)
	}
}

// checkNodes checks that exactly one of the named members is set. They say which nodes have the devices.
func checkNodes(v value, names ...string) {
	found := 0
	for _, name := range names {
		m := v.at(name)
		switch _, isFlag := m.is.(bool); {
		case !m.exists():
			continue
		case name == "nodeName" && m.text() == "":
			m.invalid("must not be empty")
			continue
		case isFlag && !m.flag():
			m.invalid("must be either unset or set to true")
			continue
		case name == "nodeName":
			m.fits(subdomain(m.text()))
		case name == "nodeSelector":
			checkNodeSelector(m)
		}
		found++
	}
	switch {
	case found == 0:
		v.required("must say on which nodes the devices are")
	case found > 1:
		v.invalid("must say in one way on which nodes the devices are")
	}
}

// checkCounters checks a set of counters with a name.
func checkCounters(v, name value) {
	counters := v.at("counters")
	if name.must() {
		name.fits(label(name.text()))
	}
	if counters.must() && counters.atMost(32) {
		for _, key := range counters.keys() {
			counters.fits(label(key))
		}
	}
}

// checkDevice checks a device of a slice.
func checkDevice(v, spec value) {
	v.at("name").fits(label(v.at("name").text()))
	attributes, capacity := v.at("attributes"), v.at("capacity")
	if n := attributes.len() + capacity.len(); n > 32 {
		v.invalid("the total number of attributes and capacities must not exceed 32")
	}
	if attributes.len() > 48 {
		v.invalid("the total number of attribute values must not exceed 48")
	}
	for _, name := range attributes.keys() {
		checkMember(attributes, name, false)
		checkAttribute(attributes.key(name))
	}
	old := value{}
	for _, d := range before(spec.at("devices")).items() {
		if d.at("name").text() == v.at("name").text() {
			old = d
		}
	}
	if old.is == nil || !sameSpec(old.at("capacity").is, capacity.is) {
		for _, name := range capacity.keys() {
			checkMember(capacity, name, false)
			checkRequestPolicy(capacity.key(name), v.at("allowMultipleAllocations").flag())
		}
	}
	if taints := v.at("taints"); taints.atMost(16) {
		for _, t := range taints.items() {
			checkDeviceTaint(t)
		}
	}
	checkConsumed(v.at("consumesCounters"))
	checkBindingConditions(v)
	switch nodes := []string{"nodeName", "nodeSelector", "allNodes"}; {
	case spec.at("perDeviceNodeSelection").flag():
		checkNodes(v, nodes...)
	case slices.ContainsFunc(nodes, func(name string) bool { return v.at(name).exists() }):
		v.invalid("nodes can only be set if `perDeviceNodeSelection` is true in the spec")
	}
}

// checkConsumed checks which counters a device consumes.
func checkConsumed(list value) {
	if !list.atMost(2) {
		return
	}
	seen := map[string]bool{}
	for _, c := range list.items() {
		checkCounters(c, c.at("counterSet"))
		if name := c.at("counterSet").text(); seen[name] {
			c.duplicate()
		} else {
			seen[name] = true
		}
	}
}

// version is the form of versions (semver.org 2.0.0).
func version() *regexp.Regexp {
	const number, before, build = `(0|[1-9]\d*)`, `(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)`, `[0-9a-zA-Z-]+`
	return regexp.MustCompile(`^` + number + `\.` + number + `\.` + number + `(-` + before + `(\.` + before + `)*)?` +
		`(\+` + build + `(\.` + build + `)*)?$`)
}

// checkAttribute checks an attribute of a device, which has one value.
func checkAttribute(v value) {
	found := 0
	for _, name := range []string{"bool", "int", "string", "version"} {
		m := v.at(name)
		if !m.exists() {
			continue
		}
		found++
		if m.len() > 64 {
			m.tooLong(64)
		}
		if name == "version" {
			m.fits(matching(version())(m.text()))
		}
	}
	if found != 1 {
		v.invalid("exactly one value must be specified")
	}
}

// checkRequestPolicy checks how much of a capacity a request may have.
func checkRequestPolicy(capacity value, shared bool) {
	policy := capacity.at("requestPolicy")
	values, within, chosen := policy.at("validValues"), policy.at("validRange"), policy.at("default")
	switch {
	case !policy.exists():
	case !shared:
		policy.forbidden("allowMultipleAllocations must be true")
	case values.len() > 0 && within.exists():
		policy.forbidden("cannot specify validValues and validRange at the same time")
	case values.len() == 0 && !within.exists():
	case !chosen.exists():
		chosen.required("required when validValues or validRange is defined")
	case within.exists():
		checkRange(within, chosen.amount(), capacity.at("value").amount())
	default:
		checkAmountsOf(values, chosen.amount(), capacity.at("value").amount())
	}
}

// checkAmountsOf checks the amounts that a request may have. One of them is the default.
func checkAmountsOf(list value, chosen, most *big.Rat) {
	all := list.items()
	for i := 1; i < len(all); i++ {
		if all[i-1].amount().Cmp(all[i].amount()) > 0 {
			all[i].invalid("values must be sorted in ascending order")
		}
	}
	if !list.atMost(10) {
		return
	}
	seen, found := map[string]bool{}, false
	for _, e := range all {
		amount := e.amount()
		if amount.Cmp(most) > 0 {
			e.invalid("option is larger than capacity value")
		}
		found = found || amount.Cmp(chosen) == 0
		if seen[amount.RatString()] {
			e.duplicate()
		}
		seen[amount.RatString()] = true
	}
	if !found {
		list.invalid("default value is not valid according to the requestPolicy")
	}
}

// checkRange checks the range of amounts that a request may have, and its steps.
func checkRange(v value, chosen, most *big.Rat) {
	low, high, step := v.at("min"), v.at("max"), v.at("step")
	if !low.exists() {
		low.required("required when validRange is defined")
		return
	}
	if low.amount().Cmp(most) > 0 {
		low.invalid("min is larger than capacity value")
	}
	if chosen.Cmp(low.amount()) < 0 || high.exists() && chosen.Cmp(high.amount()) > 0 {
		v.at("default").invalid("default is out of range")
	}
	if high.exists() && (low.amount().Cmp(high.amount()) > 0 || high.amount().Cmp(most) > 0) {
		high.invalid("max is less than min, or larger than the capacity value")
	}
	if !step.exists() {
		return
	}
	if step.amount().Sign() <= 0 {
		step.invalid("must be greater than zero")
		return
	}
	if new(big.Rat).Add(low.amount(), step.amount()).Cmp(most) > 0 {
		step.invalid("one step is larger than capacity value")
	}
	for _, bound := range []value{low, high} {
		if bound.isNegative() {
			bound.invalid("must be greater than or equal to 0")
			return
		}
	}
	for _, amount := range []*big.Rat{chosen, high.amount()} {
		rest := new(big.Rat).Sub(amount, low.amount())
		if (amount == chosen || high.exists()) && !rest.Quo(rest, step.amount()).IsInt() {
			step.invalid("value is not a multiple of a given step from the minimum")
		}
	}
}
