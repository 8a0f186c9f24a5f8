package warm

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
)

// flip is a cipher for tests: it flips all bits, and has a byte in front to recognize its work.
func flip(b []byte) ([]byte, error) {
	out := []byte{'!'}
	for _, c := range b {
		out = append(out, ^c)
	}
	return out, nil
}

func flipBack(b []byte) ([]byte, error) {
	if len(b) == 0 || b[0] != '!' {
		return nil, errors.New("not sealed")
	}
	out, err := flip(b[1:])
	return out[1:], err
}

// readAll returns the entries of a file by key.
func readAll(b []byte, open func([]byte) ([]byte, error)) (header, map[meta.Key]informer.Entry, error) {
	r, err := newReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return header{}, nil, err
	}
	all := map[meta.Key]informer.Entry{}
	err = r.entries(open, reflect.TypeFor[*note](), func(e informer.Entry) {
		if was, ok := all[e.Identity.Key()]; ok { // an object in its last good state, and why the present one is not there
			e.Object = cmpOr(e.Object, was.Object)
		}
		all[e.Identity.Key()] = e
	})
	return r.header, all, err
}

func cmpOr(a, b meta.Object) meta.Object {
	if a != nil {
		return a
	}
	return b
}

func TestAFileHasWhatWasWritten(t *testing.T) {
	big := strings.Repeat("x", partSize)
	for _, test := range []struct {
		name  string
		c     informer.Content
		parts int // besides the header
	}{
		{"nothing", content("7", 0, ""), 1},
		{"some objects", content("7", 3, "text <&> \u2028"), 1},
		{"large objects, each in a part of its own", content("7", 3, big), 4},
		{"many objects", content("7", 20_000, "text"), 11},
	} {
		for _, sealed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, sealed %v", test.name, sealed), func(t *testing.T) {
				var seal, open func([]byte) ([]byte, error)
				if sealed {
					seal, open = flip, flipBack
				}
				bad := meta.Identity{Namespace: "default", Name: "bad", UID: "b", ResourceVersion: "6"}
				test.c.Undecodable = []*client.DecodeError{{Identity: bad, Err: errors.New("it does not fit")}}
				file := bytesOf(t, test.c, seal)
				h, got, err := readAll(file, open)
				if err != nil || h.Version != "7" || h.Saved.IsZero() {
					t.Fatalf("header %+v: %v", h, err)
				}
				if e := got[bad.Key()]; e.Identity != bad || e.Object != nil || e.Undecodable == nil || e.Undecodable.Error() != "it does not fit" {
					t.Errorf("the object that does not decode is %+v", e)
				}
				delete(got, bad.Key())
				for id, obj := range test.c.Objects {
					e := got[id.Key()]
					if e.Identity != id || !reflect.DeepEqual(e.Object, obj) || e.Undecodable != nil {
						t.Fatalf("got %+v, want %v %+v", e, id, obj)
					}
					delete(got, id.Key())
				}
				if len(got) > 0 {
					t.Errorf("more entries: %v", slices.Collect(maps.Keys(got)))
				}
				if n := len(frames(t, file)) - 1; n != test.parts {
					t.Errorf("there are %d parts, want %d", n, test.parts)
				}
			})
		}
	}
}

// frames returns the frames of a file, heads included.
func frames(t testing.TB, file []byte) (all [][]byte) {
	t.Helper()
	for b := file[len(magic):]; len(b) > 0; {
		n := 8 + int(binary.BigEndian.Uint32(b))
		all = append(all, b[:n])
		b = b[n:]
	}
	return all
}

// Neither a cut nor a changed byte goes unnoticed, and what was read until then is not used.
func TestADamagedFileIsAnError(t *testing.T) {
	file := bytesOf(t, content("7", 3, "text"), nil)
	for n := range file {
		if _, _, err := read(file[:n]); err == nil {
			t.Errorf("a file that is cut off after %d of %d bytes is read", n, len(file))
		}
		for _, bit := range []byte{1, 0x80} {
			changed := bytes.Clone(file)
			changed[n] ^= bit
			if _, _, err := read(changed); err == nil {
				t.Errorf("a change of byte %d is not noticed", n)
			}
		}
	}
	if _, _, err := read(append(bytes.Clone(file), 0)); err == nil {
		t.Error("a byte after the end is not noticed")
	}
}

// renumbered is a frame with a checksum for another place.
func renumbered(frame []byte, number uint64) []byte {
	b := bytes.Clone(frame)
	binary.BigEndian.PutUint32(b[4:], checksum(number, b[8:]))
	return b
}

// made returns a file of a header and parts, with the checksums that belong to them.
func made(parts ...[]byte) []byte {
	b := []byte(magic)
	for n, p := range parts {
		var head [8]byte
		binary.BigEndian.PutUint32(head[:], uint32(len(p)))
		binary.BigEndian.PutUint32(head[4:], checksum(uint64(n), p))
		b = append(append(b, head[:]...), p...)
	}
	return b
}

func TestErrorsSayWhatIsWrongWithAFile(t *testing.T) {
	one := bytesOf(t, content("7", 3, strings.Repeat("x", partSize)), nil)
	other := bytesOf(t, content("7", 3, strings.Repeat("x", partSize)), nil)
	f, g := frames(t, one), frames(t, other)
	join := func(frames ...[]byte) []byte { return append([]byte(magic), bytes.Join(frames, nil)...) }
	place := func(number uint64) []byte {
		var w writer
		w.sum, w.number = sumOf(f[0][8:]), number
		w.begin()
		return w.part
	}
	end := func(number, count uint64) []byte {
		return binary.AppendUvarint(append(place(number), recordEnd), count)
	}
	for _, test := range []struct {
		name string
		file []byte
		want error
		text string
	}{
		{"another file", []byte("{}"), errForeign, ""},
		{"another long file", bytes.Repeat([]byte("a"), 1000), errForeign, ""},
		{"a file with the magic alone", []byte(magic), errCut, ""},
		{"a file without its last part", join(f[:4]...), errCut, ""},
		{"two files in a row", append(bytes.Clone(one), one...), errCut, ""},
		{"parts in another order", join(f[0], renumbered(f[2], 1), renumbered(f[1], 2), f[3], f[4]), errMoved, ""},
		{"a part of another file", join(f[0], g[1], f[2], f[3], f[4]), errMoved, ""},
		{"a part twice", join(f[0], f[1], renumbered(f[1], 2), f[3], f[4]), errMoved, ""},
		{"two ends", made(f[0][8:], end(1, 0), end(2, 0)), errMore, ""},
		{"a part after the end", made(f[0][8:], end(1, 0), place(2)), errMore, ""},
		{"too few records", made(f[0][8:], end(1, 1)), errInvalid, ""},
		{"an unknown record", made(f[0][8:], append(place(1), 'x', 0, 0, 0, 0, 0)), errInvalid, ""},
		{"a text that is longer than its part", made(f[0][8:], append(place(1), 'o', 200, 1)), errInvalid, ""},
		{"something after the end", made(f[0][8:], append(end(1, 0), 0)), errInvalid, ""},
		{"an object that is not JSON", made(f[0][8:], append(place(1), 'o', 0, 1, 'n', 0, 0, 1, '{')), nil, "decode"},
		{"a header that is not JSON", made([]byte("{")), nil, "its header"},
		{"a header that is too large", made(bytes.Repeat([]byte(" "), mostHeader+1)), errInvalid, ""},
		{"another format", made([]byte(`{"format":2}`), end(1, 0)), nil, "it has format 2, not 1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, _, err := read(test.file)
			if err == nil || test.want != nil && !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.text) {
				t.Errorf("got %v", err)
			}
		})
	}
	if _, n, err := read(made(f[0][8:], end(1, 0))); err != nil || n != 0 {
		t.Errorf("a file that a test has made is not valid: %v", err)
	}
}

func TestAnErrorOfSealOrOpenNamesTheOption(t *testing.T) {
	fails := func([]byte) ([]byte, error) { return nil, errFault }
	if err := encode(&bytes.Buffer{}, header{}, content("1", 1, ""), fails); !errors.Is(err, errFault) || !strings.Contains(err.Error(), "warm.Options.Seal") {
		t.Errorf("got %v", err)
	}
	if _, _, err := readAll(bytesOf(t, content("1", 1, ""), flip), fails); !errors.Is(err, errFault) || !strings.Contains(err.Error(), "warm.Options.Open") {
		t.Errorf("got %v", err)
	}
	panics := func([]byte) ([]byte, error) { panic("no key") }
	if err := encode(&bytes.Buffer{}, header{}, content("1", 1, ""), panics); err == nil || !strings.Contains(err.Error(), "warm.Options.Seal: it panicked: no key") {
		t.Errorf("got %v", err)
	}
	if _, _, err := readAll(bytesOf(t, content("1", 1, ""), flip), panics); err == nil || !strings.Contains(err.Error(), "warm.Options.Open: it panicked: no key") {
		t.Errorf("got %v", err)
	}
	if file := bytesOf(t, content("1", 1, "secret text"), flip); bytes.Contains(file, []byte("secret text")) {
		t.Error("the file has the text")
	}
}

// FuzzRead reads files that may be damaged. A file that is read is one that this package would have written: the same
// entries give a file with the same entries.
func FuzzRead(f *testing.F) {
	whole := bytesOf(f, content("7", 3, "text"), nil)
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add(bytesOf(f, content("7", 0, ""), nil))
	f.Add(bytesOf(f, content("7", 1, "text"), flip))
	f.Add(made([]byte(`{"format":1}`)))
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, open := range []func([]byte) ([]byte, error){nil, flipBack} {
			checkRead(t, b, open)
			// The checksums keep a fuzzer from what lies behind them: read it as a part of a file, too.
			text := []byte(`{"format":1}`)
			var w writer
			w.sum, w.number = sumOf(text), 1
			w.begin()
			checkRead(t, made(text, append(w.part, b...)), open)
			checkRead(t, made(b), open)
		}
	})
}

func checkRead(t *testing.T, b []byte, open func([]byte) ([]byte, error)) {
	t.Helper()
	h, all, err := readAll(b, open)
	if err != nil {
		return
	}
	c := informer.Content{Version: h.Version, Objects: func(yield func(meta.Identity, meta.Object) bool) {
		for _, e := range all {
			if e.Object != nil && !yield(e.Identity, e.Object) {
				return
			}
		}
	}}
	for _, e := range all {
		if e.Undecodable != nil {
			c.Undecodable = append(c.Undecodable, &client.DecodeError{Identity: e.Identity, Err: e.Undecodable})
		}
	}
	_, again, err := readAll(bytesOf(t, c, nil), nil)
	if err != nil || len(again) != len(all) {
		t.Fatalf("%d entries became %d: %v", len(all), len(again), err)
	}
}

func sumOf(text []byte) [sha256.Size]byte { return sha256.Sum256(text) }
