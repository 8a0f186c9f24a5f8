package strategic

import (
	"bytes"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/internal/patch/tree"
)

// The members of a strategic merge patch that are directives.
const (
	directivePatch  = "$patch"
	directiveRetain = "$retainKeys"
	directiveOrder  = "$setElementOrder"
	directiveDelete = "$deleteFromPrimitiveList"
)

// directive reports whether the member name is a directive, and returns the field that it is about. of is "" if the
// directive names no field, even if it should.
func directive(name []byte) (kind, of string, ok bool) {
	if len(name) == 0 || name[0] != '$' {
		return "", "", false
	}
	text := string(name)
	if text == directivePatch || text == directiveRetain {
		return text, "", true
	}
	for _, kind := range [...]string{directiveOrder, directiveDelete} {
		if rest, ok := strings.CutPrefix(text, kind); ok {
			of, ok := strings.CutPrefix(rest, "/")
			if !ok {
				of = ""
			}
			return kind, of, true
		}
	}
	return "", "", false
}

func isDirective(name []byte) bool {
	_, _, ok := directive(name)
	return ok
}

// mayDirect reports whether a text of JSON may contain a directive: a string that starts with a dollar.
func mayDirect(text []byte) bool {
	return bytes.Contains(text, []byte(`"$`)) || bytes.Contains(text, []byte(`"\u0024`))
}

// checkDirectives returns an error unless every directive in a patch has a value of its type. Code that runs after it
// relies on that.
func checkDirectives(what string, v *tree.Node, at *place) error {
	switch v.Kind() {
	case '[':
		items := v.Open().Items
		for i := range items {
			if err := checkDirectives(what, &items[i], at.item(i)); err != nil {
				return err
			}
		}
	case '{':
		for m := range v.Open().Each {
			kind, of, ok := directive(m.Name)
			err := error(nil)
			if ok {
				err = checkDirective(what, kind, of, &m.Value, at.member(m.Name))
			} else {
				err = checkDirectives(what, &m.Value, at.member(m.Name))
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func checkDirective(what, kind, of string, v *tree.Node, at *place) error {
	if kind == directivePatch {
		word := ""
		if v.Kind() == '"' {
			word = string(v.Unquoted())
		}
		switch word {
		case "replace", "delete":
			return nil
		case "merge":
			return at.fault(what, ErrDirective, "merge is what happens without a directive; a server refuses it, so leave it out")
		}
		return at.fault(what, ErrDirective, "it must be \"replace\" or \"delete\"")
	}
	if kind != directiveRetain && of == "" {
		return at.fault(what, ErrDirective, "%s must be followed by a slash and the name of a list", kind)
	}
	if v.Kind() != '[' {
		return at.fault(what, ErrDirective, "it must be a list, not %s", typeName(v))
	}
	items := v.Open().Items
	for i := range items {
		item := &items[i]
		switch k := item.Kind(); {
		case kind == directiveRetain && k != '"':
			return at.item(i).fault(what, ErrDirective, "it must be the name of a member, not %s", typeName(item))
		case kind == directiveOrder && k == '{':
			for m := range item.Open().Each {
				if isDirective(m.Name) {
					return at.item(i).member(m.Name).fault(what, ErrDirective, "no directive may stand in %s", kind)
				}
			}
		case !isScalar(k):
			return at.item(i).fault(what, ErrDirective, "it must be a scalar, not %s", typeName(item))
		}
	}
	return nil
}

// refuseDirectives returns an error for the first directive in a value that is taken as it is. A server would obey no
// directive there, and would keep the values around it.
func refuseDirectives(what string, v *tree.Node, why string, at *place) error {
	if v.Branch == nil && !mayDirect(v.Text()) {
		return nil
	}
	switch v.Kind() {
	case '[':
		items := v.Open().Items
		for i := range items {
			if err := refuseDirectives(what, &items[i], why, at.item(i)); err != nil {
				return err
			}
		}
	case '{':
		for m := range v.Open().Each {
			if isDirective(m.Name) {
				return at.member(m.Name).fault(what, ErrDirective, "no directive may stand here: %s", why)
			}
			if err := refuseDirectives(what, &m.Value, why, at.member(m.Name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// stripped returns the value that a patch adds if the document has none there: without directives, and without objects
// that have a $patch. ok is false if v itself is such an object. If nulls is false, it also leaves out members that are
// null. It does not change v.
func stripped(v *tree.Node, nulls bool) (_ tree.Node, ok bool) {
	if v.Branch == nil && !mayDirect(v.Text()) && (nulls || !bytes.Contains(v.Text(), []byte("null"))) {
		return *v, true
	}
	switch v.Kind() {
	case '[':
		items := v.Open().Items
		out := make([]tree.Node, 0, len(items))
		for i := range items {
			if item, ok := stripped(&items[i], nulls); ok {
				out = append(out, item)
			}
		}
		return tree.ListOf(out), true
	case '{':
		if _, ok := v.Lookup(directivePatch); ok {
			return tree.Node{}, false
		}
		b := v.Open()
		out := &tree.Branch{Members: make([]tree.Member, 0, len(b.Members))}
		for m := range b.Each {
			if isDirective(m.Name) || !nulls && m.Value.Kind() == 'n' {
				continue
			}
			if value, ok := stripped(&m.Value, nulls); ok {
				out.Members = append(out.Members, tree.Member{Name: m.Name, Raw: m.Raw, Value: value})
			}
		}
		return tree.Node{Branch: out}, true
	}
	return *v, true
}

// RemovesName reports whether directives of a strategic merge patch remove metadata.name: a $patch removes the object
// around the name and the patch does not set the name again, or a $retainKeys leaves it out.
func RemovesName(n *tree.Node) bool {
	whole := false
	for _, name := range [...]string{"metadata", "name"} {
		next, said := n.Lookup(name)
		if word, ok := n.Lookup(directivePatch); ok {
			if whole = true; string(word.Unquoted()) == "delete" {
				return true
			}
		}
		if names, ok := n.Lookup(directiveRetain); ok && !slices.ContainsFunc(names.Open().Items, func(item tree.Node) bool {
			return string(item.Unquoted()) == name
		}) {
			return true
		}
		if !said || next.Kind() != '{' {
			return whole && !said
		}
		n = &next
	}
	return false
}
