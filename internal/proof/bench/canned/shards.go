package canned

// This file selects the pods that a client asks for with a shard selector (KEP-5866), if the server is told to select.

import (
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"sync/atomic"

	"github.com/bowline-go/bowline/client/meta"
)

// selection says which objects a request is for, and what the list's metadata says about that.
type selection struct {
	all    bool
	ranges meta.Ranges
	info   string // for the metadata of a list
}

func (s selection) has(o object) bool { return s.all || s.ranges.Has(o.shard) }

var shardRange = regexp.MustCompile(`shardRange\(object\.metadata\.uid, '0x([0-9a-f]{16})', '0x(1?[0-9a-f]{16})'\)`)

// selection returns what a request asks for: everything, if the server does not select.
func (s *Server) selection(r *http.Request) (selection, error) {
	text := r.URL.Query().Get("shardSelector")
	if text == "" || !s.selects.Load() {
		return selection{all: true}, nil
	}
	found := shardRange.FindAllStringSubmatch(text, -1)
	if len(found) == 0 {
		return selection{}, fmt.Errorf("unknown shard selector %q", text)
	}
	sel := selection{info: fmt.Sprintf(`,"shardInfo":{"selector":%q}`, text)}
	for _, bounds := range found {
		from, err := strconv.ParseUint(bounds[1][:2], 16, 64)
		if err != nil {
			return selection{}, err
		}
		to, err := strconv.ParseUint(bounds[2][:len(bounds[2])-14], 16, 64)
		if err != nil {
			return selection{}, err
		}
		for n := from; n < to; n++ {
			sel.ranges = sel.ranges.With(int(n))
		}
	}
	return sel, nil
}

// of returns the objects of a list that the request is for.
func (s selection) of(all []object) []object {
	if s.all {
		return all
	}
	var some []object
	for _, o := range all {
		if s.has(o) {
			some = append(some, o)
		}
	}
	return some
}

// counted counts the bytes that are written to the connections that it accepts.
type counted struct {
	net.Listener
	sent *atomic.Int64
}

func (l counted) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return countedConn{c, l.sent}, nil
}

type countedConn struct {
	net.Conn
	sent *atomic.Int64
}

func (c countedConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.sent.Add(int64(n))
	return n, err
}

// said answers with the number of bytes that the server has written since it began.
func (s *Server) said(w http.ResponseWriter, _ *http.Request) { reply(w, Answer{Sent: s.sent.Load()}) }
