package recording

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// A file ends with a line of type END, for which there is always room below the limit.
const roomForEnd = 1 << 10

// errFull says that a file has reached its limit.
var errFull = errors.New("the file has reached its limit")

// File writes a recording. Each line is one write, so a process that is killed leaves at most one line unfinished.
// Several goroutines may use it at once.
type File struct {
	Header *Header
	// Known is the state of each stream according to the file. It is empty for a new file.
	Known map[Stream]*Known

	mu    sync.Mutex // guards the rest
	f     *os.File
	size  int64
	limit int64
	at    Offset
	ended error
	buf   bytes.Buffer
}

// Open opens a file for writing. It starts from the beginning if the file is new or empty, or if its first lists are
// not complete; otherwise it continues at the end. The error says why a file with other contents cannot be continued.
func Open(path string, h *Header, limit int64) (*File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	out := &File{Header: h, f: f, limit: limit}
	if err := out.begin(); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return out, nil
}

// begin reads the file, and writes the first line of this run.
func (f *File) begin() error {
	f.Known = map[Stream]*Known{}
	for _, s := range f.Header.Streams() {
		f.Known[s] = newKnown()
	}
	in, err := NewReader(f.f)
	if err == io.EOF {
		return f.restart()
	}
	if err != nil {
		return err
	}
	if err := in.Header.differs(f.Header); err != nil {
		return err
	}
	if err := f.readKnown(in); err != nil {
		return err
	}
	for _, k := range f.Known {
		if !k.begun {
			return f.restart()
		}
	}
	f.Header.Start = in.Header.Start
	if f.size = in.Next; f.size+roomForEnd > f.limit {
		return fmt.Errorf("it has %d bytes already, and the limit is %d", f.size, f.limit)
	}
	if err := f.cutOff(f.size); err != nil {
		return err
	}
	return f.Write(&Line{Type: Resumed})
}

// readKnown reads the lines that a file has.
func (f *File) readKnown(in *Reader) error {
	for {
		before := in.Next
		l, err := in.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if !f.wholeAt(in.Next) { // the line is complete except for its newline
			in.Next = before
			return nil
		}
		f.at = l.At
		if l.Resource != "" {
			s := Stream{l.Resource, l.Namespace}
			if l.Type.HasObject() {
				s = in.Header.StreamOf(in.Header.Resource(l.Resource), in.Identity.Namespace)
			}
			f.Known[s].note(l, in.Identity)
		}
	}
}

// wholeAt reports whether the line that ends before an offset ends with a newline.
func (f *File) wholeAt(offset int64) bool {
	var last [1]byte
	_, err := f.f.ReadAt(last[:], offset-1)
	return err == nil && last[0] == '\n'
}

// restart empties the file and writes the header.
func (f *File) restart() error {
	for s := range f.Known {
		f.Known[s] = newKnown()
	}
	f.at, f.size = 0, 0
	if err := f.cutOff(0); err != nil {
		return err
	}
	return f.write(f.Header)
}

// cutOff makes the file end at an offset, where the next line is written.
func (f *File) cutOff(size int64) error {
	if err := f.f.Truncate(size); err != nil {
		return err
	}
	_, err := f.f.Seek(size, io.SeekStart)
	return err
}

// Write writes a line with the present time. After an error it writes nothing more and returns the same error again.
func (f *File) Write(l *Line) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at = max(f.at, Offset(time.Since(f.Header.Start))) // clocks may be set back
	l.At = f.at
	return f.write(l)
}

func (f *File) write(v any) error {
	if f.ended != nil {
		return f.ended
	}
	f.ended = f.append(v, f.limit-roomForEnd)
	if errors.Is(f.ended, errFull) {
		f.ended = fmt.Errorf("%w of %d bytes", errFull, f.limit)
		_ = f.append(&Line{At: f.at, Type: End, Message: f.ended.Error()}, f.limit) // the error is known already
	}
	return f.ended
}

func (f *File) append(v any, limit int64) error {
	f.buf.Reset()
	e := json.NewEncoder(&f.buf)
	e.SetEscapeHTML(false) // the objects stay as they are
	if err := e.Encode(v); err != nil {
		return err
	}
	if f.buf.Len() > MaxLine {
		return fmt.Errorf("a line has %d bytes, and %d are allowed", f.buf.Len(), MaxLine)
	}
	if f.size+int64(f.buf.Len()) > limit {
		return errFull
	}
	if info, err := f.f.Stat(); err != nil {
		return err
	} else if info.Size() != f.size {
		return errors.New("another program writes into the file")
	}
	n, err := f.f.Write(f.buf.Bytes())
	f.size += int64(n)
	return err
}

// Close writes why the recording ends, unless an error of Write has ended it, and closes the file.
func (f *File) Close(why string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var err error
	if f.ended == nil {
		f.at = max(f.at, Offset(time.Since(f.Header.Start)))
		err = f.append(&Line{At: f.at, Type: End, Message: why[:min(len(why), roomForEnd/4)]}, f.limit)
		f.ended = errors.New("the file is closed")
	}
	return errors.Join(err, f.f.Close())
}
