package remote

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"strconv"
	"strings"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/copyscript"
)

// ReadFile writes a file of a container to w. It follows a symbolic link. The file may have no size, such as one in
// /proc. The container must have sh and cat.
//
// If the error is nil, w has received the whole file. Otherwise w has received the beginning of the file, and
// CopyResult.Bytes is its size; if the verification failed (CopyOptions.Verify), the bytes may be wrong. At the end of
// ctx, ReadFile does not wait for a blocked Write.
//
// See [CopyResult] for the error.
func ReadFile[T meta.Object](ctx context.Context, pods client.Resource[T], key meta.Key, name string, w io.Writer, o CopyOptions) (CopyResult, error) {
	c := newCopying(pods, key, o)
	return c.done(fmt.Sprintf("copy %q from", name), "", c.readFile(ctx, name, w))
}

func (c *copying) readFile(ctx context.Context, name string, w io.Writer) error {
	if err := c.validate("ReadFile", name, false); err != nil {
		return usage(err)
	}
	if w == nil {
		return usage(errors.New("remote.ReadFile: w must not be nil"))
	}
	c.stream = true
	file := sum{name: name}
	var all hash.Hash
	if c.Verify {
		all = sha256.New()
		w = io.MultiWriter(w, all)
	}
	_, err := c.run(ctx, script(copyscript.Read(), programPath(name), c.nonce), nil, func(r io.Reader) error {
		return c.carry(w, &marked{r: r, nonce: c.nonce}, name, -1)
	})
	if isMissing("sh", err) {
		return fmt.Errorf("the container has no sh: %w", err)
	}
	if err != nil {
		return err
	}
	c.result.Files, c.result.Program, c.now.files = 1, "sh", 1
	if c.Verify {
		all.Sum(file.sum[:0])
		parent, base := splitPath(name)
		file.name = base
		c.stream = false // verify uses no stream of the caller, so run waits for its goroutines
		return c.verify(ctx, parent, []sum{file})
	}
	return nil
}

// marked reads an output that ends with the nonce, and strips the nonce.
type marked struct {
	r     io.Reader
	nonce string
	held  []byte // read ahead, because its end may be the nonce
}

func (m *marked) Read(p []byte) (int, error) {
	for len(m.held) <= len(m.nonce) {
		part := make([]byte, 32<<10)
		n, err := m.r.Read(part)
		m.held = append(m.held, part[:n]...)
		switch {
		case err == io.EOF && string(m.held) == m.nonce:
			return 0, io.EOF
		case err == io.EOF:
			return 0, fmt.Errorf("the output is incomplete: %w", io.ErrUnexpectedEOF)
		case err != nil:
			return 0, err
		}
	}
	n := copy(p, m.held[:len(m.held)-len(m.nonce)])
	m.held = m.held[n:]
	return n, nil
}

// WriteFile makes a file in a container from r, which it reads to io.EOF. The file's folder must exist. The file must
// not exist unless CopyOptions.Overwrite is set, which replaces a symbolic link itself and not its target. The
// container must have sh, cat, wc, mv and rm, and chmod for CopyOptions.Perm.
//
// WriteFile writes a temporary file in the same folder, whose name begins with ".bowline-", and renames it once the
// container has confirmed the number of bytes. If WriteFile returns an error, the file is unchanged, unless the
// connection broke during the renaming. After an error it removes the temporary file if it can, which takes up to 10 s.
// At the end of ctx, it does not wait for a blocked Read.
//
// See [CopyResult] for the error.
func WriteFile[T meta.Object](ctx context.Context, pods client.Resource[T], key meta.Key, name string, r io.Reader, o CopyOptions) (CopyResult, error) {
	c := newCopying(pods, key, o)
	return c.done(fmt.Sprintf("copy %q to", name), "", c.writeFile(ctx, name, r))
}

func (c *copying) writeFile(ctx context.Context, name string, r io.Reader) error {
	if err := c.validate("WriteFile", name, true); err != nil {
		return usage(err)
	}
	parent, base := splitPath(name)
	if base == "" {
		return usage(fmt.Errorf("remote.WriteFile: the name must be that of a file, got %q", name))
	}
	if r == nil {
		return usage(errors.New("remote.WriteFile: r must not be nil"))
	}
	c.stream = true
	temporary := strings.TrimSuffix(parent, "/") + "/.bowline-" + c.nonce
	err := c.write(ctx, temporary, programPath(name), r)
	switch {
	case isMissing("sh", err):
		return fmt.Errorf("the container has no sh: %w", err)
	case err != nil && !errors.As(err, new(*ExitError)) && !errors.As(err, new(*apierrors.StatusError)):
		c.remove(ctx, temporary) // after an ExitError or a refusal there is no file: a script that fails removes it
	}
	return err
}

func (c *copying) write(ctx context.Context, temporary, name string, r io.Reader) error {
	var all hash.Hash
	verify := "0"
	if c.Verify {
		verify = "1"
	}
	var said bytes.Buffer
	ready := make(chan bool, 1) // receives whether the script is ready for the input
	_, err := c.run(ctx, script(copyscript.Write(), temporary, name, c.replace(), verify),
		func(w io.Writer) error {
			if !<-ready {
				return errTaken
			}
			if c.Verify {
				all = sha256.New()
				w = io.MultiWriter(w, all)
			}
			return c.carry(w, r, name, -1)
		},
		func(r io.Reader) error {
			in := bufio.NewReader(r)
			line, err := in.ReadString('\n')
			ready <- line == "ready\n"
			if err == nil {
				_, err = io.Copy(&said, io.LimitReader(in, 1<<10))
			}
			if err == nil {
				err = padding(in)
			}
			return err
		})
	if err != nil {
		return explained(err)
	}
	in := bufio.NewReader(&said)
	line, err := in.ReadString('\n')
	if got, bad := strconv.ParseInt(strings.TrimSpace(line), 10, 64); err != nil || bad != nil || got != c.result.Bytes {
		return fmt.Errorf("the container must report that it received %d bytes, got %q", c.result.Bytes, strings.TrimSpace(line))
	}
	if c.Verify {
		file := sum{name: name}
		all.Sum(file.sum[:0])
		line, err := sumLine(in)
		if err == nil {
			err = file.check(line)
		}
		if err != nil {
			return fmt.Errorf("verify: %w", &entryError{name, err})
		}
	}
	mode := ""
	if c.Perm != 0 {
		mode = strconv.FormatUint(uint64(c.Perm), 8)
	}
	if _, err := c.run(ctx, script(copyscript.Commit(), temporary, name, c.replace(), mode), nil, discard); err != nil {
		return explained(err)
	}
	c.result.Files, c.result.Program, c.now.files = 1, "sh", 1
	return nil
}

// remove removes a temporary file after a failure. It ignores its own error, because the first error says more.
func (c *copying) remove(ctx context.Context, temporary string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTime)
	defer cancel()
	_, _ = c.run(ctx, script(copyscript.Remove(), temporary), nil, discard)
}
