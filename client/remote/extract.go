package remote

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	gopath "path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// entry is a file, folder or link, as the container or the source describes it.
type entry struct {
	name   string // as received
	kind   entryKind
	mode   fs.FileMode
	time   time.Time // zero if unknown
	size   int64
	target string // of a link
	body   io.Reader
}

type entryKind byte

const (
	aFile entryKind = iota + 1
	aFolder
	aLink
	aHardLink
	aDevice // or pipe, or socket
	anImplicitFolder
)

// tree writes the entries that a container sends to a folder, and trusts none of them.
//
// Every entry is first made in a separate folder, the stage, where its name must be new. So the file system detects a
// duplicate name, even where it treats "a" and "A" as one. Links are made last, so no file is written through one. When
// all entries have arrived and are verified, commit renames them into the folder, which is unchanged until then. Every
// call goes through an os.Root, which is the second line of defence.
type tree struct {
	c *copying
	// below is the only name that the copy may make in the folder; empty means any name.
	below string
	// base is the name that the container uses for below: the names that it sends are base or begin with base and a
	// slash.
	base string
	// isFile is whether one file was requested, and isFolder whether a folder was.
	isFile, isFolder bool

	root  *os.Root
	stage *os.Root
	name  string // of the stage in root

	made    map[string]entryKind // by name
	there   map[string]bool      // folders that already exist in root
	folders []entry              // commit sets their modes and times
	links   []entry
	targets map[string]string // of links
	names   int               // total bytes of the names and targets
	sums    []sum
	hash    hash.Hash
}

// newTree returns a tree in the folder dir, which it makes if it does not exist.
func newTree(c *copying, dir string) (*tree, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	t := &tree{
		c: c, root: root, name: ".bowline-" + rand.Text(), made: make(map[string]entryKind), there: map[string]bool{"": true}, targets: make(map[string]string), hash: sha256.New(),
	}
	if err = root.Mkdir(t.name, 0o700); err == nil {
		if t.stage, err = root.OpenRoot(t.name); err == nil {
			return t, nil
		}
		_ = root.Remove(t.name)
	}
	_ = root.Close()
	return nil, err
}

// close removes the stage and closes the roots.
func (t *tree) close() error {
	return errors.Join(t.stage.Close(), t.root.RemoveAll(t.name), t.root.Close())
}

// add makes an entry in the stage.
func (t *tree) add(e entry) error {
	name, err := t.within(e.name)
	switch {
	case err != nil:
	case name == "" && e.kind == aFolder: // the folder itself
		return nil
	case name == "", name == t.below && t.isFolder && e.kind != aFolder:
		err = errors.New("it has the name of the folder but is not a folder")
	case t.isFile && (name != t.below || e.kind != aFile):
		err = errors.New("the container sent something other than the one file that was asked for")
	case name == t.below && e.kind != aFolder && e.kind != aFile:
		err = errors.New("the container sent neither a file nor a folder")
	}
	if err != nil {
		return &entryError{e.name, err}
	}
	if err := t.make(name, e); err != nil {
		return t.named(e.name, err)
	}
	return nil
}

// within converts a name from the container to a name in the folder.
func (t *tree) within(name string) (string, error) {
	rest, err := within(name, t.base)
	if err != nil || t.below == "" {
		return rest, err
	}
	return gopath.Join(t.below, rest), nil
}

// named adds the name of the entry to an error, unless the error has one, or is about the end of the output.
func (t *tree) named(name string, err error) error {
	if errors.As(err, new(*entryError)) || early(err) {
		return err
	}
	return &entryError{name, err}
}

func (t *tree) make(name string, e entry) error {
	if had, ok := t.made[name]; ok && (had != anImplicitFolder || e.kind != aFolder) {
		return errors.New("its name occurs twice")
	}
	if t.names += len(name) + len(e.target); t.names > maxNames {
		return fmt.Errorf("the names have more than %d bytes", maxNames)
	}
	if err := t.parents(name); err != nil {
		return err
	}
	if e.kind != aDevice {
		if err := t.vacant(name, e.kind == aFolder); err != nil {
			return err
		}
	}
	switch e.kind {
	case aFile:
		return t.file(name, e)
	case aFolder:
		return t.folder(name, e)
	case aLink:
		return t.link(name, e)
	case aHardLink:
		return t.hardLink(name, e)
	}
	return t.leaveOut(name, errors.New("it is a device, a pipe or a socket"))
}

// leaveOut calls copying.leaveOut. It also counts the entry, so that MaxFiles bounds the skipped entries too.
func (t *tree) leaveOut(name string, why error) error {
	var left int
	if err := t.c.count(&left); err != nil {
		return err
	}
	return t.c.leaveOut(name, why)
}

// parents makes those parent folders of name that the container has not sent.
func (t *tree) parents(name string) error {
	for i := range len(name) {
		if name[i] != '/' {
			continue
		}
		switch parent := name[:i]; t.made[parent] {
		case aFolder, anImplicitFolder:
		case 0:
			if err := t.c.count(&t.c.result.Folders); err != nil {
				return err
			}
			if err := t.vacant(parent, true); err != nil {
				return err
			}
			if err := t.stage.Mkdir(t.local(parent), 0o777); err != nil {
				return err
			}
			t.made[parent] = anImplicitFolder
		default:
			return fmt.Errorf("it is in %s, which is not a folder", brief(parent))
		}
	}
	return nil
}

// vacant returns an error if the folder already has this name and it must not be replaced. It records existing folders
// in t.there.
func (t *tree) vacant(name string, folder bool) error {
	parent := gopath.Dir(name)
	if parent != "." && !t.there[parent] {
		return nil
	}
	info, err := t.root.Lstat(t.local(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := replaceable(info, folder, t.c.Overwrite); err != nil {
		return err
	}
	if folder {
		t.there[name] = true
	}
	return nil
}

// replaceable returns why an existing file must not be replaced by a folder (if folder), or by a file or link.
func replaceable(info fs.FileInfo, folder, overwrite bool) error {
	switch {
	case folder && info.IsDir():
		return nil
	case folder:
		return fmt.Errorf("it is a folder, but a file or link of its name exists: %w", fs.ErrExist)
	case info.IsDir():
		return fmt.Errorf("it is not a folder, but a folder of its name exists: %w", fs.ErrExist)
	case !overwrite:
		return fmt.Errorf("its name exists, and CopyOptions.Overwrite is not set: %w", fs.ErrExist)
	}
	return nil
}

// local returns a name with the separators of the local system.
func (t *tree) local(name string) string { return filepath.FromSlash(name) }

func (t *tree) file(name string, e entry) error {
	if err := t.c.room(e.size); err != nil {
		return err
	}
	f, err := t.stage.OpenFile(t.local(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = t.fill(f, name, e)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil && !e.time.IsZero() {
		err = t.stage.Chtimes(t.local(name), e.time, e.time)
	}
	if err != nil {
		return err
	}
	t.made[name] = aFile
	t.c.now.files++
	return t.c.count(&t.c.result.Files)
}

// fill writes the content of a file and sets its mode.
func (t *tree) fill(f *os.File, name string, e entry) error {
	var w io.Writer = writerOnly{f}
	if t.c.Verify {
		t.hash.Reset()
		w = io.MultiWriter(w, t.hash)
	}
	if err := t.c.carry(w, e.body, name, e.size); err != nil {
		if errors.Is(err, errShrunk) {
			err = io.ErrUnexpectedEOF // the container sent less than it announced
		}
		return err
	}
	if t.c.Verify {
		s := sum{name: name}
		t.hash.Sum(s.sum[:0])
		t.sums = append(t.sums, s)
	}
	return f.Chmod(e.mode.Perm())
}

// writerOnly hides the ReadFrom of a file, which would use a new buffer for each file.
type writerOnly struct{ io.Writer }

func (t *tree) folder(name string, e entry) error {
	if t.made[name] == 0 {
		if err := t.stage.Mkdir(t.local(name), 0o700); err != nil {
			return err
		}
		if err := t.c.count(&t.c.result.Folders); err != nil {
			return err
		}
	}
	t.made[name] = aFolder
	if !t.there[name] { // an existing folder keeps its mode and time
		e.name = name
		t.folders = append(t.folders, e)
	}
	return nil
}

// link records a symbolic link, which commit makes.
func (t *tree) link(name string, e entry) error {
	if err := linkTarget(strings.TrimPrefix(name, t.below+"/"), e.target); err != nil {
		return t.leaveOut(name, err)
	}
	t.made[name], t.targets[name] = aLink, e.target
	e.name = name
	t.links = append(t.links, e)
	return t.c.count(&t.c.result.Links)
}

// hardLink makes another name for an earlier file.
func (t *tree) hardLink(name string, e entry) error {
	first, err := t.within(e.target)
	if err != nil {
		return fmt.Errorf("it is a hard link to %s, which must not be copied: %w", brief(e.target), err)
	}
	switch t.made[first] {
	case aFile:
	case aLink:
		return t.link(name, entry{target: t.targets[first]})
	default:
		return fmt.Errorf("it is a hard link to %s, which is not an earlier file", brief(e.target))
	}
	if err := t.c.count(&t.c.result.Files); err != nil {
		return err
	}
	if err := t.stage.Link(t.local(first), t.local(name)); err != nil {
		return err
	}
	t.made[name] = aFile
	t.c.now.files++
	return nil
}

// commit makes the links and moves everything from the stage into the folder.
func (t *tree) commit(ctx context.Context) error {
	for _, l := range t.links {
		if err := t.stage.Symlink(t.local(l.target), t.local(l.name)); err != nil {
			return t.named(l.name, err)
		}
	}
	for _, l := range t.links {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		why := t.passes(l)
		if why == nil {
			continue
		}
		if err := t.c.leaveOut(l.name, why); err != nil {
			return err
		}
		t.c.result.Links--
		if err := t.stage.Remove(t.local(l.name)); err != nil {
			return t.named(l.name, err)
		}
	}
	if err := t.move(""); err != nil {
		return err
	}
	// The deepest folders come first: Chmod may make a folder read-only, and a change in a folder changes its time.
	slices.SortFunc(t.folders, func(a, b entry) int { return strings.Count(b.name, "/") - strings.Count(a.name, "/") })
	for _, e := range t.folders {
		err := t.root.Chmod(t.local(e.name), e.mode.Perm())
		if err == nil && !e.time.IsZero() {
			err = t.root.Chtimes(t.local(e.name), e.time, e.time)
		}
		if err != nil {
			return t.named(e.name, err)
		}
	}
	return nil
}

// maxPassed is more links than any system follows (Linux 40, Windows 63). A link that passes more, such as one in a
// cycle, leads nowhere.
const maxPassed = 255

// passes returns an error if a link leads through a link that was in the folder before the copy, which may lead
// anywhere. It resolves the target part by part in the folder as it is after the copy, and follows the links of the
// copy. It also follows links that are left out, so a link that leads through one is left out too.
func (t *tree) passes(l entry) error {
	at, rest, passed := gopath.Dir(l.name), strings.Split(l.target, "/"), 0
	for len(rest) > 0 {
		part := rest[0]
		rest = rest[1:]
		next := gopath.Join(at, part) // at itself for "" and "."
		switch t.made[next] {
		case aFolder, anImplicitFolder:
			at = next
			continue
		case aLink:
			if passed++; passed > maxPassed {
				return nil
			}
			rest = append(strings.Split(t.targets[next], "/"), rest...)
			continue
		case 0:
		default:
			return nil
		}
		if _, err := t.stage.Lstat(t.local(next)); err == nil && next != "." { // the file system treats "a" and "A" as one
			return fmt.Errorf("its path leads through %s, whose name differs in spelling", brief(next))
		}
		switch info, err := t.root.Lstat(t.local(next)); {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) != 0:
			return fmt.Errorf("its path leads through %s, a link that existed before", brief(next))
		case !info.IsDir():
			return nil
		}
		at = next
	}
	return nil
}

// move moves the entries of a folder from the stage: a new entry in one rename, an existing folder entry by entry.
func (t *tree) move(folder string) error {
	d, err := t.stage.Open(t.local(gopath.Join(".", folder)))
	if err != nil {
		return err
	}
	list, err := d.ReadDir(-1)
	_ = d.Close()
	if err != nil {
		return err
	}
	for _, e := range list {
		name := gopath.Join(folder, e.Name())
		staged := filepath.Join(t.name, t.local(name))
		info, err := t.root.Lstat(t.local(name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if err = t.root.Rename(staged, t.local(name)); err == nil {
				continue
			}
			// Another copy may have just made the folder.
			if again, lost := t.root.Lstat(t.local(name)); lost == nil && again.IsDir() && e.IsDir() {
				err = t.move(name)
			}
		case err != nil:
		case e.IsDir() && info.IsDir():
			err = t.move(name)
		default:
			if err = replaceable(info, e.IsDir(), t.c.Overwrite); err == nil {
				err = t.root.Rename(staged, t.local(name))
			}
		}
		if err != nil {
			return t.named(name, err)
		}
	}
	return nil
}
