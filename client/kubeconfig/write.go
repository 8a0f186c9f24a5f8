package kubeconfig

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client"
)

// Write makes one change in the files in which [Load] looks, for tools that log in or choose a context. Options.Path is
// written alone; it and the folders in which it is are made where they are missing.
//
// A stanza is changed in the file from which Load takes it, a new one is added to the first file, and one that is deleted is
// deleted from all of them, so that none comes to light that it hid. The first file that has a current context gets the new
// one. Other files are not touched, and of a file that is changed all else stays as it is: unknown fields, order,
// comments and further documents, YAML or JSON. Blank lines and the layout within a line may change.
//
// A file is replaced as a whole, from a new file beside it, which is on the disk before: whatever happens, it is either as
// it was or as it is to be. It keeps its mode and its owner; a new one has mode 0600. Of several files that change, each
// is replaced for itself, in their order, when all of them are ready.
//
// Nothing is written through a symbolic link. A link stays one, and the file to which it points is replaced, if the link is
// root's or the user's own: nobody else decides which file that is. Other names of the file (hard links) keep what it held.
//
// While it works it holds a lock: the file's name with ".lock" added, as Kubernetes' own tools do. It waits for a lock of
// somebody else until ctx ends, at most 10 s; then the error is a [*LockedError].
//
// What would not load is not written: an error says what is wrong, as Load would, and nothing has changed. Neither is a file
// that is in UTF-16, nor a stanza with anchors, aliases or merge keys of YAML.
func Write(ctx context.Context, o Options, c Change) error {
	err := c.validate()
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("write a kubeconfig: %w", err)
	}
	files := []string{o.Path}
	if o.Path == "" {
		files, _ = search()
	}
	if len(files) == 0 {
		return errors.New("write a kubeconfig: KUBECONFIG is not set, and the home directory is not known")
	}

	// What is to be locked is known only after reading, and what was read counts only after locking. The set of locks grows
	// with each round, so there are at most as many rounds as files, and one more.
	var names []string
	for {
		done, more, err := locked(ctx, names, func() ([]string, error) { return attempt(files, o.Context, c, names) })
		if err != nil || done {
			return err
		}
		names = more
	}
}

// locked calls f while it holds the locks, and tells whether f asked for none that is not held.
func locked(ctx context.Context, names []string, f func() ([]string, error)) (done bool, more []string, err error) {
	release, err := lock(ctx, names)
	if err != nil {
		return false, nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	more, err = f()
	return len(more) == 0, more, err
}

// attempt makes the change, if the locks that it needs are among those that are held. If not, it returns all that it needs.
func attempt(files []string, context string, c Change, held []string) (needed []string, err error) {
	var docs []*document
	for _, file := range files {
		d, err := readDocument(file)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(docs, d.isSame) { // by another name, it would be written twice
			docs = append(docs, d)
		}
	}
	if err := c.apply(docs, context); err != nil {
		return nil, err
	}
	docs = slices.DeleteFunc(docs, func(d *document) bool { return !d.edited })
	for _, d := range docs {
		needed = append(needed, d.locks()...)
	}
	if slices.ContainsFunc(needed, func(name string) bool { return !slices.Contains(held, name) }) {
		needed = append(needed, held...)
		slices.Sort(needed)
		return slices.Compact(needed), nil
	}
	return nil, replace(docs)
}

// readDocument opens a file to be edited, which need not exist.
func readDocument(file string) (*document, error) {
	d := &document{src: &source{name: file}}
	if err := d.src.locate(file); err != nil {
		return nil, err
	}
	dir, err := target(d.src.dir)
	if d.named = filepath.Join(dir, filepath.Base(file)); err == nil {
		d.path, err = target(d.named)
	} else {
		d.path = d.named
	}
	if err == nil {
		d.data, d.info, err = readAll(d.path)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, &FieldError{File: file, Err: fmt.Errorf("cannot be changed: %w", withoutPath(err))}
	}
	return d, d.open()
}

// isSame tells whether two are one file.
func (d *document) isSame(e *document) bool {
	return d.path == e.path || d.info != nil && e.info != nil && os.SameFile(d.info, e.info)
}

// target returns the file that a path means, which is absolute, without symbolic links. What does not exist of it is returned
// as it is named, with the error.
func target(path string) (string, error) {
	const separator = string(filepath.Separator)
	root := func(path string) string { return filepath.VolumeName(path) + separator }
	at, ahead := root(path), strings.Split(path[len(filepath.VolumeName(path)):], separator)
	var info fs.FileInfo
	for links := 0; len(ahead) > 0; {
		name := ahead[0]
		ahead = ahead[1:]
		next := filepath.Join(at, name) // for .., the parent of what is no link
		var err error
		if info, err = os.Lstat(next); err != nil {
			return filepath.Join(append([]string{next}, ahead...)...), err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			at = next
			continue
		}
		if links++; links > 40 {
			return "", errors.New("too many symbolic links")
		}
		if !trusted(info) {
			return "", fmt.Errorf("%s is a symbolic link of another user", printable(next))
		}
		to, err := os.Readlink(next)
		if err != nil {
			return "", err
		}
		if filepath.IsAbs(to) {
			at, to = root(to), to[len(filepath.VolumeName(to)):]
		}
		ahead = append(strings.Split(filepath.FromSlash(to), separator), ahead...)
	}
	if info != nil && !info.Mode().IsRegular() && !info.IsDir() {
		return "", errors.New("it is no regular file") // to open a pipe may wait
	}
	return at, nil
}

// apply edits the documents and makes sure that the result can be meant.
func (c Change) apply(docs []*document, context string) error {
	before := &merged{}
	for _, d := range docs {
		before.add(d.said.copied())
	}
	if err := edit(docs, before, contexts, c.Contexts); err != nil {
		return err
	}
	if err := edit(docs, before, clusters, c.Clusters); err != nil {
		return err
	}
	if err := edit(docs, before, users, c.Users); err != nil {
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
	err := errors.Join(
		intact(docs[0], before, after, contexts, c.Contexts), intact(docs[0], before, after, clusters, c.Clusters),
		intact(docs[0], before, after, users, c.Users),
	)
	if err != nil {
		return err
	}
	return c.check(after)
}

// intact makes sure that a list has the entries that it had, but for those that are deleted, and those that are new.
func intact[S any](d *document, before, after *merged, l list, changes map[string]*S) error {
	want := maps.Clone(before.entriesOf(l))
	for name, to := range changes {
		if delete(want, name); to != nil {
			if want == nil {
				want = map[string]*stanza{}
			}
			want[name] = &stanza{}
		}
	}
	have := after.entriesOf(l)
	for name := range want {
		if have[name] == nil {
			return d.fail("", l.plural, errNotSame)
		}
	}
	if len(have) != len(want) {
		return d.fail("", l.plural, errNotSame)
	}
	return nil
}

// namespace sets the namespace of one context.
func (c Change) namespace(docs []*document, before *merged, context string) error {
	name := cmp.Or(context, c.Current, before.current)
	if name == "" {
		return errors.New("write a kubeconfig: Namespace needs a context: there is no current one, and Options names none")
	}
	if c.Contexts[name] != nil {
		return fmt.Errorf("write a kubeconfig: Namespace and Contexts[%q] exclude each other", name)
	}
	s := before.contexts[name]
	if _, deleted := c.Contexts[name]; deleted || s == nil {
		return &NotFoundError{What: "context", Name: name, File: strings.Join(before.files(), ", ")}
	}
	return owner(docs, s.src).set(contexts, name, []field{{name: "namespace", value: stringNode(c.Namespace)}})
}

// edit makes the changes of one list. The order is fixed, so that equal changes make equal files.
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

// check returns why Load would refuse what c has made of the files.
func (c Change) check(after *merged) error {
	for _, name := range slices.Sorted(maps.Keys(c.Clusters)) {
		if s := after.clusters[name].clone(); s != nil {
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
		refers := &NotFoundError{What: "cluster", Name: cluster, File: s.src.name, Stanza: s.path}
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
		return &NotFoundError{What: "context", Name: c.Current, File: strings.Join(after.files(), ", ")}
	}
	return nil
}

// checkUser returns what is wrong with a user, of whatever cluster. Whether a plugin may run is asked by who runs it.
func (s *stanza) checkUser() error {
	cluster := &stanza{src: s.src, path: "its cluster"}
	c := client.Config{Server: "https://any"}
	s.user(&c, cluster)
	s.exec(&c, cluster, Plugins{})
	return s.err
}

// replace writes the files, all of them or, unless the disk fails in the middle, none.
func replace(docs []*document) (err error) {
	temporary := make([]string, len(docs))
	defer func() {
		for _, name := range temporary {
			if name != "" {
				_ = os.Remove(name) // it is there only after an error
			}
		}
	}()
	for i, d := range docs {
		data, err := d.encode()
		if err != nil {
			return err
		}
		if temporary[i], err = d.prepare(data); err != nil {
			return d.fail("", "", fmt.Errorf("cannot be written: %w", withoutPath(err)))
		}
	}
	for i, d := range docs {
		if err := os.Rename(temporary[i], d.path); err != nil {
			return d.fail("", "", fmt.Errorf("cannot be written: %w", withoutPath(err)))
		}
		temporary[i] = ""
		syncDir(filepath.Dir(d.path))
	}
	return nil
}

// prepare writes what the file is to hold to a new one beside it, and returns its name.
func (d *document) prepare(data []byte) (name string, err error) {
	if d.info != nil {
		// A file that may not be written is not replaced either, although its folder would allow that.
		f, err := os.OpenFile(d.path, os.O_WRONLY, 0)
		if err != nil {
			return "", err
		}
		if err := f.Close(); err != nil {
			return "", err
		}
	}
	f, err := os.CreateTemp(filepath.Dir(d.path), ".kubeconfig-*.tmp") // a name that was free, and mode 0600
	if err != nil {
		return "", err
	}
	defer func() {
		if closeErr := f.Close(); err == nil && closeErr != nil {
			err = closeErr
		}
		if err != nil {
			_ = os.Remove(f.Name())
			name = ""
		}
	}()
	if d.info != nil {
		if err := keepOwner(f, d.info); err != nil {
			return "", fmt.Errorf("its owner cannot be kept: %w", withoutPath(err))
		}
		if err := f.Chmod(d.info.Mode().Perm()); err != nil {
			return "", err
		}
	}
	if _, err := io.Copy(f, strings.NewReader(string(data))); err != nil {
		return "", err
	}
	return f.Name(), f.Sync()
}
