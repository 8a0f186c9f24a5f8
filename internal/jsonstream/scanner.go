package jsonstream

import (
	"bytes"
	"errors"
	"io"
)

// excerptSize is how much of the beginning of a body is kept for error messages.
const excerptSize = 256

// scanner is a window on a stream of bytes that slides as the stream is read.
//
// buf[start:end] are the bytes in hand. start is the first byte that the caller still needs, and pos the next byte to
// look at. The zero byte at buf[end] makes the end of the bytes in hand look like one more unexpected character, so
// that the loops over the common characters need no second condition. Reading more may move the bytes and replace the
// buffer. A position that must stay valid is kept as a distance from start, which reading never changes.
type scanner struct {
	r          io.Reader
	buf        []byte
	start      int
	pos        int
	end        int
	base       int64 // the position of buf[0] in the stream
	exempt     int   // bytes from start on that maxObject does not bound: a complete object, or the start of an event
	err        error // the reader's error with its last bytes, not reported yet
	head       []byte
	minBuffer  int
	rest       []byte   // the small buffer of a watch that waits; nil for other streams
	lent       *Buffers // where the larger buffers of a watch come from
	burst      int      // the size up to which a buffer grows while much arrives at once; 0 means never
	full       bool     // the last read filled the buffer, so more may have arrived
	recentSize int      // a slowly falling maximum of the sizes of recent objects

	maxObject   int
	maxDepth    int
	keepManaged bool
	findSyncEnd bool          // read the annotation that ends a streaming list's initial events
	stack       []byte        // the closing brackets that skipValue waits for
	cuts        []span        // what compact removes from the object
	comma       int           // the last comma that next found, as a distance from start
	parts       identitySpans // of the object in hand
	raw         span          // the object that was read last, without the cuts

	// Strings that were read before. Most objects of a stream have the same ones, and a known string costs no
	// allocation. Namespaces may alternate.
	apiVersion, kind string
	namespace        namespace
	namespaces       map[string]namespace // by quoted; at most maxNamespaces
}

// namespace is a namespace as it is in the body, and its text.
type namespace struct{ quoted, text string }

// maxNamespaces and maxNamespace bound how many namespaces a stream remembers, and their length: a server allows up to
// 63 bytes.
const (
	maxNamespaces = 256
	maxNamespace  = 128
)

// span is a part of the bytes in hand, as distances from start.
type span struct{ from, to int }

// of returns the bytes, valid until the next read.
func (p span) of(s *scanner) []byte { return s.buf[s.start+p.from : s.start+p.to] }

func newScanner(r io.Reader, o Options, minBuffer int) scanner {
	return scanner{
		r: r, minBuffer: minBuffer,
		maxObject: o.maxObject(), maxDepth: o.maxDepth(), keepManaged: o.KeepManagedFields,
		stack: make([]byte, 0, 32),
	}
}

// reset starts with another stream, in the same buffer.
func (s *scanner) reset(r io.Reader) {
	s.r = r
	s.start, s.pos, s.end, s.base, s.exempt = 0, 0, 0, 0, 0
	s.err, s.head, s.full = nil, s.head[:0], false
	if len(s.buf) > 0 {
		s.buf[0] = 0
	}
}

var errReader = errors.New("the io.Reader of the body must return a count from 0 to the size of the buffer")

// fill makes one read, which brings more bytes or an error. It keeps the bytes in hand. The caller must not use slices
// of the buffer that it took before. It refuses to read on if the object in hand has its maximal size.
func (s *scanner) fill() error {
	if s.err != nil {
		return s.err
	}
	if s.end-s.start-s.exempt >= s.maxObject {
		return s.tooLarge()
	}
	s.makeRoom()
	for range 100 {
		free := s.buf[s.end : len(s.buf)-1]
		n, err := s.r.Read(free)
		if err == errLeft { // a read into free may still be under way
			s.err = err
			return err
		}
		if n < 0 || n > len(free) {
			n, err = 0, errReader
		}
		if len(s.head) < excerptSize {
			s.head = append(s.head, free[:min(n, excerptSize-len(s.head))]...)
		}
		s.end += n
		s.buf[s.end] = 0
		s.err = err
		s.full = n == len(free)
		if n > 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
	s.err = io.ErrNoProgress
	return s.err
}

// makeRoom makes sure that there is room for at least one more byte and the zero after it. Each byte is moved a
// bounded number of times on average: the bytes in hand slide to the front only once at least as many have been
// consumed.
func (s *scanner) makeRoom() {
	held := s.end - s.start
	switch size := len(s.buf); {
	case held == 0 && s.rest != nil && !s.full: // the watch may now wait for hours
		s.swap(s.rest)
	case s.rest != nil && size < s.minBuffer && s.full:
		s.full = false
		s.swap(s.lent.Take())
	case held == 0 && (size == 0 || size > s.keepBuffer()):
		s.replace(s.minBuffer)
	case s.full && 2*size <= s.burst:
		s.full = false
		s.replace(2 * size)
	case s.start >= size/2:
		if small := max(s.minBuffer, 4*max(held, s.recentSize)); size > s.keepBuffer() && small <= size/4 {
			s.replace(small)
		} else {
			s.slide(s.buf)
		}
	case s.end < size-1:
		// There is room, and sliding would cost more than it saves.
	default:
		// Never larger than the limit allows, and the doubling cannot overflow: see Options.maxObject.
		if most := max(s.minBuffer, s.exempt+s.maxObject+s.minBuffer); size < most {
			s.replace(min(2*size, most))
		} else {
			s.slide(s.buf)
		}
	}
}

// keepBuffer is the size up to which a buffer is kept while it is in use.
func (s *scanner) keepBuffer() int { return 8 * s.minBuffer }

// replace moves the bytes in hand into a new buffer.
func (s *scanner) replace(size int) { s.swap(make([]byte, size)) }

// swap moves the bytes in hand into another buffer.
func (s *scanner) swap(buf []byte) {
	old := s.buf
	s.slide(buf)
	s.lent.Return(old)
}

// slide moves the bytes in hand to the front of buf.
func (s *scanner) slide(buf []byte) {
	s.base += int64(s.start)
	s.end = copy(buf, s.buf[s.start:s.end])
	s.pos -= s.start
	s.start = 0
	s.buf = buf
	s.buf[s.end] = 0
}

// release gives up everything before pos.
func (s *scanner) release() { s.start, s.exempt = s.pos, 0 }

// skipSpace moves past white space and returns the byte after it, or the reader's error as it is. If hold is false it
// gives up the bytes in hand before it reads: between events any amount of white space may come.
func (s *scanner) skipSpace(hold bool) (byte, error) {
	for {
		for s.pos < s.end {
			switch c := s.buf[s.pos]; c {
			case ' ', '\n', '\r', '\t':
				s.pos++
			default:
				return c, nil
			}
		}
		if !hold {
			s.release()
		}
		if err := s.fill(); err != nil {
			return 0, err
		}
	}
}

// peek moves past white space inside a value and returns the byte after it.
func (s *scanner) peek() (byte, error) {
	if c := s.buf[s.pos]; c > ' ' {
		return c, nil
	}
	c, err := s.skipSpace(true)
	if err != nil {
		err = s.readError(err)
	}
	return c, err
}

// open moves past the bracket at pos, which opens the given level of nesting, and returns the first byte inside.
func (s *scanner) open(level int) (byte, error) {
	if level > s.maxDepth {
		return 0, s.tooDeep()
	}
	s.pos++
	return s.peek()
}

// close ends a loop over members: without an error, pos is at the closing brace.
func (s *scanner) close(err error) error {
	if err == nil {
		s.pos++
	}
	return err
}

// next moves on after a value: past the comma to the next byte, or to the closing bracket.
func (s *scanner) next(closing byte) (byte, error) {
	c, err := s.peek()
	if err != nil || c == closing {
		return c, err
	}
	if c != ',' {
		return 0, s.unexpected(c, "a comma or '"+string(rune(closing))+"'")
	}
	s.comma = s.pos - s.start
	s.pos++
	if c, err = s.peek(); err == nil && c == closing {
		return 0, s.unexpected(c, "a value after the comma")
	}
	return c, err
}

// name moves past the name of a member, which starts with c at pos, and past its colon. It returns the name, unescaped
// and valid until the next read, and the first byte of the value.
func (s *scanner) name(c byte) ([]byte, byte, error) {
	if c != '"' {
		return nil, 0, s.unexpected(c, "the name of a member")
	}
	at := s.pos - s.start
	if err := s.skipString(); err != nil {
		return nil, 0, err
	}
	to := s.pos - s.start
	c, err := s.peek()
	if err != nil {
		return nil, 0, err
	}
	if c != ':' {
		return nil, 0, s.unexpected(c, "a colon")
	}
	s.pos++
	if c, err = s.peek(); err != nil {
		return nil, 0, err
	}
	quoted := s.buf[s.start+at : s.start+to]
	if bytes.IndexByte(quoted, '\\') >= 0 {
		return []byte(unquote(quoted, "")), c, nil
	}
	return quoted[1 : len(quoted)-1], c, nil
}

// quoted moves past the string that starts at pos and returns it with its quotes, valid until the next read.
func (s *scanner) quoted() ([]byte, error) {
	at := s.pos - s.start
	if err := s.skipString(); err != nil {
		return nil, err
	}
	return s.buf[s.start+at : s.pos], nil
}

// text reads a string value that starts with c at pos. It moves past a value of another type and returns "" for it. If
// the string equals like, it returns like, which saves an allocation.
func (s *scanner) text(c byte, level int, like string) (string, error) {
	if c != '"' {
		return "", s.skipValue(level)
	}
	quoted, err := s.quoted()
	if err != nil {
		return "", err
	}
	return unquote(quoted, like), nil
}

// namespaceText reads a namespace that starts with c at pos, as text does.
func (s *scanner) namespaceText(c byte) (string, error) {
	if c != '"' {
		return "", s.skipValue(2)
	}
	quoted, err := s.quoted()
	if err != nil {
		return "", err
	}
	if string(quoted) == s.namespace.quoted {
		return s.namespace.text, nil
	}
	if len(quoted) > maxNamespace {
		return unquote(quoted, ""), nil
	}
	known, ok := s.namespaces[string(quoted)]
	if !ok {
		known = namespace{quoted: string(quoted)}
		known.text = unquote(quoted, known.quoted[1:len(quoted)-1])
		s.remember(known)
	}
	s.namespace = known
	return known.text, nil
}

// remember keeps a namespace, unless it is the first, which may be the only one.
func (s *scanner) remember(n namespace) {
	if s.namespace.quoted == "" {
		return
	}
	if s.namespaces == nil || len(s.namespaces) >= maxNamespaces {
		s.namespaces = make(map[string]namespace)
	}
	s.namespaces[n.quoted] = n
}
