package main

// A server that serves one collection and never changes it: as little as the informers of all sides need, and as fast as
// it can be, so that it is the clients that are measured.

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
)

const (
	listHead = `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1000000"`
	itemHead = `{"kind":"Pod","apiVersion":"v1",`
	// The bookmark that ends the initial events of a streaming list.
	initialEventsEnd = `{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"1000000",` +
		`"creationTimestamp":null,"annotations":{"k8s.io/initial-events-end":"true"}},"spec":{"containers":null},"status":{}}}` + "\n"
)

// server serves pods on loopback. Make it with serve.
type server struct {
	URL  string
	pods [][]byte
	http *http.Server
	done chan error // gets what Serve returned

	mu sync.Mutex
	// lists and streams count the pages and the streaming lists that were asked for since the last takeRequests.
	lists, streams int
}

// serve starts a server; close ends it.
func serve(pods [][]byte) (*server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &server{URL: "http://" + listener.Addr().String(), pods: pods, done: make(chan error, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/pods", s.answer)
	s.http = &http.Server{Handler: mux}
	go func() { s.done <- s.http.Serve(listener) }()
	return s, nil
}

// close ends every connection, and returns why the server had ended, if it had.
func (s *server) close() error {
	err := s.http.Close()
	if served := <-s.done; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

// takeRequests says what was asked since the last call.
func (s *server) takeRequests() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	lists, streams := s.lists, s.streams
	s.lists, s.streams = 0, 0
	switch {
	case streams > 0 && lists == 0:
		return "a streaming list"
	case streams == 0 && lists == 1:
		return "a list in 1 page"
	case streams == 0:
		return fmt.Sprintf("a list in %d pages", lists)
	}
	return fmt.Sprintf("%d pages and %d streaming lists", lists, streams)
}

func (s *server) count(lists, streams int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lists += lists
	s.streams += streams
}

func (s *server) answer(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	query := r.URL.Query()
	if watch := query.Get("watch"); watch == "true" || watch == "1" {
		s.watch(w, r, query.Get("sendInitialEvents") == "true")
		return
	}
	s.count(1, 0)
	from, to, rest := 0, len(s.pods), ""
	if limit, err := strconv.Atoi(query.Get("limit")); err == nil && limit > 0 {
		if token := query.Get("continue"); token != "" {
			if from, err = strconv.Atoi(token); err != nil || from < 0 || from > to {
				http.Error(w, "bad continue token", http.StatusBadRequest)
				return
			}
		}
		if from+limit < to {
			rest = fmt.Sprintf(`,"continue":"%d","remainingItemCount":%d`, from+limit, to-from-limit)
			to = from + limit
		}
	}
	out := bufio.NewWriterSize(w, 64<<10)
	out.WriteString(listHead + rest + `},"items":[`)
	for i, pod := range s.pods[from:to] {
		if i > 0 {
			out.WriteByte(',')
		}
		out.Write(pod)
	}
	out.WriteString("]}\n")
	_ = out.Flush() // the client has gone
}

// watch sends the pods, if they are wanted, and then nothing until the client goes.
func (s *server) watch(w http.ResponseWriter, r *http.Request, initial bool) {
	out := bufio.NewWriterSize(w, 64<<10)
	if initial {
		s.count(0, 1)
		for _, pod := range s.pods {
			out.WriteString(`{"type":"ADDED","object":` + itemHead)
			out.Write(pod[1:])
			out.WriteString("}\n")
		}
		out.WriteString(initialEventsEnd)
	}
	if err := errors.Join(out.Flush(), http.NewResponseController(w).Flush()); err != nil {
		return // the client has gone
	}
	<-r.Context().Done()
}
