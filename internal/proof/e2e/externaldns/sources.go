package externaldns

import (
	"regexp"
	"strings"
	"sync"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/builtin/core"
	"github.com/bowline-go/bowline/client/builtin/networking"
	"github.com/bowline-go/bowline/internal/proof/e2e/externaldns/contour"
	"github.com/bowline-go/bowline/internal/proof/e2e/externaldns/openshift"
	"github.com/bowline-go/bowline/internal/proof/e2e/externaldns/traefik"
)

// newSources returns every source except that of DNSEndpoints. A source that makes no endpoints is there because other
// sources read it.
func newSources(c *client.Client) []source {
	services := newKind("service", client.For(c, core.Services()), fromService)
	all := []source{
		services,
		newKind("ingress", client.For(c, networking.Ingresses()), fromIngress),
		newKind("httpproxy", client.For(c, contour.HTTPProxies), fromHTTPProxy),
		newKind("ingressroute", client.For(c, traefik.IngressRoutes), fromIngressRoute),
		newKind("route", client.For(c, openshift.Routes), fromRoute),
	}
	return append(append(all, gatewaySources(c)...), istioSources(c, services)...)
}

func fromService(s *core.Service) []*Endpoint {
	if !ours(s.Annotations) {
		return nil
	}
	name, hosts := resource("service", s), listed(s.Annotations, hostnameKey)
	var all []*Endpoint
	if s.Spec.ClusterIP != "None" && s.Spec.ClusterIP != "" {
		all = endpoints(name, map[string]string{ttlKey: s.Annotations[ttlKey]}, listed(s.Annotations, internalKey), []string{s.Spec.ClusterIP})
	}
	switch s.Spec.Type {
	case "LoadBalancer":
		return append(all, endpoints(name, s.Annotations, hosts, addressesOf(s))...)
	case "ExternalName":
		return append(all, endpoints(name, s.Annotations, hosts, []string{s.Spec.ExternalName})...)
	}
	return all
}

// addressesOf returns the addresses that a Service has outside of the cluster.
func addressesOf(s *core.Service) (all []string) {
	all = append(all, s.Spec.ExternalIPs...)
	if len(all) > 0 {
		return all
	}
	for _, in := range s.Status.LoadBalancer.Ingress {
		all = append(all, either(in.IP, in.Hostname))
	}
	return all
}

func fromIngress(in *networking.Ingress) []*Endpoint {
	if !ours(in.Annotations) {
		return nil
	}
	hosts := listed(in.Annotations, hostnameKey)
	for _, rule := range in.Spec.Rules {
		hosts = append(hosts, rule.Host)
	}
	for _, tls := range in.Spec.TLS {
		hosts = append(hosts, tls.Hosts...)
	}
	var targets []string
	for _, at := range in.Status.LoadBalancer.Ingress {
		targets = append(targets, either(at.IP, at.Hostname))
	}
	return endpoints(resource("ingress", in), in.Annotations, hosts, targets)
}

func fromHTTPProxy(p *contour.HTTPProxy) []*Endpoint {
	if !ours(p.Annotations) || p.Spec.Virtualhost == nil || value(p.Status.CurrentStatus) != "valid" {
		return nil
	}
	var targets []string
	if lb := p.Status.LoadBalancer; lb != nil {
		for _, at := range lb.Ingress {
			targets = append(targets, either(value(at.IP), value(at.Hostname)))
		}
	}
	return endpoints(resource("httpproxy", p), p.Annotations, append(listed(p.Annotations, hostnameKey), p.Spec.Virtualhost.FQDN), targets)
}

// hostCalls finds Host(`a`, `b`) and HostSNI(`a`) in a rule of Traefik, and quotedNames the names within.
var (
	hostCalls   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\bHost(?:SNI)?\(([^)]*)\)`) })
	quotedNames = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("[`\"]([^`\"]+)[`\"]") })
)

// fromIngressRoute takes the targets from the annotation alone.
func fromIngressRoute(r *traefik.IngressRoute) []*Endpoint {
	if !ours(r.Annotations) {
		return nil
	}
	hosts := listed(r.Annotations, hostnameKey)
	for _, route := range r.Spec.Routes {
		for _, call := range hostCalls().FindAllStringSubmatch(route.Match, -1) {
			for _, name := range quotedNames().FindAllStringSubmatch(call[1], -1) {
				hosts = append(hosts, name[1])
			}
		}
	}
	return endpoints(resource("ingressroute", r), r.Annotations, hosts, nil)
}

func fromRoute(r *openshift.Route) []*Endpoint {
	if !ours(r.Annotations) {
		return nil
	}
	var all []*Endpoint
	for _, in := range r.Status.Ingress {
		for _, c := range in.Conditions {
			if c.Type == "Admitted" && c.Status == "True" {
				hosts := append(listed(r.Annotations, hostnameKey), either(value(in.Host), value(r.Spec.Host)))
				all = append(all, endpoints(resource("route", r), r.Annotations, hosts, []string{value(in.RouterCanonicalHostname)})...)
			}
		}
	}
	return all
}

// fromDNSEndpoint takes the records as they are. It leaves out a record without a name or a target, and one whose
// targets do not all fit its type.
func fromDNSEndpoint(d *DNSEndpoint) []*Endpoint {
	var all []*Endpoint
	for _, e := range d.Spec.Endpoints {
		one := endpoints(resource("crd", d), nil, []string{value(e.DNSName)}, e.Targets)
		if kind := either(value(e.RecordType), A); len(one) == 1 && one[0].Type == kind || len(one) > 0 && kind == TXT {
			one[0].Type, one[0].TTL = kind, max(0, value(e.RecordTTL))
			all = append(all, one[0])
		}
	}
	return all
}

func either(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func value[V any](p *V) (v V) {
	if p != nil {
		v = *p
	}
	return v
}

// within reports whether a host matches a pattern such as *.example.com, and which of the two is narrower.
func within(pattern, host string) (narrower string, ok bool) {
	switch {
	case pattern == "" || pattern == "*" || pattern == host:
		return host, true
	case host == "" || host == "*":
		return pattern, true
	case strings.HasPrefix(pattern, "*.") && strings.HasSuffix(host, pattern[1:]):
		return host, true
	case strings.HasPrefix(host, "*.") && strings.HasSuffix(pattern, host[1:]):
		return pattern, true
	}
	return "", false
}
