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
	// Container is the name of the container. It may be empty if the pod has only one; otherwise the server returns an
	// error that lists them.
	Container string
	// Overwrite lets a copy replace files and links. Without it, a copy fails with an error that matches fs.ErrExist if
	// one of its files or links already exists. In both cases new files are added to an existing folder, and no folder
	// is replaced by a file and no file by a folder.
	Overwrite bool
	// Verify compares the SHA-256 of each file in the container with that of the bytes read or sent. The container must
	// have sh and sha256sum.
	Verify bool
	// LeaveOut skips symbolic links that may lead out of the copied folder, devices, pipes and sockets, and
	// CopyResult.LeftOut names them. Without LeaveOut, the copy fails at the first of them.
	LeaveOut bool
	// AllowChanges accepts files that changed while the container's tar read them; the copy has the bytes that tar
	// read. Without AllowChanges, such a file fails the copy. Only GNU tar reports such changes.
	AllowChanges bool
	// OneFile states that the source of CopyFrom is one file, or a symbolic link to one. If the container sends a
	// folder, the copy fails. It must be false for the other functions.
	OneFile bool
	// Perm is the permissions of the file that WriteFile makes, such as 0o600. 0 means 0o666 without the bits of the
	// container's umask. It must be 0 for the other functions, which keep the permissions of files.
	Perm fs.FileMode
	// MaxBytes bounds the total size of the files, in bytes; 0 means 10 GiB. A larger copy fails.
	MaxBytes int64
	// MaxFiles bounds the number of files, folders and links together; 0 means 1,000,000. A larger copy fails.
	MaxFiles int
	// Progress is called at most ten times a second, and once at the end of a copy that succeeds. name is the file
	// being copied, with slashes and relative to the destination folder; it is empty at the end. files is the number of
	// copied files, without folders and links. bytes is the number of copied bytes, including those of the current
	// file. Calls never overlap, and the copy waits for each to return.
	Progress func(name string, files int, bytes int64)
}

// CopyResult describes what was copied. With an error, it describes what was copied before the failure; CopyFrom keeps
// nothing of that, unless the failure came after everything had arrived.
//
// The error matches:
//
//   - an [*ExitError] if a program in the container failed;
//   - a *client.OpError if the server refused the request or the connection broke;
//   - a *client.UsageError if an argument is invalid;
//   - otherwise an error of package os, or of the caller's Reader, Writer or FS.
//
// If one file, folder or link must not be copied, the error names it.
type CopyResult struct {
	// Files, Folders and Links count the copied entries. A hard link counts as a file.
	Files, Folders, Links int
	// Bytes is the total size of the copied files.
	Bytes int64
	// Program is the program in the container that made the copy: "tar", or "sh", which uses others such as cat and dd.
	Program string
	// LeftOut names the entries that CopyOptions.LeaveOut skipped, at most the first 1000.
	LeftOut []string
	// Stderr is the end of the standard error of a program that succeeded, at most 32 KiB, without white space around
	// it and otherwise unaltered. GNU tar names there the sockets that it skipped.
	Stderr string
}

// copyError is the error of a failed copy.
type copyError struct {
	what   string
	before CopyResult
	kept   string // the last words of the text that describes before
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

// entryError says that a file, folder or link cannot be copied, or cannot be copied with these options.
type entryError struct {
	name string // as in the source
	err  error
}

// Error implements error. It shortens a long name and quotes control characters.
func (e *entryError) Error() string {
	return brief(e.name) + ": " + shown.Text(e.err.Error())
}

// brief quotes a name from a container for an error, cleaned and at most 256 bytes long.
func brief(name string) string { return strconv.Quote(shown.Clean(name, 256)) }

func (e *entryError) Unwrap() error { return e.err }

const (
	defaultMaxBytes = 10 << 30
	defaultMaxFiles = 1_000_000
	// maxLeftOut bounds the number of names in CopyResult.LeftOut.
	maxLeftOut = 1000
	// maxNames bounds the total length of the names of a copy, in bytes, because they are kept in memory.
	maxNames = 256 << 20
	// maxHeader bounds the bytes of an archive between two entries. Package archive/tar reads up to 1 MiB each for a
	// long name, a long target and extended attributes.
	maxHeader = 4 << 20
	// progressInterval is the minimum time between two calls of CopyOptions.Progress.
	progressInterval = 100 * time.Millisecond
	// cleanUpTime bounds the removal of a temporary file in the container after a failure.
	cleanUpTime = 10 * time.Second
)

// copying is one copy.
type copying struct {
	CopyOptions
	command func(argv ...string) *Cmd
	nonce   string
	buffer  []byte
	counted int // entries, for CopyOptions.MaxFiles
	// stream is whether the copy uses the caller's Reader or Writer, which may block for ever.
	stream bool

	// mu guards the fields below. A goroutine that run left behind in the caller's Reader or Writer may still use them.
	mu     sync.Mutex
	over   bool
	result CopyResult
	now    progress
	told   time.Time // when Progress was last called
}

// progress is the arguments of CopyOptions.Progress.
type progress struct {
	name  string
	files int
	bytes int64
}

// newCopying returns a copy that is not started yet.
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

// validate checks the options and sets their defaults. perm is whether Perm may be set.
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
		return fmt.Errorf("remote.CopyOptions: Perm must have only permission bits, got %v", c.Perm)
	case c.Perm != 0 && !perm:
		return fmt.Errorf("remote.CopyOptions: Perm is for WriteFile, and must be 0 for %s, got %v", name, c.Perm)
	}
	c.MaxBytes, c.MaxFiles = cmp.Or(c.MaxBytes, defaultMaxBytes), cmp.Or(c.MaxFiles, defaultMaxFiles)
	return nil
}

// done ends the copy and returns the results of the exported function. The error says what was copied before it; kept
// is the end of that text.
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

// programPath returns name in a form that no program interprets as an option.
func programPath(name string) string {
	if strings.HasPrefix(name, "-") {
		return "./" + name
	}
	return name
}

// splitPath splits the name of a file or folder for "tar -C parent ./base". base is empty if only a folder can have the
// name.
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

// count counts an entry in n, and returns an error if there are too many.
func (c *copying) count(n *int) error {
	if c.counted++; c.counted > c.MaxFiles {
		return fmt.Errorf("there are more than %d files, folders and links (CopyOptions.MaxFiles)", c.MaxFiles)
	}
	*n++
	return nil
}

// room returns an error if a file of this size exceeds MaxBytes.
func (c *copying) room(size int64) error {
	if size < 0 {
		return fmt.Errorf("its size must not be negative, got %d", size)
	}
	if size > c.MaxBytes-c.result.Bytes {
		return fmt.Errorf("the files have more than %d bytes (CopyOptions.MaxBytes)", c.MaxBytes)
	}
	return nil
}

// leaveOut records an entry that CopyOptions.LeaveOut skips. Without that option it returns why the entry cannot be
// copied.
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

// carry copies size bytes of a file, or all of it if size is negative, and reports the progress.
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

// tell is a Writer that counts the bytes and reports the progress.
type tell struct {
	c *copying
	w io.Writer
}

func (t *tell) Write(p []byte) (int, error) {
	n, err := t.w.Write(p)
	t.c.add(n)
	return n, err
}

// add counts bytes, and calls Progress unless the last call was less than progressInterval ago.
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

// run runs a program in the container. send, if it is not nil, writes the program's input, and take reads its output,
// each in its own goroutine. If one of them fails, run ends the program and returns that error. If the output or input
// merely ends early, run returns the program's own error instead.
//
// Both goroutines have ended when run returns, except if c.stream is set and a call of the caller's Reader or Writer
// blocks: that goroutine ends with the call.
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
			sent <- err               // before the input ends, so that run finds the result
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
	exit, ended := errors.AsType[*ExitError](err)
	if ended {
		exit.Stderr = end.kept
	}
	stderr = strings.TrimSpace(string(end.kept))
	switch {
	case sendErr != nil && !errors.Is(sendErr, errTaken):
		return stderr, sendErr
	case takeErr != nil && !early(takeErr) && !errors.Is(takeErr, errTaken):
		return stderr, takeErr
	case ended && stderr != "":
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

// early reports whether err means that a program's output ended too early.
func early(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) }

// discard reads an output to its end and drops it.
func discard(r io.Reader) error {
	_, err := io.Copy(io.Discard, r)
	return err
}

// script returns the argv that runs a script of package copyscript with args.
func script(text string, args ...string) []string {
	return append([]string{"sh", "-c", text, "sh"}, args...)
}

// sum is a file and its SHA-256.
type sum struct {
	name string
	sum  [sha256.Size]byte
}

// explained makes an ExitError with the code copyscript.Exists match fs.ErrExist.
func explained(err error) error {
	if exit, ok := errors.AsType[*ExitError](err); ok && exit.Code == copyscript.Exists {
		return &existsError{err}
	}
	return err
}

// existsError is an error from the container that matches fs.ErrExist.
type existsError struct{ error }

func (e *existsError) Unwrap() []error { return []error{e.error, fs.ErrExist} }
