package recording

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// MaxLine is the greatest length of a line, in bytes. It leaves room for the largest object of a client with default
// settings.
const MaxLine = 64 << 20

// Reader reads a file line by line. It holds one line at a time.
type Reader struct {
	Header *Header // after the first line has been read
	// Identity is that of the object of the last line.
	Identity Identity
	// Offset is where the last line starts, and Next where the next one does.
	Offset, Next int64

	in     *bufio.Reader
	number int
	at     Offset
}

// NewReader returns a reader that has read the header. The error names what is wrong with the header. It is io.EOF if
// the file is empty, or has only an unfinished line that may be the beginning of a header.
func NewReader(r io.Reader) (*Reader, error) {
	in := &Reader{in: bufio.NewReaderSize(r, 64<<10)}
	text, err := in.line()
	if err != nil {
		return nil, err
	}
	h := &Header{}
	err = decode(text, h)
	if err == nil {
		err = h.validate()
	}
	if err != nil {
		if in.torn(text) && mayBeHeader(text) {
			return nil, io.EOF
		}
		return nil, in.fail(fmt.Errorf("it is not the header of a recording: %w", err))
	}
	in.Header = h
	return in, nil
}

// mayBeHeader reports whether a text is the beginning of a header.
func mayBeHeader(text []byte) bool {
	begin := []byte(`{"recording":`)
	return bytes.HasPrefix(text, begin) || bytes.HasPrefix(begin, text)
}

// Read returns the next line. Its Object is valid until the next call. At the end of the file the error is io.EOF; a
// last line that a killed recorder has not finished counts as the end. Any other error has the number of the line.
func (in *Reader) Read() (*Line, error) {
	text, err := in.line()
	if err != nil {
		return nil, err
	}
	l := &Line{}
	err = decode(text, l)
	if err == nil {
		in.Identity, err = l.validate(in.Header)
	}
	if err == nil && l.At < in.at {
		err = fmt.Errorf("at must not be less than that of the line before")
	}
	if err != nil && in.torn(text) {
		in.Next = in.Offset
		return nil, io.EOF
	}
	if err != nil {
		return nil, in.fail(err)
	}
	in.at = l.At
	return l, nil
}

// line reads the bytes of one line, with the newline unless it is the last.
func (in *Reader) line() (text []byte, _ error) {
	in.Offset = in.Next
	in.number++
	for {
		part, err := in.in.ReadSlice('\n')
		in.Next += int64(len(part))
		text = append(text, part...)
		switch {
		case len(text) > MaxLine:
			return nil, in.fail(fmt.Errorf("it is longer than %d bytes", MaxLine))
		case err == nil:
			return text, nil
		case err == io.EOF && len(text) > 0:
			return text, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// torn reports whether a text is a line without its end.
func (in *Reader) torn(text []byte) bool { return len(text) == 0 || text[len(text)-1] != '\n' }

func (in *Reader) fail(err error) error { return fmt.Errorf("line %d: %w", in.number, err) }

// decode reads one JSON object. A member that into does not have is an error.
func decode(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		if err == io.EOF {
			return errors.New("it is empty")
		}
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("it must be one JSON object and nothing else")
	}
	return nil
}
