package externaldns

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The types of records that the sources make.
const (
	A     = "A"
	AAAA  = "AAAA"
	CNAME = "CNAME"
	TXT   = "TXT"
)

// Endpoint is a record that an object wants, or that a provider has.
type Endpoint struct {
	Name, Type string
	Targets    []string // sorted
	TTL        int64    // in seconds; 0 is that of the provider
	// Resource is the object that wants the record, such as service/default/web. Owner is the controller that has made
	// the record, empty if that is not known.
	Resource, Owner string
}

// id is the name and the type of a record. Two records of a provider cannot have the same id.
type id struct{ name, kind string }

func (e *Endpoint) id() id { return id{e.Name, e.Type} }

// source returns the kind of source that a record is from.
func (e *Endpoint) source() string {
	kind, _, _ := strings.Cut(e.Resource, "/")
	return kind
}

// same reports whether a record need not be changed.
func (e *Endpoint) same(want *Endpoint) bool {
	return slices.Equal(e.Targets, want.Targets) && (want.TTL == 0 || e.TTL == want.TTL) && e.Resource == want.Resource
}

func compare(a, b *Endpoint) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Type, b.Type), slices.Compare(a.Targets, b.Targets), cmp.Compare(a.Resource, b.Resource))
}

// Annotations of objects.
const (
	prefix           = "external-dns.alpha.kubernetes.io/"
	hostnameKey      = prefix + "hostname"          // further hosts, with commas between them
	internalKey      = prefix + "internal-hostname" // hosts of the cluster IP of a Service
	targetKey        = prefix + "target"            // addresses in the place of those in the status
	ttlKey           = prefix + "ttl"               // in seconds, or a duration such as 5m
	controllerKey    = prefix + "controller"        // the controller that reads the object
	controllerOfOurs = "dns-controller"
)

// ours reports whether an object is for this controller.
func ours(annotations map[string]string) bool {
	who, found := annotations[controllerKey]
	return !found || who == controllerOfOurs
}

// listed returns the texts of an annotation.
func listed(annotations map[string]string, key string) (all []string) {
	for text := range strings.SplitSeq(annotations[key], ",") {
		if text = strings.TrimSpace(text); text != "" {
			all = append(all, text)
		}
	}
	return all
}

// ttl returns the time to live in an annotation; 0 if it is missing or cannot be read.
func ttl(annotations map[string]string) int64 {
	text := annotations[ttlKey]
	if d, err := time.ParseDuration(text); err == nil {
		return max(0, int64(d/time.Second))
	}
	n, _ := strconv.ParseInt(text, 10, 32)
	return max(0, n)
}

// endpoints returns the records of hosts: one for the addresses of each version of IP, and one for a host name.
func endpoints(resource string, annotations map[string]string, hosts, targets []string) (all []*Endpoint) {
	if t := listed(annotations, targetKey); len(t) > 0 {
		targets = t
	}
	byType := map[string][]string{}
	for _, t := range targets {
		kind := CNAME
		if address, err := netip.ParseAddr(t); err == nil {
			kind = A
			if address.Is6() {
				kind = AAAA
			}
		}
		byType[kind] = append(byType[kind], strings.TrimSuffix(t, "."))
	}
	for _, host := range hosts {
		host = strings.ToLower(strings.TrimSuffix(host, "."))
		if host == "" || host == "*" {
			continue
		}
		for _, kind := range []string{A, AAAA, CNAME} {
			if t := byType[kind]; len(t) > 0 {
				slices.Sort(t)
				all = append(all, &Endpoint{Name: host, Type: kind, Targets: slices.Compact(t), TTL: ttl(annotations), Resource: resource})
			}
		}
	}
	return all
}
