// Package canned is an API server that serves one collection, usually of pods, from bytes that it prepares in advance.
// It does as little as the informers of all sides need, as fast as it can, so that the figures show the costs of the
// clients.
//
// It answers lists, with limit and continue or without, streaming lists (a watch with sendInitialEvents) and watches,
// in JSON or protobuf that is not compressed, and the discovery of pods. It runs commands in the container of one pod,
// over WebSockets. It encodes nothing while it answers: an event is the object's bytes with another version. A few
// paths under /control say what a watch sends, and when it ends; see [Answer].
//
// The collection itself never changes: a list after some events has the same objects, at a later version.
package canned

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/bowline-go/bowline/client/meta"
)

// initialVersion is the resource version of the list of a new server. It is above those of the pods, and has as many
// digits as all later ones.
const initialVersion = 1_000_000

// object is one object on the wire, with the place of its version.
type object struct {
	raw       []byte
	from, end int
	shard     int // its range, by the uid
	binary    message
}

func wireObject(raw []byte) (object, error) {
	const name = `"resourceVersion":"`
	at := bytes.Index(raw, []byte(name))
	if at < 0 {
		return object{}, errors.New("find the resource version of an object: there is none")
	}
	at += len(name)
	const uid = `"uid":"`
	id := bytes.Index(raw, []byte(uid)) // the uid of an owner comes later
	if id < 0 {
		return object{}, errors.New("find the uid of an object: there is none")
	}
	id += len(uid)
	length := bytes.IndexByte(raw[id:], '"')
	shard := meta.ShardByUID.Range(meta.Identity{UID: string(raw[id : id+length])})
	return object{raw: raw, from: at, end: at + bytes.IndexByte(raw[at:], '"'), shard: shard}, nil
}

// Server serves a collection on loopback. Make it with Serve.
type Server struct {
	URL string
	Collection
	itemHead string // the start of an object in an event; an item of a list may lack the kind

	http *http.Server
	done chan error // gets the result of http's Serve

	// commands passes commands to the watch. Each sample has one watch.
	commands chan command

	selects atomic.Bool  // whether shard selectors are applied, or ignored
	sent    atomic.Int64 // bytes

	mu sync.Mutex
	// lists and streams count the pages and the streaming lists that were asked for since the last TakeRequests.
	lists, streams int
	version        int           // that of the list
	watches        int           // the number that run
	alone          chan struct{} // closed when watches gets 0; nil if no request waits for it
}

// Serve starts a server; Close ends it.
func Serve(c Collection) (*Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{
		URL: "http://" + listener.Addr().String(), Collection: c, itemHead: fmt.Sprintf(`{"kind":%q,"apiVersion":%q,`, c.kind, c.apiVersion),
		version: initialVersion, done: make(chan error, 1), commands: make(chan command),
	}
	if len(c.objects) > 0 && bytes.HasPrefix(c.objects[0].raw, []byte(`{"apiVersion"`)) {
		s.itemHead = "{"
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+c.path, s.answer)
	mux.HandleFunc("GET /api/v1/namespaces/default/pods/web/exec", s.exec)
	mux.HandleFunc("GET /api", discover(core))
	mux.HandleFunc("GET /apis", discover(""))
	mux.HandleFunc("POST /control/reset", s.reset)
	mux.HandleFunc("POST /control/modify", s.modify)
	mux.HandleFunc("POST /control/expire", s.expire)
	mux.HandleFunc("GET /control/sent", s.said)
	s.http = &http.Server{Handler: mux}
	go func() { s.done <- s.http.Serve(counted{listener, &s.sent}) }()
	return s, nil
}

// Close ends every connection. If the server had ended before, Close returns why.
func (s *Server) Close() error {
	err := s.http.Close()
	if served := <-s.done; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

// TakeRequests returns the requests since the last call.
func (s *Server) TakeRequests() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	lists, streams := s.lists, s.streams
	s.lists, s.streams = 0, 0
	switch {
	case streams == 0 && lists == 0:
		return "nothing"
	case streams == 1 && lists == 0:
		return "a streaming list"
	case streams > 0 && lists == 0:
		return fmt.Sprintf("%d streaming lists", streams)
	case streams == 0 && lists == 1:
		return "a list in 1 page"
	case streams == 0:
		return fmt.Sprintf("a list in %d pages", lists)
	}
	return fmt.Sprintf("%d pages and %d streaming lists", lists, streams)
}

func (s *Server) count(lists, streams int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lists += lists
	s.streams += streams
}

// advance moves the version of the list, and returns the one before.
func (s *Server) advance(by int) (before int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before = s.version
	s.version += by
	return before
}

// core are the resources of /api, in the aggregated form of discovery that real servers have.
const core = `{"metadata":{"creationTimestamp":null},"versions":[{"version":"v1","resources":[{"resource":"pods",` +
	`"responseKind":{"group":"","version":"v1","kind":"Pod"},"scope":"Namespaced","singularResource":"pod",` +
	`"verbs":["get","list","watch"]}],"freshness":"Current"}]}`

// discover returns the handler of a path of discovery, which controller-runtime asks for before it lists.
func discover(groups string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
		fmt.Fprintf(w, `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[%s]}`+"\n", groups)
	}
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	binary := wantsProtobuf(r)
	w.Header().Set("Content-Type", "application/json")
	if binary {
		w.Header().Set("Content-Type", protobufType)
	}
	query := r.URL.Query()
	chosen, err := s.selection(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if watch := query.Get("watch"); watch == "true" || watch == "1" {
		s.watch(w, r, chosen, query.Get("sendInitialEvents") == "true")
		return
	}
	s.count(1, 0)
	objects := chosen.of(s.objects)
	from, to, rest, token := 0, len(objects), chosen.info, ""
	if limit, err := strconv.Atoi(query.Get("limit")); err == nil && limit > 0 {
		if token := query.Get("continue"); token != "" {
			if from, err = strconv.Atoi(token); err != nil || from < 0 || from > to {
				http.Error(w, "bad continue token", http.StatusBadRequest)
				return
			}
		}
		if from+limit < to {
			token = strconv.Itoa(from + limit)
			rest += fmt.Sprintf(`,"continue":"%d","remainingItemCount":%d`, from+limit, to-from-limit)
			to = from + limit
		}
	}
	if binary {
		page := make([]message, 0, to-from)
		for _, o := range objects[from:to] {
			page = append(page, o.binary)
		}
		_ = s.writeList(w, page, s.advance(0), token, len(objects)-to) // the client has gone
		return
	}
	out := bufio.NewWriterSize(w, 64<<10)
	fmt.Fprintf(out, `{"kind":%q,"apiVersion":%q,"metadata":{"resourceVersion":"%d"%s},"items":[`, s.kind+"List", s.apiVersion, s.advance(0), rest)
	for i, o := range objects[from:to] {
		if i > 0 {
			out.WriteByte(',')
		}
		out.Write(o.raw)
	}
	out.WriteString("]}\n")
	_ = out.Flush() // the client has gone
}
