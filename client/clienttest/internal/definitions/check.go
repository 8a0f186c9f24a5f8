package definitions

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/meta"
)

// Check returns what is wrong with a completed definition. Old is the definition that it replaces, nil if it is new.
// The caller checks the rest of the metadata, and the expressions of rules. Check includes what a server says about
// rules without compiling them: empty expressions, messages, reasons and field paths.
//
// If all versions of a definition have the same schema, subresources, columns or selectable fields, the server's errors
// name a field of the spec, such as spec.validation in place of spec.versions[0].schema.
func Check(d, old *object.Draft) []meta.StatusCause {
	c := &checker{spec: view(d.Content).in("spec"), laxBundle: true, shared: map[string]bool{}}
	if old == nil {
		c.name(&d.Meta)
	} else {
		c.old = view(old.Content).in("spec")
		c.established = isTrue(old, established)
		was := c.old.in("conversion").in("webhook").in("clientConfig").bytes("caBundle")
		c.laxBundle = !c.established || wrongBundle(was) != ""
	}
	c.checkSpec()
	if old != nil {
		c.immutable()
	}
	c.names(view(d.Content).in("status").in("acceptedNames"), "status.acceptedNames")
	c.storedVersions(view(d.Content).in("status"))
	c.approval(d, old)
	if c.spec.flag("preserveUnknownFields") {
		c.invalid("spec.preserveUnknownFields", true,
			"cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead")
	}
	return c.causes
}

// CheckStatus is Check for an update of the status.
func CheckStatus(d *object.Draft) []meta.StatusCause {
	var c checker
	c.names(view(d.Content).in("status").in("acceptedNames"), "status.acceptedNames")
	return c.causes
}

// checker checks a definition.
type checker struct {
	report
	spec, old   view
	shared      map[string]bool // the members that all versions have in common
	established bool            // the kind and the scope cannot change
	laxBundle   bool            // an invalid CA bundle is allowed
}

// name checks that the name of a definition is that of its resource and group.
func (c *checker) name(m *meta.ObjectMeta) {
	want := c.spec.in("names").text("plural") + "." + c.spec.text("group")
	for _, f := range []struct{ at, is string }{{"metadata.generateName", m.GenerateName}, {"metadata.name", m.Name}} {
		if f.is != "" && f.is != want {
			c.invalid(f.at, f.is, `must be spec.names.plural+"."+spec.group`)
		}
	}
}

func (c *checker) checkSpec() {
	spec, versions := c.spec, c.spec.list("versions")
	c.group(spec.text("group"))
	switch scope := spec.text("scope"); scope {
	case "":
		c.required("spec.scope", "")
	case "Cluster", "Namespaced":
	default:
		c.unsupported("spec.scope", scope, "Cluster", "Namespaced")
	}
	for i, v := range versions {
		if !v.in("schema").has("openAPIV3Schema") {
			c.required(fmt.Sprintf("spec.versions[%d].schema.openAPIV3Schema", i), "")
		}
	}
	hasDefault := func(v view) bool {
		return schemaOf(v).contains(func(s view) bool { return s.has("default") })
	}
	if spec.flag("preserveUnknownFields") && slices.ContainsFunc(versions, hasDefault) {
		c.invalid("spec.preserveUnknownFields", true, "must be false in order to use defaults in the schema")
	}
	for _, member := range []string{"schema", "subresources", "additionalPrinterColumns", "selectableFields"} {
		c.shared[member] = isShared(versions, member)
	}
	for i, v := range versions {
		at := fmt.Sprintf("spec.versions[%d]", i)
		c.label(at+".name", v.text("name"))
		c.deprecation(v, at)
		first := slices.IndexFunc(versions, func(other view) bool { return other.text("name") == v.text("name") })
		c.parts(v, at, versions[first].in("subresources").has("status"))
	}
	c.versionSet(versions)
	names := spec.in("names")
	for _, name := range []string{"plural", "singular", "kind", "listKind"} {
		if names.text(name) == "" {
			c.required("spec.names."+name, "")
		}
	}
	c.names(names, "spec.names")
	if len(versions) > 0 {
		c.parts(versions[0], "spec", slices.ContainsFunc(versions, func(v view) bool { return v.in("subresources").has("status") }))
	}
	c.conversion()
}

func schemaOf(version view) view { return version.in("schema").in("openAPIV3Schema") }

func (c *checker) group(group string) {
	switch why := wrongSubdomain(group); {
	case group == "":
		c.required("spec.group", "")
	case len(why) > 0:
		c.invalid("spec.group", group, strings.Join(why, ","))
	case !strings.Contains(group, "."):
		c.invalid("spec.group", group, "should be a domain with at least one dot")
	}
}

// isShared reports whether all versions have the same value of a member.
func isShared(versions []view, member string) bool {
	value := func(v view) any {
		if s := schemaOf(v); member == "schema" && s != nil {
			return jsontree.Object{"openAPIV3Schema": s.plain()}
		}
		return filled(v[member])
	}
	for i := range versions {
		if i > 0 && !jsontree.Equal(value(versions[i]), value(versions[0])) {
			return false
		}
	}
	return true
}

// filled returns a value without the members that count as absent: null, "", 0 and empty lists.
func filled(v any) any {
	switch v := v.(type) {
	case jsontree.Object:
		out := jsontree.Object{}
		for name, e := range v {
			if e = filled(e); e != nil && e != "" && e != json.Number("0") {
				out[name] = e
			}
		}
		return out
	case []any:
		if len(v) == 0 {
			return nil
		}
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = filled(e)
		}
		return out
	}
	return v
}

// parts checks those parts of a version that are not shared, or those that are shared if at is the spec.
func (c *checker) parts(v view, at string, status bool) {
	isSpec := at == "spec"
	here := func(member string) bool { return c.shared[member] == isSpec }
	if here("schema") && v.has("schema") {
		name := ".schema"
		if isSpec {
			name = ".validation"
		}
		c.checkSchema(v, at+name, status)
	}
	if scale := v.in("subresources").in("scale"); here("subresources") && scale != nil {
		c.scale(scale, at+".subresources.scale.")
	}
	if here("additionalPrinterColumns") {
		for i, column := range v.list("additionalPrinterColumns") {
			c.column(column, fmt.Sprintf("%s.additionalPrinterColumns[%d]", at, i))
		}
	}
	if fields := v.list("selectableFields"); here("selectableFields") && len(fields) > 0 {
		switch {
		case isSpec && (!here("schema") || !v.has("schema")):
			c.invalid(at+".selectableFields", "", "may only be set when validations.schema is included")
		case !isSpec && (!here("schema") || schemaOf(v) == nil):
			c.invalid(at+".selectableFields", "", "may only be set when `version.schema.openAPIV3Schema` is not included")
		default:
			c.selectable(fields, schemaOf(v), at)
		}
	}
}

// versionSet checks the versions as a whole.
func (c *checker) versionSet(versions []view) {
	seen, unique, stored := map[string]bool{}, true, 0
	for _, v := range versions {
		name := v.text("name")
		unique = unique && !seen[name]
		seen[name] = true
		if v.flag("storage") {
			stored++
		}
	}
	if !unique {
		c.invalid("spec.versions", c.spec["versions"], "must contain unique version names")
	}
	if stored != 1 {
		c.invalid("spec.versions", c.spec["versions"], "must have exactly one version marked as storage version")
	}
	if len(versions) > 0 && versions[0].text("name") != "" {
		c.label("spec.version", versions[0].text("name"))
	}
}

func (c *checker) deprecation(v view, at string) {
	warning, found := v["deprecationWarning"].(string)
	if !found {
		return
	}
	at += ".deprecationWarning"
	shown := asJSON(warning)
	if !v.flag("deprecated") {
		c.invalid(at, shown, "can only be set for deprecated versions")
		return
	}
	if len(warning) > 256 {
		c.invalid(at, shown, "must be <= 256 characters long")
	}
	if warning == "" {
		c.invalid(at, shown, "must not be an empty string")
	}
	const printable = "must only contain printable UTF-8 characters"
	if i := strings.IndexFunc(warning, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
		c.invalid(at, shown, fmt.Sprintf(printable+"; non-printable character found at index %d", i))
	}
	if !utf8.ValidString(warning) {
		c.invalid(at, shown, printable)
	}
}

// names checks names, which may be empty.
func (c *checker) names(names view, at string) {
	for _, name := range []string{"plural", "singular"} {
		if value := names.text(name); value != "" {
			c.label(at+"."+name, value)
		}
	}
	kind, listKind := names.text("kind"), names.text("listKind")
	for _, name := range []string{"kind", "listKind"} {
		value := names.text(name)
		if why := wrongLabel(strings.ToLower(value)); value != "" && len(why) > 0 {
			c.invalid(at+"."+name, value, "may have mixed case, but should otherwise match: "+strings.Join(why, ","))
		}
	}
	for i, name := range names.texts("shortNames") {
		c.label(fmt.Sprintf("%s.shortNames[%d]", at, i), name)
	}
	if kind != "" && kind == listKind {
		c.invalid(at+".listKind", listKind, "kind and listKind may not be the same")
	}
	for i, name := range names.texts("categories") {
		c.label(fmt.Sprintf("%s.categories[%d]", at, i), name)
	}
}

// path checks the form of a JSON path, and reports whether it is right.
func (c *checker) path(at, path string) bool {
	switch {
	case path == "":
		c.required(at, "")
	case path[0] != '.':
		c.invalid(at, path, "must be a simple json path starting with .")
	default:
		return true
	}
	return false
}

func (c *checker) scale(scale view, at string) {
	for _, f := range []struct{ name, under string }{{"specReplicasPath", ".spec"}, {"statusReplicasPath", ".status"}} {
		path := scale.text(f.name)
		if c.path(at+f.name, path) && !strings.HasPrefix(path, f.under+".") {
			c.invalid(at+f.name, path, "should be a json path under "+f.under)
		}
	}
	path := scale.text("labelSelectorPath")
	if path != "" && c.path(at+"labelSelectorPath", path) && !strings.HasPrefix(path, ".spec.") && !strings.HasPrefix(path, ".status.") {
		c.invalid(at+"labelSelectorPath", asJSON(path), "should be a json path under either .spec or .status")
	}
}

var (
	columnTypes   = []string{"boolean", "date", "integer", "number", "string"}
	columnFormats = []string{"byte", "date", "date-time", "double", "float", "int32", "int64", "password"}
)

func (c *checker) column(column view, at string) {
	if column.text("name") == "" {
		c.required(at+".name", "")
	}
	if typ := column.text("type"); !slices.Contains(columnTypes, typ) {
		c.mustBe(at+".type", typ, "must be one of "+strings.Join(columnTypes, ","))
	}
	if format := column.text("format"); format != "" && !slices.Contains(columnFormats, format) {
		c.invalid(at+".format", format, "must be one of "+strings.Join(columnFormats, ","))
	}
	c.path(at+".JSONPath", column.text("jsonPath"))
}

// immutable checks that an update keeps the members that cannot change.
func (c *checker) immutable() {
	same := func(at, is, was string) {
		if is != was {
			c.invalid(at, is, "field is immutable")
		}
	}
	names, old := c.spec.in("names"), c.old.in("names")
	if c.established {
		same("spec.scope", c.spec.text("scope"), c.old.text("scope"))
		same("spec.names.kind", names.text("kind"), old.text("kind"))
	}
	same("spec.group", c.spec.text("group"), c.old.text("group"))
	same("spec.names.plural", names.text("plural"), old.text("plural"))
}

func (c *checker) storedVersions(status view) {
	const at = "status.storedVersions"
	stored := status.texts("storedVersions")
	if len(stored) == 0 {
		c.invalid(at, status["storedVersions"], "must have at least one stored version")
		return
	}
	last := map[string]int{}
	for i, name := range stored {
		last[name] = i
	}
	for _, v := range c.spec.list("versions") {
		name := v.text("name")
		if _, found := last[name]; v.flag("storage") && !found {
			c.invalid(at, status["storedVersions"], "must have the storage version "+name)
		}
		delete(last, name)
	}
	for i, name := range stored {
		if n, missing := last[name]; missing && n == i {
			c.invalid(fmt.Sprintf("%s[%d]", at, i), name, fmt.Sprintf("missing from spec.versions; %[1]s was previously a "+
				"storage version, and must remain in spec.versions until a storage migration ensures no data remains "+
				"persisted in %[1]s and removes %[1]s from status.storedVersions", name))
		}
	}
}
