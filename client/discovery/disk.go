package discovery

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bowline-go/bowline/internal/conn"
	"github.com/bowline-go/bowline/internal/regular"
)

// disk keeps answers in a folder: one file for each path, which is replaced as a whole. A file has a line with the hex
// SHA-256 of everything after that line, a line of JSON, and the body of the answer. The modification time of the file
// is when the answer was last known to be true. A file of any other form is a miss, and the next answer replaces it.
type disk struct {
	dir    string
	server string
	trust  func(context.Context) (string, error) // says how the client verifies the server
	max    int
	fail   func(error)
	held   *atomic.Int32     // system calls that were abandoned
	enter  func(work func()) // calls work; set only in tests
}

// diskPatience is how long a call waits for the folder. It is short, because the file would only save one request.
const diskPatience = 5 * time.Second

// errHeld is the reason not to use a folder that does not answer.
var errHeld = errors.New("the system does not answer; it may be on a network mount whose server is gone")

// await runs work, which does nothing but use files, on a separate goroutine, and waits for it until ctx ends or
// diskPatience passes. System calls cannot be cancelled: an abandoned goroutine ends when the system answers, and until
// then the folder is not used, so no further goroutine gets stuck.
func await[R any](ctx context.Context, d disk, work func() (R, error)) (result R, err error) {
	if d.held.Load() > 0 {
		return result, errHeld
	}
	type answer struct {
		result R
		err    error
	}
	got := make(chan answer, 1)
	enter := d.enter
	if enter == nil {
		enter = func(work func()) { work() }
	}
	go enter(func() {
		result, err := work()
		got <- answer{result, err}
	})
	timer := time.NewTimer(diskPatience)
	defer timer.Stop()
	select {
	case a := <-got:
		return a.result, a.err
	case <-timer.C:
		err = errHeld
	case <-ctx.Done():
		err = conn.ContextError(ctx)
	}
	d.held.Add(1)
	go func() {
		<-got
		d.held.Add(-1)
	}()
	return result, err
}

// stored is the line of JSON in a file.
type stored struct {
	Server      string `json:"server"`
	Trust       string `json:"trust"`
	Path        string `json:"path"`
	ETag        string `json:"etag"`
	Hash        string `json:"hash"`
	ContentType string `json:"contentType"`
}

// report passes on the reason why the folder could not be used. It does not if ctx has ended, because that may be the
// only reason.
func (d disk) report(ctx context.Context, err error) {
	if d.fail != nil && ctx.Err() == nil {
		d.fail(fmt.Errorf("discovery.Options.Dir: %w", err))
	}
}

func (d disk) file(p page) string {
	// A group's name has no slash, but may contain characters that are path separators on other systems.
	return filepath.Join(d.dir, strings.ReplaceAll(url.QueryEscape(p.path[1:]), "%2F", "_")+".cache")
}

// private creates the folder if it is missing. It refuses a folder that others may write or that another user owns,
// because the Catalog would trust answers that they put there.
func (d disk) private() error {
	if err := os.MkdirAll(d.dir, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(d.dir)
	if err != nil {
		return err
	}
	if mode := info.Mode().Perm(); runtime.GOOS != "windows" && mode&0o022 != 0 {
		return fmt.Errorf("%q must not be writable by others, got mode %o", d.dir, mode)
	}
	if !regular.Owned(info) {
		return fmt.Errorf("%q must belong to this user", d.dir)
	}
	return nil
}

// read returns the stored answer of p, if it can be used.
func (d disk) read(ctx context.Context, p page) *document {
	if d.dir == "" {
		return nil
	}
	doc, err := d.open(ctx, p)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		d.report(ctx, err)
	}
	if err != nil {
		return nil
	}
	return doc
}

func (d disk) open(ctx context.Context, p page) (*document, error) {
	f, err := await(ctx, d, func() (file, error) { return d.load(p) })
	if err != nil {
		return nil, err
	}
	switch mine, err := d.mine(ctx, f.is); {
	case err != nil:
		return nil, err
	case !mine: // the next answer replaces the file, as it replaces an old one
		return nil, os.ErrNotExist
	}
	value, err := p.parse(f.is.ContentType, f.body)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", d.file(p), err)
	}
	return &document{value: value, etag: f.is.ETag, hash: f.is.Hash, at: f.at, short: shortLived(value)}, nil
}

// mine reports whether an answer came from the same server, verified in the same way.
func (d disk) mine(ctx context.Context, is stored) (bool, error) {
	trust, err := d.trust(ctx)
	return is.Server == d.server && is.Trust == trust, err
}

// file is the content of a file.
type file struct {
	at   time.Time // when the answer was last known to be true
	is   stored
	body []byte
}

// load reads the file of p.
func (d disk) load(p page) (file, error) {
	fail := func(err error) (file, error) { return file{}, err }
	if err := d.private(); err != nil {
		return fail(err)
	}
	name := d.file(p)
	info, err := os.Lstat(name)
	if err != nil {
		return fail(err)
	}
	if !info.Mode().IsRegular() { // a symbolic link is refused
		return fail(fmt.Errorf("%q must be a regular file", name))
	}
	all, info, err := regular.Read(name, d.max+1<<20)
	if err != nil {
		return fail(err)
	}
	if mode := info.Mode(); runtime.GOOS != "windows" && mode.Perm()&0o022 != 0 || !regular.Owned(info) {
		return fail(fmt.Errorf("%q must belong to this user and not be writable by others, got mode %o", name, mode.Perm()))
	}
	sum, rest, _ := bytes.Cut(all, []byte("\n"))
	if want := sha256.Sum256(rest); string(sum) != hex.EncodeToString(want[:]) {
		return fail(fmt.Errorf("%q is damaged: its checksum does not match", name))
	}
	f := file{at: info.ModTime()}
	line, body, _ := bytes.Cut(rest, []byte("\n"))
	if err := json.Unmarshal(line, &f.is); err != nil {
		return fail(fmt.Errorf("%q: %w", name, err))
	}
	if f.is.Path != p.path {
		return fail(fmt.Errorf("%q has the answer for %q, not for %q", name, f.is.Path, p.path))
	}
	f.body = body
	return f, nil
}

// write stores an answer.
func (d disk) write(ctx context.Context, p page, doc *document, contentType string, body []byte) {
	if d.dir == "" {
		return
	}
	if err := d.replace(ctx, p, doc, contentType, body); err != nil {
		d.report(ctx, err)
	}
}

func (d disk) replace(ctx context.Context, p page, doc *document, contentType string, body []byte) error {
	trust, err := d.trust(ctx)
	if err != nil {
		return err
	}
	line, err := json.Marshal(stored{Server: d.server, Trust: trust, Path: p.path, ETag: doc.etag, Hash: doc.hash, ContentType: contentType})
	if err != nil {
		return err
	}
	content := bytes.Join([][]byte{line, body}, []byte("\n"))
	sum := sha256.Sum256(content)
	content = append([]byte(hex.EncodeToString(sum[:])+"\n"), content...)
	at := doc.at
	_, err = await(ctx, d, func() (struct{}, error) { return struct{}{}, d.put(p, content, at) })
	return err
}

// put replaces the file of p by a new one.
func (d disk) put(p page, content []byte, at time.Time) (err error) {
	if err := d.private(); err != nil {
		return err
	}
	f, err := os.CreateTemp(d.dir, "new-*") // CreateTemp makes it with mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	_, err = f.Write(content)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Chtimes(f.Name(), time.Time{}, at); err != nil {
		return err
	}
	return os.Rename(f.Name(), d.file(p))
}

// touch records that an answer is still true, unless another process has stored a different answer.
func (d disk) touch(ctx context.Context, p page, doc *document) {
	if d.dir == "" {
		return
	}
	f, err := await(ctx, d, func() (file, error) { return d.load(p) })
	if err == nil {
		var mine bool
		if mine, err = d.mine(ctx, f.is); err == nil && (!mine || f.is.ETag != doc.etag) {
			return
		}
	}
	if at := doc.at; err == nil {
		_, err = await(ctx, d, func() (struct{}, error) { return struct{}{}, os.Chtimes(d.file(p), time.Time{}, at) })
	}
	if err != nil {
		d.report(ctx, err)
	}
}
