package remote

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"iter"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// Line is a line of a log.
type Line struct {
	// Time is when the node read the line from the container, in UTC. It is zero if the line has no timestamp: a node
	// writes its own errors into the log, and LogOptions.Limit may cut a timestamp off.
	Time time.Time
	// Pod and Container are the source of the line. With [Lines] they are the arguments of the call.
	Pod       meta.Key
	Container string
	// Text is the line as the container wrote it, without the final "\n". It need not be UTF-8, and may end in "\r".
	Text string
	// Continues says that the line is longer than 1 MiB and continues in the next Line of the same log.
	Continues bool
}

// maxLine is the maximum length of Line.Text, in bytes. A longer line becomes several Lines.
const maxLine = 1 << 20

// Lines iterates over the lines of the log of one container; see [Logs] for the errors. The iteration ends after an
// error. Leaving the loop closes the log; another loop reads it from the beginning. Text after the last "\n" is a line
// too. Lines buffers at most one line and 16 KiB.
func Lines[T meta.Object](ctx context.Context, pods client.Resource[T], key meta.Key, o LogOptions) iter.Seq2[Line, error] {
	source := newLogSource(pods)
	o.Timestamps = true
	return func(yield func(Line, error) bool) {
		body, err := source.open(ctx, key, o)
		if err != nil {
			yield(Line{}, err)
			return
		}
		defer func() { _ = body.Close() }()
		s := newLineScanner(body)
		for {
			l, err := s.next()
			switch {
			case err == io.EOF:
				return
			case err != nil:
				yield(Line{}, source.fail(key, err))
				return
			case !l.Time.IsZero() && l.Time.Before(o.Since):
				continue
			}
			l.Pod, l.Container = key, o.Container
			if !yield(l.Line, nil) {
				return
			}
		}
	}
}

// scanned is a line and how it ended.
type scanned struct {
	Line
	open bool // the log ended, or its connection was cut, within the line
}

// lineScanner splits a log with timestamps into lines. It buffers at most maxLine and scanBuffer bytes.
type lineScanner struct {
	r      *bufio.Reader
	max    int       // maxLine
	text   []byte    // of the current line
	time   time.Time // of that line
	within bool      // the current Line continues the one before
}

const (
	scanBuffer = 16 << 10
	// maxStamp is the length of the longest timestamp and the space after it, in bytes.
	maxStamp = len("2006-01-02T15:04:05.999999999+07:00 ")
	// maxKept is the largest buffer that is reused for the next line, in bytes.
	maxKept = 64 << 10
)

func newLineScanner(r io.Reader) *lineScanner {
	return &lineScanner{r: bufio.NewReaderSize(r, scanBuffer), max: maxLine}
}

// next returns the next line, or the error of the reader once everything before it has been returned.
func (s *lineScanner) next() (scanned, error) {
	if cap(s.text) > maxKept {
		s.text = nil
	}
	s.text = s.text[:0]
	stamped, begun := s.within, false
	for {
		_, err := s.r.Peek(1) // fills the buffer
		b, _ := s.r.Peek(s.r.Buffered())
		if len(b) == 0 {
			if !begun {
				return scanned{}, err
			}
			return s.line(stamped, scanned{open: true}), nil
		}
		begun = true
		end := bytes.IndexByte(b, '\n')
		ends := end >= 0
		if ends {
			b = b[:end]
		}
		limit := s.max
		if !stamped {
			limit = maxStamp
		}
		if room := limit - len(s.text); len(b) > room {
			b, ends = b[:room], false
			if stamped && room == 0 {
				return s.line(stamped, scanned{Line: Line{Continues: true}}), nil
			}
		}
		s.text = append(s.text, b...)
		_, _ = s.r.Discard(len(b)) // cannot fail: the bytes are buffered
		if ends {
			_, _ = s.r.Discard(1)
			return s.line(stamped, scanned{}), nil
		}
		if !stamped && len(s.text) == maxStamp {
			var rest []byte
			s.time, rest = cutStamp(s.text)
			s.text, stamped = append(s.text[:0], rest...), true
		}
	}
}

// line returns the line that has been read.
func (s *lineScanner) line(stamped bool, l scanned) scanned {
	text := s.text
	if !stamped {
		s.time, text = cutStamp(text)
	}
	s.within = l.Continues
	l.Time, l.Text = s.time, string(text)
	return l
}

// cutStamp returns the timestamp of a line, and the rest of the line. It returns a line without a timestamp whole.
func cutStamp(line []byte) (time.Time, []byte) {
	stamp, _, found := bytes.Cut(line[:min(len(line), maxStamp)], []byte(" "))
	if !found {
		return time.Time{}, line
	}
	t, err := time.Parse(time.RFC3339Nano, string(stamp))
	if err != nil || t.IsZero() {
		return time.Time{}, line
	}
	return t.UTC(), line[len(stamp)+1:]
}
