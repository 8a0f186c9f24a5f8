package remote

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// CopyFrom copies a file or folder from a container into the folder dir, which it makes if need be. As with rsync, a
// slash at the end of src makes a difference:
//
//   - Without one, CopyFrom makes dir/NAME, where NAME is the last part of src, and nothing beside it: "/var/log"
//     becomes dir/log, and "/app/report.txt" dir/report.txt. It is what the container says it is, a file or a folder,
//     unless CopyOptions.OneFile is set.
//   - With one, dir gets what is in the folder src, whatever the names: the content of "/var/log/" is in dir itself. It
//     fails if src is a file. A src that has no last part, such as "/" or one that ends in "." or "..", means the same.
//
// If src is a symbolic link, CopyFrom copies the file or folder that it leads to, under the name of the link.
//
// CopyFrom first writes everything to a folder in dir whose name begins with ".bowline-", and renames it at the end. So
// a copy that fails, or whose ctx ends, changes nothing else in dir, unless it fails at the renaming.
//
// Permissions and modification times are kept, the latter to the second. Owners, and the bits for setuid, setgid and
// sticky, are not. Symbolic links are kept if they are relative, have ".." at their start only, do not leave what is
// copied, and do not lead through a link that was in dir before; hard links are kept too. All others, and devices,
// pipes and sockets, fail the copy unless CopyOptions.LeaveOut is set. Names may have any bytes that the local file
// system accepts, in up to 255 parts of 255 bytes each, and 4096 bytes in all. All names of a copy may have 256 MiB.
//
// A container may lie. At most, it makes CopyFrom do this, within CopyOptions.MaxBytes and MaxFiles:
//
//   - Without a slash at the end of src: make dir/NAME, a file or a folder with any content; with
//     CopyOptions.Overwrite, replace the file dir/NAME, or files and links in the folder dir/NAME.
//   - With one: make files, folders and links of any names in dir; with CopyOptions.Overwrite, replace files and links
//     there. So dir must not be a folder in which a name means something, such as a home folder, where
//     ".ssh/authorized_keys" does.
//   - Let the copied files be executable, and their links lead to each other or to nothing.
//   - Keep CopyFrom busy until ctx ends.
//
// It cannot write anywhere else, replace a folder, follow or make a link that leads out of what is copied, or set who
// owns a file.
//
// The container must have tar; or sh, cat, readlink, and head, stat and wc as far as it has them. Without stat, the
// only thing that is kept is whether a file can be executed. Without tar, a file that becomes shorter while it is read
// fails the copy.
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
		err = fmt.Errorf("the container has sent nothing of it: %w", io.ErrUnexpectedEOF)
	}
	if err == nil && c.Verify {
		err = c.verify(ctx, parent, t.sums)
	}
	if err == nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		err = t.commit(ctx)
	}
	return errors.Join(err, t.close())
}

// receive fills t with what src is.
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

// errRootLink says that the name that tar was asked for is one of a symbolic link.
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
	// The link leads to a folder, or else to a file.
	if !t.isFile {
		t.isFolder = true
		err = c.untar(ctx, t, "", "-C", programPath(src), "--", ".")
		if exit := (*ExitError)(nil); !errors.As(err, &exit) || len(t.made) > 0 {
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
	if exit := (*ExitError)(nil); errors.As(err, &exit) && complete && isChangeOnly(exit.Code, stderr) {
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
