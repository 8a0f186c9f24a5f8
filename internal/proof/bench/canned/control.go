package canned

// This file has the paths by which a sample tells the server what to do next, and reads its state.

import (
	"encoding/json"
	"net/http"
	"strconv"
)

// Answer is the JSON answer of the paths under /control.
type Answer struct {
	Asked   string `json:",omitempty"` // reset: the requests since the last reset
	Version int    // the version of the list from now on, that of the last event
	Sent    int64  `json:",omitempty"` // sent: the bytes that the server has written
}

func reply(w http.ResponseWriter, a Answer) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(a) // the client has gone
}

// reset waits until the watches of the last sample have ended, and resets the server. From then on the server applies
// shard selectors if select is true, and otherwise ignores them.
func (s *Server) reset(w http.ResponseWriter, r *http.Request) {
	select {
	case <-s.empty():
	case <-r.Context().Done():
		return
	}
	s.selects.Store(r.FormValue("select") == "true")
	s.advance(initialVersion - s.advance(0))
	reply(w, Answer{Asked: s.TakeRequests(), Version: initialVersion})
}

// empty returns a channel that is closed when no watch runs.
func (s *Server) empty() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.alone == nil {
		s.alone = make(chan struct{})
	}
	alone := s.alone
	if s.watches == 0 {
		close(alone)
		s.alone = nil
	}
	return alone
}

// modify makes the watch send events. It waits for a watch.
func (s *Server) modify(w http.ResponseWriter, r *http.Request) {
	events, err := strconv.Atoi(r.FormValue("events"))
	if err != nil || events < 1 {
		http.Error(w, "events must be a positive number", http.StatusBadRequest)
		return
	}
	rate, err := strconv.Atoi(r.FormValue("rate"))
	if err != nil || rate < 0 {
		http.Error(w, "rate must be a number that is not negative", http.StatusBadRequest)
		return
	}
	before := s.advance(events)
	s.command(w, r, command{events: events, rate: rate, after: before}, before+events)
}

// expire ends the watch with 410 in the stream, and gives the list another version. It waits for a watch.
func (s *Server) expire(w http.ResponseWriter, r *http.Request) {
	s.command(w, r, command{}, s.advance(1)+1)
}

func (s *Server) command(w http.ResponseWriter, r *http.Request, c command, version int) {
	select {
	case s.commands <- c:
		reply(w, Answer{Version: version})
	case <-r.Context().Done():
	}
}
