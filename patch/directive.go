package patch

import (
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
func directive(name string) (kind, of string, ok bool) {
	if name == "" || name[0] != '$' {
		return "", "", false
	}
	if name == directivePatch || name == directiveRetain {
		return name, "", true
	}
	for _, kind := range [...]string{directiveOrder, directiveDelete} {
		if rest, ok := strings.CutPrefix(name, kind); ok {
			of, ok := strings.CutPrefix(rest, "/")
			if !ok {
				of = ""
			}
			return kind, of, true
		}
	}
	return "", "", false
}

// checkDirectives tells whether every directive in a patch has a value of its type. What stays of a patch after it may be
// taken for what it says without looking.
func checkDirectives(what string, v any, at *place) error {
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			if err := checkDirectives(what, item, at.item(i)); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, name := range names(v) {
			kind, of, ok := directive(name)
			err := error(nil)
			if ok {
				err = checkDirective(what, kind, of, v[name], at.member(name))
			} else {
				err = checkDirectives(what, v[name], at.member(name))
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func checkDirective(what, kind, of string, v any, at *place) error {
	if kind == directivePatch {
		switch v {
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
	list, ok := v.([]any)
	if !ok {
		return at.fault(what, ErrDirective, "it must be a list, not %s", typeName(v))
	}
	for i, item := range list {
		switch k := kindOf(item); {
		case kind == directiveRetain && k != kindString:
			return at.item(i).fault(what, ErrDirective, "it must be the name of a member, not %s", typeName(item))
		case kind == directiveOrder && k == kindObject:
			for name := range item.(map[string]any) {
				if _, _, ok := directive(name); ok {
					return at.item(i).member(name).fault(what, ErrDirective, "no directive may stand in %s", kind)
				}
			}
		case !k.scalar():
			return at.item(i).fault(what, ErrDirective, "it must be a scalar, not %s", typeName(item))
		}
	}
	return nil
}

// names returns the names of an object's members, sorted.
func names(object map[string]any) []string {
	out := make([]string, 0, len(object))
	for name := range object {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// directs tells whether there is a directive anywhere in v.
func directs(v any) bool {
	switch v := v.(type) {
	case []any:
		return slices.ContainsFunc(v, directs)
	case map[string]any:
		for name, value := range v {
			if _, _, ok := directive(name); ok || directs(value) {
				return true
			}
		}
	}
	return false
}

// refuseDirectives is for what is taken as it stands, where a server would obey no directive but keep what is around it.
func refuseDirectives(what string, v any, why string, at *place) error {
	if !directs(v) {
		return nil
	}
	return refuseDirective(what, v, why, at)
}

// refuseDirective returns the error for the first directive.
func refuseDirective(what string, v any, why string, at *place) error {
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			if err := refuseDirective(what, item, why, at.item(i)); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, name := range names(v) {
			if _, _, ok := directive(name); ok {
				return at.member(name).fault(what, ErrDirective, "no directive may stand here: %s", why)
			}
			if err := refuseDirective(what, v[name], why, at.member(name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// stripDirectives returns what a patch adds where the document has nothing: without directives, and without the objects that
// one stands in with $patch, which is told by ok. It leaves v alone.
func stripDirectives(v any) (_ any, ok bool) {
	switch v := v.(type) {
	case []any:
		out := make([]any, 0, len(v))
		for _, item := range v {
			if item, ok := stripDirectives(item); ok {
				out = append(out, item)
			}
		}
		return out, true
	case map[string]any:
		if _, ok := v[directivePatch]; ok {
			return nil, false
		}
		out := make(map[string]any, len(v))
		for name, value := range v {
			if _, _, ok := directive(name); ok {
				continue
			}
			if value, ok := stripDirectives(value); ok {
				out[name] = value
			}
		}
		return out, true
	}
	return v, true
}

// dropNulls removes the members of objects that are null, in place.
func dropNulls(v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			dropNulls(item)
		}
	case map[string]any:
		for name, value := range v {
			if value == nil {
				delete(v, name)
			} else {
				dropNulls(value)
			}
		}
	}
}
