package pipeline

import (
	"io"
	"iter"

	"github.com/bowline-go/bowline/internal/jsonstream"
)

// shortList is how many bytes of a list are read and decoded by the owner alone: a shorter list starts no further
// goroutine.
const shortList = 64 << 10

// Frames is the framing of a body; see [jsonstream.List.Steps].
type Frames interface {
	Steps() iter.Seq[*jsonstream.Step]
}

// Stream is the framing of the body of a watch.
type Stream interface {
	Frames
	// Buffered returns how many bytes have arrived after the last event.
	Buffered() int
}

// Page holds the functions that the pipeline calls while it reads a page of a list.
type Page[E any] struct {
	// Header is called once with the list's header: before the items, if the server writes the header there.
	Header func(jsonstream.Header) error
	// Item makes an event of an item, and reports whether its object must still be decoded.
	Item func(jsonstream.Item) (event E, decode bool, err error)
	// Broken returns the error for a body that cannot be framed.
	Broken func(error) error
}

// Page sends the objects of one page of a list down the pipeline. Further pages may follow. An error ends the page;
// the pipeline may then still read from the body, until Stop.
func (p *Pipeline[E]) Page(body io.Reader, frames Frames, page Page[E]) error {
	for step := range frames.Steps() {
		var err error
		switch step.Kind {
		case jsonstream.Starved:
			err = p.fill(step, body)
		case jsonstream.Headed:
			err = page.Header(step.Header)
		case jsonstream.Framed:
			var event E
			var decode bool
			if event, decode, err = page.Item(step.Frame.Item); err == nil {
				err = p.submitItem(event, decode, step.Frame.Item)
			}
		case jsonstream.Failed:
			err = page.Broken(step.Err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fill reads from the body of a list. While it waits, it hands on objects that have been decoded.
func (p *Pipeline[E]) fill(step *jsonstream.Step, body io.Reader) error {
	if p.isShort() || p.idle() {
		n, err := body.Read(step.Into)
		p.read += n
		step.Fill(n, err)
		return nil
	}
	n, err := p.ahead.read(body, step.Into, p.Until)
	if p.err != nil {
		return p.err
	}
	p.read += n
	step.Fill(n, err)
	return nil
}

// isShort reports whether the list may be one that the owner decodes alone.
func (p *Pipeline[E]) isShort() bool { return p.read <= shortList }

func (p *Pipeline[E]) submitItem(event E, decode bool, item jsonstream.Item) error {
	switch {
	case !decode:
		return p.pass(event)
	case p.isShort():
		return p.now(event, item)
	}
	return p.later(event, item)
}

// Watch sends the events of a watch down the pipeline until its body ends. frame makes an event of each, and reports
// whether its object must still be decoded; broken returns the error for a body that cannot be framed. Events that
// arrived before an error are handed on first.
//
// The owner decodes an event that arrives alone, at once. In a burst, if much more has arrived than one event, a few
// goroutines decode objects, and everything that has arrived is handed on before more is read. So a watch that waits
// has one goroutine, its owner, and a small buffer.
func (p *Pipeline[E]) Watch(
	body io.Reader, frames Stream, frame func(jsonstream.Frame) (event E, decode bool, err error), broken func(error) error,
) error {
	for step := range frames.Steps() {
		var err error
		switch step.Kind {
		case jsonstream.Starved:
			if err = p.drain(); err == nil {
				p.rest(len(step.Into))
				step.Fill(body.Read(step.Into))
			}
		case jsonstream.Framed:
			err = p.framed(step, frame, frames.Buffered())
		case jsonstream.Failed:
			err = broken(step.Err)
		}
		if err != nil {
			return p.Finish(err)
		}
	}
	return p.Finish(nil)
}

// framed submits the event of a step. It is a separate function so that Watch waits with a small stack.
func (p *Pipeline[E]) framed(
	step *jsonstream.Step, frame func(jsonstream.Frame) (event E, decode bool, err error), buffered int,
) error {
	event, decode, err := frame(step.Frame)
	if err != nil {
		return err
	}
	return p.submitEvent(event, decode, step.Frame.Item, buffered)
}

func (p *Pipeline[E]) submitEvent(event E, decode bool, item jsonstream.Item, buffered int) error {
	switch {
	case !decode:
		return p.pass(event)
	case p.idle() && buffered < batchSize:
		return p.now(event, item)
	}
	return p.later(event, item)
}

// rest frees the memory that is kept for the next burst if the framing has room for only a few bytes: the watch may
// now wait for a long time.
func (p *Pipeline[E]) rest(room int) {
	if room < batchSize {
		p.free = nil
	}
}
