package remote

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	internalconn "github.com/bowline-go/bowline/internal/conn"
	"github.com/bowline-go/bowline/internal/copyscript"
	"github.com/bowline-go/bowline/internal/shown"
)

// CopyOptions are the options of [CopyFrom], [CopyTo], [ReadFile] and [WriteFile].
type CopyOptions struct {
	// Container is the container. It may be empty if the pod has one; otherwise the server's error lists the
	// containers.
	Container string
	// Overwrite lets a copy replace files and links. Without it, a copy fails if one of its files or links is there
	// already, and errors.Is(err, fs.ErrExist) is true. In both cases a folder that is there gets the new files beside
	// its own, and nothing is replaced by something of the other kind: no folder by a file, and no file by a folder.
	Overwrite bool
	// Verify compares the SHA-256 of each file in the container with the one of the bytes that have been read or sent.
	// The container must have sh and sha256sum.
	Verify bool
	// LeaveOut leaves out symbolic links that may lead out of the copied folder, devices, pipes and sockets, and
	// CopyResult.LeftOut names them. Without it, the first one fails the copy.
	LeaveOut bool
	// AllowChanges accepts files that have changed while the tar of the container read them, as they were read. Without
	// it, they fail the copy. Only GNU tar says that they have.
	AllowChanges bool
	// OneFile says that the source of CopyFrom is one file, or a symbolic link to one. If it is a folder, or the
	// container says so, the copy fails. It must be false for the other functions.
	OneFile bool
	// Perm has the permissions of the file that WriteFile makes, such as 0o600. 0 leaves them to the container: 0o666
	// without its umask. It must be 0 for the other functions, which keep the permissions of files.
	Perm fs.FileMode
	// MaxBytes is how many bytes the files may have together; 0 means 10 GiB. More fail the copy.
	MaxBytes int64
	// MaxFiles is how many files, folders and links there may be together; 0 means 1,000,000. More fail the copy.
	MaxFiles int
	// Progress is called with the progress of the copy, at most ten times a second and once at the end of a copy that
	// succeeds: the name of the file that is being copied, with slashes and relative to the folder into which it is
	// copied, and empty at the end; how many files are copied, without folders and links; and the bytes of files,
	// including those of that file. No two calls are at the same time. The copy waits for it to return.
	Progress func(name string, files int, bytes int64)
}

// CopyResult says what has been copied. With an error, it is what had been copied before; a copy from a container keeps
// nothing of that, unless the failure came after all had arrived.
//
// The error matches an [*ExitError] if a program in the container has failed, a *client.OpError for the server's
// refusals and broken connections, a *client.UsageError for arguments that are wrong, and errors of package os or of
// the caller's Reader, Writer or FS. If one file, folder or link must not be copied, the error names it.
type CopyResult struct {
	// Files, Folders and Links count what has been copied. A hard link counts as a file.
	Files, Folders, Links int
	// Bytes counts the bytes of files.
	Bytes int64
	// Program is the program in the container that has done it: "tar", or "sh" with others such as cat and dd.
	Program string
	// LeftOut names what CopyOptions.LeaveOut has left out, at most the first 1000.
	LeftOut []string
	// Stderr is the end of what the program has written to its standard error although it has succeeded, at most 32
	// KiB, as it is. GNU tar says there which sockets it has left out.
	Stderr string
}

// copyError is the error of a copy that has failed.
type copyError struct {
	what   string
	before CopyResult
	kept   string // says what becomes of before
	err    error
}

func (e *copyError) Error() string {
	text := e.what + ": " + e.err.Error()
	if b := e.before; b.Files+b.Folders+b.Links > 0 || b.Bytes > 0 {
		text += fmt.Sprintf(" (after %d files, %d folders, %d links and %d bytes%s)", b.Files, b.Folders, b.Links, b.Bytes, e.kept)
	}
	return text
}

func (e *copyError) Unwrap() error { return e.err }

// entryError says that a file, folder or link must not be copied, or not with these options.
type entryError struct {
	name string // as the source has it
	err  error
}

// Error implements error. The text does not have the whole of a name that is long or has control characters.
func (e *entryError) Error() string {
	return brief(e.name) + ": " + shown.Text(e.err.Error())
}

// brief returns a name of a container for an error.
func brief(name string) string { return strconv.Quote(shown.Clean(name, 256)) }

func (e *entryError) Unwrap() error { return e.err }

const (
	defaultMaxBytes = 10 << 30
	defaultMaxFiles = 1_000_000
	// maxLeftOut is how many names CopyResult.LeftOut has.
	maxLeftOut = 1000
	// maxNames is how many bytes the names of a copy may have together, because memory has them.
	maxNames = 256 << 20
	// maxHeader is how many bytes of an archive may come between two entries. Package archive/tar reads up to 1 MiB
	// each for a long name, a long target and extended attributes.
	maxHeader = 4 << 20
	// progressInterval is the least time between two calls of CopyOptions.Progress.
	progressInterval = 100 * time.Millisecond
	// cleanUpTime is how long the removal of a temporary file in the container may take after a failure.
	cleanUpTime = 10 * time.Second
)

// copying is one copy.
type copying struct {
	CopyOptions
	command func(argv ...string) *Cmd
	nonce   string
	buffer  []byte
	counted int // of CopyOptions.MaxFiles
	// stream says that the copy reads from or writes to a stream of the caller, which may block for ever.
	stream bool

	mu     sync.Mutex // guards the rest, which a stream of the caller may reach when the copy has given it up
	over   bool
	result CopyResult
	now    progress
	told   time.Time // of the last call of Progress
}

// progress has the arguments of CopyOptions.Progress.
type progress struct {
	name  string
	files int
	bytes int64
}

// newCopying returns the copy that an exported function makes.
func newCopying[T meta.Object](pods client.Resource[T], key meta.Key, o CopyOptions) *copying {
	return &copying{
		CopyOptions: o,
		command: func(argv ...string) *Cmd {
			c := Command(pods, key, argv...)
			c.Container = o.Container
			return c
		},
		nonce:  rand.Text(),
		buffer: make([]byte, 64<<10),
	}
}

// validate checks the options, and completes them.
func (c *copying) validate(name, path string, perm bool) error {
	switch {
	case path == "":
		return fmt.Errorf("remote.%s: the name in the container must not be empty", name)
	case strings.ContainsRune(path, 0):
		return fmt.Errorf("remote.%s: the name in the container must have no zero byte, got %q", name, path)
	case c.MaxBytes < 0:
		return fmt.Errorf("remote.CopyOptions: MaxBytes must be 0 or more, got %d", c.MaxBytes)
	case c.MaxFiles < 0:
		return fmt.Errorf("remote.CopyOptions: MaxFiles must be 0 or more, got %d", c.MaxFiles)
	case c.OneFile && name != "CopyFrom":
		return fmt.Errorf("remote.CopyOptions: OneFile is for CopyFrom, and must be false for %s", name)
	case c.Perm&^fs.ModePerm != 0:
		return fmt.Errorf("remote.CopyOptions: Perm must have permissions alone, got %v", c.Perm)
	case c.Perm != 0 && !perm:
		return fmt.Errorf("remote.CopyOptions: Perm is for WriteFile, and must be 0 for %s, got %v", name, c.Perm)
	}
	c.MaxBytes, c.MaxFiles = cmp.Or(c.MaxBytes, defaultMaxBytes), cmp.Or(c.MaxFiles, defaultMaxFiles)
	return nil
}

// done returns the results of an exported function.
func (c *copying) done(what string, kept string, err error) (CopyResult, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	if err != nil {
		return c.result, &copyError{what: what + " " + c.command("").place(), before: c.result, kept: kept, err: err}
	}
	if c.Progress != nil {
		c.Progress("", c.now.files, c.now.bytes)
	}
	return c.result, nil
}

// place names the container for errors.
func (c *Cmd) place() string {
	if c.Container == "" {
		return "pod " + c.key.String()
	}
	return "pod " + c.key.String() + ", container " + c.Container
}

// programPath returns a name in the container that no program takes for an option.
func programPath(name string) string {
	if strings.HasPrefix(name, "-") {
		return "./" + name
	}
	return name
}

// splitPath splits the name of a file or folder for "tar -C parent ./base". Base is empty if the name can only be one
// of a folder.
func splitPath(name string) (parent, base string) {
	i := strings.LastIndexByte(name, '/')
	parent, base = name[:i+1], name[i+1:]
	switch {
	case base == "" || base == "." || base == "..":
		return programPath(name), ""
	case parent == "":
		return ".", base
	}
	return programPath(parent), base
}

// count counts an entry, and says if there are too many.
func (c *copying) count(n *int) error {
	if c.counted++; c.counted > c.MaxFiles {
		return fmt.Errorf("there are more than %d files, folders and links (CopyOptions.MaxFiles)", c.MaxFiles)
	}
	*n++
	return nil
}

// room says if a file is too large.
func (c *copying) room(size int64) error {
	if size < 0 {
		return fmt.Errorf("its size is %d", size)
	}
	if size > c.MaxBytes-c.result.Bytes {
		return fmt.Errorf("the files have more than %d bytes (CopyOptions.MaxBytes)", c.MaxBytes)
	}
	return nil
}

// leaveOut notes what CopyOptions.LeaveOut leaves out; without it, it returns why.
func (c *copying) leaveOut(name string, why error) error {
	if !c.LeaveOut {
		return &entryError{name, why}
	}
	if len(c.result.LeftOut) < maxLeftOut {
		c.result.LeftOut = append(c.result.LeftOut, name)
	}
	return nil
}

var errShrunk = errors.New("it became shorter while it was read")

// carry copies size bytes of a file, or all that there are if size is negative, and tells of the progress.
func (c *copying) carry(w io.Writer, r io.Reader, name string, size int64) error {
	c.now.name = name
	if size < 0 {
		n, err := io.CopyBuffer(&tell{c, w}, io.LimitReader(r, c.MaxBytes), c.buffer)
		if err != nil || n < c.MaxBytes {
			return err
		}
		if _, err = io.ReadFull(r, c.buffer[:1]); err == nil {
			return c.room(1)
		} else if err == io.EOF {
			return nil
		}
		return err
	}
	n, err := io.CopyBuffer(&tell{c, w}, io.LimitReader(r, size), c.buffer)
	if err == nil && n < size {
		err = errShrunk
	}
	return err
}

// tell is a Writer that counts and tells of the progress.
type tell struct {
	c *copying
	w io.Writer
}

func (t *tell) Write(p []byte) (int, error) {
	n, err := t.w.Write(p)
	t.c.add(n)
	return n, err
}

// add counts bytes, and calls Progress unless it has just been called.
func (c *copying) add(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return
	}
	c.result.Bytes += int64(n)
	c.now.bytes += int64(n)
	if c.Progress == nil || time.Since(c.told) < progressInterval {
		return
	}
	c.Progress(c.now.name, c.now.files, c.now.bytes)
	c.told = time.Now()
}

// run runs a program in the container. Send, if there is one, writes the program's input, and take reads its output;
// each in a goroutine of its own. An error of theirs ends the program, but if its output or input only ends early, the
// program says why.
//
// The goroutines have ended when run returns, unless the copy is one of a stream that blocks: then nothing is left but
// the call that blocks.
func (c *copying) run(ctx context.Context, argv []string, send func(w io.Writer) error, take func(r io.Reader) error) (stderr string, err error) {
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := c.command(argv...)
	var mu sync.Mutex // guards end
	var end tail
	cmd.Stderr = &locked{&mu, &end}
	sent, taken := make(chan error, 1), make(chan error, 1)
	var input *io.PipeReader
	if send == nil {
		sent <- nil
	} else {
		var w *io.PipeWriter
		input, w = io.Pipe()
		cmd.Stdin = input
		go func() {
			err := send(w)
			sent <- err               // before the program can see the end
			_ = w.CloseWithError(err) // nil is the end of the input
		}()
	}
	output, w := io.Pipe()
	cmd.Stdout = w
	go func() {
		err := take(output)
		taken <- err
		if err != nil && !early(err) {
			cancel()
		}
		_ = output.CloseWithError(errTaken)
	}()
	err = cmd.Run(running)
	_ = w.Close()
	if input != nil {
		_ = input.CloseWithError(errTaken)
	}
	sendErr, takeErr := errTaken, error(nil)
	if c.stream {
		select {
		case sendErr = <-sent:
		default:
		}
		select {
		case takeErr = <-taken:
		case <-ctx.Done():
			takeErr = internalconn.ContextError(ctx)
		}
	} else {
		sendErr, takeErr = <-sent, <-taken
	}
	mu.Lock()
	defer mu.Unlock()
	exit := (*ExitError)(nil)
	if errors.As(err, &exit) {
		exit.Stderr = end.kept
	}
	stderr = strings.TrimSpace(string(end.kept))
	switch {
	case sendErr != nil && !errors.Is(sendErr, errTaken):
		return stderr, sendErr
	case takeErr != nil && !early(takeErr) && !errors.Is(takeErr, errTaken):
		return stderr, takeErr
	case exit != nil && stderr != "":
		return stderr, fmt.Errorf("%w: %s", err, shown.Text(stderr))
	case err != nil:
		return stderr, err
	case sendErr != nil:
		return stderr, errors.New("the program has ended before it had read all of its input")
	}
	return stderr, takeErr
}

// errTaken is the error of writes to a program that has ended.
var errTaken = errors.New("the program has ended")

// early reports whether the output of a program has ended too early.
func early(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) }

// discard takes an output that nobody needs.
func discard(r io.Reader) error {
	_, err := io.Copy(io.Discard, r)
	return err
}

// script runs a script of package copyscript. Its arguments are for it alone.
func script(text string, args ...string) []string {
	return append([]string{"sh", "-c", text, "sh"}, args...)
}

// sum is a file and its SHA-256.
type sum struct {
	name string
	sum  [sha256.Size]byte
}

// explained gives the error of a script its reason.
func explained(err error) error {
	if exit := (*ExitError)(nil); errors.As(err, &exit) && exit.Code == copyscript.Exists {
		return &existsError{err}
	}
	return err
}

// existsError is an error of the container that means fs.ErrExist.
type existsError struct{ error }

func (e *existsError) Unwrap() []error { return []error{e.error, fs.ErrExist} }
