package remote

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// CopyFrom copies a file or folder from a container into the folder dir, which it makes if need be. If src is a folder, dir gets what
// is in it; if it is a file, dir gets the file. If src is a symbolic link, CopyFrom copies the file or folder that it leads to.
//
// Nothing is written outside of dir, whatever the container sends. CopyFrom first writes everything to a folder in dir whose name
// begins with ".bowline-", and renames it at the end. So a copy that fails, or whose ctx ends, changes nothing else in dir, unless it
// fails at the renaming.
//
// Permissions and modification times are kept, the latter to the second. Owners, and the bits for setuid, setgid and sticky, are not.
// Symbolic links are kept if they are relative, have ".." at their start only, and do not leave dir; hard links are kept too. All
// others, and devices, pipes and sockets, fail the copy unless CopyOptions.LeaveOut is set. Names may have any bytes that the local
// file system accepts, in up to 255 parts of 255 bytes each, and 4096 bytes in all. All names of a copy may have 256 MiB.
//
// The container must have tar; or sh, cat, readlink, and head, stat and wc as far as it has them. Without stat, the only thing that
// is kept is whether a file can be executed. Without tar, a file that becomes shorter while it is read fails the copy.
//
// The error is a [*CopyError].
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
	t, err := newTree(c, dir)
	if err != nil {
		return err
	}
	err = c.receive(ctx, t, src)
	if err == nil && c.Verify {
		err = c.verify(ctx, t.source(src), t.sums)
	}
	if err == nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		err = t.commit()
	}
	return errors.Join(err, t.close())
}

// source returns the folder of the container that the names of a tree are relative to.
func (t *tree) source(src string) string {
	if t.single {
		parent, _ := splitPath(src)
		return parent
	}
	return programPath(src)
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
	err = c.untar(ctx, t, "", "-C", programPath(src), "--", ".")
	if exit := (*ExitError)(nil); errors.As(err, &exit) && len(t.made) == 0 {
		return c.untar(ctx, t, base, "-h", "-C", parent, "--", "./"+base)
	}
	return err
}

// untar runs tar with these arguments, and adds its entries to t.
func (c *copying) untar(ctx context.Context, t *tree, base string, args ...string) error {
	t.base, t.single = base, false
	begun, complete := false, false
	stderr, err := c.run(ctx, append([]string{"tar", "-c", "-f", "-"}, args...), nil, func(r io.Reader) error {
		err := readTar(r, func(e entry) error {
			if name, _ := entryName(e.name); base != "" && !begun && name == base {
				if e.kind == aLink {
					return errRootLink
				}
				t.single = e.kind == aFile
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
