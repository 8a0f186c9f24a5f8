package strategy

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/meta"
)

// Pool has the addresses and ports of services.
type Pool interface {
	// Address takes an address, or any that is free if want is empty. The error is Full if there is none.
	Address(want string) (string, error)
	// Port takes a port, or any that is free if want is zero. The error is Full if there is none.
	Port(want int64) (int64, error)
}

// Fault says why a server cannot allocate what a service needs.
type Fault string

// The faults.
const (
	Full      Fault = "range is full"
	Duplicate Fault = "duplicate nodePort"
)

// Error implements error.
func (f Fault) Error() string { return string(f) }

// Allocate sets the families, addresses and node ports of a service that the server chooses, and drops those that its
// new type does not have. old is the service that it replaces, nil if it is new. The causes say why the service is
// invalid; the error says that the server cannot serve it.
func Allocate(service, old jsontree.Object, pool Pool) ([]meta.StatusCause, error) {
	spec := inner(service, "spec")
	a := allocation{pool: pool, spec: spec, old: inner(old, "spec")}
	a.v = value{to: &a.report, path: "spec", is: spec, updates: old != nil, placed: true}
	if old != nil {
		a.v.was = a.old
	}
	a.settleAddress()
	matches := a.prefersAsBefore()
	if !matches && a.v.at("type").text() != externalName {
		a.setFamilies()
	}
	if !matches && len(a.report.causes) == 0 {
		a.takeAddresses()
	}
	if len(a.report.causes) > 0 || a.err != nil {
		return a.report.causes, a.err
	}
	if a.takePorts(); len(a.report.causes) > 0 || a.err != nil {
		return a.report.causes, a.err
	}
	if a.takeHealthPort(); a.err != nil {
		return nil, a.err
	}
	if old != nil {
		a.dropUnneeded()
	}
	if t := a.v.at("internalTrafficPolicy").text(); a.typ() == externalName && (t == "Cluster" || t == "Local") {
		delete(spec, "internalTrafficPolicy")
	}
	return nil, nil
}

// allocation is one run of Allocate.
type allocation struct {
	pool      Pool
	spec, old jsontree.Object // old is nil for a new service
	v         value           // spec, which changes
	report    report
	err       error
}

// typ returns the type of the service.
func (a *allocation) typ() string { return a.v.at("type").text() }

// oldType returns the type of the old service; empty if the service is new.
func (a *allocation) oldType() string { return before(a.v).at("type").text() }

// same reports whether a field has its old value.
func (a *allocation) same(name string) bool { return same(a.spec[name], a.old[name]) }

// settleAddress makes clusterIP and clusterIPs agree, where a client gave one of them, or none.
func (a *allocation) settleAddress() {
	first := a.v.at("clusterIP").text()
	if a.old == nil {
		if first != "" && a.v.at("clusterIPs").len() == 0 {
			a.spec["clusterIPs"] = []any{first}
		}
		return
	}
	was := before(a.v).at("clusterIP").text()
	if a.typ() != externalName && a.oldType() != externalName {
		a.keep("clusterIP", first == "")
		a.keep("clusterIPs", a.v.at("clusterIPs").len() == 0)
		a.keepPorts()
		first = a.v.at("clusterIP").text()
	}
	if first == was && a.v.at("clusterIPs").len() == 0 {
		a.keep("clusterIPs", true)
	}
	switch {
	case first == was || !a.same("clusterIPs"):
	case first == "":
		delete(a.spec, "clusterIPs")
	default:
		a.spec["clusterIPs"] = []any{first}
	}
}

// keep gives a field its old value if the new one is missing.
func (a *allocation) keep(name string, missing bool) {
	if v, found := a.old[name]; missing && found {
		a.spec[name] = v
	}
}

// keepPorts gives ports without a node port the one that the port of the same name had.
func (a *allocation) keepPorts() {
	was := before(a.v).at("ports")
	if needsNodePorts(a.v) && needsNodePorts(before(a.v)) {
		used := nodePorts(a.v.at("ports"))
		known := map[string]int64{}
		for _, p := range was.items() {
			known[p.at("name").text()] = p.at("nodePort").number()
		}
		for _, p := range a.v.at("ports").items() {
			n := known[p.at("name").text()]
			if p.at("nodePort").number() == 0 && n != 0 && !slices.Contains(used, n) {
				setPort(p, n)
			}
		}
	}
	if needsHealthCheck(a.v) && needsHealthCheck(before(a.v)) {
		a.keep("healthCheckNodePort", a.v.at("healthCheckNodePort").number() == 0)
	}
}

// needsNodePorts reports whether the server chooses the node ports of a service.
func needsNodePorts(spec value) bool {
	allocates := spec.at("allocateLoadBalancerNodePorts")
	kind := spec.at("type").text()
	return kind == nodePort || kind == loadBalancer && (!allocates.exists() || allocates.flag())
}

// nodePorts returns the node ports of ports.
func nodePorts(ports value) (all []int64) {
	for _, p := range ports.items() {
		if n := p.at("nodePort").number(); n != 0 {
			all = append(all, n)
		}
	}
	return all
}

// setPort sets the node port of a port.
func setPort(p value, n int64) {
	m, _ := p.is.(jsontree.Object)
	m["nodePort"] = json.Number(strconv.FormatInt(n, 10))
}

// prefersAsBefore reports whether an update of a service with PreferDualStack changes neither the type of the service
// nor its addresses and their families.
func (a *allocation) prefersAsBefore() bool {
	const prefers = "PreferDualStack"
	was := before(a.v).at("ipFamilyPolicy")
	kinds := []string{clusterIP, nodePort, loadBalancer}
	return a.old != nil && a.typ() == a.oldType() && slices.Contains(kinds, a.typ()) &&
		a.v.at("ipFamilyPolicy").text() == prefers && (!was.exists() || was.text() == prefers) &&
		a.same("clusterIPs") && a.same("ipFamilies")
}

// setFamilies sets the families of addresses, which may only be IPv4 unless the service has no addresses.
func (a *allocation) setFamilies() {
	policy := a.v.at("ipFamilyPolicy")
	ips, families := func() value { return a.v.at("clusterIPs") }, func() value { return a.v.at("ipFamilies") }
	unselected := a.v.at("clusterIP").text() == "None" && a.v.at("selector").len() == 0
	switch {
	case policy.exists():
	case a.old["ipFamilyPolicy"] != nil:
		a.keep("ipFamilyPolicy", true)
	case unselected:
		a.spec["ipFamilyPolicy"] = "RequireDualStack"
	default:
		a.spec["ipFamilyPolicy"] = "SingleStack"
	}
	policy = a.v.at("ipFamilyPolicy")
	if checkFamilies(a.v); len(a.report.causes) > 0 {
		return
	}
	single := policy.text() == "SingleStack"
	if a.old != nil {
		a.release(single, policy)
	}
	if single && (ips().len() == 2 || families().len() == 2) {
		policy.invalid("must be 'RequireDualStack' or 'PreferDualStack' when there are two of a kind")
	}
	for i, ip := range ips().items() {
		switch {
		case ip.text() == "None" || i < families().len():
		case isIPv6(ip.text()):
			ip.invalid("IPv6 is not configured on this cluster")
		default:
			a.spec["ipFamilies"] = append(slices.Clone(families().list()), "IPv4")
		}
	}
	if len(a.report.causes) > 0 {
		return
	}
	if !unselected && policy.text() == "RequireDualStack" {
		policy.invalid("this cluster is not configured for dual-stack services")
	}
	for _, f := range families().items() {
		if !unselected && f.text() != "IPv4" {
			f.invalid("not configured on this cluster")
		}
	}
	if len(a.report.causes) == 0 {
		a.completeFamilies(unselected && !single)
	}
}

// release drops the second address and family of a service that wants only one. It reports an update of any other
// service that drops them.
func (a *allocation) release(single bool, policy value) {
	for _, name := range []string{"clusterIPs", "ipFamilies"} {
		list, was := a.v.at(name).list(), before(a.v.at(name)).list()
		switch {
		case single && a.same(name) && len(list) > 1:
			a.spec[name] = list[:1]
		case !single && len(list) > 0 && len(list) < len(was):
			policy.invalid("must be 'SingleStack' to release the secondary one")
		}
	}
}

// completeFamilies adds the family of the cluster, and for a service without addresses also the other one.
func (a *allocation) completeFamilies(both bool) {
	list := a.v.at("ipFamilies").texts()
	if len(list) == 0 {
		list = []string{"IPv4"}
	}
	if both && len(list) == 1 {
		list = append(list, map[string]string{"IPv4": "IPv6", "IPv6": "IPv4"}[list[0]])
	}
	families := make([]any, len(list))
	for i, f := range list {
		families[i] = f
	}
	a.spec["ipFamilies"] = families
}

// takeAddresses takes the address of a service that is new or had no addresses.
func (a *allocation) takeAddresses() {
	if a.typ() == externalName || headless(a.v) || a.old != nil && a.oldType() != externalName {
		return
	}
	ips := slices.Clone(a.v.at("clusterIPs").list())
	for i := range a.v.at("ipFamilies").list() {
		if i >= len(ips) {
			ips = append(ips, "")
		}
		want, _ := ips[i].(string)
		got, err := a.pool.Address(want)
		switch {
		case err != nil && errors.Is(err, Full):
			a.err = fmt.Errorf("failed to allocate a serviceIP: %w", err)
			return
		case err != nil:
			a.v.at("clusterIPs").invalid("failed to allocate IP %s: %v", want, err)
			return
		}
		ips[i] = got
	}
	a.spec["clusterIPs"], a.spec["clusterIP"] = ips, ips[0]
}

// takePorts takes the node ports of a service.
func (a *allocation) takePorts() {
	if a.typ() != nodePort && a.typ() != loadBalancer {
		return
	}
	ports := a.v.at("ports").items()
	old := nodePorts(before(a.v).at("ports"))
	byNumber := map[int64]int64{} // node ports, by port
	taken, twice := map[int64]bool{}, map[string]bool{}
	for _, p := range ports {
		n, port := p.at("nodePort").number(), p.at("port").number()
		if n == 0 && !needsNodePorts(a.v) {
			continue
		}
		if a.old == nil && byNumber[port] == 0 && n == 0 {
			n = wanted(ports, port)
		}
		if a.old == nil && n == 0 {
			n = byNumber[port] // the ports of several protocols share it
		}
		shared := n != 0 && n == byNumber[port] && a.old == nil
		if !shared && !slices.Contains(old, n) && (a.old == nil || !taken[n]) {
			var err error
			if n, err = a.takePort(p, n); err != nil {
				return
			}
		}
		taken[n] = true
		id := fmt.Sprint(p.at("protocol").text(), n)
		if a.old != nil && twice[id] {
			a.err = fmt.Errorf("%w: %d", Duplicate, n)
			return
		}
		twice[id] = true
		if byNumber[port] == 0 {
			byNumber[port] = n
		}
		setPort(p, n)
	}
}

// wanted returns the first node port that a service requests for a port; zero if there is none.
func wanted(ports []value, port int64) int64 {
	for _, p := range ports {
		if n := p.at("nodePort").number(); n != 0 && p.at("port").number() == port {
			return n
		}
	}
	return 0
}

// takePort takes the node port of a port: the wanted one, or any if want is zero.
func (a *allocation) takePort(p value, want int64) (int64, error) {
	got, err := a.pool.Port(want)
	switch {
	case err == nil:
	case errors.Is(err, Full):
		a.err = fmt.Errorf("failed to allocate a nodePort: %w", err)
	default:
		p.at("nodePort").invalid("%v", err)
	}
	return got, err
}

// takeHealthPort takes the healthCheckNodePort of a service that needs one and does not have it yet.
func (a *allocation) takeHealthPort() {
	if !needsHealthCheck(a.v) || a.old != nil && needsHealthCheck(before(a.v)) {
		return
	}
	want := a.v.at("healthCheckNodePort").number()
	got, err := a.pool.Port(want)
	if err != nil {
		a.err = fmt.Errorf("failed to allocate requested HealthCheck NodePort %d: %w", want, err)
		return
	}
	a.spec["healthCheckNodePort"] = json.Number(strconv.FormatInt(got, 10))
}

// dropUnneeded drops the fields that the new type of a service does not have, unless the client also changed them.
func (a *allocation) dropUnneeded() {
	was := before(a.v)
	drop := func(gone bool, names ...string) {
		for _, name := range names {
			if gone && a.same(name) {
				delete(a.spec, name)
			}
		}
	}
	nameless := a.typ() == externalName && a.oldType() != externalName
	if nameless && a.same("clusterIP") && a.same("clusterIPs") {
		drop(true, "clusterIP", "clusterIPs")
	}
	drop(nameless, "ipFamilies", "ipFamilyPolicy")
	hasPorts := func(name string) bool { return name == nodePort || name == loadBalancer }
	old := nodePorts(was.at("ports"))
	fresh := slices.ContainsFunc(nodePorts(a.v.at("ports")), func(n int64) bool { return !slices.Contains(old, n) })
	if hasPorts(a.oldType()) && !hasPorts(a.typ()) && !fresh {
		for _, p := range a.v.at("ports").items() {
			delete(p.is.(jsontree.Object), "nodePort")
		}
	}
	drop(needsHealthCheck(was) && !needsHealthCheck(a.v), "healthCheckNodePort")
	drop(a.oldType() == loadBalancer && a.typ() != loadBalancer, "allocateLoadBalancerNodePorts", "loadBalancerClass")
	drop(external(a.old) && !external(a.spec), "externalTrafficPolicy")
}

// Ports returns the node ports of a service.
func Ports(service jsontree.Object) []int64 {
	spec := value{is: inner(service, "spec")}
	all := nodePorts(spec.at("ports"))
	if n := spec.at("healthCheckNodePort").number(); n != 0 && needsHealthCheck(spec) {
		all = append(all, n)
	}
	return all
}
