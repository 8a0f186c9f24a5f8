package kubeconfig

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Write makes one change in the files that [Load] searches, for tools that log in or choose a context. With
// Options.Path it writes only that file; it creates the file and its folders if they are missing.
//
// A stanza is changed in the file from which Load takes it. A new stanza is added to the first file. A deleted stanza
// is deleted from all files, because otherwise a stanza of the same name that it hid would take effect. The new current
// context is set in the first file that has one. Other files are not touched. In a changed file all else stays as it
// is: unknown fields, order, comments and further documents, YAML or JSON. Blank lines and the layout within a line may
// change.
//
// Write syncs a new file to the disk and then renames it over the old one: whatever happens, the file has either the
// old or the new content. A file keeps its mode and its owner; a new file has mode 0600. If several files change, Write
// prepares all of them and then replaces them one after the other, in their order.
//
// Nothing is written through a symbolic link. A link stays, and the file to which it points is replaced, if the link is
// root's or the user's own, so that nobody else can choose the file. The same applies to links to its folders. Other
// names of the file (hard links) keep the old content.
//
// During the change Write holds a lock, as Kubernetes' own tools do: a file with the name of the kubeconfig and ".lock"
// added. It waits for another program's lock until ctx ends, at most 10 s; then the error names the lock. If a program
// was killed and left its lock behind, remove the lock by hand.
//
// Write returns an error, and changes nothing, if Load would refuse the result; the error is that of Load. It also
// refuses to write a file that is in UTF-16 or would lose a comment, and a stanza with anchors, aliases or merge keys
// of YAML.
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

	// The locks are known only after reading, and the read content is valid only under the locks. The set of locks
	// grows with each round, so there are at most as many rounds as files, and one more.
	var names []string
	for {
		done, more, err := locked(ctx, names, func() ([]string, error) { return attempt(files, o.Context, c, names) })
		if err != nil || done {
			return err
		}
		names = more
	}
}

// locked calls f while it holds the locks, and reports whether f needed no others.
func locked(ctx context.Context, names []string, f func() ([]string, error)) (done bool, more []string, err error) {
	release, err := lock(ctx, names)
	if err != nil {
		return false, nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	more, err = f()
	return len(more) == 0, more, err
}

// attempt makes the change, if it holds the locks that it needs. If not, it returns the names of all of them.
func attempt(files []string, context string, c Change, held []string) (needed []string, err error) {
	var docs []*document
	for _, file := range files {
		d, err := readDocument(file)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(docs, d.isSame) { // the same file under two names would be written twice
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

// readDocument opens a file for editing, which need not exist.
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
		return nil, &FieldError{file: file, err: fmt.Errorf("cannot be changed: %w", withoutPath(err))}
	}
	return d, d.open()
}

// isSame reports whether two documents are one file.
func (d *document) isSame(e *document) bool {
	return d.path == e.path || d.info != nil && e.info != nil && os.SameFile(d.info, e.info)
}
