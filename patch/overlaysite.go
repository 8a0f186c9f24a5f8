package patch

import (
	"bytes"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/bowline-go/bowline/internal/jsonlex"
	"github.com/bowline-go/bowline/internal/patch/tree"
)

// site is the place of a value in an object: the names of the members that lead there, the last first. An element has the place
// of its list, and the element itself.
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

// pointer returns the JSON pointer to the place; [OverlayOptions] says how it names elements.
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
	return Pointer(names...)
}

// alike reports whether two scalars are the same to the server.
func (o *overlay) alike(live, want *tree.Node, at *site) bool {
	if tree.Same(live, want) || o.isDefault(live, want, at) {
		return true
	}
	if live.Kind() != '"' {
		return false
	}
	was := live.Unquoted()
	if want.Kind() == '0' {
		return o.isQuantity(at) && sameQuantity(string(was), string(want.Text()))
	}
	if want.Kind() != '"' {
		return false
	}
	is := want.Unquoted()
	switch {
	case o.isQuantity(at):
		return sameQuantity(string(was), string(is))
	case at.isTime():
		return o.sameTime(string(was), string(is), at)
	case at.up != nil && at.up.up == nil && (at.up.name == "binaryData" && o.is("ConfigMap") || at.up.name == "data" && o.is("Secret")):
		return bytes.Equal(withoutBreaks(was), withoutBreaks(is))
	}
	return false
}

func withoutBreaks(text []byte) []byte {
	return bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("\n"), nil), []byte("\r"), nil)
}

// isBuiltIn reports whether the place is in an object of an API that the server compiles in, or in the metadata of any object.
// The server decodes and writes all of these itself. It keeps everything that it is sent of a custom resource, whose group may
// also end in k8s.io, and of the schema in a CustomResourceDefinition.
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

// isQuantity reports whether the API has a quantity at the place.
func (o *overlay) isQuantity(at *site) bool {
	switch at.parent(1) {
	case "requests", "limits":
		return at.parent(2) == "resources" || at.parent(2) == "capacity" && o.isBuiltIn(at)
	case "capacity", "overhead", "podFixed":
		return o.isBuiltIn(at)
	case "hard":
		return o.kind == "ResourceQuota"
	case "min", "max", "default", "defaultRequest", "maxLimitRequestRatio":
		return o.kind == "LimitRange"
	case "emptyDir":
		return at.name == "sizeLimit"
	case "resourceFieldRef":
		return at.name == "divisor"
	case "requestPolicy", "validRange":
		return o.kind == "ResourceSlice"
	case "target":
		return o.kind == "HorizontalPodAutoscaler" && (at.name == "value" || at.name == "averageValue")
	}
	if o.kind == "ResourceSlice" && at.name == "value" { // of a capacity or counter whose name a user chose
		return at.parent(2) == "capacity" || at.parent(2) == "counters"
	}
	return o.kind == "CSIStorageCapacity" && (at.name == "capacity" || at.name == "maximumVolumeSize")
}

// sameQuantity compares two quantities exactly, without rounding.
func sameQuantity(a, b string) bool {
	x, ok1 := quantity(a)
	y, ok2 := quantity(b)
	return ok1 && ok2 && x.Cmp(y) == 0
}

// quantity reads a quantity of the API: a decimal number, and a suffix of SI, of IEC, or an exponent.
func quantity(text string) (*big.Rat, bool) {
	const longest = 64
	if text == "" || len(text) > longest {
		return nil, false
	}
	end := len(text) - len(strings.TrimLeft(text, "+-.0123456789"))
	number, suffix := text[:end], text[end:]
	if strings.LastIndexAny(number, "+-") > 0 || strings.Count(number, ".") > 1 || !strings.ContainsAny(number, "0123456789") {
		return nil, false
	}
	value, ok := new(big.Rat).SetString(strings.TrimPrefix(number, "+"))
	if !ok {
		return nil, false
	}
	base, power := int64(10), int64(0)
	switch i := slices.Index(binarySuffixes, suffix); {
	case suffix == "":
	case i >= 0:
		base, power = 2, int64(10*(i+1))
	case slices.Contains(decimalSuffixes, suffix):
		power = int64(3 * (slices.Index(decimalSuffixes, suffix) - 3))
	case suffix[0] == 'e' || suffix[0] == 'E':
		if power, ok = exponent(suffix[1:]); !ok {
			return nil, false
		}
	default:
		return nil, false
	}
	scale := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(base), big.NewInt(max(power, -power)), nil))
	if power < 0 {
		return value.Quo(value, scale), true
	}
	return value.Mul(value, scale), true
}

var (
	binarySuffixes  = []string{"Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}
	decimalSuffixes = []string{"n", "u", "m", "", "k", "M", "G", "T", "P", "E"}
)

// exponent reads an exponent of up to two digits; no server accepts a quantity with more.
func exponent(text string) (power int64, ok bool) {
	digits := strings.TrimPrefix(strings.TrimPrefix(text, "+"), "-")
	if digits == "" || len(digits) > 2 || len(text)-len(digits) > 1 {
		return 0, false
	}
	for _, c := range []byte(digits) {
		if !jsonlex.IsDigit(c) {
			return 0, false
		}
		power = power*10 + int64(c-'0')
	}
	if text[0] == '-' {
		power = -power
	}
	return power, true
}

// isTime reports whether the API has a time at the place.
func (p *site) isTime() bool {
	switch p.parent(1) {
	case "labels", "annotations", "matchLabels", "nodeSelector", "data", "binaryData", "stringData":
		return false
	}
	return strings.HasSuffix(p.name, "Time") || strings.HasSuffix(p.name, "Timestamp")
}

// sameTime compares two times of RFC 3339. A server keeps only as many digits as it writes.
func (o *overlay) sameTime(live, want string, at *site) bool {
	was, err1 := time.Parse(time.RFC3339Nano, live)
	is, err2 := time.Parse(time.RFC3339Nano, want)
	if err1 != nil || err2 != nil {
		return false
	}
	if o.isBuiltIn(at) {
		precision := time.Second
		if strings.Contains(live, ".") {
			precision = time.Microsecond
		}
		is = is.Truncate(precision)
	}
	return was.Equal(is)
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

// ofType are members that an object has only with a certain type beside them, by the place of the object.
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
