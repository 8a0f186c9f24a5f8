package externaldns

import (
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/builtin/core"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/proof/e2e/externaldns/gatewayapi"
	"github.com/bowline-go/bowline/internal/proof/e2e/externaldns/istio"
)

// gatewaySources are the routes of the Gateway API, which have the addresses of their gateways. A GRPCRoute has the
// same fields as an HTTPRoute.
func gatewaySources(c *client.Client) []source {
	gateways := newKind("gateway-api", client.For(c, gatewayapi.Gateways), nil)
	find := func(key meta.Key) (*gatewayapi.Gateway, bool) { return gateways.reader().Get(key) }
	all := []source{gateways}
	for kind, r := range map[string]client.Resource[*gatewayapi.HTTPRoute]{
		"httproute": client.For(c, gatewayapi.HTTPRoutes), "grpcroute": client.Retype[*gatewayapi.HTTPRoute](client.For(c, gatewayapi.GRPCRoutes)),
	} {
		k := newKind(kind, r, func(r *gatewayapi.HTTPRoute) []*Endpoint { return fromHTTPRoute(kind, r, find) })
		k.needs = []interface{ complete() bool }{gateways}
		all = append(all, k)
	}
	slices.SortFunc(all, func(a, b source) int { return strings.Compare(a.kind(), b.kind()) })
	return all
}

// fromHTTPRoute returns the hosts that a route and the listeners of a gateway have in common, for each gateway that has
// accepted the route.
func fromHTTPRoute(kind string, r *gatewayapi.HTTPRoute, find func(meta.Key) (*gatewayapi.Gateway, bool)) []*Endpoint {
	if !ours(r.Annotations) {
		return nil
	}
	wanted := append(listed(r.Annotations, hostnameKey), r.Spec.Hostnames...)
	if len(wanted) == 0 {
		wanted = []string{""}
	}
	var hosts, targets []string
	for _, parent := range r.Status.Parents {
		ref := parent.ParentRef
		gateway, found := find(meta.Key{Namespace: either(value(ref.Namespace), r.Namespace), Name: ref.Name})
		if !found || !meta.IsConditionTrue(parent.Conditions, "Accepted") || !refersTo(r, ref) {
			continue
		}
		before := len(hosts)
		for _, listener := range gateway.Spec.Listeners {
			if value(ref.SectionName) != "" && value(ref.SectionName) != listener.Name {
				continue
			}
			for _, host := range wanted {
				if both, ok := within(value(listener.Hostname), host); ok {
					hosts = append(hosts, both)
				}
			}
		}
		if len(hosts) == before {
			continue
		}
		if t := listed(gateway.Annotations, targetKey); len(t) > 0 {
			targets = append(targets, t...)
			continue
		}
		for _, at := range gateway.Status.Addresses {
			targets = append(targets, at.Value)
		}
	}
	slices.Sort(hosts)
	return endpoints(resource(kind, r), map[string]string{ttlKey: r.Annotations[ttlKey]}, slices.Compact(hosts), targets)
}

// istioSources are the Gateways and VirtualServices of Istio, whose addresses are those of the Services that the
// selector of a Gateway finds.
func istioSources(c *client.Client, services *kindOf[*core.Service]) []source {
	gateways := newKind[*istio.Gateway]("istio-gateway", client.For(c, istio.Gateways), nil)
	targets := func(g *istio.Gateway) (all []string) {
		if t := listed(g.Annotations, targetKey); len(t) > 0 {
			return t
		}
		if len(g.Spec.Selector) == 0 {
			return nil
		}
		for service := range services.reader().Sorted() {
			if selects(service.Spec.Selector, g.Spec.Selector) {
				all = append(all, addressesOf(service)...)
			}
		}
		return all
	}
	gateways.of = func(g *istio.Gateway) []*Endpoint {
		if !ours(g.Annotations) {
			return nil
		}
		hosts := listed(g.Annotations, hostnameKey)
		for _, server := range g.Spec.Servers {
			for _, host := range server.Hosts {
				hosts = append(hosts, lastOf(host))
			}
		}
		return endpoints(resource("istio-gateway", g), g.Annotations, hosts, targets(g))
	}
	virtual := newKind[*istio.VirtualService]("virtualservice", client.For(c, istio.VirtualServices), nil)
	virtual.of = func(v *istio.VirtualService) []*Endpoint { return fromVirtualService(v, gateways, targets) }
	gateways.needs = []interface{ complete() bool }{services}
	virtual.needs = []interface{ complete() bool }{gateways}
	return []source{gateways, virtual}
}

// refersTo reports whether the spec of a route names the parent of its status, which may be of an older generation.
func refersTo(r *gatewayapi.HTTPRoute, to gatewayapi.HTTPRouteStatusParentParentRef) bool {
	return slices.ContainsFunc(r.Spec.ParentRefs, func(ref gatewayapi.HTTPRouteSpecParentRef) bool {
		return either(value(ref.Kind), "Gateway") == "Gateway" && ref.Name == to.Name && value(ref.SectionName) == value(to.SectionName) &&
			either(value(ref.Namespace), r.Namespace) == either(value(to.Namespace), r.Namespace)
	})
}

// selects reports whether the selector of a Service has all labels of the selector of a Gateway. Then the Service
// selects pods that the Gateway runs in.
func selects(service, gateway map[string]string) bool {
	for key, value := range gateway {
		if service[key] != value {
			return false
		}
	}
	return true
}

// fromVirtualService returns the hosts that its gateways serve, at their addresses.
func fromVirtualService(v *istio.VirtualService, gateways *kindOf[*istio.Gateway], addresses func(*istio.Gateway) []string) (all []*Endpoint) {
	if !ours(v.Annotations) {
		return nil
	}
	name := resource("virtualservice", v)
	for _, ref := range v.Spec.Gateways {
		key := meta.Key{Namespace: v.Namespace, Name: lastOf(ref)}
		if namespace, _, found := strings.Cut(ref, "/"); found {
			key.Namespace = namespace
		}
		g, found := gateways.reader().Get(key) // mesh is a reserved word, and no gateway has that name
		if !found {
			continue
		}
		hosts := listed(v.Annotations, hostnameKey)
		for _, host := range v.Spec.Hosts {
			if slices.ContainsFunc(g.Spec.Servers, func(s istio.GatewaySpecServer) bool {
				return slices.ContainsFunc(s.Hosts, func(pattern string) bool { return serves(pattern, g.Namespace, v.Namespace, host) })
			}) {
				hosts = append(hosts, host)
			}
		}
		all = append(all, endpoints(name, v.Annotations, hosts, addresses(g))...)
	}
	return all
}

// serves reports whether a Gateway in the namespace gateway serves host for a VirtualService in the namespace service.
// pattern is a host of one of the servers of the Gateway, such as ./*.example.com.
func serves(pattern, gateway, service, host string) bool {
	if namespace, _, found := strings.Cut(pattern, "/"); found && namespace != "*" && either(strings.Replace(namespace, ".", gateway, 1), gateway) != service {
		return false
	}
	_, ok := within(lastOf(pattern), host)
	return ok
}

// lastOf returns what is after the slash of namespace/name.
func lastOf(text string) string { return text[strings.LastIndex(text, "/")+1:] }
