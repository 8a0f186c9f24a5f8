package strategy

import (
	"net/netip"
	"slices"
)

// checkPodStatus checks the status of a pod.
func checkPodStatus(v value) {
	s := v.at("status")
	for _, c := range s.at("conditions").items() {
		if c.at("observedGeneration").number() < 0 {
			c.at("observedGeneration").invalid("must be a non-negative integer")
		}
		if name := c.at("type"); !slices.Contains([]string{"PodScheduled", "Ready", "Initialized"}, name.text()) {
			name.as(c.at("Type")).fits(qualified(name.text()))
		}
	}
	if s.at("observedGeneration").number() < 0 {
		s.at("observedGeneration").invalid("must be a non-negative integer")
	}
	if node := s.at("nominatedNodeName"); node.text() != "" && node.text() != before(node).text() {
		node.fits(subdomain(node.text()))
		if before(v.at("spec", "nodeName")).text() != "" {
			node.forbidden("may not be set on pods that are already bound to a node")
		}
	}
	s.at("qosClass").immutable()
	checkStates(v)
	checkStatusIPs(s, "podIP", "podIPs")
	checkStatusIPs(s, "hostIP", "hostIPs")
	checkClaimStatuses(v)
}

// checkStates refuses a status in which a container that must not restart runs again.
func checkStates(v value) {
	policies := map[string]string{}
	containers := append(v.at("spec", "containers").items(), v.at("spec", "initContainers").items()...)
	for _, c := range containers {
		if slices.ContainsFunc(c.at("restartPolicyRules").items(), func(r value) bool { return r.at("action").text() == "RestartAllContainers" }) {
			return
		}
		policy := v.at("spec", "restartPolicy").text()
		if own := c.at("restartPolicy").text(); own != "" {
			policy = own
		}
		policies[c.at("name").text()] = policy
	}
	for _, name := range []string{"containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"} {
		list := v.at("status", name)
		for i, old := range before(list).items() {
			ended := old.at("state", "terminated")
			again := slices.ContainsFunc(list.items(), func(c value) bool {
				return c.at("name").text() == old.at("name").text() && !c.at("state", "terminated").exists()
			})
			policy := policies[old.at("name").text()]
			mayRestart := policy == "Always" || policy == "OnFailure" && ended.at("exitCode").number() != 0
			if ended.exists() && again && (!mayRestart || name == "ephemeralContainerStatuses") {
				list.item(i).at("state").forbidden("may not be transitioned to non-terminated state")
			}
		}
	}
}

// checkStatusIPs checks the addresses of a pod or of its node: at most one of each family.
func checkStatusIPs(s value, one, many string) {
	list := s.at(many)
	first := list.item(0).at("ip")
	switch single := s.at(one).text(); {
	case list.len() == 0 && one == "podIP" && single != "":
		list.invalid("podIP and podIPs must either both be set or both be unset")
	case list.len() > 0 && single == "" && one == "podIP":
		list.invalid("podIP and podIPs must either both be set or both be unset")
	case list.len() > 0 && single != first.text():
		first.invalid("must be equal to `%s`", one)
	}
	old := before(list).list()
	var families []bool
	for _, e := range list.items() {
		if !slices.ContainsFunc(old, func(v any) bool { return same(v, e.is) }) {
			e.at("ip").as(e).fits(address(e.at("ip").text()))
		}
		a, _ := netip.ParseAddr(e.at("ip").text())
		families = append(families, a.Is4())
	}
	if len(families) > 2 || len(families) == 2 && families[0] == families[1] {
		list.invalid("may specify no more than one IP for each IP family")
	}
}

// checkClaimStatuses checks the claims that were made for a pod.
func checkClaimStatuses(v value) {
	known := namesOf(v.at("spec", "resourceClaims")).all
	seen := names{empty: true}
	for _, c := range v.at("status", "resourceClaimStatuses").items() {
		name := c.at("name")
		if !slices.Contains(known, name.text()) {
			name.invalid("must match the name of an entry in `spec.resourceClaims`")
		}
		seen.add(name)
		if claim := c.at("resourceClaimName"); claim.exists() {
			claim.fits(subdomain(claim.text()))
		}
	}
}
