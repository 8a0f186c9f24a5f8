package kubectl

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/status"
)

// networkPrinters are the printers of services, and of the kinds that lead to services.
func networkPrinters() map[string]Printer {
	return map[string]Printer{
		"services": func(o *Object) []any {
			ip := o.at("spec.clusterIP").or(none)
			if ips := o.at("spec.clusterIPs").texts(); len(ips) > 0 {
				ip = ips[0]
			}
			return []any{o.name(), o.at("spec.type").or("ClusterIP"), ip, o.externalIP(), o.ports(), o.age(), o.at("spec.selector").labels()}
		},
		"endpoints": func(o *Object) []any { return []any{o.name(), o.endpoints(), o.age()} },
		"endpointslices.discovery.k8s.io": func(o *Object) []any {
			var ports, addresses []string
			for _, p := range o.at("ports").list() {
				ports = append(ports, cmp.Or(p.at("port").scalar(), p.at("name").text(), "*"))
			}
			for _, e := range o.at("endpoints").list() {
				addresses = append(addresses, e.at("addresses").texts()...)
			}
			return []any{o.name(), o.at("addressType").text(), some(ports, 3, ",", unset), some(addresses, 3, ",", unset), o.age()}
		},
		"ingresses.networking.k8s.io": func(o *Object) []any {
			var hosts []string
			rules := o.at("spec.rules").list()
			for _, r := range rules[:min(len(rules), 3)] {
				if host := r.at("host").text(); host != "" {
					hosts = append(hosts, host)
				}
			}
			shown := cmp.Or(strings.Join(hosts, ","), "*")
			if len(hosts) == 3 && len(rules) > 3 {
				shown += fmt.Sprintf(" + %d more...", len(rules)-3)
			}
			ports := "80"
			if o.at("spec.tls").size() > 0 {
				ports = "80, 443"
			}
			return []any{o.name(), o.at("spec.ingressClassName").or(none), shown, o.balanced(), ports, o.age()}
		},
		"ingressclasses.networking.k8s.io": func(o *Object) []any {
			parameters := none
			if p := o.at("spec.parameters"); p.v != nil {
				parameters = p.at("kind").text()
				if p.has("apiGroup") {
					parameters += "." + p.at("apiGroup").text()
				}
				parameters += "/" + p.at("name").text()
			}
			return []any{o.name(), o.at("spec.controller").text(), parameters, o.age()}
		},
		"networkpolicies.networking.k8s.io": func(o *Object) []any {
			return []any{o.name(), o.at("spec.podSelector").selector(), o.age()}
		},
		"servicecidrs.networking.k8s.io": func(o *Object) []any {
			return []any{o.name(), strings.Join(o.at("spec.cidrs").texts(), ","), o.age()}
		},
		"ipaddresses.networking.k8s.io": func(o *Object) []any {
			ref := o.at("spec.parentRef")
			if ref.v == nil {
				return []any{o.name(), none, o.age()}
			}
			parts := []string{status.Qualified(ref.at("resource").text(), ref.at("group").text())}
			for _, part := range []string{ref.at("namespace").text(), ref.at("name").text()} {
				if part != "" {
					parts = append(parts, part)
				}
			}
			// A real server, too, sends the age, although it has no column for it.
			return []any{o.name(), strings.Join(parts, "/"), o.age()}
		},
	}
}

// balanced prints the addresses of a load balancer.
func (o *Object) balanced() string {
	var all []string
	for _, i := range o.at("status.loadBalancer.ingress").list() {
		all = append(all, i.at("ip").or(i.at("hostname").text()))
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ",")
}

func (o *Object) externalIP() string {
	own := strings.Join(o.at("spec.externalIPs").texts(), ",")
	switch o.at("spec.type").or("ClusterIP") {
	case "ClusterIP", "NodePort":
		return cmp.Or(own, none)
	case "LoadBalancer":
		balanced := o.balanced()
		if balanced != "" && own != "" {
			return balanced + "," + own
		}
		return cmp.Or(balanced, own, "<pending>")
	case "ExternalName":
		return o.at("spec.externalName").text()
	}
	return unknown
}

func (o *Object) ports() string {
	var all []string
	for _, p := range o.at("spec.ports").list() {
		port := p.at("port").scalar()
		if p.at("nodePort").number() > 0 {
			port += ":" + p.at("nodePort").scalar()
		}
		all = append(all, port+"/"+p.at("protocol").or("TCP"))
	}
	return cmp.Or(strings.Join(all, ","), none)
}

func (o *Object) endpoints() string {
	var all []string
	for _, s := range o.at("subsets").list() {
		addresses, ports := s.at("addresses").list(), s.at("ports").list()
		if len(ports) == 0 {
			for _, a := range addresses {
				all = append(all, a.at("ip").text())
			}
		}
		for _, p := range ports {
			for _, a := range addresses {
				all = append(all, net.JoinHostPort(a.at("ip").text(), p.at("port").scalar()))
			}
		}
	}
	if o.at("subsets").size() == 0 {
		return none
	}
	return some(all, 3, ",", "")
}
