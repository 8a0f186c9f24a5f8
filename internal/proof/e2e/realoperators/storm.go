package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	crand "crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"maps"
	"math/big"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bowline-go/bowline/internal/controlplane"
)

// storm is a proxy in front of the API server that breaks requests until calm is called. Its random choices have a
// seed. Which request meets which fault also depends on the order in which the operator sends its requests.
type storm struct {
	target     *url.URL
	token      string
	upstream   http.RoundTripper
	server     *http.Server
	served     sync.WaitGroup
	kubeconfig string

	over  context.Context // ends with the faults
	calm  context.CancelFunc
	mu    sync.Mutex // guards what follows
	dice  *rand.Rand
	count map[string]int
	open  map[net.Conn]bool
}

const cutWithinEvent = "watch cut within an event"

// Faults of every request, of requests that read, of those that write, and of watches.
var (
	refusals = []string{"429", "500", "503"}
	ofReads  = append(slices.Clone(refusals), "stalled", "truncated")
	ofWrites = append(slices.Clone(refusals), "stalled", "response lost")
	ofWatch  = append(slices.Clone(refusals), "410")
	ofEvents = []string{"watch closed", "watch cut", cutWithinEvent, "watch stalled", "410 in the watch"}
)

// faultOf returns the fault of a request, or "". For a watch it also returns the time after which the fault occurs.
func (s *storm) faultOf(r *http.Request) (string, time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over.Err() != nil {
		return "", 0
	}
	pick := func(of []string) string {
		f := of[s.dice.IntN(len(of))]
		s.count[f]++
		return f
	}
	query := r.URL.Query()
	watch := query.Get("watch") == "true" || query.Get("watch") == "1"
	hit := s.dice.IntN(100)
	switch {
	case watch && hit < 15:
		return pick(ofWatch), 0
	case watch:
		return pick(ofEvents), time.Duration(200+s.dice.IntN(6000)) * time.Millisecond
	case r.Method == http.MethodGet && hit < 20 && query.Get("continue") != "":
		s.count["410"]++
		return "410", 0
	case r.Method == http.MethodGet && hit < 20:
		return pick(ofReads), 0
	case r.Method != http.MethodGet && hit < 20:
		return pick(ofWrites), 0
	}
	return "", 0
}

func (s *storm) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	fault, after := s.faultOf(r)
	switch fault {
	case "429":
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusTooManyRequests, "TooManyRequests")
	case "500":
		refuse(w, http.StatusInternalServerError, "InternalError")
	case "503":
		refuse(w, http.StatusServiceUnavailable, "ServiceUnavailable")
	case "410":
		refuse(w, http.StatusGone, "Expired")
	case "stalled":
		s.stall(r)
	default:
		s.forward(w, r, fault, after)
	}
}

const status = `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"the storm refuses this","reason":%q,"code":%d}`

func refuse(w http.ResponseWriter, code int, reason string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	fmt.Fprintf(w, status, reason, code)
}

// stall holds a request for 5 seconds, and cuts it.
func (s *storm) stall(r *http.Request) {
	select {
	case <-time.After(5 * time.Second):
	case <-r.Context().Done():
	case <-s.over.Done():
	}
	panic(http.ErrAbortHandler)
}

// forward sends the request on and copies the response, up to its fault.
func (s *storm) forward(w http.ResponseWriter, r *http.Request, fault string, after time.Duration) {
	ctx, due := r.Context(), time.Now().Add(after)
	if after > 0 && fault != cutWithinEvent {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, due)
		defer cancel()
	}
	out := r.Clone(ctx)
	out.URL.Scheme, out.URL.Host, out.Host, out.RequestURI = s.target.Scheme, s.target.Host, "", ""
	out.Header.Set("Authorization", "Bearer "+s.token)
	if after > 0 {
		out.Header.Del("Accept-Encoding") // so that an event can be added to the watch
	}
	resp, err := s.upstream.RoundTrip(out)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer resp.Body.Close()
	if fault == "response lost" {
		_, _ = io.Copy(io.Discard, resp.Body) // the server has done it
		panic(http.ErrAbortHandler)
	}
	maps.Copy(w.Header(), resp.Header)
	w.WriteHeader(resp.StatusCode)
	send := func(part []byte) {
		_, _ = w.Write(part)
		_ = http.NewResponseController(w).Flush()
	}
	if fault == "truncated" {
		body, _ := io.ReadAll(resp.Body)
		send(body[:len(body)/2])
		panic(http.ErrAbortHandler)
	}
	send(nil)
	buffer := make([]byte, 32<<10)
	for {
		n, err := resp.Body.Read(buffer)
		if n > 0 && fault == cutWithinEvent && time.Now().After(due) && s.over.Err() == nil {
			send(buffer[:n/2])
			panic(http.ErrAbortHandler)
		}
		send(buffer[:n])
		switch {
		case err == nil:
			continue
		case err == io.EOF:
			return
		case ctx.Err() != context.DeadlineExceeded || fault == "watch cut":
			panic(http.ErrAbortHandler)
		case fault == "watch stalled":
			s.stall(r)
		case fault == "410 in the watch" && resp.Header.Get("Content-Type") == "application/json":
			send(fmt.Appendf(nil, `{"type":"ERROR","object":`+status+"}\n", "Expired", http.StatusGone))
		}
		return // the watch is closed
	}
}

// note counts a fault.
func (s *storm) note(fault string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count[fault]++
}

// drop closes every connection of the operator.
func (s *storm) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.open {
		_ = c.Close()
		s.count["connection dropped"]++
	}
}

func (s *storm) track(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch state {
	case http.StateNew:
		s.open[c] = true
	case http.StateClosed, http.StateHijacked:
		delete(s.open, c)
	}
}

// counts returns how often each fault happened.
func (s *storm) counts() (total int, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(s.count)) {
		total += s.count[name]
		parts = append(parts, fmt.Sprintf("%s %d", name, s.count[name]))
	}
	return total, strings.Join(parts, ", ")
}

func newStorm(seed uint64) *storm {
	s := &storm{dice: rand.New(rand.NewPCG(seed, 1)), count: map[string]int{}, open: map[net.Conn]bool{}}
	s.over, s.calm = context.WithCancel(context.Background())
	return s
}

// startStorm starts the proxy on loopback, with TLS and HTTP/2 as at the server, and writes a kubeconfig that leads to
// it.
func startStorm(p *controlplane.ControlPlane, seed uint64, kubeconfig string) (*storm, error) {
	target, err := url.Parse(p.Server)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(p.CA)
	certificate, authority, err := selfSigned()
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := newStorm(seed)
	s.target, s.token, s.kubeconfig = target, p.Token, kubeconfig
	s.upstream = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: storm
clusters: [{name: storm, cluster: {server: "https://%s", certificate-authority-data: %s}}]
users: [{name: storm, user: {token: storm}}]
contexts: [{name: storm, context: {cluster: storm, user: storm}}]
`, l.Addr(), base64.StdEncoding.EncodeToString(authority))
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		_ = l.Close()
		return nil, err
	}
	s.server = &http.Server{
		Handler: s, TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}},
		ErrorLog:  log.New(io.Discard, "", 0), // handshakes that the operator gave up
		ConnState: s.track,
	}
	s.served.Go(func() { _ = s.server.ServeTLS(l, "", "") }) // ends with Close
	return s, nil
}

func (s *storm) stop() {
	s.calm()
	_ = s.server.Close()
	s.served.Wait()
}

func selfSigned() (tls.Certificate, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), crand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "storm"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(crand.Reader, template, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}
