package crd

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// Options specify the parts of a definition that the Go type does not have. The zero value means one version, which is
// served and stored.
type Options struct {
	// Columns are the columns that kubectl get shows after the name. If there are any, the server does not add the
	// column age. Nil means name and age.
	Columns []Column
	// Scale adds the subresource scale. Its paths must be members of the type.
	Scale *Scale
	// WholeStatus leaves out the subresource status, so that a write of an object writes its status too. Without it, a
	// type with the member status has the subresource.
	WholeStatus bool
	// SelectableFields are JSON paths of members for field selectors, such as ".spec.color".
	SelectableFields []string
	// Rules are rules about the object as a whole. A field has its rules in its tag.
	Rules []Rule
	// PreserveUnknown makes the server keep members of the object for which the type has no field. Without it, a type
	// with its own JSON methods is an error.
	PreserveUnknown bool
	// Descriptions are texts for kubectl explain, by the paths of members, such as "spec.hosts" for a list and
	// "spec.hosts[].name" for a member of its elements. "" is the object. A path without a member is an error. The
	// command client/typegen -crd writes them from the comments of the type.
	Descriptions map[string]string
	// Deprecated makes the server warn the clients of the version. An empty DeprecationWarning means the server's own
	// text.
	Deprecated         bool
	DeprecationWarning string
	// Unserved keeps the version for objects that are stored in it, but does not serve it.
	Unserved bool

	// The options below apply to all versions, and must be zero in the options of [Other].

	ShortNames []string
	Categories []string
	// Singular is the singular name. Empty means the kind in lower case.
	Singular string
	// Others are the further versions of the resource.
	Others []OtherVersion
	// Storage is the version in which the server stores objects. Empty means that of the type given to [Of].
	Storage string
	// Conversion is the webhook that converts between versions; see package webhook. Nil means that the server only
	// changes the apiVersion, and drops the members that the other version does not have.
	Conversion          *WebhookClient
	Labels, Annotations map[string]string
}

// Of returns the definition of a resource whose objects are Ts. T must be a pointer to a struct. The members of the
// schema are the fields that encoding/json writes, under their names in JSON; the words of their tags are in the
// documentation of the package.
//
// The error joins all mistakes that Of finds. Each names the Go field or the option, and says what is allowed. Of does
// not read rules in CEL: the server does, and client/clienttest/cel in tests.
func Of[T meta.Object](t client.Type[T], o Options) (*Definition, error) {
	d := &Definition{ObjectMeta: meta.ObjectMeta{
		Name: t.Resource + "." + t.Group, Labels: maps.Clone(o.Labels), Annotations: maps.Clone(o.Annotations),
	}}
	d.Spec = Spec{
		Group: t.Group, Scope: t.Scope.String(),
		Names: Names{
			Kind: t.Kind, ListKind: cmp.Or(t.ListKind, t.Kind+"List"), Plural: t.Resource,
			Singular:   cmp.Or(o.Singular, strings.ToLower(t.Kind)),
			ShortNames: slices.Clone(o.ShortNames), Categories: slices.Clone(o.Categories),
		},
	}
	if o.Conversion != nil {
		at := *o.Conversion
		d.Spec.Conversion = &Conversion{Strategy: "Webhook", Webhook: &ConversionWebhook{Client: at, Versions: []string{"v1"}}}
	}
	first, err := VersionOf(reflect.TypeFor[T](), t.Version, o)
	errs := []error{checkNames(d), checkConversion(o.Conversion), err}
	d.Spec.Versions = []Version{first}
	for _, other := range o.Others {
		errs = append(errs, other.fits(d))
		d.Spec.Versions = append(d.Spec.Versions, other.version)
	}
	errs = append(errs, store(d, cmp.Or(o.Storage, t.Version)))
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("crd.Of %s:\n%w", d.Name, err)
	}
	return d, nil
}

// MustOf is [Of] for a type and options that are part of the program. It panics if they are invalid.
func MustOf[T meta.Object](t client.Type[T], o Options) *Definition {
	d, err := Of(t, o)
	if err != nil {
		panic(err)
	}
	return d
}

// OtherVersion is a further version of a resource. [Other] makes one.
type OtherVersion struct {
	group, kind, resource string
	scope                 meta.Scope
	version               Version
	err                   error
}

// Other returns a further version for Options.Others. [Of] returns its mistakes.
func Other[T meta.Object](t client.Type[T], o Options) OtherVersion {
	v, err := VersionOf(reflect.TypeFor[T](), t.Version, o)
	if name := setForAll(o); name != "" {
		err = errors.Join(err, fmt.Errorf("crd.Options of version %s: %s must be zero, because it is about all versions; set it in the options of Of", t.Version, name))
	}
	return OtherVersion{t.Group, t.Kind, t.Resource, t.Scope, v, err}
}

// setForAll returns the name of an option that is set although it applies to all versions; "" if there is none.
func setForAll(o Options) string {
	for _, f := range []string{"ShortNames", "Categories", "Singular", "Others", "Storage", "Conversion", "Labels", "Annotations"} {
		if !reflect.ValueOf(o).FieldByName(f).IsZero() {
			return f
		}
	}
	return ""
}

// fits returns an error if the version cannot be a further version of d.
func (v OtherVersion) fits(d *Definition) error {
	switch {
	case v.err != nil:
		return v.err
	case v.version.Name == "":
		return errors.New("crd.Options: an element of Others is zero; make it with crd.Other")
	case v.group != d.Spec.Group || v.kind != d.Spec.Names.Kind || v.resource != d.Spec.Names.Plural || v.scope.String() != d.Spec.Scope:
		return fmt.Errorf("crd.Options: Others has %s %s.%s (%v), which must have the group, kind, resource and scope of %s %s (%s)",
			v.kind, v.resource, v.group, v.scope, d.Spec.Names.Kind, d.Name, d.Spec.Scope)
	case slices.ContainsFunc(d.Spec.Versions, func(o Version) bool { return o.Name == v.version.Name }):
		return fmt.Errorf("crd.Options: Others has the version %s twice, or it is that of Of's type", v.version.Name)
	}
	return nil
}

// store marks the version that is stored.
func store(d *Definition, name string) error {
	var names []string
	for i, v := range d.Spec.Versions {
		d.Spec.Versions[i].Storage = v.Name == name
		names = append(names, v.Name)
	}
	if !slices.Contains(names, name) {
		return fmt.Errorf("crd.Options: Storage is %q, which must be one of the versions %q", name, names)
	}
	return nil
}

// VersionOf returns a version of a resource whose objects have a Go type, for tools that do not have the type as a type
// parameter. Its field Storage is false, and VersionOf ignores the options that apply to all versions. The errors are
// those of [Of].
func VersionOf(t reflect.Type, name string, o Options) (Version, error) {
	v := Version{Name: name, Served: !o.Unserved, Deprecated: o.Deprecated}
	if !label.MatchString(v.Name) {
		return v, fmt.Errorf("client.Type: Version must have %s, got %q", labelRule, v.Name)
	}
	schema, err := schemaOf(t, o)
	if err != nil {
		return v, err
	}
	schema.Rules = slices.Clone(o.Rules)
	v.Schema.OpenAPIV3Schema = schema
	if _, found := schema.Properties["status"]; found && !o.WholeStatus {
		v.Subresources.Status = &StatusSubresource{}
	}
	var errs []error
	for i, r := range o.Rules {
		errs = append(errs, checkRule(r, fmt.Sprintf("crd.Options: Rules[%d]", i)))
	}
	errs = append(errs, schema.checkFieldPaths("crd.Options"), v.scale(o.Scale), v.columns(o.Columns), v.selectable(o.SelectableFields), v.deprecate(o))
	return v, errors.Join(errs...)
}

func (v *Version) deprecate(o Options) error {
	switch warning := o.DeprecationWarning; {
	case warning == "":
	case !o.Deprecated:
		return errors.New("crd.Options: DeprecationWarning must be empty unless Deprecated is set")
	case len(warning) > 256:
		return fmt.Errorf("crd.Options: DeprecationWarning must have at most 256 bytes, got %d", len(warning))
	default:
		v.DeprecationWarning = &warning
	}
	return nil
}
