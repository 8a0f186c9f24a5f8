package strategy

import (
	"maps"
	"math/big"
	"net/netip"
	"regexp"
	"strings"
	"sync"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/meta"
)

// addNodes adds Node and RuntimeClass.
func addNodes(all map[meta.GVK]kind) {
	all[meta.GVK{Version: "v1", Kind: "Node"}] = kind{check: checkNode, status: checkNodeUpdate}
	all[meta.GVK{Group: "node.k8s.io", Version: "v1", Kind: "RuntimeClass"}] = kind{check: checkRuntimeClass}
}

// addNodeDefaults adds the defaults of nodes.
func addNodeDefaults(all map[string]func(jsontree.Object)) {
	all["core.v1.NodeSpec"] = setPodCIDRs
	all["core.v1.NodeStatus"] = func(m jsontree.Object) {
		if capacity := inner(m, "capacity"); m["allocatable"] == nil && capacity != nil {
			m["allocatable"] = maps.Clone(capacity)
		}
	}
}

// setPodCIDRs makes podCIDR and podCIDRs agree. If podCIDR is missing, it becomes the first of podCIDRs. If podCIDR is
// set but is not the first of podCIDRs, it becomes the only one.
func setPodCIDRs(m jsontree.Object) {
	all, _ := m["podCIDRs"].([]any)
	first, _ := m["podCIDR"].(string)
	switch {
	case first != "" && (len(all) == 0 || all[0] != first):
		m["podCIDRs"] = []any{first}
	case len(all) > 0:
		m["podCIDR"] = all[0]
	}
}

// checkNode checks a Node.
func checkNode(v value) {
	if v.updates {
		checkNodeUpdate(v)
	} else {
		checkNodeParts(v)
	}
	checkSwap(v.at("status", "nodeInfo", "swap", "capacity"))
	cidrs := v.at("spec", "podCIDRs")
	for _, c := range cidrs.items() {
		checkBlock(c, c.text(), nil)
	}
	if cidrs.len() > 1 {
		both, valid := dualStack(cidrs.texts())
		if !valid {
			cidrs.wrong("InternalError", "Internal error: invalid podCIDRs")
		}
		if !both || cidrs.len() > 2 {
			cidrs.invalid("may specify no more than one CIDR for each IP family")
		}
	}
}

// dualStack reports whether ranges of addresses are of both families, and whether they are valid.
func dualStack(cidrs []string) (both, valid bool) {
	var families [2]bool
	for _, c := range cidrs {
		p, err := netip.ParsePrefix(c)
		if err != nil {
			return false, false
		}
		families[0], families[1] = families[0] || p.Addr().Is4(), families[1] || p.Addr().Is6()
	}
	return families[0] && families[1], true
}

// checkSwap checks the size of a node's swap. A real server reports it at another field.
func checkSwap(v value) {
	v.path = "metadata.nodeSwapStatus.capacity"
	if v.exists() && v.number() <= 0 {
		v.invalid("must be greater than zero")
	}
}

// checkNodeParts checks what a server checks in every write of a node.
func checkNodeParts(v value) {
	for _, list := range []string{"capacity", "allocatable"} {
		for _, name := range v.at("status", list).keys() {
			q := v.at("status", list, name)
			q.checkAmount(name)
		}
	}
	checkFeatures(v.at("status", "declaredFeatures"))
	taints := v.at("spec", "taints")
	taints.path = "metadata.taints" // as in a real server's errors
	checkTaints(taints)
}

// checkAmount checks a quantity of a resource.
func (v value) checkAmount(resource string) {
	amount := v.amount()
	if amount.Sign() < 0 {
		v.invalid("must be greater than or equal to 0")
	}
	milli, rest := new(big.Int).DivMod(new(big.Int).Mul(amount.Num(), big.NewInt(1000)), amount.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		milli.Add(milli, big.NewInt(1)) // a real server rounds up
	}
	if wholeResource(resource) && milli.Mod(milli, big.NewInt(1000)).Sign() != 0 {
		v.invalid("must be an integer")
	}
}

// wholeResource reports whether only whole numbers of a resource exist.
func wholeResource(name string) bool {
	switch name {
	case "pods", "services", "replicationcontrollers", "resourcequotas", "secrets", "configmaps", "persistentvolumeclaims",
		"services.nodeports", "services.loadbalancers":
		return true
	}
	prefix, _, found := strings.Cut(name, "/")
	native := !found || strings.Contains(prefix, "kubernetes.io")
	return !native && !strings.HasPrefix(name, "requests.")
}

var featureForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Z][a-zA-Z0-9]*(/[a-zA-Z][a-zA-Z0-9]*)*$`)
})

// checkFeatures checks the names of the features that a node declares. They must be sorted.
func checkFeatures(v value) {
	last := ""
	for i, f := range v.items() {
		if len(f.text()) > 253 || !featureForm().MatchString(f.text()) {
			f.invalid("must be segments of letters and digits, separated by '/', and start with a capital letter")
		}
		switch {
		case i == 0:
		case f.text() == last:
			f.duplicate()
		case f.text() < last:
			f.invalid("list must be sorted alphabetically")
		}
		last = f.text()
	}
}

// checkTaints checks the taints of a node.
func checkTaints(v value) {
	seen := map[string]bool{}
	for _, t := range v.items() {
		t.at("key").fits(qualified(t.at("key").text()))
		t.at("value").fits(labelValue(t.at("value").text()))
		t.at("effect").oneOf("NoSchedule", "PreferNoSchedule", "NoExecute")
		id := t.at("effect").text() + " " + t.at("key").text()
		if seen[id] {
			t.duplicate()
		}
		seen[id] = true
	}
}

// checkNodeUpdate checks an update of a node or of its status.
func checkNodeUpdate(v value) {
	checkNodeParts(v)
	addresses := v.at("status", "addresses")
	for i, a := range addresses.items() {
		for _, b := range addresses.items()[:i] {
			if same(a.is, b.is) {
				a.duplicate()
				break
			}
		}
	}
	if cidrs := v.at("spec", "podCIDRs"); before(cidrs).len() > 0 && !cidrs.unchanged() {
		cidrs.forbidden("node updates may not change podCIDR except from \"\" to valid")
	}
	if id := v.at("spec", "providerID"); before(id).text() != "" && !id.unchanged() {
		id.invalid("field may not change once set")
	}
	if id := v.at("spec", "externalID"); id.text() != before(id).text() {
		id.forbidden("may not be updated")
	}
}
