package quota

import (
	"slices"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/quantity"
)

// kind is how quotas count the objects of one resource.
type kind struct {
	counts  func(name string) bool // whether a quota limits these objects by a name
	usage   func(d *object.Draft, now time.Time) quantity.List
	in      func(s scope, d *object.Draft) bool
	lacks   func(names []string, d *object.Draft) error // says what the object must have
	handles func(c Change) bool
	varies  bool // objects differ in what they use: usage and in, the functions above, read the object
}

// kindOf returns how the objects of a resource are counted.
func kindOf(resource string) kind {
	k := kind{
		in:      func(scope, *object.Draft) bool { return false },
		lacks:   func([]string, *object.Draft) error { return nil },
		handles: func(c Change) bool { return c.Subresource == "" },
		varies:  true,
	}
	names := []string{"count/" + resource}
	k.counts = func(name string) bool { return slices.Contains(names, name) }
	switch resource {
	case "pods":
		k.counts, k.usage, k.in, k.lacks, k.handles = countsPods, usageOfPod, podIn, podLacks, handlesPod
	case "services":
		names = append(names, "services", "services.nodeports", "services.loadbalancers")
		k.usage = usageOfService
	case "persistentvolumeclaims":
		k.counts, k.usage, k.in = countsClaims, usageOfClaim, claimIn
	case "events", "events.events.k8s.io":
		names = nil
		fallthrough
	default:
		if slices.Contains([]string{"configmaps", "resourcequotas", "replicationcontrollers", "secrets"}, resource) {
			names = append(names, resource)
		}
		k.varies = false
		k.usage = func(*object.Draft, time.Time) quantity.List { return once(names...) }
		k.handles = func(c Change) bool { return c.Subresource == "" && c.Old == nil }
	}
	return k
}

// of returns the names, in order, by which limits count the objects.
func (k kind) of(limits quantity.List) []string {
	return slices.DeleteFunc(limits.Names(), func(name string) bool { return !k.counts(name) })
}

// inScopes reports whether an object is in all scopes.
func (k kind) inScopes(scopes []scope, d *object.Draft) bool {
	return !slices.ContainsFunc(scopes, func(s scope) bool { return !k.in(s, d) })
}

// once counts one object by each of its names.
func once(names ...string) quantity.List {
	list := quantity.List{}
	for _, name := range names {
		list[name] = quantity.Count(1)
	}
	return list
}

// usageOfService counts a service. It counts the node ports that the service will get, because it may have none yet.
func usageOfService(d *object.Draft, _ time.Time) quantity.List {
	used := once("count/services", "services")
	spec := inner(d.Content, "spec")
	ports, _ := spec["ports"].([]any)
	n := len(ports)
	switch spec["type"] {
	case "LoadBalancer":
		used["services.loadbalancers"] = quantity.Count(1)
		if spec["allocateLoadBalancerNodePorts"] == false {
			n = 0
			for _, v := range ports {
				if m, _ := v.(jsontree.Object); m["nodePort"] != nil {
					n++
				}
			}
		}
	case "NodePort":
	default:
		n = 0
	}
	used["services.nodeports"] = quantity.Count(int64(n))
	return used
}

const ofStorageClass = ".storageclass.storage.k8s.io/"

func countsClaims(name string) bool {
	for _, of := range []string{"persistentvolumeclaims", "requests.storage"} {
		if name == of || strings.HasSuffix(name, ofStorageClass+of) {
			return true
		}
	}
	return name == "count/persistentvolumeclaims"
}

// usageOfClaim counts a claim and its storage, in whole bytes, also by its class.
func usageOfClaim(d *object.Draft, _ time.Time) quantity.List {
	used := once("count/persistentvolumeclaims", "persistentvolumeclaims")
	spec := inner(d.Content, "spec")
	if size, found := quantity.Read(inner(spec, "resources")["requests"])["storage"]; found {
		allocated := quantity.Read(inner(d.Content, "status")["allocatedResources"])["storage"]
		if allocated.Amount != nil && allocated.Amount.Cmp(size.Amount) > 0 {
			size = allocated
		}
		used["requests.storage"] = size.Whole()
	}
	class, annotated := d.Meta.Annotations["volume.beta.kubernetes.io/storage-class"]
	if !annotated {
		class = text(spec, "storageClassName")
	}
	if class == "" {
		return used
	}
	for _, name := range []string{"persistentvolumeclaims", "requests.storage"} {
		if q, found := used[name]; found {
			used[class+ofStorageClass+name] = q
		}
	}
	return used
}
