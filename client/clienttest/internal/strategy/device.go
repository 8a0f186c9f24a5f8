package strategy

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/meta"
)

// addDevices adds the kinds with which pods get devices.
func addDevices(all map[meta.GVK]kind) {
	add := func(name string, k kind) { all[meta.GVK{Group: "resource.k8s.io", Version: "v1", Kind: name}] = k }
	add("ResourceClaim", kind{check: checkDeviceClaim, status: checkDeviceClaimStatus})
	add("ResourceClaimTemplate", kind{check: checkDeviceClaimTemplate})
	add("ResourceSlice", kind{check: checkSlice})
	add("DeviceClass", kind{check: checkDeviceClass})
	add("DeviceTaintRule", kind{check: checkTaintRule, status: checkTaintRuleStatus})
}

// addDeviceDefaults adds the defaults of these kinds.
func addDeviceDefaults(all map[string]func(jsontree.Object)) {
	request := func(m jsontree.Object) {
		setText(m, "allocationMode", "ExactCount")
		if m["allocationMode"] == "ExactCount" {
			setNumber(m, "count", 1)
		}
	}
	all["resource.v1.ExactDeviceRequest"], all["resource.v1.DeviceSubRequest"] = request, request
	all["resource.v1.DeviceToleration"] = func(m jsontree.Object) { setText(m, "operator", "Equal") }
	all["resource.v1.DeviceTaint"] = func(m jsontree.Object) {
		setDefault(m, "timeAdded", time.Now().UTC().Format(time.RFC3339))
	}
	amount := func(m jsontree.Object) { setDefault(m, "value", "0") }
	all["resource.v1.DeviceCapacity"], all["resource.v1.Counter"] = amount, amount
	all["resource.v1.ResourceClaim"] = func(m jsontree.Object) { section(section(m, "spec"), "devices") }
	all["resource.v1.ResourceClaimTemplateSpec"] = func(m jsontree.Object) { section(section(m, "spec"), "devices") }
}

// checkDeviceClass checks a DeviceClass.
func checkDeviceClass(v value) {
	spec := v.at("spec")
	checkSelectors(spec.at("selectors"))
	if config := spec.at("config"); config.atMost(32) {
		for _, c := range config.items() {
			checkOpaque(c.at("opaque"))
		}
	}
	if name := spec.at("extendedResourceName"); name.exists() && !isExtended(name.text()) {
		name.invalid("must be a valid extended resource name")
	}
}

// atMost reports a list with too many elements.
func (v value) atMost(limit int) bool {
	if v.len() > limit {
		v.tooMany(limit)
		return false
	}
	return true
}

// checkSelectors checks how devices are selected, without the expressions, which are in CEL.
func checkSelectors(list value) {
	if !list.atMost(32) {
		return
	}
	for _, s := range list.items() {
		switch expression := s.at("cel", "expression"); {
		case !s.at("cel").exists():
			s.at("cel").required("")
		case strings.TrimSpace(expression.text()) == "":
			expression.invalid("must be an expression")
		case expression.len() > 10<<10:
			expression.tooLong(10 << 10)
		}
	}
}

// checkOpaque checks parameters for a driver, which only the driver knows.
func checkOpaque(v value) {
	if !v.exists() {
		v.required("")
		return
	}
	checkDriverName(v.at("driver"))
	checkRaw(v.at("parameters"))
}

// checkRaw checks an object of any kind. A server does not decode it.
func checkRaw(v value) {
	switch _, isObject := v.is.(jsontree.Object); {
	case !v.exists():
		v.required("")
	case len(jsontree.Append(nil, v.is)) > 10<<10:
		v.tooLong(10 << 10)
	case !isObject:
		v.invalid("must be a valid JSON object")
	}
}

// checkPool checks the name of a pool of devices: names with slashes between them.
func checkPool(v value) {
	if !v.must() {
		return
	}
	if v.len() > 253 {
		v.tooLong(253)
	}
	for part := range strings.SplitSeq(v.text(), "/") {
		v.fits(subdomain(part))
	}
}

// checkMember checks the name of an attribute or of a capacity of a device. v.path does not contain the name. If whole
// is true, the name must have a domain.
func checkMember(v value, name string, whole bool) {
	domain, id, found := strings.Cut(name, "/")
	switch {
	case strings.Contains(id, "/"):
		return // as on a real server
	case !found:
		id = domain
		if whole {
			v.invalid("a fully qualified name must be a domain and a name separated by a slash")
		}
	case domain == "":
		v.invalid("the domain must not be empty")
	default:
		host := v
		host.is = domain
		checkDriverName(host)
	}
	if len(id) > 32 {
		v.tooLong(32)
	}
	if !regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`).MatchString(id) {
		v.invalid("must be a C identifier")
	}
}

// checkDeviceTaint checks a taint of devices.
func checkDeviceTaint(v value) {
	key, text := v.at("key"), v.at("value")
	key.fits(qualified(key.text()))
	text.fits(labelValue(text.text()))
	v.at("effect").oneOf("NoExecute", "NoSchedule", "None")
}

// checkDeviceTolerations checks which taints a request for devices tolerates.
func checkDeviceTolerations(list value) {
	for _, v := range list.items() {
		key, text := v.at("key"), v.at("value")
		if key.text() != "" {
			key.fits(qualified(key.text()))
		}
		switch operator := v.at("operator"); {
		case !operator.oneOf("Equal", "Exists"):
		case operator.text() == "Equal":
			text.fits(labelValue(text.text()))
		case text.text() != "":
			text.invalid("must be empty for operator `Exists`")
		}
		if effect := v.at("effect"); effect.text() != "" {
			effect.among("NoExecute", "NoSchedule", "None")
		}
	}
}

// checkBindingConditions checks the conditions for which a scheduler waits before it binds a pod to a device.
func checkBindingConditions(v value) {
	wanted, failures := v.at("bindingConditions"), v.at("bindingFailureConditions")
	for _, list := range []value{wanted, failures} {
		if list.atMost(4) {
			for _, c := range list.items() {
				c.fits(qualified(c.text()))
			}
		}
		list.unique(func(c value) value { return c })
	}
	for _, c := range failures.items() {
		if slices.Contains(wanted.texts(), c.text()) {
			c.invalid("bindingFailureConditions must not overlap with bindingConditions")
		}
	}
	switch {
	case wanted.len() == 0 && failures.len() > 0:
		wanted.invalid("bindingConditions are required to use bindingFailureConditions")
	case failures.len() == 0 && wanted.len() > 0:
		failures.invalid("bindingFailureConditions are required to use bindingConditions")
	}
}

// checkTaintRule checks a DeviceTaintRule.
func checkTaintRule(v value) {
	selector := v.at("spec", "deviceSelector")
	if driver := selector.at("driver"); driver.exists() {
		checkDriverName(driver)
	}
	if pool := selector.at("pool"); pool.exists() {
		checkPool(pool)
	}
	if device := selector.at("device"); device.exists() {
		device.fits(label(device.text()))
	}
	checkDeviceTaint(v.at("spec", "taint"))
}

// checkTaintRuleStatus checks the status of a DeviceTaintRule.
func checkTaintRuleStatus(v value) {
	conditions := v.at("status", "conditions")
	checkStatusConditions(conditions)
	conditions.atMost(8)
}
