package strategy

import (
	"math/big"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	amounts "github.com/bowline-go/bowline/client/clienttest/internal/quantity"
)

// requestLimits sets the requests of a container that has only limits.
func requestLimits(c jsontree.Object) {
	limits := inner(inner(c, "resources"), "limits")
	if limits == nil {
		return
	}
	requests := inner(inner(c, "resources"), "requests")
	if requests == nil {
		requests = jsontree.Object{}
	}
	for name, limit := range limits {
		setDefault(requests, name, limit)
	}
	if len(requests) > 0 {
		inner(c, "resources")["requests"] = requests
	}
}

// checkResources checks the resources of a container.
func (p pod) checkResources(c value) {
	checkRequirements(c.at("resources"), containerResource)
	checkResourceClaims(c.at("resources", "claims"), namesOf(p.at("resourceClaims")).all)
}

// checkRequirements checks requests and limits, whose names must have the given form.
func checkRequirements(v value, form func(string) []string) {
	compute, huge := false, false
	for _, list := range []value{v.at("limits"), v.at("requests")} {
		checkAmounts(list, form)
		for _, name := range list.keys() {
			compute = compute || name == "cpu" || name == "memory"
			huge = huge || strings.HasPrefix(name, "hugepages-")
		}
	}
	for _, name := range v.at("requests").keys() {
		request, limit := v.at("requests").key(name).as(v.at("requests")), v.at("limits").key(name)
		if text := limit.text(); text != "" && request.text() == text { // the usual case
			continue
		}
		switch more := request.amount().Cmp(limit.amount()); {
		case limit.exists() && more != 0 && !overcommits(name):
			request.invalid("must be equal to %s limit of %s", name, limit.text())
		case limit.exists() && more > 0:
			request.invalid("must be less than or equal to %s limit of %s", name, limit.text())
		case !limit.exists() && !overcommits(name):
			v.at("limits").required("Limit must be set for non overcommitable resources")
		}
	}
	if huge && !compute {
		v.forbidden("HugePages require cpu or memory")
	}
}

// checkAmounts checks amounts of resources, whose names must have the given form.
func checkAmounts(list value, form func(string) []string) {
	for _, name := range list.keys() {
		amount := list.key(name)
		amount.fits(form(name))
		checkAmount(amount, name)
		if size, found := strings.CutPrefix(name, "hugepages-"); found && !multiple(amount.amount(), size) {
			amount.invalid("%s is not positive integer multiple of %s", amount.text(), name)
		}
	}
}

// checkAmount checks the amount of a resource.
func checkAmount(v value, name string) {
	if v.isNegative() {
		v.invalid("must be greater than or equal to 0")
	}
	if isInteger(name) && !v.amount().IsInt() {
		v.invalid("must be an integer")
	}
}

// multiple reports whether an amount consists of whole pages of a size.
func multiple(amount *big.Rat, size string) bool {
	page, err := amounts.Parse(size)
	if err != nil || page.Amount.Sign() <= 0 || !page.Amount.IsInt() {
		return false
	}
	return new(big.Rat).Quo(amount, page.Amount).IsInt()
}

// isNative reports whether a resource is one that Kubernetes defines.
func isNative(name string) bool {
	return !strings.Contains(name, "/") || strings.Contains(name, "kubernetes.io/")
}

// isExtended reports whether a resource is one that a cluster adds.
func isExtended(name string) bool {
	return !isNative(name) && !strings.HasPrefix(name, "requests.") && len(qualified("requests."+name)) == 0
}

// isInteger reports whether a resource has no fractions.
func isInteger(name string) bool {
	return isExtended(name) || slices.Contains([]string{
		"pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps", "persistentvolumeclaims",
		"services.nodeports", "services.loadbalancers",
	}, name)
}

// overcommits reports whether the limit of a resource may be more than the request.
func overcommits(name string) bool { return isNative(name) && !strings.HasPrefix(name, "hugepages-") }

// resourceName is the form of the name of a resource.
func resourceName(s string) []string {
	if why := qualified(s); len(why) > 0 {
		return why
	}
	if strings.Contains(s, "/") || isStandardResource(s) || strings.HasPrefix(s, "hugepages-") || strings.HasPrefix(s, "requests.hugepages-") {
		return nil
	}
	return []string{"must be a standard resource type or fully qualified"}
}

func isStandardResource(name string) bool {
	switch name {
	case "cpu", "memory", "ephemeral-storage", "requests.cpu", "requests.memory", "requests.ephemeral-storage", "limits.cpu", "limits.memory",
		"limits.ephemeral-storage", "pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps",
		"persistentvolumeclaims", "storage", "requests.storage", "services.nodeports", "services.loadbalancers":
		return true
	}
	return false
}

// containerResource is the form of the name of a resource that a container may use.
func containerResource(s string) []string {
	why := resourceName(s)
	switch {
	case slices.Contains([]string{"cpu", "memory", "ephemeral-storage"}, s) || strings.HasPrefix(s, "hugepages-"):
	case !strings.Contains(s, "/"):
		why = append(why, "must be a standard resource for containers")
	case !isNative(s) && !isExtended(s):
		why = append(why, "doesn't follow extended resource name standard")
	}
	return why
}

// checkResourceClaims checks the claims of the pod that a container uses.
func checkResourceClaims(v value, known []string) {
	var seen []string
	for _, c := range v.items() {
		name, request := c.at("name").text(), c.at("request").text()
		if name == "" {
			c.required("")
			continue
		}
		key := name
		if request != "" {
			key += "/" + request
		}
		if slices.Contains(seen, name) {
			c.duplicate()
		} else {
			if request != "" {
				c.at("request").fits(label(request))
			}
			if slices.Contains(seen, key) || request == "" && slices.ContainsFunc(seen, func(s string) bool { return strings.HasPrefix(s, name+"/") }) {
				c.duplicate()
			}
			seen = append(seen, key)
		}
		if !slices.Contains(known, name) {
			c.notFound()
		}
	}
}

// checkPodResources checks the resources of a whole pod.
func (p pod) checkPodResources() {
	v := p.at("resources")
	switch {
	case !v.exists():
		return
	case p.at("os", "name").text() == "windows":
		v.forbidden("may not be set for a windows pod")
		return
	case v.at("claims").exists():
		v.at("claims").forbidden("claims may not be set for Resources at pod-level")
	}
	checkRequirements(v, resourceName)
	for _, list := range []value{v.at("limits"), v.at("requests")} {
		for _, name := range list.keys() {
			if len(resourceName(name)) == 0 && !forPods(name) {
				list.key(name).unsupported("cpu", "hugepages-", "memory")
			}
		}
	}
	checkResourceClaims(v.at("claims"), namesOf(p.at("resourceClaims")).all)
	for name, sum := range p.sum("requests") {
		if request := v.at("requests").key(name); request.exists() && sum.Cmp(request.amount()) > 0 {
			request.invalid("must be greater than or equal to aggregate container requests of %s", sum.RatString())
		}
	}
	for name, sum := range p.sum("limits") {
		if limit := v.at("limits").key(name); strings.HasPrefix(name, "hugepages-") && limit.exists() && sum.Cmp(limit.amount()) > 0 {
			limit.invalid("must be greater than or equal to aggregate container limits of %s", sum.RatString())
		}
	}
	for i, c := range p.at("containers").items() {
		for _, name := range c.at("resources", "limits").keys() {
			limit := c.at("resources", "limits").key(name)
			if most := v.at("limits").key(name); most.exists() && limit.amount().Cmp(most.amount()) > 0 {
				limit.as(v.at("containers").item(i).key(name).at("limits")).invalid("must be less than or equal to pod limits of %s", most.text())
			}
		}
	}
}

// forPods reports whether a whole pod may have a resource.
func forPods(name string) bool {
	return name == "cpu" || name == "memory" || strings.HasPrefix(name, "hugepages-")
}

// sum returns the requests or the limits of all containers. Init containers run one after another. Those that always
// restart go on running beside the containers that start after them.
func (p pod) sum(list string) map[string]*big.Rat {
	all, sidecars := map[string]*big.Rat{}, map[string]*big.Rat{}
	add := func(to map[string]*big.Rat, c value) {
		for _, name := range c.at("resources", list).keys() {
			was := to[name]
			if was == nil {
				was = new(big.Rat)
			}
			to[name] = new(big.Rat).Add(was, c.at("resources", list).key(name).amount())
		}
	}
	for _, c := range p.at("containers").items() {
		add(all, c)
	}
	most := map[string]*big.Rat{}
	for _, c := range p.at("initContainers").items() {
		now := map[string]*big.Rat{}
		if c.at("restartPolicy").text() == "Always" {
			add(all, c)
			add(sidecars, c)
		} else {
			add(now, c)
		}
		for name, amount := range sidecars {
			if now[name] == nil {
				now[name] = new(big.Rat)
			}
			now[name] = new(big.Rat).Add(now[name], amount)
		}
		larger(most, now)
	}
	larger(all, most)
	return all
}

// larger raises the amounts in its first argument to those in its second, where the latter are larger.
func larger(of, than map[string]*big.Rat) {
	for name, amount := range than {
		if of[name] == nil || of[name].Cmp(amount) < 0 {
			of[name] = amount
		}
	}
}
