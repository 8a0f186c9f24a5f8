package prototables

import (
	"cmp"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Table is the table of one version of an API group.
type Table struct {
	GroupVersion schema.GroupVersion
	// Name is the name by which other tables refer to this one, such as "core/v1".
	Name string
	Text string
	// Uses are the names of the tables to whose messages it refers, besides meta/v1.
	Uses []string
}

// own has the messages for which the tables have a type, such as time.
var own = map[string]string{
	metaPackage + ".Time":                                           "time",
	metaPackage + ".MicroTime":                                      "microtime",
	metaPackage + ".FieldsV1":                                       "raw",
	"k8s.io.apimachinery.pkg.api.resource.Quantity":                 "quantity",
	"k8s.io.apimachinery.pkg.util.intstr.IntOrString":               "intorstring",
	"k8s.io.apimachinery.pkg.runtime.RawExtension":                  "raw",
	"k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.JSON": "raw",
}

const metaPackage = "k8s.io.apimachinery.pkg.apis.meta.v1"

// unions are the messages whose JSON is that of one of their fields.
var unions = []string{"JSONSchemaPropsOrArray", "JSONSchemaPropsOrBool", "JSONSchemaPropsOrStringArray"}

// maker makes tables.
type maker struct {
	messages map[string]*message     // by package and name
	types    map[string]reflect.Type // the Go types of those that are needed
	kinds    map[string]bool         // which of these are kinds
	tables   map[string]*Table       // by package
}

// Make returns the tables of the versions of a scheme, and that of meta/v1, in the order of their names.
func Make(files []string, scheme *runtime.Scheme, versions []schema.GroupVersion, ofMeta []reflect.Type) ([]*Table, error) {
	m := &maker{messages: map[string]*message{}, types: map[string]reflect.Type{}, kinds: map[string]bool{}, tables: map[string]*Table{}}
	for _, file := range files {
		all, err := readProto(file)
		if err != nil {
			return nil, err
		}
		for _, msg := range all {
			m.messages[msg.pkg+"."+msg.name] = msg
		}
	}
	m.tables[metaPackage] = &Table{GroupVersion: schema.GroupVersion{Group: "meta.k8s.io", Version: "v1"}, Name: "meta/v1"}
	for _, t := range ofMeta {
		if err := m.add(t); err != nil {
			return nil, err
		}
	}
	for _, gv := range versions {
		types := scheme.KnownTypes(gv)
		if len(types) == 0 {
			return nil, fmt.Errorf("the scheme does not have %s", gv)
		}
		for _, kind := range slices.Sorted(maps.Keys(types)) {
			t := types[kind]
			if !strings.HasSuffix(t.PkgPath(), "/"+gv.Version) || strings.HasSuffix(t.PkgPath(), "/meta/v1") || t.Name() != kind {
				continue // a type that all groups have, or a type of another version
			}
			pkg := protoPackage(t)
			m.tables[pkg] = &Table{GroupVersion: gv, Name: tableName(pkg)}
			if err := m.addKind(t); err != nil {
				return nil, err
			}
		}
	}
	for name := range m.types {
		pkg := name[:strings.LastIndexByte(name, '.')]
		if m.tables[pkg] == nil {
			return nil, fmt.Errorf("no version that is served has the message %s", name)
		}
	}
	for pkg, t := range m.tables {
		if err := m.write(pkg, t); err != nil {
			return nil, err
		}
	}
	return slices.SortedFunc(maps.Values(m.tables), func(a, b *Table) int { return cmp.Compare(a.Name, b.Name) }), nil
}

// protoPackage returns the package of the message of a Go type.
func protoPackage(t reflect.Type) string {
	return strings.NewReplacer("/", ".", "-", "_").Replace(t.PkgPath())
}

// tableName returns the name of the table of a package.
func tableName(pkg string) string {
	words := strings.Split(pkg, ".")
	return path.Join(words[len(words)-2:]...)
}

// addKind adds the message of a kind.
func (m *maker) addKind(t reflect.Type) error {
	m.kinds[protoPackage(t)+"."+t.Name()] = true
	return m.add(t)
}

// add adds the message of a Go type, and those to which it refers.
func (m *maker) add(t reflect.Type) error {
	name := protoPackage(t) + "." + t.Name()
	if m.types[name] != nil || own[name] != "" {
		return nil
	}
	msg := m.messages[name]
	if msg == nil {
		return fmt.Errorf("no .proto file has the message %s", name)
	}
	m.types[name] = t
	for _, f := range msg.fields {
		if m.messages[f.typ] == nil {
			continue
		}
		of := t.Elem // of a slice
		if t.Kind() == reflect.Struct {
			sf, err := goField(t, f)
			if err != nil {
				return err
			}
			of = func() reflect.Type { return sf.Type }
		}
		inner := of()
		for inner.Name() == "" || inner.Kind() == reflect.Map || inner.Kind() == reflect.Slice && protoPackage(inner)+"."+inner.Name() != f.typ {
			inner = inner.Elem()
		}
		if got := protoPackage(inner) + "." + inner.Name(); got != f.typ {
			return fmt.Errorf("%s.%s is a %s, and in Go a %s", name, f.name, f.typ, got)
		}
		if err := m.add(inner); err != nil {
			return err
		}
	}
	return nil
}

// goField returns the field of a Go type that has the number of a message's field.
func goField(t reflect.Type, f field) (reflect.StructField, error) {
	for sf := range t.Fields() {
		words := strings.Split(sf.Tag.Get("protobuf"), ",")
		if len(words) > 1 && words[1] == strconv.Itoa(f.number) {
			return sf, nil
		}
	}
	return reflect.StructField{}, fmt.Errorf("%s has no field with the number %d of %s", t, f.number, f.name)
}

// write gives a table its text.
func (m *maker) write(pkg string, t *Table) error {
	var b strings.Builder
	for _, name := range m.names() {
		if name[:strings.LastIndexByte(name, '.')] != pkg {
			continue
		}
		head, lines, err := m.lines(name, t)
		if err == nil {
			lines, err = addFormer(name, lines)
		}
		if err != nil {
			return err
		}
		b.WriteString(head + "\n" + strings.Join(lines, ""))
	}
	t.Text = b.String()
	slices.Sort(t.Uses)
	t.Uses = slices.Compact(t.Uses)
	return nil
}

// lines returns the first line of a message, and one for each field. For a message that the newest release does not
// have, it returns no lines of fields: addFormer adds all of them.
func (m *maker) lines(name string, t *Table) (head string, lines []string, err error) {
	head = name[strings.LastIndexByte(name, '.')+1:]
	typ := m.types[name]
	if typ == nil {
		return head, nil, nil
	}
	msg := m.messages[name]
	isKind, err := m.isKind(name, typ)
	if err != nil {
		return "", nil, err
	}
	if isKind {
		head += "!"
	}
	slices.SortFunc(msg.fields, func(a, b field) int { return cmp.Compare(a.number, b.number) })
	for _, f := range msg.fields {
		line, err := m.line(msg, typ, f, t)
		if err != nil {
			return "", nil, fmt.Errorf("%s.%s: %w", name, f.name, err)
		}
		if line != "" {
			lines = append(lines, line)
		}
	}
	return head, lines, nil
}

// isKind reports whether a message is a kind, whose JSON has the members kind and apiVersion beside its fields.
func (m *maker) isKind(name string, t reflect.Type) (bool, error) {
	if t.Kind() == reflect.Struct {
		if sf, ok := t.FieldByName("TypeMeta"); ok && sf.Anonymous && sf.Tag.Get("protobuf") == "" {
			return true, nil
		}
	}
	if m.kinds[name] {
		return false, fmt.Errorf("the kind %s has no TypeMeta", name)
	}
	return false, nil
}

// line returns the line of a field.
func (m *maker) line(msg *message, t reflect.Type, f field, table *Table) (string, error) {
	name, flag := "=", ""
	if t.Kind() == reflect.Struct {
		sf, err := goField(t, f)
		if err != nil {
			return "", err
		}
		if !slices.Contains(unions, msg.name) {
			if marshals(t) {
				return "", errors.New("its message has a JSON form of its own")
			}
			if name, flag, err = jsonOf(sf, f); err != nil || name == "" {
				return "", err
			}
		}
	}
	typ := f.typ
	switch typ {
	case "string", "bytes", "bool", "double", "int32":
	case "int64":
		typ = "int"
	default:
		if m.messages[typ] == nil {
			return "", fmt.Errorf("the type %s is not known", typ)
		}
		if o := own[typ]; o != "" {
			typ = o
			break
		}
		pkg := typ[:strings.LastIndexByte(typ, '.')]
		typ = strings.TrimPrefix(typ, pkg+".")
		if other := m.tables[pkg]; other != table {
			if other.Name != "meta/v1" {
				table.Uses = append(table.Uses, other.Name)
			}
			typ = other.Name + "." + typ
		}
	}
	if f.repeated {
		typ = "[]" + typ
	}
	if f.ofs {
		typ = "{}" + typ
	}
	return fmt.Sprintf("%d %s %s%s\n", f.number, name, typ, flag), nil
}

// marshals reports whether a type writes its own JSON.
func marshals(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Marshaler]()) || p.Implements(reflect.TypeFor[encoding.TextMarshaler]())
}

// jsonOf returns the JSON name of a field, which is empty if JSON does not have it, and its flag.
func jsonOf(sf reflect.StructField, f field) (name, flag string, err error) {
	tag, options, _ := strings.Cut(sf.Tag.Get("json"), ",")
	if tag == "-" {
		return "", "", nil
	}
	if tag == "" {
		if !sf.Anonymous || sf.Type.Kind() != reflect.Struct {
			return "", "", errors.New("it has no JSON name")
		}
		return "-", "", nil
	}
	omits := slices.ContainsFunc(strings.Split(options, ","), func(o string) bool { return o == "omitempty" || o == "omitzero" })
	switch sf.Type.Kind() {
	case reflect.Pointer, reflect.Map:
	case reflect.Slice:
		if omits && f.typ == "bytes" {
			flag = "?"
		}
	case reflect.Struct:
		switch own[f.typ] {
		case "time", "microtime", "raw": // the JSON of their zero value is null
			flag = "?"
		default:
			if strings.Contains(options, "omitzero") {
				return "", "", errors.New("there is no rule for a struct with omitzero")
			}
		}
	default:
		if omits {
			flag = "?"
		}
	}
	return tag, flag, nil
}
