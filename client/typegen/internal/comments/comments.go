// Package comments reads the comments of Go types as descriptions for the definitions of their resources.
//
// It reads the source of the package and, if a field has a type of another package, the source of that package. It does
// not look into the types that package crd knows without their fields: those of client/meta, encoding/json, time and
// k8s.io/apimachinery. A field without a comment gets the comment of its type. The package joins the lines of a
// paragraph, and leaves out instructions to tools. If a comment begins with the name of the field, the description
// begins with the name in JSON.
package comments

import (
	"context"
	"fmt"
	"go/ast"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// reader reads the types of one command.
type reader struct {
	load   func(path, except string) (*pack, error)
	texts  map[string]string
	seen   map[string]bool // the paths of fields
	within []*declared     // the types that contain the current place
	notes  []string
	err    error // the first one
}

// Of returns the descriptions of a struct of the package in a folder, by paths as crd.Options.Descriptions has them,
// and the name of the package. Of ignores the file called except. The notes name the comments that it did not read.
func Of(ctx context.Context, folder, except, name string) (texts map[string]string, pkg string, notes []string, err error) {
	from := source{folder: folder, packages: map[string]*pack{}}
	r := &reader{
		load:  func(path, except string) (*pack, error) { return from.load(ctx, path, except) },
		texts: map[string]string{}, seen: map[string]bool{},
	}
	p, err := r.load(".", except)
	if err != nil {
		return nil, "", nil, err
	}
	d := p.types[name]
	if d == nil {
		return nil, "", nil, fmt.Errorf("package %s has no type %s; its types are %q", p.name, name, slices.Sorted(maps.Keys(p.types)))
	}
	if _, isStruct := d.spec.Type.(*ast.StructType); !isStruct || d.spec.TypeParams != nil {
		return nil, "", nil, fmt.Errorf("type %s of package %s must be a struct without type parameters", name, p.name)
	}
	r.put("", text(d.doc, "", ""))
	r.named(d, nil, "")
	return r.texts, p.name, r.notes, r.err
}

// put records a description, unless the path already has one.
func (r *reader) put(path, description string) {
	if _, had := r.texts[path]; !had && description != "" {
		r.texts[path] = description
	}
}

// words are the names of the words in the tag crd. Only type, with any number of prefixes items., and preserveUnknown
// matter here.
type words []string

func wordsOf(tag reflect.StructTag) (all words) {
	const semicolon = "\x00"
	for part := range strings.SplitSeq(strings.ReplaceAll(tag.Get("crd"), ";;", semicolon), ";") {
		name, _, _ := strings.Cut(part, "=")
		all = append(all, strings.TrimSpace(name))
	}
	return all
}

// elements returns the words about the elements.
func (w words) elements() (all words) {
	for _, name := range w {
		if inner, ok := strings.CutPrefix(name, "items."); ok {
			all = append(all, inner)
		}
	}
	return all
}

// value reads the comments within a type at a path. in is the file that has t.
func (r *reader) value(in *file, t ast.Expr, w words, path string) {
	if slices.Contains(w, "type") || r.err != nil {
		return // package crd does not look into it
	}
	switch t := t.(type) {
	case *ast.ParenExpr:
		r.value(in, t.X, w, path)
	case *ast.StarExpr:
		r.value(in, t.X, w, path)
	case *ast.ArrayType:
		if id, ok := t.Elt.(*ast.Ident); !ok || id.Name != "byte" && id.Name != "uint8" {
			r.element(in, t.Elt, w, path)
		}
	case *ast.MapType:
		r.element(in, t.Value, w, path)
	case *ast.StructType:
		r.fields(in, t, path)
	case *ast.Ident, *ast.SelectorExpr:
		if d := r.resolve(in, t); d != nil {
			r.named(d, w, path)
		}
	case *ast.IndexExpr, *ast.IndexListExpr:
		r.notes = append(r.notes, fmt.Sprintf("%s: the comments of a generic type are not read", path))
	}
}

func (r *reader) element(in *file, t ast.Expr, w words, path string) {
	path += "[]"
	w = w.elements()
	r.put(path, r.docOf(in, t))
	r.value(in, t, w, path)
}

// named reads the comments within a declared type.
func (r *reader) named(d *declared, w words, path string) {
	_, isStruct := d.spec.Type.(*ast.StructType)
	switch {
	case d.methods["MarshalText"] || d.methods["UnmarshalText"]:
		return
	case (d.methods["MarshalJSON"] || d.methods["UnmarshalJSON"]) && !(isStruct && (path == "" || slices.Contains(w, "preserveUnknown"))):
		return
	case slices.Contains(r.within, d):
		return // the type contains itself, so its schema ends there
	case d.spec.TypeParams != nil:
		r.notes = append(r.notes, fmt.Sprintf("%s: the comments of a generic type are not read", path))
		return
	}
	r.within = append(r.within, d)
	r.value(d.in, d.spec.Type, w, path)
	r.within = r.within[:len(r.within)-1]
}

// docOf returns the comment of a declared type, or of the one that t points to.
func (r *reader) docOf(in *file, t ast.Expr) string {
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if d := r.resolve(in, t); d != nil {
		return text(d.doc, "", "")
	}
	return ""
}

// fields reads the fields of a struct: first those that it has itself, which hide those of embedded structs.
func (r *reader) fields(in *file, st *ast.StructType, path string) {
	var embedded []ast.Expr
	for _, f := range st.Fields.List {
		tag := reflect.StructTag("")
		if f.Tag != nil {
			tag = reflect.StructTag(unquoted(f.Tag.Value))
		}
		name, _, _ := strings.Cut(tag.Get("json"), ",")
		switch {
		case tag.Get("json") == "-":
		case len(f.Names) == 0 && name == "":
			embedded = append(embedded, f.Type)
		case len(f.Names) == 0:
			r.field(in, f, "", name, wordsOf(tag), path)
		default:
			for _, n := range f.Names {
				member := name
				if member == "" {
					member = n.Name
				}
				if n.IsExported() {
					r.field(in, f, n.Name, member, wordsOf(tag), path)
				}
			}
		}
	}
	for _, t := range embedded {
		r.value(in, t, nil, path)
	}
}

// field reads one field.
func (r *reader) field(in *file, f *ast.Field, goName, member string, w words, path string) {
	if path == "" && slices.Contains([]string{"apiVersion", "kind", "metadata"}, member) {
		return // package crd leaves them out
	}
	path = strings.TrimPrefix(path+"."+member, ".")
	if r.seen[path] {
		return // an earlier field hides it
	}
	r.seen[path] = true
	doc := f.Doc
	if doc == nil {
		doc = f.Comment
	}
	r.put(path, text(doc, goName, member))
	r.put(path, r.docOf(in, f.Type))
	r.value(in, f.Type, w, path)
}

// text returns a comment as a description. If the comment begins with the name of the field, text replaces it by the
// name in JSON.
func text(doc *ast.CommentGroup, goName, member string) string {
	if doc == nil {
		return ""
	}
	var b strings.Builder
	joined := false // the next line continues the last one
	for line := range strings.Lines(doc.Text()) {
		line = strings.TrimRight(line, " \t\n")
		indented := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "- ")
		switch {
		case strings.HasPrefix(line, "+"): // an instruction to a generator
			continue
		case line == "":
			b.WriteString("\n\n")
			joined = false
			continue
		case indented && b.Len() > 0 && !strings.HasSuffix(b.String(), "\n"):
			b.WriteString("\n")
		case joined:
			b.WriteString(" ")
		}
		b.WriteString(line)
		if indented {
			b.WriteString("\n")
		}
		joined = !indented
	}
	out := strings.TrimSpace(b.String())
	for strings.Contains(out, "\n\n\n") {
		out = strings.ReplaceAll(out, "\n\n\n", "\n\n")
	}
	if rest, ok := strings.CutPrefix(out, goName+" "); ok && goName != "" {
		return member + " " + rest
	}
	return out
}
