package patch

import (
	"bytes"
	"slices"
	"strings"
)

// The members of a strategic merge patch that are no members of the object.
const (
	directivePatch  = "$patch"
	directiveRetain = "$retainKeys"
	directiveOrder  = "$setElementOrder"
	directiveDelete = "$deleteFromPrimitiveList"
)

// directive tells whether the member name is a directive, and of which field it speaks: of none also where it should speak of
// one and does not.
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

// mayDirect tells whether there may be a directive in a text of JSON: a string that starts with a dollar.
func mayDirect(text []byte) bool {
	return bytes.Contains(text, []byte(`"$`)) || bytes.Contains(text, []byte(`"\u0024`))
}

// checkDirectives tells whether every directive in a patch has a value of its type. What stays of a patch after it may be
// taken for what it says without looking.
func checkDirectives(what string, v *node, at *place) error {
	switch v.kind() {
	case '[':
		items := v.open().items
		for i := range items {
			if err := checkDirectives(what, &items[i], at.item(i)); err != nil {
				return err
			}
		}
	case '{':
		for m := range v.open().each {
			kind, of, ok := directive(m.name)
			err := error(nil)
			if ok {
				err = checkDirective(what, kind, of, &m.value, at.member(m.name))
			} else {
				err = checkDirectives(what, &m.value, at.member(m.name))
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func checkDirective(what, kind, of string, v *node, at *place) error {
	if kind == directivePatch {
		word := ""
		if v.kind() == '"' {
			word = string(v.unquoted())
		}
		switch word {
		case "replace", "delete":
			return nil
		case "merge":
			return at.fault(what, strategicErrDirective, "merge is what happens without a directive; a server refuses it, so leave it out")
		}
		return at.fault(what, strategicErrDirective, "it must be \"replace\" or \"delete\"")
	}
	if kind != directiveRetain && of == "" {
		return at.fault(what, strategicErrDirective, "%s must be followed by a slash and the name of a list", kind)
	}
	if v.kind() != '[' {
		return at.fault(what, strategicErrDirective, "it must be a list, not %s", typeName(v))
	}
	items := v.open().items
	for i := range items {
		item := &items[i]
		switch k := item.kind(); {
		case kind == directiveRetain && k != '"':
			return at.item(i).fault(what, strategicErrDirective, "it must be the name of a member, not %s", typeName(item))
		case kind == directiveOrder && k == '{':
			for m := range item.open().each {
				if isDirective(m.name) {
					return at.item(i).member(m.name).fault(what, strategicErrDirective, "no directive may stand in %s", kind)
				}
			}
		case !isScalar(k):
			return at.item(i).fault(what, strategicErrDirective, "it must be a scalar, not %s", typeName(item))
		}
	}
	return nil
}

// refuseDirectives is for what is taken as it stands, where a server would obey no directive but keep what is around it. It
// returns the error for the first one.
func refuseDirectives(what string, v *node, why string, at *place) error {
	if v.branch == nil && !mayDirect(v.text()) {
		return nil
	}
	switch v.kind() {
	case '[':
		items := v.open().items
		for i := range items {
			if err := refuseDirectives(what, &items[i], why, at.item(i)); err != nil {
				return err
			}
		}
	case '{':
		for m := range v.open().each {
			if isDirective(m.name) {
				return at.member(m.name).fault(what, strategicErrDirective, "no directive may stand here: %s", why)
			}
			if err := refuseDirectives(what, &m.value, why, at.member(m.name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// stripped returns what a patch adds where the document has nothing: without directives, and without the objects that one
// stands in with $patch, which is told by ok. Without nulls it has no member that is null either. It leaves v alone.
func stripped(v *node, nulls bool) (_ node, ok bool) {
	if v.branch == nil && !mayDirect(v.text()) && (nulls || !bytes.Contains(v.text(), []byte("null"))) {
		return *v, true
	}
	switch v.kind() {
	case '[':
		items := v.open().items
		out := make([]node, 0, len(items))
		for i := range items {
			if item, ok := stripped(&items[i], nulls); ok {
				out = append(out, item)
			}
		}
		return listOf(out), true
	case '{':
		if _, ok := v.lookup(directivePatch); ok {
			return node{}, false
		}
		b := v.open()
		out := &branch{members: make([]member, 0, len(b.members))}
		for m := range b.each {
			if isDirective(m.name) || !nulls && m.value.kind() == 'n' {
				continue
			}
			if value, ok := stripped(&m.value, nulls); ok {
				out.members = append(out.members, member{name: m.name, raw: m.raw, value: value})
			}
		}
		return node{branch: out}, true
	}
	return *v, true
}

// directsNameAway reports whether directives of a strategic merge patch remove metadata.name: $patch, with all that the name is
// in and that the patch does not say itself, or $retainKeys, which leaves it out.
func directsNameAway(n *node) bool {
	whole := false
	for _, name := range [...]string{"metadata", "name"} {
		next, said := n.lookup(name)
		if word, ok := n.lookup(directivePatch); ok {
			if whole = true; string(word.unquoted()) == "delete" {
				return true
			}
		}
		if names, ok := n.lookup(directiveRetain); ok && !slices.ContainsFunc(names.open().items, func(item node) bool {
			return string(item.unquoted()) == name
		}) {
			return true
		}
		if !said || next.kind() != '{' {
			return whole && !said
		}
		n = &next
	}
	return false
}
