package errors_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

func answer(code int, wait string) error {
	h := http.Header{}
	if wait != "" {
		h.Set("Retry-After", wait)
	}
	return apierrors.FromResponse(code, h, nil, http.MethodPost)
}

func op(name string, err error) error {
	return &url.Error{Op: "Get", URL: "https://example.com", Err: &net.OpError{Op: name, Net: "tcp", Err: err}}
}

type slow struct{}

func (slow) Error() string   { return "net/http: timeout awaiting response headers" }
func (slow) Timeout() bool   { return true }
func (slow) Temporary() bool { return true }

// behaviour 339
func TestNetworkOfAndSafeToRetry(t *testing.T) {
	refused := os.NewSyscallError("connect", syscall.ECONNREFUSED)
	reset := os.NewSyscallError("read", syscall.ECONNRESET)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	_, gaveUp := new(net.Dialer).DialContext(cancelled, "tcp", "127.0.0.1:1")
	tests := []struct {
		name    string
		err     error
		network apierrors.Network
		safe    bool
	}{
		{"no error", nil, apierrors.NetworkFine, false},
		{"an error of somebody else", errors.New("broken"), apierrors.NetworkFine, false},

		{"connection refused", op("dial", refused), apierrors.NetworkRefused, true},
		{"connection refused, bare", refused, apierrors.NetworkRefused, true},
		{
			"no such host", op("dial", &net.DNSError{Err: "no such host", Name: "x", IsNotFound: true}),
			apierrors.NetworkLookup, true,
		},
		{"no such host, bare", &net.DNSError{Err: "server misbehaving", Name: "x"}, apierrors.NetworkLookup, true},
		{
			"no route to host", op("dial", os.NewSyscallError("connect", syscall.EHOSTUNREACH)),
			apierrors.NetworkUnreachable, true,
		},
		{ // fault F43
			"no file descriptor", op("dial", os.NewSyscallError("socket", syscall.EMFILE)),
			apierrors.NetworkUnreachable, true,
		},
		{"a dial that takes too long", op("dial", os.ErrDeadlineExceeded), apierrors.NetworkTimeout, true},
		{"a dial through a proxy", op("proxyconnect", refused), apierrors.NetworkRefused, true},
		{"a dial that the caller really gave up", &url.Error{Err: gaveUp}, apierrors.NetworkContext, false},
		{"a dial that the caller gave up", op("dial", context.Canceled), apierrors.NetworkContext, false},
		{
			"a TLS handshake that takes too long", &url.Error{Err: errors.New("net/http: TLS handshake timeout")},
			apierrors.NetworkFine, true,
		},

		{"a reset while reading", op("read", reset), apierrors.NetworkReset, false},
		{"a broken pipe", op("write", os.NewSyscallError("write", syscall.EPIPE)), apierrors.NetworkReset, false},
		{
			"a reset that is only text", errors.New("read tcp 1->2: connection reset by peer"),
			apierrors.NetworkReset, false,
		},
		{
			"a reset of the stream", errors.New("stream error: stream ID 5; INTERNAL_ERROR; received from peer"),
			apierrors.NetworkReset, false,
		},
		{"a read that takes too long", op("read", os.ErrDeadlineExceeded), apierrors.NetworkTimeout, false},
		{"headers that take too long", &url.Error{Err: slow{}}, apierrors.NetworkTimeout, false},
		{"EOF", &url.Error{Err: io.EOF}, apierrors.NetworkClosed, false},
		{"EOF in the middle", fmt.Errorf("decode: %w", io.ErrUnexpectedEOF), apierrors.NetworkClosed, false},
		{"a closed connection", op("read", net.ErrClosed), apierrors.NetworkClosed, false},
		{
			"GOAWAY",
			errors.New("http2: server sent GOAWAY and closed the connection; LastStreamID=1, ErrCode=NO_ERROR"),
			apierrors.NetworkClosed, false,
		},
		{"a lost connection", errors.New("http2: client connection lost"), apierrors.NetworkClosed, false},
		{"a connection that was idle", errors.New("http: server closed idle connection"), apierrors.NetworkClosed, false},
		{"the caller's cancellation", &url.Error{Err: cancelled.Err()}, apierrors.NetworkContext, false},
		{"the caller's deadline", fmt.Errorf("list pods: %w", context.DeadlineExceeded), apierrors.NetworkContext, false},
		{"a connection that died", os.NewSyscallError("read", syscall.ETIMEDOUT), apierrors.NetworkTimeout, false},
		{"another system error", os.NewSyscallError("read", syscall.EIO), apierrors.NetworkFine, false},

		{"429", answer(429, ""), apierrors.NetworkFine, true},
		{"429 with a time", answer(429, "1"), apierrors.NetworkFine, true},
		{
			"an eviction that a disruption budget refuses",
			apierrors.FromStatus(meta.Status{Reason: "TooManyRequests"}), apierrors.NetworkFine, true,
		},
		{"503 with a time", answer(503, "0"), apierrors.NetworkFine, true},
		{"503 without a time", answer(503, ""), apierrors.NetworkFine, false},
		{"500 with a time", answer(500, "1"), apierrors.NetworkFine, false},
		{"504 with a time", answer(504, "1"), apierrors.NetworkFine, false},
		{
			"ServerTimeout",
			apierrors.FromStatus(meta.Status{Reason: "ServerTimeout", Details: &meta.StatusDetails{RetryAfterSeconds: 2}}),
			apierrors.NetworkFine, false,
		},
		{"Conflict", apierrors.FromStatus(meta.Status{Reason: "Conflict"}), apierrors.NetworkFine, false},
		{"NotFound", answer(404, "1"), apierrors.NetworkFine, false},
		{"the reason alone", fmt.Errorf("a: %w", apierrors.TooManyRequests), apierrors.NetworkFine, true},
		{"another reason alone", apierrors.Conflict, apierrors.NetworkFine, false},
		{
			"an answer whose text speaks of the network",
			apierrors.FromStatus(meta.Status{Code: 502, Message: "connection reset by peer"}),
			apierrors.NetworkFine, false,
		},

		{"two that are safe", errors.Join(answer(429, ""), op("dial", refused)), apierrors.NetworkRefused, true},
		{
			"one that is safe and one that says nothing",
			fmt.Errorf("%w: %w", errors.New("attempt 2"), answer(429, "")), apierrors.NetworkFine, true,
		},
		{"one that is safe and one that is not", errors.Join(answer(429, ""), io.EOF), apierrors.NetworkClosed, false},
		{
			"one that is safe and an answer that is not", errors.Join(op("dial", refused), answer(500, "")),
			apierrors.NetworkRefused, false,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, err := range []error{tt.err, wrapAll(tt.err)} {
				if got := apierrors.NetworkOf(err); got != tt.network {
					t.Errorf("NetworkOf(%v) = %q, want %q", err, got, tt.network)
				}
				if got := apierrors.SafeToRetry(err); got != tt.safe {
					t.Errorf("SafeToRetry(%v) = %v, want %v", err, got, tt.safe)
				}
			}
		})
	}
}

func wrapAll(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("list pods: %w", errors.Join(fmt.Errorf("attempt: %w", err)))
}

// The texts and types that the table assumes are those of the standard library; this asks it.
func TestNetworkOfRealConnections(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/cut":
			conn, rw, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			fmt.Fprint(rw, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
			rw.Flush()
			conn.Close()
		case "/reset":
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			conn.(*net.TCPConn).SetLinger(0)
			conn.Close()
		case "/eof":
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			conn.Close()
		case "/slow":
			<-release
		}
	}))
	defer server.Close()
	defer close(release)

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	unused := "http://" + listener.Addr().String()
	listener.Close()

	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name    string
		ctx     context.Context
		url     string
		client  http.Client
		network apierrors.Network
		safe    bool
	}{
		{"nothing listens", t.Context(), unused, http.Client{}, apierrors.NetworkRefused, true},
		{"the caller has given up", cancelled, server.URL, http.Client{}, apierrors.NetworkContext, false},
		{"the answer is cut", t.Context(), server.URL + "/cut", http.Client{}, apierrors.NetworkClosed, false},
		{
			"the connection ends before an answer", t.Context(), server.URL + "/eof",
			http.Client{},
			apierrors.NetworkClosed, false,
		},
		{"the connection is reset", t.Context(), server.URL + "/reset", http.Client{}, apierrors.NetworkReset, false},
		{
			"the client's own time limit", t.Context(), server.URL + "/slow",
			http.Client{Timeout: 10 * time.Millisecond},
			apierrors.NetworkTimeout, false,
		},
		{
			"the headers' time limit", t.Context(), server.URL + "/slow",
			http.Client{Transport: &http.Transport{ResponseHeaderTimeout: 10 * time.Millisecond}},
			apierrors.NetworkTimeout, false,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req, err := http.NewRequestWithContext(tt.ctx, http.MethodPost, tt.url, nil)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := tt.client.Do(req)
			if err == nil {
				_, err = io.Copy(io.Discard, bufio.NewReader(resp.Body))
				resp.Body.Close()
			}
			if err == nil {
				t.Fatal("the request succeeded")
			}
			if got := apierrors.NetworkOf(err); got != tt.network {
				t.Errorf("NetworkOf(%v) = %q, want %q", err, got, tt.network)
			}
			if got := apierrors.SafeToRetry(err); got != tt.safe {
				t.Errorf("SafeToRetry(%v) = %v, want %v", err, got, tt.safe)
			}
		})
	}
}
