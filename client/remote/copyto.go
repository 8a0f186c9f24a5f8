package remote

import (
	"archive/tar"
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/copyscript"
)

// CopyTo copies the content of src into the folder dst of a container, which it makes if it does not exist. For a
// folder on disk, src is os.DirFS(folder), or the FS of an os.Root. For one file, use [WriteFile].
//
// CopyTo keeps permissions, and modification times to the second. It does not keep owners, nor the setuid, setgid and
// sticky bits: the files belong to the user of the container's processes. It keeps a symbolic link if src is an
// fs.ReadLinkFS and the link is relative, has ".." only at its start, and stays within src. Any other link, device,
// pipe or socket fails the copy unless CopyOptions.LeaveOut is set. Package io/fs accepts only names that are valid
// UTF-8.
//
// The copy fails if a file is longer or shorter than its FileInfo says, as when it grows or shrinks while it is read.
//
// The container must have tar and sh. With CopyOptions.Overwrite, sh may be missing; then tar decides whether a file
// may replace a folder or a folder a file. Without tar, the container must have sh, dd, mkdir, mv, rm, chmod, ln and,
// to keep times, touch. Its dd must support iflag=fullblock,count_bytes, as those of GNU and busybox do.
//
// A copy that fails leaves in the container the files that have arrived. With tar, the last one may be incomplete.
// Without CopyOptions.Overwrite, CopyTo copies nothing if one of the files exists. If several copies write to the same
// folder at the same time, some may fail, because tar refuses a file that another tar has just made.
//
// See [CopyResult] for the error.
func CopyTo[T meta.Object](ctx context.Context, pods client.Resource[T], key meta.Key, src fs.FS, dst string, o CopyOptions) (CopyResult, error) {
	c := newCopying(pods, key, o)
	return c.done(fmt.Sprintf("copy to %q in", dst), " had been sent", c.to(ctx, src, dst))
}

func (c *copying) to(ctx context.Context, src fs.FS, dst string) error {
	if err := c.validate("CopyTo", dst, false); err != nil {
		return usage(err)
	}
	if src == nil {
		return usage(errors.New("remote.CopyTo: src must not be nil"))
	}
	s := &sentTree{c: c, ctx: ctx, fsys: src}
	c.result.Program = "tar"
	err := c.toTar(ctx, s, programPath(dst))
	if isMissing("tar", err) {
		c.result, c.now, s.sums = CopyResult{Program: "sh"}, progress{}, nil
		err = c.toUnpack(ctx, s, programPath(dst))
		if isMissing("sh", err) {
			return fmt.Errorf("the container has neither tar nor sh: %w", err)
		}
	}
	if err == nil && c.Verify {
		err = c.verify(ctx, programPath(dst), s.sums)
	}
	return err
}

func (c *copying) toTar(ctx context.Context, s *sentTree, dst string) error {
	if err := c.prepare(ctx, s, dst); err != nil {
		return err
	}
	stderr, err := c.run(ctx, []string{"tar", "-x", "-p", "-o", "-f", "-", "-C", dst}, s.sendTar, discard)
	if err == nil {
		c.result.Stderr = stderr
	}
	return err
}

// prepare makes the folder, and returns an error if the copy would replace something that it must not.
func (c *copying) prepare(ctx context.Context, s *sentTree, dst string) error {
	_, err := c.run(ctx, script(copyscript.Check(), dst, c.nonce, c.replace()), s.sendNames, c.end)
	if !isMissing("sh", err) {
		return explained(err)
	}
	if !c.Overwrite {
		return fmt.Errorf("the container has no sh, which is needed unless CopyOptions.Overwrite is set: %v", err) // isMissing must not find the cause
	}
	if _, err = c.run(ctx, []string{"mkdir", "-p", "--", dst}, nil, discard); isMissing("mkdir", err) {
		return nil // tar reports a missing folder
	}
	return err
}

// replace returns the argument that tells a script whether it may replace files.
func (c *copying) replace() string {
	if c.Overwrite {
		return "1"
	}
	return "0"
}

// toUnpack sends src to a shell script instead of tar.
func (c *copying) toUnpack(ctx context.Context, s *sentTree, dst string) error {
	stderr, err := c.run(ctx, script(copyscript.Unpack(), c.nonce, dst, c.replace()), s.sendPacked, c.end)
	if err == nil {
		c.result.Stderr = stderr
	}
	return explained(err)
}

// sentTree reads the files that CopyTo sends.
type sentTree struct {
	c    *copying
	ctx  context.Context
	fsys fs.FS
	sums []sum
}

// each calls visit for each entry, a folder before its entries. Names do not begin with "./".
func (s *sentTree) each(visit func(e entry) error) error {
	n, names := 0, 0
	return fs.WalkDir(s.fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && s.ctx.Err() != nil {
			err = context.Cause(s.ctx)
		}
		if err != nil || name == "." {
			return err
		}
		if n++; n > s.c.MaxFiles {
			return fmt.Errorf("there are more than %d files, folders and links (CopyOptions.MaxFiles)", s.c.MaxFiles)
		}
		if names += len(name); names > maxNames {
			return fmt.Errorf("the names have more than %d bytes", maxNames)
		}
		e, err := s.entry(name, d)
		if err != nil || e.kind == 0 {
			return err
		}
		return visit(e)
	})
}

// entry describes a file, folder or link. It returns the zero entry if LeaveOut skips it.
func (s *sentTree) entry(name string, d fs.DirEntry) (entry, error) {
	if _, err := entryName(name); err != nil {
		return entry{}, &entryError{name, err}
	}
	info, err := d.Info()
	if err != nil {
		return entry{}, err
	}
	e := entry{name: name, mode: info.Mode(), time: info.ModTime()}
	switch info.Mode().Type() {
	case 0:
		e.kind, e.size = aFile, info.Size()
	case fs.ModeDir:
		e.kind = aFolder
	case fs.ModeSymlink:
		if e.target, err = fs.ReadLink(s.fsys, name); err == nil {
			if err := linkTarget(name, e.target); err != nil {
				return entry{}, s.c.leaveOut(name, err)
			}
		}
		e.kind = aLink
	default:
		return entry{}, s.c.leaveOut(name, errors.New("it is a device, a pipe or a socket"))
	}
	return e, err
}

// file copies the bytes of a file.
func (s *sentTree) file(w io.Writer, e entry) error {
	if err := s.c.room(e.size); err != nil {
		return &entryError{e.name, err}
	}
	f, err := s.fsys.Open(e.name)
	if err != nil {
		return err
	}
	defer f.Close()
	all := sha256.New()
	if s.c.Verify {
		w = io.MultiWriter(w, all)
	}
	if err = s.c.carry(w, f, e.name, e.size); err == nil {
		var n int
		if n, err = f.Read(s.c.buffer[:1]); n > 0 {
			err = errors.New("it became longer while it was read")
		} else if err == io.EOF {
			err = nil
		}
	}
	if errors.Is(err, errTaken) {
		return err
	}
	if err != nil {
		return &entryError{e.name, err}
	}
	if s.c.Verify {
		s.sums = append(s.sums, sum{e.name, [sha256.Size]byte(all.Sum(nil))})
	}
	s.c.result.Files++
	s.c.now.files++
	return nil
}

// sendNames writes the names for copyscript.Check.
func (s *sentTree) sendNames(w io.Writer) error {
	out := bufio.NewWriter(w)
	err := s.each(func(e entry) error {
		kind := "f"
		if e.kind == aFolder {
			kind = "d"
		}
		_, err := out.WriteString(copyscript.Line(kind + "./" + e.name))
		return err
	})
	s.c.result.LeftOut = nil // the copy itself reads the entries again, and records them again
	if err != nil {
		return err
	}
	_ = out.WriteByte('\n') // Flush has the error
	return out.Flush()
}

// sendTar writes an archive. It has each folder twice: first writable by its owner, so that files can be made in it,
// and at the end with the folder's own mode and time.
func (s *sentTree) sendTar(w io.Writer) error {
	out := bufio.NewWriterSize(w, 64<<10)
	archive := tar.NewWriter(out)
	var folders []entry
	err := s.each(func(e entry) error {
		h := tarHeader(e)
		if e.kind == aFolder {
			folders = append(folders, e)
			h.Mode |= 0o700
		}
		if err := archive.WriteHeader(h); err != nil {
			return s.named(e, err)
		}
		return s.sent(e, archive)
	})
	for i := len(folders) - 1; err == nil && i >= 0; i-- {
		err = archive.WriteHeader(tarHeader(folders[i]))
	}
	if err == nil {
		err = archive.Close()
	}
	if err == nil {
		err = out.Flush()
	}
	return err
}

// sent sends the bytes of an entry, and counts it.
func (s *sentTree) sent(e entry, w io.Writer) error {
	switch e.kind {
	case aFolder:
		s.c.result.Folders++
	case aLink:
		s.c.result.Links++
	default:
		return s.file(w, e)
	}
	return nil
}

// named adds the name of the entry to an error, except to errTaken.
func (s *sentTree) named(e entry, err error) error {
	if errors.Is(err, errTaken) {
		return err
	}
	return &entryError{e.name, err}
}

// sendPacked writes the input of copyscript.Unpack.
func (s *sentTree) sendPacked(w io.Writer) error {
	out := bufio.NewWriterSize(w, 64<<10)
	line := func(kind string, e entry) {
		// out keeps the error of a write, and Flush returns it.
		fmt.Fprintf(out, "%s %o %s %d\n%s", kind, e.mode.Perm(), e.time.UTC().Format("200601021504.05"), e.size, copyscript.Line("./"+e.name))
	}
	var folders []entry
	err := s.each(func(e entry) error {
		switch e.kind {
		case aFolder:
			folders = append(folders, e)
			line("d", e)
		case aLink:
			line("l", e)
			_, _ = io.WriteString(out, copyscript.Line(e.target))
		default:
			line("f", e)
		}
		if err := s.sent(e, out); err != nil || e.kind != aFile {
			return err
		}
		_, err := io.WriteString(out, ".\n")
		return err
	})
	if err != nil {
		return err
	}
	for i := len(folders) - 1; i >= 0; i-- {
		line("m", folders[i])
	}
	_, _ = io.WriteString(out, "e\n")
	return out.Flush()
}
