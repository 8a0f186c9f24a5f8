package controllers

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/bowline-go/bowline/client/meta"
)

// families returns the kinds of addresses that a service has.
func (s *service) families() (families []string) {
	families = slices.Clone(s.Spec.IPFamilies)
	if len(families) > 0 {
		return families
	}
	ip, err := netip.ParseAddr(s.Spec.ClusterIP)
	switch {
	case err != nil: // it is headless
		return []string{"IPv4", "IPv6"}
	case ip.Is6():
		return []string{"IPv6"}
	}
	return []string{"IPv4"}
}

// isHeadless reports whether the service has no address.
func (s *service) isHeadless() bool { return s.Spec.ClusterIP == "" || s.Spec.ClusterIP == "None" }

// portGroup is the endpoints that have the same ports.
type portGroup struct {
	ports     []endpointPort
	endpoints []endpoint
}

// wanted returns the endpoints that a service should have, by their ports. The error names pods whose node does not
// exist: they are left out.
func (c *endpointSlices) wanted(s *service, family string) (map[string]*portGroup, error) {
	groups := map[string]*portGroup{}
	var lost []string
	pods := slices.Collect(c.pods.Namespace(s.Namespace))
	slices.SortFunc(pods, func(a, b *podObject) int { return strings.Compare(a.Name, b.Name) })
	for _, p := range pods {
		if !hasAll(p.Labels, s.Spec.Selector) || p.isTerminal() || p.Status.PodIP == "" && len(p.Status.PodIPs) == 0 {
			continue
		}
		ports := s.portsOf(p)
		key := portsKey(ports)
		if groups[key] == nil {
			groups[key] = &portGroup{ports: ports}
		}
		n, found := c.nodes.Get(meta.Key{Name: p.Spec.NodeName})
		if !found && !s.Spec.PublishNotReadyAddresses {
			lost = append(lost, p.Name)
			continue
		}
		if e := s.endpointOf(p, n, family); len(e.Addresses) > 0 {
			groups[key].endpoints = append(groups[key].endpoints, e)
		}
	}
	if len(lost) > 0 {
		return groups, fmt.Errorf("the nodes of the pods %s of service %s do not exist", strings.Join(lost, ", "), s.Key())
	}
	return groups, nil
}

// endpointOf returns the endpoint of a pod; n is its node, and may be nil.
func (s *service) endpointOf(p *podObject, n *nodeObject, family string) endpoint {
	serving, terminating := p.isReady(), meta.IsDeleting(p)
	ready := s.Spec.PublishNotReadyAddresses || serving && !terminating
	e := endpoint{
		Addresses:  []string{},
		Conditions: endpointConditions{Ready: &ready, Serving: &serving, Terminating: &terminating},
		TargetRef:  &targetRef{Kind: "Pod", Namespace: p.Namespace, Name: p.Name, UID: p.UID},
	}
	for _, a := range p.Status.PodIPs {
		if ip, err := netip.ParseAddr(a.IP); err == nil && ip.Is6() == (family == "IPv6") {
			e.Addresses = append(e.Addresses, ip.String())
		}
	}
	slices.Sort(e.Addresses)
	if p.Spec.NodeName != "" {
		e.NodeName = &p.Spec.NodeName
	}
	if n != nil && n.Labels["topology.kubernetes.io/zone"] != "" {
		zone := n.Labels["topology.kubernetes.io/zone"]
		e.Zone = &zone
	}
	if p.Spec.Hostname != "" && p.Spec.Subdomain == s.Name {
		e.Hostname = &p.Spec.Hostname
	}
	return e
}

// portsOf returns the ports of a service with the numbers that they have in a pod. It leaves out a port whose name no
// container has.
func (s *service) portsOf(p *podObject) []endpointPort {
	ports := []endpointPort{}
	for i := range s.Spec.Ports {
		sp := &s.Spec.Ports[i]
		number, found := sp.find(p)
		if !found {
			continue
		}
		ports = append(ports, endpointPort{Name: &sp.Name, Port: &number, Protocol: &sp.Protocol, AppProtocol: sp.AppProtocol})
	}
	slices.SortFunc(ports, func(a, b endpointPort) int { return strings.Compare(portKey(a), portKey(b)) })
	return ports
}

// find returns the number of the port that a service names, in the containers of a pod and its sidecars.
func (sp *servicePort) find(p *podObject) (int, bool) {
	if n, err := strconv.Atoi(string(sp.TargetPort)); err == nil {
		return n, true
	}
	name := strings.Trim(string(sp.TargetPort), `"`)
	for _, c := range slices.Concat(p.Spec.Containers, p.Spec.InitContainers) {
		if !c.isSidecar() && slices.ContainsFunc(p.Spec.InitContainers, func(i containerSpec) bool { return i.Name == c.Name }) {
			continue // it ends before the pod serves
		}
		for _, port := range c.Ports {
			if port.Name == name && port.Protocol == sp.Protocol {
				return port.Port, true
			}
		}
	}
	return 0, false
}

// portKey is the same for equal ports.
func portKey(p endpointPort) string {
	text, err := json.Marshal(p)
	if err != nil { // never: it has only numbers and strings
		return err.Error()
	}
	return string(text)
}

// portsKey is the same for equal lists of ports, in any order.
func portsKey(ports []endpointPort) string {
	keys := []string{}
	for _, p := range ports {
		keys = append(keys, portKey(p))
	}
	slices.Sort(keys)
	return strings.Join(keys, ",")
}

// endpointID is the same for two states of one endpoint.
func endpointID(e endpoint) string {
	host, key := "", meta.Key{}
	if e.Hostname != nil {
		host = *e.Hostname
	}
	if e.TargetRef != nil {
		key = meta.Key{Namespace: e.TargetRef.Namespace, Name: e.TargetRef.Name}
	}
	return strings.Join(append(slices.Sorted(slices.Values(e.Addresses)), host, key.String()), " ")
}
