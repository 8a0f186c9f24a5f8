package kubeconfig

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client"
)

// A change is made in the nodes of all files. The result is checked as Load would check it, before anything is written.

// apply edits the documents and checks that the result is valid.
func (c Change) apply(docs []*document, context string) error {
	before := &merged{}
	for _, d := range docs {
		before.add(d.said.copied())
	}
	err := cmp.Or(edit(docs, before, contexts, c.Contexts), edit(docs, before, clusters, c.Clusters), edit(docs, before, users, c.Users))
	if err != nil {
		return err
	}
	if c.Current != "" && c.Current != before.current {
		if err := owner(docs, before.currentSource).setCurrent(c.Current); err != nil {
			return err
		}
	}
	if c.Namespace != "" {
		if err := c.namespace(docs, before, context); err != nil {
			return err
		}
	}
	after := &merged{}
	for _, d := range docs {
		m, err := unify(d.src, d.docs)
		if err != nil {
			return err
		}
		after.add(m)
	}
	err = errors.Join(
		intact(docs[0], before, after, contexts, c.Contexts), intact(docs[0], before, after, clusters, c.Clusters),
		intact(docs[0], before, after, users, c.Users),
	)
	if err != nil {
		return err
	}
	return c.check(after)
}

// intact checks that a list has its former entries without the deleted ones, the new entries, and no others.
func intact[S any](d *document, before, after *merged, l list, changes map[string]*S) error {
	want := map[string]*stanza{}
	maps.Copy(want, before.entriesOf(l))
	for name, to := range changes {
		if delete(want, name); to != nil {
			want[name] = &stanza{}
		}
	}
	if !maps.EqualFunc(want, after.entriesOf(l), func(_, have *stanza) bool { return have != nil }) {
		return d.fail("", l.plural, errNotSame)
	}
	return nil
}

// namespace sets the namespace of one context.
func (c Change) namespace(docs []*document, before *merged, context string) error {
	name := cmp.Or(context, c.Current, before.current)
	if name == "" {
		return errors.New("write a kubeconfig: Namespace needs a context: set current-context, Change.Current or Options.Context")
	}
	if c.Contexts[name] != nil {
		return fmt.Errorf("write a kubeconfig: Namespace and Contexts[%q] exclude each other", name)
	}
	s := before.contexts[name]
	if _, deleted := c.Contexts[name]; deleted || s == nil {
		return &NotFoundError{What: "context", Name: name, file: strings.Join(before.files(), ", ")}
	}
	return owner(docs, s.src).set(contexts, name, []field{{name: "namespace", value: stringNode(c.Namespace)}})
}

// edit makes the changes of one list. The order is fixed, so that equal changes produce equal files.
func edit[S interface{ fields() []field }](docs []*document, before *merged, l list, changes map[string]*S) error {
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		if to := changes[name]; to != nil {
			var src *source
			if s := before.entriesOf(l)[name]; s != nil {
				src = s.src
			}
			if err := owner(docs, src).set(l, name, (*to).fields()); err != nil {
				return err
			}
			continue
		}
		for _, d := range docs {
			if err := d.remove(l, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// owner returns the document that comes from src, or else the first.
func owner(docs []*document, src *source) *document {
	for _, d := range docs {
		if d.src == src {
			return d
		}
	}
	return docs[0]
}

// check returns why Load would refuse the files after the change.
func (c Change) check(after *merged) error {
	for _, name := range slices.Sorted(maps.Keys(c.Clusters)) {
		if s := after.clusters[name].clone(); s != nil {
			s.strict = true
			if s.cluster(new(client.Config)); s.err != nil {
				return s.err
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Users)) {
		if s := after.users[name].clone(); s != nil {
			if err := s.checkUser(); err != nil {
				return err
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Contexts)) {
		s := after.contexts[name].clone()
		if s == nil {
			continue
		}
		cluster, user := s.text("cluster"), s.text("user")
		refers := &NotFoundError{What: "cluster", Name: cluster, file: s.src.name, stanza: s.path}
		switch {
		case cluster == "":
			s.fail("cluster", errors.New("is not set"))
		case after.clusters[cluster] == nil:
			return refers
		case user != "" && after.users[user] == nil:
			refers.What, refers.Name = "user", user
			return refers
		}
		if s.err != nil {
			return s.err
		}
	}
	if c.Current != "" && after.contexts[c.Current] == nil {
		return &NotFoundError{What: "context", Name: c.Current, file: strings.Join(after.files(), ", ")}
	}
	return nil
}

// checkUser returns what is wrong with a user, for any cluster. Whether a plugin may run is checked when it is loaded.
func (s *stanza) checkUser() error {
	cluster := &stanza{src: s.src, path: "its cluster"}
	s.strict = true
	c := client.Config{Server: "https://any"}
	s.user(&c, cluster)
	s.exec(&c, cluster, Plugins{})
	return s.err
}
