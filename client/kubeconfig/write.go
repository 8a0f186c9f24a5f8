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
// root's or the user's own: nobody else decides which file that is. The same goes for links to its folders. Other names of
// the file (hard links) keep what it held.
//
// While it works it holds a lock: the file's name with ".lock" added, as Kubernetes' own tools do. It waits for a lock of
// somebody else until ctx ends, at most 10 s; then the error is a [*LockedError].
//
// What would not load is not written: an error says what is wrong, as Load would, and nothing has changed. Neither is a file
// that is in UTF-16 or would lose a comment, nor a stanza with anchors, aliases or merge keys of YAML.
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
