package discovery

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// disk keeps answers in a folder: one file for each path, which is replaced as a whole. A file is the hex SHA-256 of what
// follows, a newline, a line of JSON, and the body; its time is when the answer was last known to be true. Whatever is not
// exactly so is a miss, and is replaced by the next answer.
type disk struct {
	dir    string
	server string
	trust  func(context.Context) (string, error) // by what the server is known
	max    int
	fail   func(error)
}

// stored is the line of JSON.
type stored struct {
	Server      string `json:"server"`
	Trust       string `json:"trust"`
	Path        string `json:"path"`
	ETag        string `json:"etag"`
	Hash        string `json:"hash"`
	ContentType string `json:"contentType"`
}

func (d disk) report(err error) {
	if d.fail != nil {
		d.fail(fmt.Errorf("discovery.Options.Dir: %w", err))
	}
}

func (d disk) file(p page) string {
	// A group's name has no slash, but could have what leads elsewhere on another system.
	return filepath.Join(d.dir, strings.ReplaceAll(url.QueryEscape(p.path[1:]), "%2F", "_")+".cache")
}

// private makes the folder if it is missing, and refuses one in which others may write, or that is another user's: what they
// write would be believed.
func (d disk) private() error {
	if err := os.MkdirAll(d.dir, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(d.dir)
	if err != nil {
		return err
	}
	if mode := info.Mode().Perm(); runtime.GOOS != "windows" && mode&0o022 != 0 {
		return fmt.Errorf("%q must not be writable by others, its mode is %o", d.dir, mode)
	}
	if !own(info) {
		return fmt.Errorf("%q must not be another user's", d.dir)
	}
	return nil
}

// read returns what is kept of p, if it can be used.
func (d disk) read(ctx context.Context, p page) *document {
	if d.dir == "" {
		return nil
	}
	doc, err := d.open(ctx, p)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		d.report(err)
	}
	if err != nil {
		return nil
	}
	return doc
}

func (d disk) open(ctx context.Context, p page) (*document, error) {
	at, is, body, err := d.load(p)
	if err != nil {
		return nil, err
	}
	switch mine, err := d.mine(ctx, is); {
	case err != nil:
		return nil, err
	case !mine: // it is replaced, as one that is old
		return nil, os.ErrNotExist
	}
	value, err := p.parse(is.ContentType, body)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", d.file(p), err)
	}
	return &document{value: value, etag: is.ETag, hash: is.Hash, at: at, short: shortLived(value)}, nil
}

// mine reports whether an answer is of the same server, and was believed for the same reason.
func (d disk) mine(ctx context.Context, is stored) (bool, error) {
	trust, err := d.trust(ctx)
	return is.Server == d.server && is.Trust == trust, err
}

// load returns what is in the file of p and when that was last known to be true.
func (d disk) load(p page) (at time.Time, is stored, body []byte, err error) {
	fail := func(err error) (time.Time, stored, []byte, error) { return time.Time{}, stored{}, nil, err }
	if err := d.private(); err != nil {
		return fail(err)
	}
	name := d.file(p)
	info, err := os.Lstat(name)
	if err != nil {
		return fail(err)
	}
	if !info.Mode().IsRegular() { // to open it could take forever
		return fail(fmt.Errorf("%q is not a file", name))
	}
	f, err := os.Open(name)
	if err != nil {
		return fail(err)
	}
	defer func() { _ = f.Close() }()
	if info, err = f.Stat(); err != nil {
		return fail(err)
	}
	if mode := info.Mode(); !mode.IsRegular() || runtime.GOOS != "windows" && mode.Perm()&0o022 != 0 || !own(info) {
		return fail(fmt.Errorf("%q must be a file of the user's own that others cannot write, its mode is %o", name, mode.Perm()))
	}
	all, err := io.ReadAll(io.LimitReader(f, int64(d.max)+1<<20))
	if err != nil {
		return fail(err)
	}
	sum, rest, _ := bytes.Cut(all, []byte("\n"))
	if want := sha256.Sum256(rest); string(sum) != hex.EncodeToString(want[:]) {
		return fail(fmt.Errorf("%q does not have its own checksum", name))
	}
	line, body, _ := bytes.Cut(rest, []byte("\n"))
	if err := json.Unmarshal(line, &is); err != nil {
		return fail(fmt.Errorf("%q: %w", name, err))
	}
	if is.Path != p.path {
		return fail(fmt.Errorf("%q is about %q, not %q", name, is.Path, p.path))
	}
	return info.ModTime(), is, body, nil
}

// write keeps an answer.
func (d disk) write(ctx context.Context, p page, doc *document, contentType string, body []byte) {
	if d.dir == "" {
		return
	}
	if err := d.replace(ctx, p, doc, contentType, body); err != nil {
		d.report(err)
	}
}

func (d disk) replace(ctx context.Context, p page, doc *document, contentType string, body []byte) (err error) {
	if err := d.private(); err != nil {
		return err
	}
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
	f, err := os.CreateTemp(d.dir, "new-*") // its mode is 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	_, err = f.Write(append([]byte(hex.EncodeToString(sum[:])+"\n"), content...))
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Chtimes(f.Name(), time.Time{}, doc.at); err != nil {
		return err
	}
	return os.Rename(f.Name(), d.file(p))
}

// touch notes that an answer is still true, unless another process has put another one there.
func (d disk) touch(ctx context.Context, p page, doc *document) {
	if d.dir == "" {
		return
	}
	_, is, _, err := d.load(p)
	if err == nil {
		var mine bool
		if mine, err = d.mine(ctx, is); err == nil && (!mine || is.ETag != doc.etag) {
			return
		}
	}
	if err == nil {
		err = os.Chtimes(d.file(p), time.Time{}, doc.at)
	}
	if err != nil {
		d.report(err)
	}
}
