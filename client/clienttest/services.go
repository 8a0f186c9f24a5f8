package clienttest

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/clienttest/internal/store"
	"github.com/bowline-go/bowline/client/clienttest/internal/strategy"
	"github.com/bowline-go/bowline/client/meta"
)

// settleService gives a service the addresses and ports that the server chooses.
func settleService(c *call, tx store.Tx, old, d *object.Draft, dryRun bool) error {
	if c.Subresource != "" {
		return nil
	}
	var was jsontree.Object
	if old != nil {
		was = old.Content
	}
	causes, err := strategy.Allocate(d.Content, was, &servicePool{tx: tx, services: c.res.objects, dryRun: dryRun})
	if err != nil {
		failure := status.Failure(http.StatusInternalServerError, "InternalError", "Internal error occurred: %v", err)
		if errors.Is(err, strategy.Duplicate) {
			return failure
		}
		return failure.With(meta.StatusDetails{Causes: []meta.StatusCause{{Message: err.Error()}}})
	}
	if len(causes) > 0 && !c.options.Lenient {
		return c.res.Invalid(d.Meta.Name, causes)
	}
	if old != nil && jsontree.Lookup(d.Content, "spec.type") != "LoadBalancer" {
		d.Content["status"] = jsontree.Object{"loadBalancer": jsontree.Object{}}
	}
	return nil
}

// servicePool has the addresses of 10.0.0.0/24 and the ports from 30000 to 32767. Those that the services in the store
// have are taken. Like a real server, it chooses from the upper part of a range first; unlike one, it chooses the first
// that is free. In a dry run it chooses an address and ports that no service can have, as a real server does.
type servicePool struct {
	tx        store.Tx
	services  *store.Collection
	dryRun    bool
	addresses map[string]bool // taken; nil until they are needed
	ports     map[int64]bool
	takes     int   // how many ports this write has taken
	highest   int64 // the highest of these ports
}

// The first and last port of services, and the first that the server prefers to choose.
const firstPort, lastPort, chosenPort = 30000, 32767, 30086

// load reads the addresses and ports that are taken.
func (p *servicePool) load() {
	if p.addresses != nil {
		return
	}
	p.addresses, p.ports = map[string]bool{}, map[int64]bool{}
	for v := range p.tx.Objects(p.services, "") {
		address, kind := v.Fields[0], v.Fields[1] // as kinds.json lists them
		p.addresses[address] = true
		if kind == "NodePort" || kind == "LoadBalancer" {
			for _, n := range strategy.Ports(v.Draft().Content) {
				p.ports[n] = true
			}
		}
	}
}

// Address implements strategy.Pool.
func (p *servicePool) Address(want string) (string, error) {
	whole := netip.MustParsePrefix("10.0.0.0/24")
	if want == "" {
		return p.anyAddress(whole)
	}
	a, err := netip.ParseAddr(want)
	if err != nil {
		return "", err
	}
	if last := a.As16()[15]; !whole.Contains(a) || last == 0 || last == 255 {
		return "", fmt.Errorf("the provided IP (%s) is not in the valid range. The range of valid IPs is %s", a, whole)
	}
	if p.dryRun {
		return want, nil
	}
	if p.load(); p.addresses[a.String()] {
		return "", errors.New("provided IP is already allocated")
	}
	return want, nil
}

// anyAddress returns the first address that is free.
func (p *servicePool) anyAddress(whole netip.Prefix) (string, error) {
	if p.dryRun {
		return whole.Addr().String(), nil
	}
	p.load()
	const chosen = 16 // the first that the server prefers to choose
	bytes := whole.Addr().As4()
	for i := range 254 {
		bytes[3] = byte((i+chosen)%254 + 1)
		if a := netip.AddrFrom4(bytes).String(); !p.addresses[a] {
			return a, nil
		}
	}
	return "", strategy.Full
}

// Port implements strategy.Pool.
func (p *servicePool) Port(want int64) (int64, error) {
	p.load()
	switch {
	case want == 0:
		return p.anyPort()
	case !p.dryRun && (want < firstPort || want > lastPort):
		const why = "provided port is not in the valid range. The range of valid ports is %d-%d"
		return 0, fmt.Errorf(why, firstPort, lastPort)
	case p.ports[want]:
		return 0, errors.New("provided port is already allocated")
	}
	p.ports[want] = true
	p.takes++
	p.highest = max(p.highest, want)
	return want, nil
}

// anyPort takes the first port that is free.
func (p *servicePool) anyPort() (int64, error) {
	if p.dryRun {
		if p.takes == 0 {
			p.highest = lastPort + 1
		}
		p.takes++
		p.highest++
		p.ports[p.highest] = true
		return p.highest, nil
	}
	for i := range int64(lastPort - firstPort + 1) {
		n := firstPort + (i+chosenPort-firstPort)%(lastPort-firstPort+1)
		if !p.ports[n] {
			p.ports[n] = true
			return n, nil
		}
	}
	return 0, strategy.Full
}
