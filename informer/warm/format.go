package warm

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"reflect"
	"runtime"
	"sync"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/internal/codec"
	"github.com/bowline-go/bowline/internal/guard"
	"github.com/bowline-go/bowline/internal/jsonstream"
)

// A file is a line with magic, and then frames. A frame is the length of its payload and the CRC-32C of its number and
// payload, 4 bytes each in big-endian order, and the payload.
//
// The first payload is the header, as JSON. The others are parts; Options.Seal encrypts each by itself. A part begins
// with the SHA-256 of the header and the number of its frame, 8 bytes, so that a part cannot be put into another file
// or place. Records follow: a kind, four texts (namespace, name, uid, resource version), and data. A text, and the
// data, is its length as a uvarint and its bytes. The last record of a file is the end: its kind, and the number of
// records before it as a uvarint. Nothing follows it.

const (
	format = 1
	magic  = "bowline warm cache\n"

	partSize   = 256 << 10 // a part ends with the record that reaches this size
	mostHeader = 1 << 20
)

// The kinds of records.
const (
	recordObject      = 'o' // data is the JSON of an object
	recordUndecodable = 'u' // data is the error
	recordEnd         = 'e'
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// guarded calls f, which calls functions of the program. It returns a panic as an error.
func guarded[R any](f func() (R, error)) (result R, err error) {
	guard.Call(func() { result, err = f() }, func(value any) { err = fmt.Errorf("it panicked: %v", value) })
	return result, err
}

func checksum(number uint64, payload []byte) uint32 {
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], number)
	return crc32.Update(crc32.Checksum(n[:], castagnoli), castagnoli, payload)
}

// writer writes the format.
type writer struct {
	w      *bufio.Writer
	seal   func([]byte) ([]byte, error) // may be nil
	sum    [sha256.Size]byte            // of the header
	number uint64                       // of the next frame
	part   []byte
	count  uint64
}

// newWriter writes the header.
func newWriter(to io.Writer, h header, seal func([]byte) ([]byte, error)) (*writer, error) {
	text, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	w := &writer{w: bufio.NewWriterSize(to, 64<<10), seal: seal, sum: sha256.Sum256(text)}
	if _, err := w.w.WriteString(magic); err != nil {
		return nil, err
	}
	if err := w.frame(text); err != nil {
		return nil, err
	}
	w.begin()
	return w, nil
}

func (w *writer) frame(payload []byte) error {
	var head [8]byte
	if uint64(len(payload)) > 1<<32-1 {
		return fmt.Errorf("an object is too large: %d bytes", len(payload))
	}
	binary.BigEndian.PutUint32(head[:], uint32(len(payload)))
	binary.BigEndian.PutUint32(head[4:], checksum(w.number, payload))
	w.number++
	if _, err := w.w.Write(head[:]); err != nil {
		return err
	}
	_, err := w.w.Write(payload)
	return err
}

func (w *writer) begin() {
	w.part = binary.BigEndian.AppendUint64(append(w.part[:0], w.sum[:]...), w.number)
}

// record adds a record.
func (w *writer) record(kind byte, id meta.Identity, data []byte) error {
	w.part = append(w.part, kind)
	for _, text := range []string{id.Namespace, id.Name, id.UID, id.ResourceVersion} {
		w.part = append(binary.AppendUvarint(w.part, uint64(len(text))), text...)
	}
	w.part = append(binary.AppendUvarint(w.part, uint64(len(data))), data...)
	w.count++
	if len(w.part) < partSize {
		return nil
	}
	return w.flush()
}

// flush writes the current part, and begins the next one.
func (w *writer) flush() error {
	payload := w.part
	if w.seal != nil {
		var err error
		if payload, err = guarded(func() ([]byte, error) { return w.seal(w.part) }); err != nil {
			return fmt.Errorf("warm.Options.Seal: %w", err)
		}
	}
	if err := w.frame(payload); err != nil {
		return err
	}
	w.begin()
	return nil
}

// end writes the record of the end, and the last part.
func (w *writer) end() error {
	w.part = binary.AppendUvarint(append(w.part, recordEnd), w.count)
	if err := w.flush(); err != nil {
		return err
	}
	return w.w.Flush()
}

// encode writes the content of a cache to a file whose header is h.
func encode(to io.Writer, h header, c informer.Content, seal func([]byte) ([]byte, error)) error {
	var nonce [16]byte
	_, _ = rand.Read(nonce[:]) // it never fails
	h.Version, h.Saved, h.Nonce = c.Version, time.Now().UTC(), hex.EncodeToString(nonce[:])
	w, err := newWriter(to, h, seal)
	if err != nil {
		return err
	}
	for id, obj := range c.Objects {
		data, err := guarded(func() ([]byte, error) { return json.Marshal(obj) })
		if err != nil {
			return fmt.Errorf("encode %v: %w", id.Key(), err)
		}
		if string(data) == "null" { // the compressed object of a cache does not decode any more
			return fmt.Errorf("encode %v: the cache cannot read it", id.Key())
		}
		if err := w.record(recordObject, id, data); err != nil {
			return err
		}
	}
	for _, bad := range c.Undecodable {
		if err := w.record(recordUndecodable, bad.Identity, []byte(bad.Err.Error())); err != nil {
			return err
		}
	}
	return w.end()
}

// reader reads the format.
type reader struct {
	r      *bufio.Reader
	left   int64 // bytes of the file that have not been read
	header header
	sum    [sha256.Size]byte
	number uint64
	close  func()
}

var (
	errForeign = errors.New("it is not a file of package warm")
	errCut     = errors.New("it is cut off")
	errDamaged = errors.New("it is damaged: a checksum does not match")
	errInvalid = errors.New("it is damaged: a record does not have the form that package warm writes")
	errMoved   = errors.New("it is damaged: a part belongs to another file or place")
	errMore    = errors.New("it is damaged: something follows its end")
)

// newReader reads the header of a file. size is the size of the file.
func newReader(from io.Reader, size int64) (*reader, error) {
	r := &reader{r: bufio.NewReaderSize(from, 64<<10), left: size, close: func() {}}
	line := make([]byte, len(magic))
	if err := r.full(line); err != nil {
		return nil, errForeign
	}
	if string(line) != magic {
		return nil, errForeign
	}
	text, err := r.frame(mostHeader)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &r.header); err != nil {
		return nil, fmt.Errorf("it is damaged: its header: %w", err)
	}
	if r.header.Format != format {
		return nil, fmt.Errorf("it has format %d, not %d", r.header.Format, format)
	}
	r.sum = sha256.Sum256(text)
	return r, nil
}

func (r *reader) full(b []byte) error {
	if int64(len(b)) > r.left {
		return errCut
	}
	n, err := io.ReadFull(r.r, b)
	r.left -= int64(n)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errCut
	}
	return err
}

// frame returns the payload of the next frame, which must not be larger than most.
func (r *reader) frame(most int64) ([]byte, error) {
	var head [8]byte
	if err := r.full(head[:]); err != nil {
		return nil, err
	}
	size := int64(binary.BigEndian.Uint32(head[:]))
	switch {
	case size > r.left:
		return nil, errCut
	case size > most:
		return nil, errInvalid
	}
	payload := make([]byte, size)
	if err := r.full(payload); err != nil {
		return nil, err
	}
	if checksum(r.number, payload) != binary.BigEndian.Uint32(head[4:]) {
		return nil, errDamaged
	}
	r.number++
	return payload, nil
}

// sealedPart is the payload of one frame.
type sealedPart struct {
	number  uint64
	payload []byte
}

// entries calls add for each object of the file, one call at a time. It returns an error if the file has not exactly
// the objects that were written; add may have been called by then.
func (r *reader) entries(open func([]byte) ([]byte, error), t reflect.Type, add func(informer.Entry)) error {
	d := &decoding{open: open, sum: r.sum, typ: t, parts: new(codec.Parts), add: add}
	// The goroutines end when parts is closed, and are waited for here.
	parts := make(chan sealedPart)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for p := range parts {
				d.part(p)
			}
		})
	}
	err := func() error {
		defer wg.Wait()
		defer close(parts)
		for r.left > 0 && !d.failed() {
			number := r.number
			payload, err := r.frame(r.left)
			if err != nil {
				return err
			}
			parts <- sealedPart{number, payload}
		}
		return nil
	}()
	return d.result(err, r.number)
}

// decoding decodes parts on several goroutines.
type decoding struct {
	open  func([]byte) ([]byte, error)
	sum   [sha256.Size]byte
	typ   reflect.Type
	parts *codec.Parts
	add   func(informer.Entry)

	mu    sync.Mutex // guards the fields below; held while add is called
	err   error
	count uint64 // of records
	ended bool   // the end was found
	last  uint64 // the number of the frame that has the end
	want  uint64 // how many records there are, as the end says
}

func (d *decoding) failed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err != nil
}

// result returns the first error. frames is how many frames the file has.
func (d *decoding) result(err error, frames uint64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.err != nil:
		return d.err
	case err != nil:
		return err
	case !d.ended:
		return errCut
	case d.last+1 != frames:
		return errMore
	case d.count != d.want:
		return errInvalid
	}
	return nil
}

func (d *decoding) part(p sealedPart) {
	entries, end, err := d.decode(p)
	d.mu.Lock()
	defer d.mu.Unlock()
	if err == nil && end != nil && d.ended {
		err = errMore
	}
	if err != nil {
		if d.err == nil {
			d.err = err
		}
		return
	}
	for _, e := range entries {
		d.add(e)
	}
	d.count += uint64(len(entries))
	if end != nil {
		d.ended, d.last, d.want = true, p.number, *end
	}
}

// decode returns the entries of a part, and how many records the file has if the part is the last one.
func (d *decoding) decode(p sealedPart) (entries []informer.Entry, end *uint64, err error) {
	b := p.payload
	if d.open != nil {
		if b, err = guarded(func() ([]byte, error) { return d.open(p.payload) }); err != nil {
			return nil, nil, fmt.Errorf("warm.Options.Open: %w", err)
		}
	}
	place := binary.BigEndian.AppendUint64(d.sum[:len(d.sum):len(d.sum)], p.number)
	b, found := bytes.CutPrefix(b, place)
	if !found {
		return nil, nil, errMoved
	}
	for len(b) > 0 {
		kind := b[0]
		b = b[1:]
		if kind == recordEnd {
			n, size := binary.Uvarint(b)
			if size <= 0 || size != len(b) {
				return nil, nil, errInvalid
			}
			return entries, &n, nil
		}
		var texts [5][]byte
		for i := range texts {
			n, size := binary.Uvarint(b)
			if size <= 0 || n > uint64(len(b)-size) {
				return nil, nil, errInvalid
			}
			texts[i], b = b[size:size+int(n)], b[size+int(n):]
		}
		e := informer.Entry{Identity: meta.Identity{
			Namespace: string(texts[0]), Name: string(texts[1]), UID: string(texts[2]), ResourceVersion: string(texts[3]),
		}}
		switch kind {
		case recordObject:
			obj, err := guarded(func() (any, error) {
				return codec.DecodeType(d.typ, jsonstream.Item{Raw: texts[4]}, codec.Options{Parts: d.parts})
			})
			if err != nil {
				return nil, nil, fmt.Errorf("decode %v: %w", e.Identity.Key(), err)
			}
			e.Object = obj.(meta.Object)
		case recordUndecodable:
			e.Undecodable = errors.New(string(texts[4]))
		default:
			return nil, nil, errInvalid
		}
		entries = append(entries, e)
	}
	return entries, nil, nil
}
