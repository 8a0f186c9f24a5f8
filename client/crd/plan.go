package crd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// Danger says what a change may break.
type Danger string

const (
	// Dropped means that a version that was served or stored is removed or no longer served: clients of the version
	// fail, and objects that are stored in it cannot be read.
	Dropped Danger = "dropped"
	// Narrowed means that a schema refuses or drops values that it accepted before. Objects with such values cannot be
	// updated, or lose the values.
	Narrowed Danger = "narrowed"
	// Fixed means that no server accepts the change, such as a change of the scope.
	Fixed Danger = "fixed"
)

// Change is a difference between the server's definition and the wanted one.
type Change struct {
	// Path is the place, such as "v1.spec.domain.maxLength" in a schema, or "names.shortNames".
	Path string
	// From and To are the values as JSON; empty if a value is missing.
	From, To string
	// Danger is empty if the change breaks nothing.
	Danger Danger
}

// String returns, for example, `v1.spec.domain.maxLength: 63, was 253 (narrowed)`.
func (c Change) String() string {
	text := fmt.Sprintf("%s: %s, was %s", c.Path, cmp.Or(c.To, "missing"), cmp.Or(c.From, "missing"))
	if c.Danger != "" {
		text += " (" + string(c.Danger) + ")"
	}
	return text
}

// Plan is what [Install] would do with a definition.
type Plan struct {
	// Name is the name of the definition.
	Name string
	// New says that the server does not have the definition, and Changes is empty.
	New bool
	// Changes are in the order of the manifest. If there are none, Install writes nothing, unless New is set.
	Changes []Change
}

// String returns a line for each change.
func (p Plan) String() string {
	switch {
	case p.New:
		return p.Name + ": new"
	case len(p.Changes) == 0:
		return p.Name + ": no change"
	}
	lines := []string{p.Name + ":"}
	for _, c := range p.Changes {
		lines = append(lines, "  "+c.String())
	}
	return strings.Join(lines, "\n")
}

// PlanOf reads the server's definition, and returns the changes that [Install] would make. It writes nothing.
func PlanOf(ctx context.Context, c *client.Client, want *Definition) (Plan, error) {
	if want == nil {
		return Plan{}, errNil
	}
	live, err := client.For(c, Definitions()).Get(ctx, meta.Key{Name: want.Name})
	if errors.Is(err, apierrors.NotFound) {
		return Plan{Name: want.Name, New: true}, nil
	}
	if err != nil {
		return Plan{}, fmt.Errorf("crd.PlanOf %s: %w", want.Name, err)
	}
	return Compare(live, want), nil
}

// Compare returns the changes that turn the server's definition into the wanted one. It ignores labels, annotations and
// the CABundle of a conversion webhook that only live has.
func Compare(live, want *Definition) Plan {
	live, want = overlay(live, live), overlay(live, want)
	d := &differ{}
	for _, f := range []struct {
		path     string
		from, to any
		danger   Danger
	}{
		{"labels", live.Labels, want.Labels, ""},
		{"annotations", live.Annotations, want.Annotations, ""},
		{"group", live.Spec.Group, want.Spec.Group, Fixed},
		{"scope", live.Spec.Scope, want.Spec.Scope, Fixed},
		{"names.plural", live.Spec.Names.Plural, want.Spec.Names.Plural, Fixed},
		{"names.kind", live.Spec.Names.Kind, want.Spec.Names.Kind, Fixed},
		{"names.listKind", live.Spec.Names.ListKind, want.Spec.Names.ListKind, ""},
		{"names.singular", live.Spec.Names.Singular, want.Spec.Names.Singular, ""},
		{"names.shortNames", live.Spec.Names.ShortNames, want.Spec.Names.ShortNames, ""},
		{"names.categories", live.Spec.Names.Categories, want.Spec.Names.Categories, ""},
		{"conversion", live.Spec.Conversion, want.Spec.Conversion, ""},
	} {
		d.differ(f.path, f.from, f.to, f.danger)
	}
	for _, v := range live.Spec.Versions {
		if versionNamed(want, v.Name) == nil {
			danger := Danger("")
			if v.Served || slices.Contains(live.Status.StoredVersions, v.Name) {
				danger = Dropped
			}
			d.add(v.Name, "a version", "", danger)
		}
	}
	for i := range want.Spec.Versions {
		v := &want.Spec.Versions[i]
		if was := versionNamed(live, v.Name); was != nil {
			d.version(was, v)
		} else {
			d.add(v.Name, "", "a version", "")
		}
	}
	return Plan{Name: want.Name, Changes: d.changes}
}

// versionNamed returns the version of a definition with a name; nil if there is none.
func versionNamed(d *Definition, name string) *Version {
	if i := slices.IndexFunc(d.Spec.Versions, func(v Version) bool { return v.Name == name }); i >= 0 {
		return &d.Spec.Versions[i]
	}
	return nil
}

// overlay returns the wanted definition with the server's defaults, and with the labels, annotations and CABundle that
// others may have set in the server's definition.
func overlay(live, want *Definition) *Definition {
	out := meta.Clone(want)
	out.Labels, out.Annotations = merged(live.Labels, want.Labels), merged(live.Annotations, want.Annotations)
	out.Spec.Names.Singular = cmp.Or(want.Spec.Names.Singular, strings.ToLower(want.Spec.Names.Kind))
	out.Spec.Names.ListKind = cmp.Or(want.Spec.Names.ListKind, want.Spec.Names.Kind+"List")
	if out.Spec.Conversion == nil {
		out.Spec.Conversion = &Conversion{Strategy: "None"}
	}
	hook := out.Spec.Conversion.Webhook
	if hook == nil {
		return out
	}
	if s := hook.Client.Service; s != nil {
		s.Port = cmp.Or(s.Port, 443)
	}
	if was := live.Spec.Conversion; was != nil && was.Webhook != nil && len(hook.Client.CABundle) == 0 {
		hook.Client.CABundle = was.Webhook.Client.CABundle
	}
	return out
}

// merged returns the entries of both maps; those of over win. It returns nil if there are none.
func merged(under, over map[string]string) map[string]string {
	if len(under)+len(over) == 0 {
		return nil
	}
	out := map[string]string{}
	for _, m := range []map[string]string{under, over} {
		for name, value := range m {
			out[name] = value
		}
	}
	return out
}

// differ collects changes.
type differ struct{ changes []Change }

func (d *differ) add(path, from, to string, danger Danger) {
	d.changes = append(d.changes, Change{Path: path, From: from, To: to, Danger: danger})
}

// differ adds a change if the values differ.
func (d *differ) differ(path string, from, to any, danger Danger) {
	if !same(from, to) {
		d.add(path, jsonOf(from), jsonOf(to), danger)
	}
}

// jsonOf returns the JSON of a value for a Change: "" for a zero value, and the start of a long text.
func jsonOf(v any) string {
	text, err := json.Marshal(v)
	switch string(text) {
	case "null", `""`, "false", "{}", "[]":
		return ""
	}
	if err == nil {
		text, err = canonical(text)
	}
	if err != nil {
		return err.Error()
	}
	if len(text) > 200 {
		return strings.ToValidUTF8(string(text[:200]), "") + "..."
	}
	return string(text)
}

// version adds the changes of a version.
func (d *differ) version(was, is *Version) {
	served := Danger("")
	if was.Served && !is.Served {
		served = Dropped
	}
	d.differ(is.Name+".served", was.Served, is.Served, served)
	d.differ(is.Name+".storage", was.Storage, is.Storage, "")
	d.differ(is.Name+".deprecated", was.Deprecated, is.Deprecated, "")
	d.differ(is.Name+".deprecationWarning", was.DeprecationWarning, is.DeprecationWarning, "")
	d.differ(is.Name+".subresources", was.Subresources, is.Subresources, "")
	d.differ(is.Name+".additionalPrinterColumns", was.Columns, is.Columns, "")
	d.differ(is.Name+".selectableFields", was.SelectableFields, is.SelectableFields, "")
	from, to := was.Schema.OpenAPIV3Schema, is.Schema.OpenAPIV3Schema
	if from == nil || to == nil {
		d.differ(is.Name+".schema", from, to, Narrowed)
		return
	}
	d.schema(is.Name, rootless(from), rootless(to))
}

// rootless returns the schema of an object without the members that the server adds or already knows.
func rootless(s *Schema) *Schema {
	out := *s
	out.Properties = map[string]*Schema{}
	for name, p := range s.Properties {
		implied := (name == "apiVersion" || name == "kind") && len(p.Enum) == 0 && p.Pattern == "" || name == "metadata" && len(p.Properties) == 0
		if !implied {
			out.Properties[name] = p
		}
	}
	return &out
}
