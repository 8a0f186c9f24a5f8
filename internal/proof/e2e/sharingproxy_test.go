package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/internal/proof/e2e/ledger"
)

// scene is what happens while replicas share notes: what they say, and which of their writes arrive at the server.
type scene struct {
	t          *testing.T
	admin      *client.Client
	namespaces []string
	objects    int               // how many notes there are
	sharded    informer.Sharding // where the server's feature has ranges selected
	start      time.Time         // of the machine's clock
	upstream   http.RoundTripper
	server     *url.URL

	mu     sync.Mutex // guards the rest
	ledger ledger.Ledger
	cut    int              // writes that broke off
	codes  map[int]int      // answers to writes
	noted  map[noteRef]bool // what replicas say that they have noted
	paused []pausedWork
}

// pausedWork is a reconcile that paused before its write.
type pausedWork struct {
	replica      string
	began, ended time.Duration
	err          string
}

// noteRef is a state of a note, and who has noted it.
type noteRef struct{ uid, state, by string }

// moment returns a moment of the machine's clock, in nanoseconds, as one of the ledger.
func (s *scene) moment(nanoseconds int64) time.Duration {
	return time.Duration(nanoseconds - s.start.UnixNano())
}

func (s *scene) now() time.Duration { return s.moment(time.Now().UnixNano()) }

// noteWrite is the body of a write of a replica.
type noteWrite struct {
	Metadata struct {
		UID string `json:"uid"`
	} `json:"metadata"`
	Data noteData `json:"data"`
}

// proxy serves a proxy through which one replica speaks to the server, and returns its URL. It records the replica's writes.
func (s *scene) proxy(identity string) string {
	onward := &httputil.ReverseProxy{
		Transport: s.upstream, FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0), // a replica that is killed breaks off
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(s.server) },
	}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.URL.Path, "/configmaps") || r.Method == http.MethodGet {
			onward.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			s.mu.Lock()
			s.cut++
			s.mu.Unlock()
			panic(http.ErrAbortHandler)
		}
		arrived := s.now()
		r.Body = io.NopCloser(bytes.NewReader(body))
		answer := &answered{ResponseWriter: w}
		if err := s.arrives(identity, r.URL.Path, body, arrived); err != nil {
			s.t.Error(err)
		}
		onward.ServeHTTP(answer, r)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.codes[answer.code]++
	}))
	front.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.t.Cleanup(func() {
		front.CloseClientConnections() // a watch does not end by itself
		front.Close()
	})
	return front.URL
}

// arrives records a write.
func (s *scene) arrives(identity, path string, body []byte, arrived time.Duration) error {
	var w noteWrite
	if err := json.Unmarshal(body, &w); err != nil {
		return fmt.Errorf("%s writes %s: %w", identity, body, err)
	}
	asked, err := strconv.ParseInt(w.Data.Asked, 10, 64)
	if err != nil || w.Data.By != identity || w.Metadata.UID == "" {
		return fmt.Errorf("%s writes %s: it is no write of a note", identity, body)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ledger.Writes = append(s.ledger.Writes, ledger.Write{
		Replica: identity, Range: meta.ShardByUID.Range(meta.Identity{UID: w.Metadata.UID}), Object: path, Asked: s.moment(asked), Arrived: arrived,
	})
	return nil
}

// answered notes the code of an answer.
type answered struct {
	http.ResponseWriter
	code int
}

func (a *answered) WriteHeader(code int) {
	if a.code = code; code >= http.StatusOK {
		a.ResponseWriter.WriteHeader(code)
	}
}

func (a *answered) Unwrap() http.ResponseWriter { return a.ResponseWriter }
