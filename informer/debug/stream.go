package debug

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// Live events, as server-sent events (the HTML standard, section 9.2).

const (
	streamBatch = 200                    // events that are written at once
	streamPause = 100 * time.Millisecond // between two batches, so that many events need few packets
	streamWrite = 10 * time.Second       // how long a write may take before the client is disconnected
	streamQuiet = 15 * time.Second       // after which a comment shows that the stream is alive
)

var errStreams = fmt.Errorf("too many streams of events are open, at most %d are allowed", mostStreams)

// serveStream sends events until the request's context ends or the client stops reading. The stream occupies one of
// mostStreams places, and buffers no event: see events.
func (p *Page) serveStream(w http.ResponseWriter, r *http.Request, query url.Values) {
	select {
	case p.streams <- struct{}{}:
		defer func() { <-p.streams }()
	default:
		w.Header().Set("Retry-After", "10")
		p.refuse(w, r, http.StatusServiceUnavailable, errStreams)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("X-Accel-Buffering", "no") // for proxies that would buffer the events
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return
	}
	s := &stream{w: w, c: http.NewResponseController(w), search: query.Get("q")}
	after := query.Get("after")
	if id := r.Header.Get("Last-Event-ID"); id != "" { // the browser has connected again
		after = id
	}
	number, err := strconv.ParseUint(after, 10, 64)
	if err != nil {
		_, number = p.events.since(0, nil, 0) // from now on
	}
	var later bool
	s.cursor, later = p.events.from(number, chosen(query["kind"]))
	if later {
		s.note(0)
	}
	s.buffer.WriteString("retry: 3000\n\n")
	s.run(r.Context().Done())
}

type stream struct {
	w      http.ResponseWriter
	c      *http.ResponseController
	cursor *cursor
	search string
	buffer bytes.Buffer
}

// run writes until ended is closed or a write fails.
func (s *stream) run(ended <-chan struct{}) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		found, missed, more := s.cursor.next(streamBatch)
		if missed > 0 {
			s.note(missed)
		}
		for _, v := range found {
			if v.matches(s.search) {
				s.event(v)
			}
		}
		if s.buffer.Len() > 0 && !s.flush() {
			return
		}
		wait := streamPause
		if more != nil {
			wait = streamQuiet
		}
		timer.Reset(wait)
		select {
		case <-ended:
			return
		case <-more: // nil, which blocks, after a batch
		case <-timer.C:
			if more != nil {
				s.buffer.WriteString(": nothing new\n\n")
			}
		}
	}
}

func (s *stream) event(v event) {
	text, err := json.Marshal(v) // on one line
	if err == nil {
		fmt.Fprintf(&s.buffer, "id: %d\ndata: %s\n\n", v.Seq, text)
	}
}

// note tells the client how many events it misses; 0 means that the number is unknown.
func (s *stream) note(missed int) {
	fmt.Fprintf(&s.buffer, "event: missed\ndata: %d\n\n", missed)
}

func (s *stream) flush() bool {
	// A ResponseWriter without deadlines has its own time limit, or none.
	_ = s.c.SetWriteDeadline(time.Now().Add(streamWrite))
	_, err := s.w.Write(s.buffer.Bytes())
	s.buffer.Reset()
	return err == nil && s.c.Flush() == nil
}

// chosen returns the kinds of a query; all if it names none.
func chosen(names []string) []kind {
	all := kinds()
	some := slices.DeleteFunc(all, func(k kind) bool { return !slices.Contains(names, string(k)) })
	if len(some) == 0 {
		return kinds()
	}
	return some
}
