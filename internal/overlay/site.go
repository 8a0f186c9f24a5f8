package overlay

import (
	"slices"
	"strings"

	"github.com/bowline-go/bowline/internal/patch/tree"
	"github.com/bowline-go/bowline/patch"
)

// site is the place of a value in an object: the names of the members that lead there, the last first. The site of a
// list's element has the place of the list, and the element itself.
type site struct {
	name   string
	up     *site
	chosen bool       // below a member whose names users choose, so the tables do not apply
	item   *tree.Node // the element, and the members that distinguish it
	keys   []string   // nil if the place is that of a member
}

func (p *site) member(name string) *site {
	chosen := p != nil && (p.chosen || p.hasChosenNames() && (p.name != "selector" || name != "matchLabels" && name != "matchExpressions") &&
		(p.name != "options" || p.item == nil)) // the options of a resolver are a list
	return &site{name: name, up: p, chosen: chosen}
}

func (p *site) element(item *tree.Node, keys []string) *site {
	return &site{name: p.name, up: p.up, chosen: p.chosen, item: item, keys: keys}
}

// parent returns the name of the member n levels up.
func (p *site) parent(n int) string {
	for ; n > 0 && p != nil; n-- {
		p = p.up
	}
	if p == nil {
		return ""
	}
	return p.name
}

func (p *site) hasChosenNames() bool {
	switch p.name {
	case "labels", "annotations", "deprecatedTopology", "userAnnotations", "matchLabels", "selector", "nodeSelector", "data", "binaryData",
		"stringData", "parameters", "attributes", "volumeAttributes", "options", "extra", "counters", "nodeAllocatableResourceMappings":
		return true
	}
	return false
}

// pointer returns the JSON pointer to the place; [Options] says how it names elements.
func (p *site) pointer() string {
	var names []string
	for ; p != nil; p = p.up {
		if len(p.keys) > 0 {
			var parts []string
			for _, key := range p.keys {
				if v, ok := p.item.Lookup(key); ok {
					parts = append(parts, key+"="+v.Scalar())
				}
			}
			names = append(names, strings.Join(parts, ","))
		}
		names = append(names, p.name)
	}
	slices.Reverse(names)
	return patch.Pointer(names...)
}

// isBuiltIn reports whether the place is in an object of an API that the server compiles in, or in the metadata of any
// object. The server decodes these into its own types and encodes them again. It stores a custom resource, whose group
// may also end in k8s.io, and the schema in a CustomResourceDefinition, as they are sent.
func (o *overlay) isBuiltIn(at *site) bool {
	if at.up != nil && at.up.up == nil && at.up.name == "metadata" {
		return true
	}
	return o.builtIn && (o.kind != "CustomResourceDefinition" || !at.isInSchema())
}

// isInSchema reports whether the place is in the schema of a CustomResourceDefinition.
func (p *site) isInSchema() bool {
	for ; p != nil; p = p.up {
		if p.name == "openAPIV3Schema" {
			return true
		}
	}
	return false
}

var builtInGroups = []string{
	"admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "authentication.k8s.io", "authorization.k8s.io", "certificates.k8s.io",
	"coordination.k8s.io", "discovery.k8s.io", "events.k8s.io", "flowcontrol.apiserver.k8s.io", "internal.apiserver.k8s.io",
	"networking.k8s.io", "node.k8s.io", "rbac.authorization.k8s.io", "resource.k8s.io", "scheduling.k8s.io", "storage.k8s.io",
	"storagemigration.k8s.io",
}

// handlers are the actions of probes and of the hooks of a container's life.
var handlers = []string{"exec", "httpGet", "tcpSocket", "grpc", "sleep"}

// oneOf are members that exclude each other, by the place of their object.
var oneOf = map[string][]string{
	"env":           {"value", "valueFrom"},
	"valueFrom":     {"fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"},
	"envFrom":       {"configMapRef", "secretRef"},
	"clientConfig":  {"url", "service"},
	"livenessProbe": handlers, "readinessProbe": handlers, "startupProbe": handlers, "postStart": handlers, "preStop": handlers,
	"volumes": {
		"awsElasticBlockStore", "azureDisk", "azureFile", "cephfs", "cinder", "configMap", "csi", "downwardAPI", "emptyDir", "ephemeral",
		"fc", "flexVolume", "flocker", "gcePersistentDisk", "gitRepo", "glusterfs", "hostPath", "image", "iscsi", "nfs",
		"persistentVolumeClaim", "photonPersistentDisk", "portworxVolume", "projected", "quobyte", "rbd", "scaleIO", "secret",
		"storageos", "vsphereVolume",
	},
}

// oneOf returns the members of the object at the place that exclude each other.
func (o *overlay) oneOf(at *site) []string {
	switch {
	case o.kind == "PodDisruptionBudget" && at.name == "spec" && at.up == nil:
		return []string{"minAvailable", "maxUnavailable"}
	case o.kind == "Ingress" && at.name == "port":
		return []string{"name", "number"}
	case o.kind == "Ingress" && (at.name == "backend" || at.name == "defaultBackend"):
		return []string{"service", "resource"}
	}
	return oneOf[at.name]
}

// ofType are members that an object may have only if its member type has a certain value, by the place of the object.
var ofType = map[string]struct{ member, of string }{
	"strategy": {"rollingUpdate", "RollingUpdate"}, "updateStrategy": {"rollingUpdate", "RollingUpdate"},
	"seccompProfile": {"localhostProfile", "Localhost"}, "appArmorProfile": {"localhostProfile", "Localhost"},
	"limitResponse": {"queuing", "Queue"},
}

// excluded returns the members of live that cannot stay beside the members of want.
func (o *overlay) excluded(live, want *tree.Branch, at *site) (places []int) {
	says := func(name string) bool {
		i := want.Find(name)
		return i >= 0 && !o.isUnsaid(&want.Members[i].Value)
	}
	had := func(name string) {
		if j := live.Find(name); j >= 0 && live.Members[j].Value.Kind() != 'n' && !says(name) {
			places = append(places, j)
		}
	}
	if m, ok := ofType[at.name]; ok {
		if i := want.Find("type"); i >= 0 && want.Members[i].Value.Kind() == '"' {
			if is := want.Members[i].Value; !slices.Contains([]string{"", m.of}, string(is.Unquoted())) {
				had(m.member)
			}
		}
		return places
	}
	names := o.oneOf(at)
	if slices.ContainsFunc(names, says) {
		for _, name := range names {
			had(name)
		}
	}
	return places
}
