package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// CopyFrom copies a file or folder from a container into the folder dir, which it makes if it does not exist. As with
// rsync, a slash at the end of src makes a difference:
//
//   - Without a slash, CopyFrom makes dir/NAME and nothing else, where NAME is the last part of src: "/var/log" becomes
//     dir/log, and "/app/report.txt" becomes dir/report.txt. The container decides whether it is a file or a folder,
//     unless CopyOptions.OneFile is set.
//   - With a slash, CopyFrom copies the entries of the folder src into dir itself, whatever their names. It fails if
//     src is a file. A src without a last part, such as "/" or one that ends in "." or "..", is treated the same.
//
// If src is a symbolic link, CopyFrom copies the link's target under the name of the link.
//
// CopyFrom first writes everything to a folder in dir whose name begins with ".bowline-", and moves it to its place at
// the end. So a copy that fails, or whose ctx ends, changes nothing else in dir, unless it fails while moving.
//
// CopyFrom keeps permissions, and modification times to the second. It does not keep owners, nor the setuid, setgid and
// sticky bits. It keeps hard links, and those symbolic links that are relative, have ".." only at their start, stay
// within the copied files, and do not lead through a link that was in dir before. Any other link, device, pipe or
// socket fails the copy unless CopyOptions.LeaveOut is set. Names may have any bytes that the local file system
// accepts, in up to 255 parts of 255 bytes each, 4096 bytes in all. All names of a copy together may have 256 MiB.
//
// A hostile container can make CopyFrom do only this, within CopyOptions.MaxBytes and MaxFiles:
//
//   - Without a slash at the end of src: make dir/NAME, a file or a folder with any content; with
//     CopyOptions.Overwrite, replace the file dir/NAME, or files and links in the folder dir/NAME.
//   - With a slash: make files, folders and links of any names in dir; with CopyOptions.Overwrite, replace files and
//     links there. So dir must not be a folder in which names have a meaning, such as a home folder with
//     ".ssh/authorized_keys".
//   - Make copied files executable, and links that lead to each other or to nothing.
//   - Keep CopyFrom busy until ctx ends.
//
// It cannot make CopyFrom write anywhere else, replace a folder, follow or make a link that leads out of the copied
// files, or set the owner of a file.
//
// The container must have tar, or else sh, cat and readlink. In the second case CopyFrom also uses head, stat and wc if
// the container has them. Without stat, CopyFrom keeps only whether a file is executable. Without tar, a file that
// becomes shorter while it is read fails the copy.
//
// See [CopyResult] for the error.
func CopyFrom[T meta.Object](ctx context.Context, pods client.Resource[T], key meta.Key, src, dir string, o CopyOptions) (CopyResult, error) {
	c := newCopying(pods, key, o)
	return c.done(fmt.Sprintf("copy %q from", src), ", of which nothing is kept", c.from(ctx, src, dir))
}

func (c *copying) from(ctx context.Context, src, dir string) error {
	if err := c.validate("CopyFrom", src, false); err != nil {
		return usage(err)
	}
	if dir == "" {
		return usage(errors.New("remote.CopyFrom: dir must not be empty"))
	}
	parent, name := splitPath(src)
	if name == "" && c.OneFile {
		return usage(fmt.Errorf("remote.CopyFrom: src must be the name of a file with CopyOptions.OneFile, got %q", src))
	}
	if name != "" {
		below, err := entryName(name)
		if err != nil {
			return usage(fmt.Errorf("remote.CopyFrom: src: %w, got %q", err, src))
		}
		name = below
	}
	t, err := newTree(c, dir)
	if err != nil {
		return err
	}
	t.below, t.isFile = name, c.OneFile
	err = c.receive(ctx, t, src)
	if err == nil && name != "" && len(t.made) == 0 {
		err = fmt.Errorf("the container sent none of it: %w", io.ErrUnexpectedEOF)
	}
	if err == nil && c.Verify {
		err = c.verify(ctx, parent, t.sums)
	}
	err = cmp.Or(err, context.Cause(ctx))
	if err == nil {
		err = t.commit(ctx)
	}
	return errors.Join(err, t.close())
}

// receive copies src into t, by tar or, if the container has no tar, by a shell script.
func (c *copying) receive(ctx context.Context, t *tree, src string) error {
	c.result.Program = "tar"
	err := c.receiveTar(ctx, t, src)
	if !isMissing("tar", err) || c.counted > 0 {
		return err
	}
	c.result.Program = "sh"
	if err := c.receivePacked(ctx, t, src); !isMissing("sh", err) {
		return err
	}
	c.result.Program = ""
	return fmt.Errorf("the container has neither tar nor sh: %w", err)
}

// errRootLink says that src itself is a symbolic link.
var errRootLink = errors.New("it is a symbolic link")

func (c *copying) receiveTar(ctx context.Context, t *tree, src string) error {
	parent, base := splitPath(src)
	if base == "" {
		return c.untar(ctx, t, "", "-C", parent, "--", ".")
	}
	err := c.untar(ctx, t, base, "-C", parent, "--", "./"+base)
	if !errors.Is(err, errRootLink) {
		return err
	}
	// Try the link as a folder first, and then as a file.
	if !t.isFile {
		t.isFolder = true
		err = c.untar(ctx, t, "", "-C", programPath(src), "--", ".")
		if !errors.As(err, new(*ExitError)) || len(t.made) > 0 {
			return err
		}
		t.isFolder = false
	}
	t.isFile = true
	return c.untar(ctx, t, base, "-h", "-C", parent, "--", "./"+base)
}

// untar runs tar with these arguments, and adds its entries to t.
func (c *copying) untar(ctx context.Context, t *tree, base string, args ...string) error {
	t.base = base
	begun, complete := false, false
	stderr, err := c.run(ctx, append([]string{"tar", "-c", "-f", "-"}, args...), nil, func(r io.Reader) error {
		err := readTar(r, func(e entry) error {
			if name, _ := entryName(e.name); base != "" && !begun && name == base && e.kind == aLink {
				return errRootLink
			}
			begun = true
			return t.add(e)
		})
		complete = err == nil
		return err
	})
	if exit, ok := errors.AsType[*ExitError](err); ok && complete && isChangeOnly(exit.Code, stderr) {
		if !c.AllowChanges {
			return fmt.Errorf("files changed while they were read, and CopyOptions.AllowChanges is not set: %w", err)
		}
		err = nil
	}
	if err == nil {
		c.result.Stderr = stderr
	}
	return err
}
