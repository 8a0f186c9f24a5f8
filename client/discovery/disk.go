package discovery

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	dir  string
	max  int
	fail func(error)
}

// stored is the line of JSON.
type stored struct {
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
	return filepath.Join(d.dir, strings.ReplaceAll(strings.Trim(p.path, "/"), "/", "_")+".cache")
}

// private makes the folder if it is missing, and refuses one in which others may write: what they write would be believed.
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
	return nil
}

// read returns what is kept of p, if it can be used.
func (d disk) read(p page) *document {
	if d.dir == "" {
		return nil
	}
	doc, err := d.open(p)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		d.report(err)
	}
	if err != nil {
		return nil
	}
	return doc
}

func (d disk) open(p page) (*document, error) {
	if err := d.private(); err != nil {
		return nil, err
	}
	name := d.file(p)
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%q is not a file", name)
	}
	all, err := io.ReadAll(io.LimitReader(f, int64(d.max)+1<<20))
	if err != nil {
		return nil, err
	}
	sum, rest, _ := bytes.Cut(all, []byte("\n"))
	if want := sha256.Sum256(rest); string(sum) != hex.EncodeToString(want[:]) {
		return nil, fmt.Errorf("%q does not have its own checksum", name)
	}
	line, body, _ := bytes.Cut(rest, []byte("\n"))
	var is stored
	if err := json.Unmarshal(line, &is); err != nil {
		return nil, fmt.Errorf("%q: %w", name, err)
	}
	if is.Path != p.path {
		return nil, fmt.Errorf("%q is about %q, not %q", name, is.Path, p.path)
	}
	value, err := p.parse(is.ContentType, body)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", name, err)
	}
	return &document{value: value, etag: is.ETag, hash: is.Hash, at: info.ModTime(), short: shortLived(value)}, nil
}

// write keeps an answer.
func (d disk) write(p page, doc *document, contentType string, body []byte) {
	if d.dir == "" {
		return
	}
	if err := d.replace(p, doc, contentType, body); err != nil {
		d.report(err)
	}
}

func (d disk) replace(p page, doc *document, contentType string, body []byte) (err error) {
	if err := d.private(); err != nil {
		return err
	}
	line, err := json.Marshal(stored{Path: p.path, ETag: doc.etag, Hash: doc.hash, ContentType: contentType})
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

// touch notes that an answer is still true.
func (d disk) touch(p page, doc *document) {
	if d.dir == "" {
		return
	}
	if err := os.Chtimes(d.file(p), time.Time{}, doc.at); err != nil {
		d.report(err)
	}
}
