package canned

// This file serves watches, which send the events that commands ask for.

import (
	"bufio"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// command tells a watch what to send: events, at a rate; or without events, an error that ends it.
type command struct {
	events int
	rate   int // events a second; 0 is as fast as the socket takes them
	after  int // the version before the first event's
}

// watch sends the objects, if they are wanted, and then follows commands until the client goes.
func (s *Server) watch(w http.ResponseWriter, r *http.Request, chosen selection, initial bool) {
	defer s.enter()()
	out := bufio.NewWriterSize(w, 64<<10)
	flush := func() error { return errors.Join(out.Flush(), http.NewResponseController(w).Flush()) }
	binary := wantsProtobuf(r)
	if initial && binary {
		s.count(0, 1)
		if s.writeInitial(out) != nil {
			return
		}
	}
	if initial && !binary {
		s.count(0, 1)
		for _, o := range chosen.of(s.objects) {
			out.WriteString(`{"type":"ADDED","object":` + s.itemHead)
			out.Write(o.raw[1:])
			out.WriteString("}\n")
		}
		fmt.Fprintf(out, `{"type":"BOOKMARK","object":{"kind":%q,"apiVersion":%q,"metadata":{"resourceVersion":"%d","creationTimestamp":null,`+
			`"annotations":{"k8s.io/initial-events-end":"true"}},"spec":{"containers":null},"status":{}}}`+"\n", s.kind, s.apiVersion, s.advance(0))
	}
	for flush() == nil {
		select {
		case <-r.Context().Done():
			return
		case c := <-s.commands:
			if c.events == 0 && binary {
				if writeExpired(out) == nil {
					_ = flush() // the client has gone
				}
				return
			}
			if c.events == 0 {
				out.WriteString(`{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",` +
					`"message":"too old resource version","reason":"Expired","code":410}}` + "\n")
				_ = flush() // the client has gone
				return
			}
			s.send(r, out, flush, chosen, c)
		}
	}
}

// send writes the events of one command, object after object, each with a higher version. If the client goes, the next
// write fails, and so does the following flush.
func (s *Server) send(r *http.Request, out *bufio.Writer, flush func() error, chosen selection, c command) {
	binary := wantsProtobuf(r)
	began := time.Now()
	var version []byte
	for i := range c.events {
		o := s.objects[i%len(s.objects)]
		if !chosen.has(o) {
			continue
		}
		version = strconv.AppendInt(version[:0], int64(c.after+i+1), 10)
		if err := o.write(out, s.itemHead, version, binary); err != nil {
			return
		}
		if c.rate == 0 {
			continue
		}
		if wait := time.Until(began.Add(time.Duration(i+1) * time.Second / time.Duration(c.rate))); wait > 0 {
			if flush() != nil {
				return
			}
			select {
			case <-r.Context().Done():
				return
			case <-time.After(wait):
			}
		}
	}
}

// write writes an event of the object at a version.
func (o object) write(out *bufio.Writer, itemHead string, version []byte, binary bool) error {
	if binary {
		m := o.binary
		out.Write(m.event[:m.at])
		out.Write(version)
		_, err := out.Write(m.event[m.at+len(version):])
		return err
	}
	out.WriteString(`{"type":"MODIFIED","object":` + itemHead)
	out.Write(o.raw[1:o.from])
	out.Write(version)
	out.Write(o.raw[o.end:])
	_, err := out.WriteString("}\n")
	return err
}

// enter counts a watch until leave is called.
func (s *Server) enter() (leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watches++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.watches--; s.watches == 0 && s.alone != nil {
			close(s.alone)
			s.alone = nil
		}
	}
}
