package overlay

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/internal/patch/govalue"
	"github.com/bowline-go/bowline/internal/patch/tree"
	"github.com/bowline-go/bowline/patch"
)

// Options say what Apply does besides setting the values of want. With the zero value, Apply does nothing else.
type Options struct {
	// Absent are places that must be empty: JSON pointers (RFC 6901), such as "/metadata/labels/old". An element of a
	// list is named by its members, as in "/spec/template/spec/containers/name=proxy" or
	// "/spec/ports/port=80,protocol=TCP", and a scalar by "=" and its value, as in
	// "/metadata/finalizers/=example.com~1old"; an index is an error. A place that is already empty is no error. It is
	// an error if want has a value at such a place.
	Absent []string
	// Manager is the name of the field manager that writes the result. If it is set, Apply removes an element that
	// want does not have from a list with keys, if live's metadata.managedFields say that this manager has set the
	// element by an update and no other manager has set it. If Manager is empty, Apply removes no element of such a
	// list.
	Manager string
	// Cached is the Go value whose JSON is live, if live comes from a cache. It is nil if the server has sent live. A
	// cached object may lack managedFields, and its Go type may lack fields, so it proves less than it appears to.
	// Apply then also changes values that are not proved to be as wanted:
	//   - an element of a list with keys that Manager may have set, and an element whose type lacks one of the keys;
	//   - a zero of a plain field, which is not a pointer and is encoded even if it is zero: the server may have no
	//     value there. Apply does not change it if the API treats a zero like no value, or if the server always has a
	//     value there;
	//   - an object that is replaced whole and whose type lacks one of its members. In kinds that are not built in,
	//     Apply knows only the members of a label selector.
	//
	// So a result without changes proves that there is nothing to do; changes prove nothing. A map and a
	// json.RawMessage lack no fields.
	Cached any
}

// Apply sets the values of want in live. It returns the whole result, and JSON pointers to the values that differ from
// live's: none if live has all of them, and at most 100. The pointers name elements as Options.Absent does. live is
// the object as the server has it, or nil if there is none; want has the values that a program wants. Each is a
// json.RawMessage, or a value that Apply encodes once, as a write does. Apply keeps all values of live that want does
// not name, such as those that the server has filled in or others have set.
//
// The documentation of client.Resource.Ensure says which values are wanted, how each is combined with live's, and
// which values count as equal.
//
// The error wraps [patch.ErrMalformed] if want has another apiVersion, kind, name, namespace or uid than live.
func Apply(live, want any, options Options) (result json.RawMessage, changed []string, err error) {
	wanted, err := govalue.Read("want", want)
	if err != nil {
		return nil, nil, err
	}
	o := &overlay{want: wanted.From, hints: govalue.Tags(want, wanted)}
	o.findNothing()
	o.manager = options.Manager
	if o.absent, err = readAbsent(options.Absent, wanted); err != nil {
		return nil, nil, err
	}
	if live == nil {
		result, err = o.created(wanted)
		return result, nil, err
	}
	base, err := govalue.Read("live", live)
	if err != nil {
		return nil, nil, err
	}
	if err := checkSameObject(base, wanted); err != nil {
		return nil, nil, err
	}
	if options.Cached != nil {
		o.cached = readCached(options.Cached, base)
	}
	o.live, o.kind, o.apiVersion = base, text(base, "kind"), text(base, "apiVersion")
	if group, _, found := strings.Cut(o.apiVersion, "/"); !found || !strings.Contains(group, ".") || slices.Contains(builtInGroups, group) {
		o.builtIn = true
	}
	for _, place := range o.absent {
		if err := o.takeOut(base, place); err != nil {
			return nil, nil, err
		}
	}
	o.object(base.Open(), wanted.Open())
	if result, err = base.AppendTo(nil, 0); err != nil {
		return nil, nil, err
	}
	return result, o.changed, nil
}

// created returns the object to send if none exists: all wanted values except a status.
func (o *overlay) created(want *tree.Node) (json.RawMessage, error) {
	all := o.said(want)
	if b := all.Open(); b.Find("status") >= 0 {
		b.Remove(b.Find("status"))
	}
	return all.AppendTo(nil, 0)
}

// text returns the value of an object's member if it is a string.
func text(object *tree.Node, name string) string {
	if object.Kind() != '{' {
		return ""
	}
	b := object.Open()
	if i := b.Find(name); i >= 0 && b.Members[i].Value.Kind() == '"' {
		v := b.Members[i].Value
		return string(v.Unquoted())
	}
	return ""
}

// checkSameObject returns an error if want names another object than live.
func checkSameObject(live, want *tree.Node) error {
	compare := func(live, want *tree.Node, prefix string, names ...string) error {
		for _, name := range names {
			if is := text(want, name); is != "" && is != text(live, name) {
				return malformed("%s%s is %s in want and %s in live", prefix, name, tree.Quote(is), tree.Quote(text(live, name)))
			}
		}
		return nil
	}
	if err := compare(live, want, "", "apiVersion", "kind"); err != nil {
		return err
	}
	i, j := live.Open().Find("metadata"), want.Open().Find("metadata")
	if i < 0 || j < 0 {
		return nil
	}
	return compare(&live.Open().Members[i].Value, &want.Open().Members[j].Value, "metadata.", "name", "namespace", "uid")
}

// overlay is the state of one Apply.
type overlay struct {
	kind, apiVersion string
	builtIn          bool // the kind is compiled into the server
	live             *tree.Node
	want             *tree.Source
	hints            map[uint32]govalue.Tag // from the tags of want's Go type, by offset
	nothing          []uint32               // the offsets of the values of want that express no wish, in order
	absent           []absentPlace
	manager          string
	cached           cachedTypes
	owned            *ownership // the manager's fields of live; nil until needed
	changed          []string
}

// maxChanged is the maximal number of changed places that are returned.
const maxChanged = 100

// note records that the value at a place differs from live's.
func (o *overlay) note(at *site) bool {
	if len(o.changed) < maxChanged {
		if pointer := at.pointer(); !slices.Contains(o.changed, pointer) {
			o.changed = append(o.changed, pointer)
		}
	}
	return true
}

// object puts the whole wanted object over live.
func (o *overlay) object(live, want *tree.Branch) {
	if o.is("Secret") {
		want = textAsData(want)
	}
	for i := range want.Members {
		m := &want.Members[i]
		if m.Gone {
			continue
		}
		switch name := string(m.Name); {
		case name == "status":
		case (name == "kind" || name == "apiVersion") && live.Find(name) >= 0: // want and live agree, or want has none
		case name == "metadata" && m.Value.Kind() == '{':
			o.metadata(live, m)
		default:
			o.member(live, m, (*site)(nil).member(name))
		}
	}
}

// is reports whether the object is of that kind in the core v1 API.
func (o *overlay) is(kind string) bool { return o.kind == kind && o.apiVersion == "v1" }

// serverOwned are the members of metadata that a write cannot change, or that are a precondition of it.
var serverOwned = map[string]bool{
	"name": true, "namespace": true, "uid": true, "resourceVersion": true, "generateName": true, "generation": true, "selfLink": true,
	"creationTimestamp": true, "deletionTimestamp": true, "deletionGracePeriodSeconds": true, "managedFields": true,
}

func (o *overlay) metadata(live *tree.Branch, want *tree.Member) {
	metadata := &tree.Branch{}
	if i := live.Find("metadata"); i >= 0 && live.Members[i].Value.Kind() == '{' {
		metadata = live.Members[i].Value.Open()
	} else {
		defer func() {
			if metadata.Len() > 0 {
				live.Set("metadata", tree.Node{Branch: metadata})
			}
		}()
	}
	wanted := want.Value.Open()
	top := (*site)(nil).member("metadata")
	for i := range wanted.Members {
		m := &wanted.Members[i]
		name := string(m.Name)
		if m.Gone || serverOwned[name] {
			continue
		}
		at := top.member(name)
		j := metadata.Find(name)
		united := name == "finalizers" || name == "ownerReferences"
		if united && j >= 0 && m.Value.Kind() == '[' && metadata.Members[j].Value.Kind() == '[' {
			o.unite(&metadata.Members[j].Value, m.Value.Open(), at)
			continue
		}
		o.member(metadata, m, at)
	}
}

// textAsData returns the wanted secret with its stringData in data, where the server puts it.
func textAsData(want *tree.Branch) *tree.Branch {
	i := want.Find("stringData")
	if i < 0 || want.Members[i].Value.Kind() != '{' {
		return want
	}
	data := &tree.Branch{}
	if j := want.Find("data"); j >= 0 && want.Members[j].Value.Kind() == '{' {
		data.Members = append(data.Members, want.Members[j].Value.Open().Members...)
	}
	for _, m := range want.Members[i].Value.Open().Members {
		if m.Gone || m.Value.Kind() == 'n' {
			continue
		}
		if m.Value.Kind() == '"' {
			m.Value = encodedNode(m.Value.Unquoted())
		}
		data.Set(string(m.Name), m.Value)
	}
	out := &tree.Branch{}
	for _, m := range want.Members {
		if name := string(m.Name); !m.Gone && name != "stringData" && name != "data" {
			out.Members = append(out.Members, m)
		}
	}
	out.Add(tree.Member{Name: []byte("data"), Value: tree.Node{Branch: data}})
	return out
}

// encodedNode returns the text in base64, as a string of JSON.
func encodedNode(text []byte) tree.Node {
	quoted := append([]byte{'"'}, base64.StdEncoding.EncodeToString(text)...)
	quoted = append(quoted, '"')
	return tree.Literal(quoted)
}

// member puts a member over live's, or adds it if live has none. at is its place.
func (o *overlay) member(live *tree.Branch, want *tree.Member, at *site) (changed bool) {
	i := live.Find(string(want.Name))
	if i < 0 {
		if !o.adds(&want.Value, at) {
			return false
		}
		live.Add(tree.Member{Name: want.Name, Raw: want.Raw, Value: o.said(&want.Value)})
		return o.note(at)
	}
	return o.put(&live.Members[i].Value, &want.Value, at)
}

// adds reports whether to set a value where live has none.
func (o *overlay) adds(want *tree.Node, at *site) bool {
	return !o.isUnsaid(want) && !o.isDropped(want, at)
}

// isUnsaid reports whether a value expresses no wish: it is null, or the zero of a field that leaves zeros out.
func (o *overlay) isUnsaid(want *tree.Node) bool {
	return want.Kind() == 'n' || want.From == o.want && o.hints[want.At].Unsaid
}

// put puts a value over live's at the same place.
func (o *overlay) put(live, want *tree.Node, at *site) (changed bool) {
	if o.isUnsaid(want) || live.Kind() == 'n' && !o.adds(want, at) {
		return false
	}
	if o.isVague(live, want, at) {
		return o.note(at)
	}
	switch kind := want.Kind(); {
	case live.Kind() == 'n':
	case kind == '{' && live.Kind() == '{':
		if !o.isWhole(live, want, at) {
			return o.members(live.Open(), want.Open(), at)
		}
		if !o.isPart(live, want, at) && o.hasMembers(live.Open(), want.Open(), at, true) {
			return false
		}
	case kind == '[' && live.Kind() == '[':
		return o.list(live, want, at)
	case kind != '{' && (kind != '[' || live.Kind() == '"') && o.alike(live, want, at):
		return false
	}
	*live = o.said(want)
	return o.note(at)
}

func (o *overlay) members(live, want *tree.Branch, at *site) (changed bool) {
	for _, i := range o.excluded(live, want, at) {
		changed = o.note(at.member(string(live.Members[i].Name)))
		live.Remove(i)
	}
	for i := range want.Members {
		if m := &want.Members[i]; !m.Gone {
			changed = o.member(live, m, at.member(string(m.Name))) || changed
		}
	}
	return changed
}

// findNothing records the values of want that express no wish.
func (o *overlay) findNothing() {
	inString := false
	for i := 0; i < len(o.want.Text); i++ {
		switch c := o.want.Text[i]; {
		case c == '"':
			inString = !inString
		case c == '\\':
			i++ // a string goes on after the escaped character
		case c == 'n' && !inString:
			o.nothing = append(o.nothing, uint32(i))
		}
	}
	for at, h := range o.hints {
		if h.Unsaid {
			o.nothing = append(o.nothing, at)
		}
	}
	slices.Sort(o.nothing)
}

// said returns a value without the members that express no wish.
func (o *overlay) said(want *tree.Node) tree.Node {
	if want.From != nil && want.From != o.want || want.From == o.want && want.Kind() != '{' && want.Kind() != '[' {
		return want.Written()
	}
	if want.From == o.want {
		if i, _ := slices.BinarySearch(o.nothing, want.At+1); i == len(o.nothing) || o.nothing[i] >= want.End {
			return want.Written()
		}
	}
	from := want.Open()
	to := &tree.Branch{List: from.List}
	for i := range from.Items {
		to.Items = append(to.Items, o.said(&from.Items[i]))
	}
	for _, m := range from.Members {
		if !m.Gone && !o.isUnsaid(&m.Value) {
			m.Value = o.said(&m.Value)
			to.Members = append(to.Members, m)
		}
	}
	return tree.Node{Branch: to}
}

func malformed(format string, args ...any) error {
	return tree.Errorf(patch.ErrMalformed, format, args...)
}
