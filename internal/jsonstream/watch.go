package jsonstream

import (
	"cmp"
	"io"
	"slices"
)

// Frame is one event of a watch as it was on the wire.
type Frame struct {
	// Type is the event's, as the server wrote it: ADDED, MODIFIED, DELETED, BOOKMARK, ERROR, or a word that this
	// package does not know.
	Type string
	// Item is the event's object. For BOOKMARK it may have only a resource version; for ERROR it is a Status.
	Item
}

// Watch reads the body of a watch, event by event. Events may follow each other with or without white space.
type Watch struct {
	s     scanner
	begun bool
	err   error
}

// NewWatch returns a reader of a watch body. It reads nothing yet.
func NewWatch(r io.Reader, o Options) *Watch {
	w := &Watch{s: newScanner(r, o, WatchBuffer)}
	w.s.findSyncEnd, w.s.burst = true, 128<<10
	w.s.rest, w.s.lent = make([]byte, RestBuffer), o.Buffers
	return w
}

// Next returns the next event. Its bytes are valid until the next call. It waits only while the event has not arrived.
//
// It returns io.EOF when the body ends between two events, [io.ErrUnexpectedEOF] (wrapped) when it ends in the middle
// of one, and the reader's error (wrapped) when that fails.
func (w *Watch) Next() (Frame, error) {
	if w.err != nil {
		return Frame{}, w.err
	}
	var f Frame
	if w.err = w.next(&f); w.err != nil {
		return Frame{}, w.err
	}
	return f, nil
}

// next reads the next event into f, whose content is undefined if there is an error. It waits for hours, so the stack
// below it should be small: see the design of package client.
func (w *Watch) next(f *Frame) error {
	s := &w.s
	c, err := s.skipSpace(false)
	switch {
	case err == io.EOF:
		return io.EOF
	case err != nil:
		return s.readError(err)
	case c == '{':
		return w.frame(f)
	case !w.begun:
		return w.notAWatch()
	}
	return s.unexpected(c, "a watch event")
}

// Buffered returns how many bytes have arrived after the last event. Next returns the whole events among them without
// reading.
func (w *Watch) Buffered() int { return w.s.end - w.s.pos }

// notAWatch reports a body that is not a watch. The excerpt is what has arrived, because more may never come.
func (w *Watch) notAWatch() error {
	return &BodyError{Excerpt: string(w.s.head), message: "the body is not a watch but begins with"}
}

const (
	hasNoType   = "has no type"
	hasNoObject = "has no object"
	// maxBare bounds the bytes that are held while an event may still prove to be an object instead: a Status is far
	// smaller.
	maxBare = 64 << 10
)

// frame reads the event that opens at pos into f.
func (w *Watch) frame(f *Frame) error {
	s := &w.s
	s.release()
	at := s.base + int64(s.pos)
	*f = Frame{}
	var apiVersion, kind string // members of the frame itself; a frame that has them is a bare object
	noType, noObject := hasNoType, hasNoObject
	c, err := s.open(0)
	for err == nil && c != '}' {
		if noObject != "" {
			if s.pos-s.start > maxBare {
				s.release()
			}
			s.exempt = s.pos - s.start // the bytes before the object do not count
		}
		var name []byte
		if name, c, err = s.name(c); err != nil {
			return withKey(err, f.Key())
		}
		switch string(name) {
		case "type":
			if c == '"' {
				noType = ""
				f.Type, err = w.eventType()
			} else {
				noType = "has a type that is not a string"
				err = s.skipValue(0)
			}
		case "object":
			f.Item = Item{}
			if c == '{' {
				noObject = ""
				err = s.item(&f.Item)
			} else {
				noObject = "has an object that is not a JSON object"
				err = s.skipValue(0)
			}
		case "kind":
			kind, err = s.text(c, 0, "")
		case "apiVersion":
			apiVersion, err = s.text(c, 0, "")
		case "items":
			if c == '[' && kind != "" && noType == hasNoType && noObject == hasNoObject {
				return &BareError{APIVersion: apiVersion, Kind: kind} // a list may be long, and adds nothing to the error
			}
			err = s.skipValue(0)
		default:
			err = s.skipValue(0)
		}
		if err == nil {
			c, err = s.next('}')
		}
	}
	if err != nil {
		return withKey(err, f.Key())
	}
	s.pos++
	if noType == hasNoType && noObject == hasNoObject {
		switch {
		case kind != "":
			bare := &BareError{APIVersion: apiVersion, Kind: kind}
			if s.base+int64(s.start) == at {
				bare.Raw = slices.Clone(s.buf[s.start:s.pos])
			}
			return bare
		case !w.begun:
			return w.notAWatch()
		}
	}
	w.begun = true
	if lacks := cmp.Or(noType, noObject); lacks != "" {
		return &SyntaxError{Offset: at, message: "the watch event " + lacks}
	}
	if f.Limit == nil {
		f.Raw = s.rawBytes()
	}
	f.InitialEventsEnd = f.InitialEventsEnd && f.Type == "BOOKMARK"
	return nil
}

// eventType reads the type at pos. The usual types cost no allocation.
func (w *Watch) eventType() (string, error) {
	quoted, err := w.s.quoted()
	switch string(quoted) {
	case `"ADDED"`:
		return "ADDED", err
	case `"MODIFIED"`:
		return "MODIFIED", err
	case `"DELETED"`:
		return "DELETED", err
	case `"BOOKMARK"`:
		return "BOOKMARK", err
	case "":
		return "", err
	}
	return unquote(quoted, ""), nil
}
