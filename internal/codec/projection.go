package codec

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/internal/jsonstream"
	"github.com/bowline-go/bowline/internal/protobuf"
)

// Projection decodes into a Go type, and fills only the members on some paths. It skips other members without an
// allocation, and does not check whether they fit. Otherwise the result is the same as that of decoding the whole
// object and then setting all other members to zero. It is safe for concurrent use.
//
// It holds its plans itself, and they are freed with it. The plans of members that are decoded whole are those of
// their types.
type Projection struct {
	typ  reflect.Type // a pointer to a struct
	plan *plan        // of the struct
}

// Project returns the projection of a type, a pointer to a struct without methods for decoding JSON. A path has the
// names of members, with dots between them: spec.containers.image. Elements of lists and values of maps have no name
// in it: that path is the image of each container. The last member of a path is decoded whole. The members kind and
// apiVersion are always decoded.
//
// The error names the first path that leads nowhere, and says which members there are. A path that is the same as
// another one, or that another one includes, is an error too. The type, and those of the members that a path leads
// through, must not have methods for decoding JSON.
func Project(t reflect.Type, paths []string) (*Projection, error) {
	p := plans.of(t)
	if p.shape != shapePointer || p.elem.shape != shapeStruct {
		return nil, fmt.Errorf("%v is not a pointer to a struct without methods for decoding JSON", t)
	}
	root := &wanted{}
	for _, path := range slices.Sorted(slices.Values(paths)) { // a path comes before those that it includes
		if err := root.add(path); err != nil {
			return nil, err
		}
	}
	if len(paths) == 0 {
		return nil, errors.New("the paths must not be empty")
	}
	for _, name := range [...]string{"kind", "apiVersion"} {
		if p.elem.find([]byte(name)) >= 0 {
			root.members[name] = &wanted{whole: true}
		}
	}
	pruned, err := root.prune(p.elem, "")
	if err != nil {
		return nil, err
	}
	return &Projection{typ: t, plan: pruned}, nil
}

// Type is the type that was projected.
func (p *Projection) Type() reflect.Type { return p.typ }

// Decode is [DecodeType] for the projection.
func (p *Projection) Decode(item jsonstream.Item, o Options) (any, error) {
	r := request{typed: o.typed(item), parts: o.Parts}
	to := newPlace(p.plan.typ)
	if _, wrong := r.document(p.plan, to, item.Raw); wrong != nil {
		wrong.whole(p.typ)
		return nil, wrong
	}
	return to.address(p.typ), nil
}

// Join is [Join] for the projection. The table need not have the members that are passed over.
func (p *Projection) Join(m *protobuf.Message) (*Joint, error) { return join(p.typ, p.plan, m) }

// wanted says which members of a value are decoded.
type wanted struct {
	whole   bool
	members map[string]*wanted // by name; nil if whole is set
}

func (w *wanted) add(path string) error {
	if path == "" {
		return errors.New("a path must not be empty")
	}
	at := w
	for rest := path; ; {
		name, after, more := strings.Cut(rest, ".")
		if name == "" {
			return fmt.Errorf("%q has an empty name between its dots", path)
		}
		next := at.members[name]
		switch {
		case next == nil:
			next = &wanted{}
			if at.members == nil {
				at.members = make(map[string]*wanted)
			}
			at.members[name] = next
		case next.whole && !more:
			return fmt.Errorf("%q is named twice", path)
		case next.whole:
			return fmt.Errorf("%q is named twice: %q includes it", path, strings.TrimSuffix(path, "."+after))
		}
		if !more {
			next.whole = true
			return nil
		}
		at, rest = next, after
	}
}

// passedOver is the plan of members that are not decoded. Its type has no size, so setting it to zero changes nothing.
var passedOver = &plan{shape: shapePassedOver, null: nullKeeps, typ: reflect.TypeFor[struct{}]()}

// prune returns the plan with the members that are wanted. path leads to the value. All that belongs to the decoders'
// memory, such as scratches and guesses, is shared with the plan of the type, which has the same layout and the same
// members.
func (w *wanted) prune(p *plan, path string) (*plan, error) {
	if w.whole {
		return p, nil
	}
	pruned := &plan{
		shape: p.shape, null: p.null, key: p.key, typ: p.typ, size: p.size, length: p.length, elem: p.elem,
		slice: p.slice, empty: p.empty, id: p.id, wrong: p.wrong, shared: p.shared, mark: p.mark, structPlan: p.structPlan,
	}
	var err error
	switch p.shape {
	case shapePointer, shapeSlice, shapeArray, shapeMap:
		pruned.elem, err = w.prune(p.elem, path)
	case shapeStruct:
		pruned.structPlan, err = w.pruneStruct(p, path)
	default:
		err = w.leadsNowhere(p, path)
	}
	return pruned, err
}

func (w *wanted) pruneStruct(p *plan, path string) (*structPlan, error) {
	pruned := &structPlan{fields: slices.Clone(p.fields), byName: p.byName, guesses: p.guesses}
	for name := range w.members {
		if p.find([]byte(name)) < 0 {
			return nil, w.leadsNowhere(p, path)
		}
	}
	for i, f := range pruned.fields {
		inner := w.members[f.name]
		if inner == nil {
			pruned.fields[i] = field{name: f.name, member: f.member, plan: passedOver}
			continue
		}
		plan, err := inner.prune(f.plan, strings.TrimPrefix(path+"."+f.name, "."))
		if err != nil {
			return nil, err
		}
		pruned.fields[i].plan = plan
	}
	return pruned, nil
}

// leadsNowhere returns the error for the first path whose next member does not exist in the value at the path at. p is
// the plan of that value.
func (w *wanted) leadsNowhere(p *plan, at string) error {
	var name string
	for n := range w.members {
		if (p.shape != shapeStruct || p.find([]byte(n)) < 0) && (name == "" || n < name) {
			name = n
		}
	}
	path := fmt.Sprintf("%q", strings.TrimPrefix(at+"."+name+w.members[name].first(), "."))
	switch p.shape {
	case shapeStruct:
		all := make([]string, len(p.fields))
		for i, f := range p.fields {
			all[i] = f.name
		}
		slices.Sort(all)
		return fmt.Errorf("%s does not exist: %s has no %s, its members are %s", path, cmp.Or(at, "the object"), name, strings.Join(all, ", "))
	case shapeJSON, shapeMoment, shapeFrom, shapeText, shapeTime:
		return fmt.Errorf("%s cannot be decoded by itself: %v, the type of %s, decodes itself, so name %q", path, p.typ, at, at)
	case shapeAny, shapeAnyMap, shapeRaw:
		return fmt.Errorf("%s cannot be decoded by itself: %s can have any members, so name %q", path, at, at)
	case shapeStrings, shapeStringMap:
		return fmt.Errorf("%s does not exist: %s has strings only, so name %q", path, at, at)
	}
	return fmt.Errorf("%s does not exist: %s has no members, it is a %v", path, at, p.typ)
}

// first returns the first path below w, with a dot before each name.
func (w *wanted) first() string {
	if w.whole {
		return ""
	}
	name := slices.Min(slices.Collect(maps.Keys(w.members)))
	return "." + name + w.members[name].first()
}
