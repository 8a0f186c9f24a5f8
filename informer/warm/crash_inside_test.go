package warm

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
)

// note is an object of the tests.
type note struct {
	meta.Identity `json:"metadata"`
	Text          string `json:"text"`
}

// content has n objects with these texts.
func content(version string, n int, text string) informer.Content {
	return informer.Content{Version: version, Objects: func(yield func(meta.Identity, meta.Object) bool) {
		for i := range n {
			id := meta.Identity{Namespace: "default", Name: fmt.Sprint("n", i), UID: fmt.Sprint("u", i), ResourceVersion: fmt.Sprint(i + 1)}
			if !yield(id, &note{Identity: id, Text: text}) {
				return
			}
		}
	}}
}

var errFault = errors.New("the disk fails")

// inode is a file on a disk that may lose what was not synced.
type inode struct {
	data   []byte
	synced int // so much of data survives a crash
}

// fragile is a disk in memory on which a crash, or an error, happens after a number of steps: each byte of a write is
// one, and each other operation.
type fragile struct {
	left    int  // steps before the fault
	crashes bool // the fault is a crash, a panic; otherwise the step returns an error, and the next ones work
	over    bool // the fault has happened
	names   map[string]*inode
	durable map[string]*inode // the names that survive a crash; the others may
}

// crash is the value of the panic.
type crash struct{}

func (d *fragile) step() error {
	if d.left > 0 || d.over {
		d.left--
		return nil
	}
	d.over = true
	if d.crashes {
		panic(crash{})
	}
	return errFault
}

type handle struct {
	d    *fragile
	name string
	*inode
}

func (d *fragile) create(dir, _ string) (output, error) {
	if err := d.step(); err != nil {
		return nil, err
	}
	h := &handle{d, filepath.Join(dir, "unfinished"), &inode{}}
	d.names[h.name] = h.inode
	return h, nil
}

func (d *fragile) rename(from, to string) error {
	if err := d.step(); err != nil {
		return err
	}
	d.names[to] = d.names[from]
	delete(d.names, from)
	return nil
}

func (d *fragile) remove(name string) error {
	delete(d.names, name)
	return d.step()
}

func (d *fragile) sync(string) error {
	if err := d.step(); err != nil {
		return err
	}
	d.durable = maps.Clone(d.names)
	return nil
}

func (h *handle) Name() string { return h.name }

func (h *handle) Write(b []byte) (int, error) {
	for i, c := range b {
		if err := h.d.step(); err != nil {
			return i, err
		}
		h.data = append(h.data, c)
	}
	return len(b), nil
}

func (h *handle) Sync() error {
	if err := h.d.step(); err != nil {
		return err
	}
	h.synced = len(h.data)
	return nil
}

func (h *handle) Close() error { return h.d.step() }

// survivors returns what may be in a file after a crash: of its bytes any part that was not synced may be missing, and
// of its names any that was not synced.
func (d *fragile) survivors(name string) (files [][]byte) {
	for _, names := range []map[string]*inode{d.names, d.durable} {
		f := names[name]
		if f == nil {
			files = append(files, nil)
			continue
		}
		for _, n := range []int{f.synced, (f.synced + len(f.data)) / 2, len(f.data)} {
			files = append(files, f.data[:n])
		}
	}
	return files
}

// A crash at any byte and at any operation leaves the old file or the new one, and so does an error of the disk. After
// an error nothing unfinished is left.
func TestACrashLeavesTheOldFileOrTheNewOne(t *testing.T) {
	dir := t.TempDir()
	for _, crashes := range []bool{true, false} {
		t.Run(fmt.Sprintf("crashes=%v", crashes), func(t *testing.T) {
			steps, seen := 0, map[string]bool{}
			for done := false; !done; steps++ {
				f := &file{files: &Files{o: Options{Dir: dir}}, name: filepath.Join(dir, "f"), want: header{Format: format}}
				d := &fragile{left: 1 << 30, names: map[string]*inode{}, durable: map[string]*inode{}}
				f.files.disk = d
				if err := f.write(content("1", 3, "old")); err != nil {
					t.Fatal(err)
				}
				d.left, d.crashes = steps, crashes
				err := func() (err error) {
					defer func() {
						if value := recover(); value != nil && value != (crash{}) {
							panic(value)
						}
					}()
					return f.write(content("2", 5, "new"))
				}()
				done = !d.over
				if !crashes && (err != nil) != d.over {
					t.Fatalf("after %d steps: over %v, error %v", steps, d.over, err)
				}
				if !crashes && len(d.names) != 1 {
					t.Fatalf("after %d steps, files are %q", steps, slices.Collect(maps.Keys(d.names)))
				}
				left := d.survivors(f.name)
				if !crashes {
					left = [][]byte{d.names[f.name].data}
				}
				for _, b := range left {
					version, n, err := read(b)
					if err != nil || version == "1" && n != 3 || version == "2" && n != 5 {
						t.Fatalf("after %d steps, the file has version %q and %d objects: %v", steps, version, n, err)
					}
					if done && version != "2" {
						t.Fatalf("without a fault, the file has version %q", version)
					}
					seen[version] = true
				}
			}
			if steps < 500 || !seen["1"] || !seen["2"] {
				t.Errorf("there were %d steps, and versions %v", steps, seen)
			}
		})
	}
}

// read reads a file of notes.
func read(b []byte) (version string, n int, err error) {
	r, err := newReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return "", 0, err
	}
	err = r.entries(nil, reflect.TypeFor[*note](), func(informer.Entry) { n++ })
	return r.header.Version, n, err
}

// bytesOf returns the file of a content.
func bytesOf(t testing.TB, c informer.Content, seal func([]byte) ([]byte, error)) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := encode(io.Writer(&b), header{Format: format}, c, seal); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
