package protostream

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/bowline-go/bowline/internal/jsonstream"
	"github.com/bowline-go/bowline/internal/protobuf"
)

// input is the part of a body that has arrived and is not framed yet.
type input struct {
	ask  func(into []byte) (int, error) // reads more
	buf  []byte
	pos  int
	end  int
	base int64 // the position in the body of buf[0]
	size int   // of the buffer, unless an object needs a larger one
	err  error // the reader's error, reported after its bytes

	// A watch waits in the small buffer rest. When it needs more bytes after the first ones, it borrows a buffer of
	// size from lent. A list has neither.
	rest []byte
	lent *jsonstream.Buffers
	full bool // the last read filled the buffer, so more may have arrived
}

// errLeft ends the framing of a body whose loop has been left.
var errLeft = errors.New("the loop was left")

// stepper sets in.ask to a function that asks the loop over the steps for bytes. It returns the step that this
// function yields.
func (in *input) stepper(yield func(*jsonstream.Step) bool) *jsonstream.Step {
	step := &jsonstream.Step{}
	in.ask = func(into []byte) (int, error) {
		step.Kind, step.Into = jsonstream.Starved, into
		step.Fill(0, nil)
		if !yield(step) {
			return 0, errLeft
		}
		return step.Filled()
	}
	return step
}

// fail yields the step for an error that ends a body.
func fail(step *jsonstream.Step, err error, yield func(*jsonstream.Step) bool) {
	if err != nil && !errors.Is(err, errLeft) {
		step.Kind, step.Err = jsonstream.Failed, err
		yield(step)
	}
}

// at is the position in the body.
func (in *input) at() int64 { return in.base + int64(in.pos) }

// buffered is how many bytes have arrived.
func (in *input) buffered() int { return in.end - in.pos }

// need waits until n bytes have arrived, or the body has ended. It reports whether they have.
func (in *input) need(n int) bool {
	for in.buffered() < n && in.err == nil {
		in.fill(n)
	}
	return in.buffered() >= n
}

// fill reads once. n is how many bytes are needed.
func (in *input) fill(n int) {
	if in.pos > 0 && (in.pos == in.end || in.pos+n > len(in.buf)) {
		copy(in.buf, in.buf[in.pos:in.end])
		in.base += int64(in.pos)
		in.pos, in.end = 0, in.end-in.pos
	}
	switch {
	case in.rest != nil && in.end == 0 && !in.full: // the watch may now wait for hours
		in.lent.Return(in.buf)
		in.buf = in.rest
	case in.rest != nil && in.end < in.size && len(in.buf) < in.size:
		small := in.buf
		in.buf = in.lent.Take()
		copy(in.buf, small[:in.end])
	case in.end == 0 && n <= in.size && len(in.buf) != in.size: // also after a large object
		in.buf = make([]byte, in.size)
	case in.end == len(in.buf):
		in.buf = append(make([]byte, 0, min(n, 2*len(in.buf))), in.buf...)
		in.buf = in.buf[:cap(in.buf)]
	}
	const mostEmpty = 100 // reads in a row that may bring nothing
	for range mostEmpty {
		read, err := in.ask(in.buf[in.end:])
		if read < 0 || read > len(in.buf)-in.end {
			read, err = 0, errors.New("the io.Reader of the body must return a count from 0 to the size of the buffer")
		}
		in.end += read
		in.err, in.full = err, in.end == len(in.buf)
		if read > 0 || err != nil {
			return
		}
	}
	in.err = io.ErrNoProgress
}

// take returns the next n bytes, which have arrived. They are valid until more is read.
func (in *input) take(n int) []byte {
	in.pos += n
	return in.buf[in.pos-n : in.pos : in.pos]
}

// skip passes over n bytes.
func (in *input) skip(n uint64) error {
	for {
		now := min(n, uint64(in.buffered()))
		in.pos += int(now)
		if n -= now; n == 0 {
			return nil
		}
		if !in.need(1) {
			return in.cut()
		}
	}
}

// varint reads a number. first says whether the body may end before it; the error is then io.EOF.
func (in *input) varint(first bool) (uint64, error) {
	for n := 1; ; n++ {
		if !in.need(n) {
			if first && n == 1 && in.err == io.EOF {
				return 0, io.EOF
			}
			return 0, in.cut()
		}
		if in.buf[in.pos+n-1] < 0x80 || n == binary.MaxVarintLen64 {
			v, _, err := protobuf.ReadVarint(in.buf[in.pos : in.pos+n])
			if err != nil {
				return 0, in.wrong(err.Error())
			}
			in.pos += n
			return v, nil
		}
	}
}

// cut returns the error for a body that ends too early.
func (in *input) cut() error {
	at := in.base + int64(in.end)
	if in.err != io.EOF {
		return fmt.Errorf("read body at byte %d: %w", at, in.err)
	}
	return &jsonstream.ShortError{Offset: at}
}

// wrong returns the error for bytes at pos that do not fit.
func (in *input) wrong(message string) error { return jsonstream.NotProtobuf(in.at(), message) }

// magic reads the start of an envelope. For the error, what names the expected body.
func (in *input) magic(what string) error {
	if !in.need(len(protobuf.Magic)) && in.buffered() == 0 {
		return in.cut()
	}
	if n := len(protobuf.Magic); in.buffered() >= n && string(in.buf[in.pos:in.pos+n]) == protobuf.Magic {
		in.pos += n
		return nil
	}
	return in.foreign("the body is not protobuf of " + what + " but begins with")
}

// foreign returns the error for a body that is not what was asked for. The excerpt is what has arrived, because more
// may never come.
func (in *input) foreign(message string) error {
	const most = 256
	return jsonstream.NewBodyError(message, in.buf[in.pos:min(in.end, in.pos+most)])
}
