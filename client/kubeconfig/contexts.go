package kubeconfig

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Entry is a context as [Contexts] lists it. It contains no credential.
type Entry struct {
	// Name is the context's name.
	Name string

	// Context is the context as it is written: Namespace is empty if it names none.
	Context

	// Server is the server of the context's cluster, without a user, a query or a fragment; empty if there is no usable
	// cluster.
	Server string

	// File is the file that declares the context, as Options.Path or KUBECONFIG names it.
	File string

	// Current is true for the context that [Load] uses with the same Options.
	Current bool

	// Err is why Load would refuse the context; nil if it would not.
	Err error
}

// Contexts lists the contexts of the files that [Load] searches, in the order of the files and of the contexts in them.
// A context that several files declare is listed once, from the first. The pod's service account is not a context.
//
// A context that cannot be used is listed too, with the reason. A file that cannot be used is left out and becomes an
// error, which Contexts returns together with the contexts of the other files. It is not an error if there is no file,
// or no file with a context, but Options.Path must exist.
func Contexts(o Options) ([]Entry, error) {
	if err := o.Plugins.validate(); err != nil {
		return nil, err
	}
	files := []string{o.Path}
	if o.Path == "" {
		files, _ = search()
	}
	all := &merged{}
	var errs []error
	for _, file := range files {
		m, err := readFile(file)
		switch {
		case err == nil:
			all.add(m)
		case o.Path != "" || !errors.Is(err, fs.ErrNotExist):
			errs = append(errs, err)
		}
	}
	return all.list(o), errors.Join(errs...)
}

// maxListed bounds the total size of the stanzas that the contexts of a list refer to, as maxValues bounds a file: all
// contexts may refer to the same large user.
const maxListed = 2 * maxValues

// list returns the contexts as entries.
func (m *merged) list(o Options) []Entry {
	current := cmp.Or(o.Context, m.current)
	weights, anchors, budget := map[*stanza]int{}, map[*yaml.Node]int{}, maxListed
	weight := func(s *stanza) int {
		if _, known := weights[s]; !known && s != nil {
			for _, n := range s.values {
				weights[s] += weigh(n, anchors)
			}
		}
		return weights[s]
	}
	var list []Entry
	for _, name := range m.ordered() {
		s := m.contexts[name].clone()
		e := Entry{Name: name, File: s.src.name, Current: name == current}
		e.Cluster, e.User, e.Namespace = s.text("cluster"), s.text("user"), s.text("namespace")
		if budget -= weight(m.clusters[e.Cluster]) + weight(m.users[e.User]); budget < 0 {
			s.fail("", errors.New("is not checked, because the contexts before it are too large"))
			e.Err = s.err
		} else {
			if cluster := m.clusters[e.Cluster].clone(); cluster != nil {
				if u := cluster.address(); u != nil {
					e.Server = withoutUser(u)
				}
			}
			_, e.Err = m.pick(name, o.Plugins)
		}
		list = append(list, e)
	}
	return list
}

// ordered returns the names of the contexts in the order of the files and of the contexts in them.
func (m *merged) ordered() []string {
	files := map[*source]int{}
	for i, src := range m.sources {
		files[src] = i
	}
	return slices.SortedFunc(maps.Keys(m.contexts), func(a, b string) int {
		x, y := m.contexts[a], m.contexts[b]
		return cmp.Or(cmp.Compare(files[x.src], files[y.src]), cmp.Compare(x.place, y.place))
	})
}
