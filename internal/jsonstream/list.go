package jsonstream

import (
	"io"
	"strconv"

	"github.com/bowline-go/bowline/client/meta"
)

// Header holds the members of a list besides its items.
type Header struct {
	APIVersion, Kind string
	meta.ListMeta
}

// List reads the body of a list, item by item. The items array is never held as a whole.
type List struct {
	s      scanner
	part   part
	header Header
	known  bool
	err    error
}

// part is the reader's position in the list.
type part int

const (
	atStart part = iota
	atFirstItem
	atNextItem
	atEnd
)

// NewList returns a reader of a list body. It reads nothing yet.
func NewList(r io.Reader, o Options) *List {
	return &List{s: newScanner(r, o, 64<<10)}
}

// Reset makes l a reader of another list body, such as the next page, as NewList would. It keeps the buffer.
func (l *List) Reset(r io.Reader) {
	s := &l.s
	*l = List{s: *s}
	l.s.reset(r)
}

// Open reads up to the first item, without that item, so that the header is known if the server wrote it first. Next
// calls it; calling it again does nothing. A list without items is read to its end.
//
// It returns a [*BodyError] for a body that is not an object, or that is a Status without items.
func (l *List) Open() error {
	if l.part == atStart && l.err == nil {
		l.err = l.open()
	}
	if l.err == io.EOF {
		return nil
	}
	return l.err
}

// Header returns the list's header, and whether the list's metadata has been read. The API server writes kind,
// apiVersion and metadata before the items, so the whole header is known after Open. In a list with another order, the
// rest is known when Next has returned io.EOF.
func (l *List) Header() (h Header, known bool) { return l.header, l.known }

// Next returns the next item. Its bytes are valid until the next call.
//
// It returns io.EOF only after the last item of a complete list. Every other error means that items may be missing.
func (l *List) Next() (Item, error) {
	if err := l.Open(); err != nil {
		return Item{}, err
	}
	if l.err != nil {
		return Item{}, l.err
	}
	var item Item
	if item, l.err = l.next(); l.err != nil {
		return Item{}, l.err
	}
	return item, nil
}

func (l *List) open() error {
	s := &l.s
	if err := s.begin("a list"); err != nil {
		return err
	}
	s.release()
	c, err := s.open(0)
	if err != nil {
		return err
	}
	return l.members(c)
}

func (l *List) next() (Item, error) {
	s := &l.s
	s.release()
	var c byte
	var err error
	if l.part == atFirstItem {
		c, err = s.peek()
	} else {
		c, err = s.next(']')
	}
	if err != nil {
		return Item{}, err
	}
	switch c {
	case '{':
		var item Item
		if err := s.item(&item); err != nil {
			return Item{}, err
		}
		if item.Limit == nil {
			item.Raw = s.rawBytes()
		}
		l.part = atNextItem
		return item, nil
	case ']':
		l.part = atEnd
		s.pos++
		s.release()
		if c, err = s.next('}'); err != nil {
			return Item{}, err
		}
		if err := l.members(c); err != nil {
			return Item{}, err
		}
		// There is no second items array: members reads to the end of the list, or fails.
		return Item{}, io.EOF
	}
	return Item{}, s.unexpected(c, "an item, which must be an object,")
}

// members reads the members of the list, the first of which starts with c at pos, up to the first item, or to the end
// of the body. At the end it returns io.EOF.
func (l *List) members(c byte) error {
	s := &l.s
	for c != '}' {
		s.release()
		name, c1, err := s.name(c)
		if err != nil {
			return err
		}
		c = c1
		switch string(name) {
		case "kind":
			l.header.Kind, err = s.text(c, 0, "")
		case "apiVersion":
			l.header.APIVersion, err = s.text(c, 0, "")
		case "metadata":
			l.header.ListMeta = meta.ListMeta{}
			if c == '{' {
				err = l.metadata()
			} else {
				err = s.skipValue(0)
			}
			l.known = err == nil
		case "items":
			if c == '[' {
				if l.part != atStart {
					return s.syntaxError("the list has items twice")
				}
				s.pos++
				l.part = atFirstItem
				return nil
			}
			err = l.null(c)
		default:
			err = s.skipValue(0)
		}
		if err != nil {
			return err
		}
		s.release()
		if c, err = s.next('}'); err != nil {
			return err
		}
	}
	s.pos++
	if err := s.finish(false); err != nil {
		return err
	}
	if l.part == atStart && l.header.Kind == "Status" {
		return &BodyError{Excerpt: string(s.head), message: "the body is not a list but a Status"}
	}
	return io.EOF
}

// null moves past a null that stands in place of the items. It starts with c at pos.
func (l *List) null(c byte) error {
	s := &l.s
	if l.part != atStart {
		return s.syntaxError("the list has items twice")
	}
	at, offset := s.pos-s.start, s.base+int64(s.pos)
	if c == 'n' {
		if err := s.skipValue(0); err != nil {
			return err
		}
		if string(s.buf[s.start+at:s.pos]) == "null" {
			return nil
		}
	}
	return &SyntaxError{Offset: offset, message: "the list's items are not an array"}
}

func (l *List) metadata() error {
	s := &l.s
	c, err := s.open(1)
	for err == nil && c != '}' {
		var name []byte
		if name, c, err = s.name(c); err != nil {
			return err
		}
		switch string(name) {
		case "resourceVersion":
			l.header.ResourceVersion, err = s.text(c, 1, "")
		case "continue":
			l.header.Continue, err = s.text(c, 1, "")
		case "remainingItemCount":
			at := s.pos - s.start
			if err = s.skipValue(1); err == nil {
				l.header.RemainingItemCount = parseCount(s.buf[s.start+at : s.pos])
			}
		case "shardInfo":
			l.header.ShardInfo = meta.ShardInfo{}
			if c == '{' {
				err = l.shardInfo()
			} else {
				err = s.skipValue(1)
			}
		default:
			err = s.skipValue(1)
		}
		if err == nil {
			c, err = s.next('}')
		}
	}
	return s.close(err)
}

func (l *List) shardInfo() error {
	s := &l.s
	c, err := s.open(2)
	for err == nil && c != '}' {
		var name []byte
		if name, c, err = s.name(c); err != nil {
			return err
		}
		if string(name) == "selector" {
			l.header.ShardInfo.Selector, err = s.text(c, 2, "")
		} else {
			err = s.skipValue(2)
		}
		if err == nil {
			c, err = s.next('}')
		}
	}
	return s.close(err)
}

// parseCount returns the number, or nil if it is not a whole number: the count is an estimate, and nothing depends on
// it.
func parseCount(b []byte) *int64 {
	n, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil {
		return nil
	}
	return &n
}
