package clienttest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/definitions"
	"github.com/bowline-go/bowline/client/clienttest/internal/kubectl"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/schema"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/clienttest/internal/store"
	"github.com/bowline-go/bowline/client/clienttest/internal/values"
	"github.com/bowline-go/bowline/client/meta"
)

// Resource describes a resource that the server serves without a CustomResourceDefinition, for tests that have none.
// The resource behaves like a custom resource: the generation counts up, an update must have a resource version, and
// the items of a list name their kind. Without a Schema the server accepts any body.
type Resource struct {
	// Group is empty for the core group.
	Group string
	// Version, Kind and Resource (the plural in the path) must be set. They are DNS labels, as in a
	// CustomResourceDefinition: letters, digits and "-", starting with a letter. Only Kind may have capitals.
	Version, Kind, Resource string
	// Singular is kubectl's name for one object; empty means Kind in lower case.
	Singular string
	// ShortNames and Categories are further names that kubectl accepts.
	ShortNames, Categories []string
	// Scope is meta.Namespaced unless set.
	Scope meta.Scope
	// Status adds the status subresource. Then only writes to it change status, and they change nothing else.
	Status bool
	// SelectableFields are paths, such as "spec.color", that field selectors may use besides metadata.name and
	// metadata.namespace. The fields must be scalars.
	SelectableFields []string
	// Schema is the openAPIV3Schema of the resource's CustomResourceDefinition: of type object, with the extensions
	// x-kubernetes-list-type, x-kubernetes-list-map-keys, x-kubernetes-map-type, x-kubernetes-embedded-resource and
	// x-kubernetes-preserve-unknown-fields. The server treats members that the schema does not have as the
	// fieldValidation of the write says, fills in defaults, and refuses values that the schema does not allow, as a
	// real server does: with types, bounds, lengths, patterns, formats, enums, required members, allOf, anyOf, oneOf
	// and not. An update may keep a value that was wrong before. CEL rules need Options.Rules. Empty means that there
	// is no schema: all members stay.
	Schema json.RawMessage
}

// GVR returns the resource's full name.
func (r Resource) GVR() meta.GVR {
	return meta.GVR{Group: r.Group, Version: r.Version, Resource: r.Resource}
}

// GVK returns the full name of its kind.
func (r Resource) GVK() meta.GVK {
	return meta.GVK{Group: r.Group, Version: r.Version, Kind: r.Kind}
}

// resource is a Resource with its objects, and with the traits that distinguish it from other resources on a real
// server.
type resource struct {
	Resource
	builtinTraits
	object.Type
	order int      // of a built-in resource: its place in discovery
	verbs []string // of its own paths, in the order in which discovery lists them

	objects *store.Collection
	hooks   map[*object.Revision][]*hook // of configurations of webhooks; within a transaction only
	*custom
}

// custom is what only custom resources have; built-in ones share an empty one.
type custom struct {
	values    *values.Schema // nil without a schema, and on a lenient server
	rules     CompiledRules  // nil without CEL rules
	listKind  string
	definedBy string // the name of its CustomResourceDefinition; empty if it is registered
	stores    bool   // it is the version that the server stores
	hidden    bool   // it is stored and not served
	warning   string // to requests of a deprecated version
	scale     *definitions.Scale
	// conversion is the webhook that converts the versions; nil if none does.
	conversion *conversion
}

// builtinTraits are the differences of a built-in resource from a custom one. On a real server they are in each type's
// strategy.
type builtinTraits struct {
	graceful  bool // DELETE first sets deletionTimestamp
	review    bool // a create is not stored: it answers a question or acts on another object
	initial   any  // the status of a new object
	columns   []kubectl.Column
	print     kubectl.Printer // the cells of the columns
	fixed     bool            // spec stays as it was created
	prepare   func(d *object.Draft, creating bool)
	admit     settle // what the plugins of a real server change in an object
	settle    settle
	allocates bool                           // settle depends on other objects, which may change while admission is asked
	complete  func(d *object.Draft, by User) // records the creator in a new object
	protects  string                         // a finalizer that goes when an object is deleted
	once      bool                           // metadata.generation is always 1
	check     func(old, d *object.Draft, subresource string) []meta.StatusCause
	// refuse returns why the server's admission refuses a new object that is otherwise valid.
	refuse func(c *call, tx store.Tx, d *object.Draft) error
	// checkNew returns everything that is wrong with a new object, given what is wrong with its metadata.
	checkNew     func(d *object.Draft, metadata []meta.StatusCause) []meta.StatusCause
	subresources map[string]*subresource // including status, if there is one
}

// subresource describes a path below an object's path. The table of routes has its handlers.
type subresource struct {
	kind  meta.GVK // of its objects; empty fields are as in the resource's kind
	part  part     // nil unless its objects are the resource's
	verbs []string // in the order in which discovery lists them
}

// part returns old with the part of d that a subresource writes. It is for subresources whose objects are the
// resource's.
type part func(old, d *object.Draft) *object.Draft

// groupResource is the resource's name in errors, such as "leases.coordination.k8s.io".
func (r *resource) groupResource() string { return status.Qualified(r.Resource.Resource, r.Group) }

// validate returns every reason why r cannot be registered.
func (r Resource) validate() error {
	var errs []error
	for _, f := range []struct{ name, value string }{
		{"Version", r.Version}, {"Kind", r.Kind}, {"Resource", r.Resource},
	} {
		err := meta.ValidSegment(f.name, f.value)
		if err == nil && !isLabel(f.value, f.name == "Kind") {
			err = fmt.Errorf("%s must be a DNS label, as in a CustomResourceDefinition, got %q: %s", f.name, f.value, labelRule)
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	if r.Group != "" {
		if err := meta.ValidSegment("Group", r.Group); err != nil {
			errs = append(errs, err)
		}
	}
	for _, path := range r.SelectableFields {
		if path == "" || strings.HasPrefix(path, "metadata.") {
			errs = append(errs, fmt.Errorf("SelectableFields must be paths outside of metadata, got %q", path))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("clienttest.Resource %q: %w", r.Resource, err)
	}
	return nil
}

const labelRule = `at most 63 lower-case letters, digits and "-", starting with a letter and not ending with "-"; Kind may have capitals`

// isLabel reports whether a name is a DNS label (RFC 1035), which a real server requires of the names in a
// CustomResourceDefinition.
func isLabel(name string, capitals bool) bool {
	if capitals {
		name = strings.ToLower(name)
	}
	return labelForm.MatchString(name)
}

var labelForm = regexp.MustCompile(`^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$`)

// partOf returns the part that a subresource writes; nil if it does not write a part of the object.
func (r *resource) partOf(sub string) part {
	if s := r.subresources[sub]; s != nil {
		return s.part
	}
	return nil
}

// kindOf returns the kind of the objects of a subresource.
func (r *resource) kindOf(sub string) meta.GVK {
	s := r.subresources[sub]
	if s == nil || s.kind.Kind == "" {
		return r.GVK()
	}
	kind := s.kind
	kind.Version = cmp.Or(kind.Version, r.Version)
	return kind
}

// fields returns the shape of the resource's objects; without a schema it has only metadata.
func (r *resource) fields() *schema.Shape {
	if s := r.Shape(); s != nil {
		return s
	}
	return schema.AnyObject()
}
