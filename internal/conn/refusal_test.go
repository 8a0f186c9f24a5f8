package conn

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"syscall"
	"testing"
	"time"

	"github.com/bowline-go/bowline/internal/shown"
)

// renewing is a source of credentials that counts the renewals.
type renewing struct {
	first, next issued
	gone        error
	renewals    int
}

func (r *renewing) get(context.Context, *holder) (issued, error) { return r.first, nil }

func (r *renewing) renew(context.Context, *holder, issued) (issued, error) {
	r.renewals++
	return r.next, r.gone
}

func (r *renewing) state() State { return State{} }

// TLS 1.3 lets a client finish its handshake before the server has seen the certificate, so the first use of a new
// connection that breaks may be a refusal. The server may also have handled the request: only a read is sent again.
func TestABrokenConnectionIsARefusedCertificateOnlyIfItIsNew(t *testing.T) {
	leased := func(token string) issued {
		return issued{"Bearer " + token, &lease{Credential: Credential{Token: shown.Secret(token), Certificate: &tls.Certificate{}}}}
	}
	broken := &net.OpError{Op: "write", Err: syscall.EPIPE}
	alert := &net.OpError{Op: "remote error", Err: errors.New("tls: expired certificate")}
	gone := errors.New("there is no other")
	type row struct {
		name         string
		method       string
		err          error // of the first request; nil is an answer with 401
		reused       bool  // the connection
		tokenOnly    bool  // the credential has no certificate
		gone         error // there is no other credential
		cancelled    bool  // the caller's context ends while the request is under way
		changed      bool  // the file of the authority has other contents now
		sent, wanted int   // how often the request is sent, and a credential is asked for after the first
		want         error
	}
	for _, test := range []row{
		{name: "a read", method: http.MethodGet, err: broken, sent: 2, wanted: 1},
		{name: "a read after a reset", method: http.MethodGet, err: &net.OpError{Op: "read", Err: syscall.ECONNRESET}, sent: 2, wanted: 1},
		{name: "a read after an end", method: http.MethodGet, err: io.EOF, sent: 2, wanted: 1},
		{name: "a write", method: http.MethodPost, err: broken, sent: 1, wanted: 1, want: broken},
		{name: "a read over an old connection", method: http.MethodGet, err: broken, reused: true, sent: 1, want: broken},
		{name: "a read with a token", method: http.MethodGet, err: broken, tokenOnly: true, sent: 1, want: broken},
		{name: "a failure of another kind", method: http.MethodGet, err: gone, sent: 1, want: gone},
		{name: "a cancelled read", method: http.MethodGet, err: broken, cancelled: true, sent: 1, want: broken},
		{name: "a read without another credential", method: http.MethodGet, err: broken, gone: gone, sent: 1, wanted: 1, want: broken},
		{name: "an alert about a write", method: http.MethodPost, err: alert, sent: 2, wanted: 1},
		{name: "an alert over an old connection", method: http.MethodPost, err: alert, reused: true, sent: 2, wanted: 1},
		{name: "an alert without another credential", method: http.MethodPost, err: alert, gone: gone, sent: 1, wanted: 1, want: gone},
		{name: "an answer without another credential", method: http.MethodPost, gone: gone, sent: 1, wanted: 1, want: gone},
		{name: "an answer", method: http.MethodPost, sent: 2, wanted: 1},
		{name: "an answer, and another authority", method: http.MethodPost, gone: gone, changed: true, sent: 2, wanted: 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			from := &renewing{first: leased("a"), next: leased("b"), gone: test.gone}
			if test.tokenOnly {
				from.first.lease.Certificate = nil
			}
			sent, closed := 0, 0
			a := &Transport{server: &url.URL{Scheme: "https", Host: "api"}, source: from, generations: &generations{}}
			if test.changed {
				a.generations.o.CA.File = "ca"
				a.generations.files.same = identity.same
				a.generations.files.load = func(read) (identity, error) {
					return identity{ca: fmt.Append(nil, sent)}, nil
				}
				if err := a.generations.look(ctx); err != nil {
					t.Fatal(err)
				}
			}
			a.next = next(func(r *http.Request) (*http.Response, error) {
				if trace := httptrace.ContextClientTrace(r.Context()); trace != nil {
					trace.GotConn(httptrace.GotConnInfo{Reused: test.reused})
				}
				if sent++; sent > 1 {
					return &http.Response{StatusCode: http.StatusOK}, nil
				}
				if test.cancelled {
					cancel()
				}
				if test.err != nil {
					return nil, test.err
				}
				return &http.Response{StatusCode: http.StatusUnauthorized, Body: closing{bytes.NewReader(nil), &closed}}, nil
			})
			r, err := http.NewRequestWithContext(ctx, test.method, "https://api/x", nil)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := a.RoundTrip(r)
			if !errors.Is(err, test.want) || (err == nil) != (resp != nil) {
				t.Errorf("got %v and %v, want the error %v", resp, err, test.want)
			}
			if resp != nil && (resp.StatusCode != http.StatusOK || resp.Request != r) {
				t.Errorf("got %+v, want an answer to the caller's request", resp)
			}
			if sent != test.sent || from.renewals != test.wanted {
				t.Errorf("sent %d times and renewed %d times, want %d and %d", sent, from.renewals, test.sent, test.wanted)
			}
			if test.err == nil && closed != 1 {
				t.Errorf("the body of the refusal was closed %d times, want once", closed)
			}
		})
	}
}

// closing is a body that counts how often it is closed.
type closing struct {
	*bytes.Reader
	closed *int
}

func (c closing) Close() error {
	*c.closed++
	return nil
}

// A program that logs the request of a response does not log what the transport added, even if it watches the connection.
func TestAResponseNamesTheRequestOfTheCallerIfTheCredentialHasACertificate(t *testing.T) {
	from := &renewing{first: issued{"", &lease{Credential: Credential{Certificate: &tls.Certificate{}}}}}
	a := &Transport{server: &url.URL{Scheme: "https", Host: "api"}, source: from, generations: &generations{}}
	a.next = next(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Request: r}, nil
	})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://api/x", nil)
	if err != nil {
		t.Fatal(err)
	}
	if resp, err := a.RoundTrip(r); err != nil || resp.Request != r {
		t.Errorf("got %+v and %v, want a response to the caller's request", resp, err)
	}
}

// CredentialStatus shows the end, and a monotonic reading would make time.Until wrong after the machine has slept.
func TestTheEndOfACredentialIsATimeOfTheWallClock(t *testing.T) {
	end := time.Now().Add(time.Hour)
	c := NewCredentials(func(context.Context) (Credential, error) { return Credential{Token: "t", Expires: end}, nil }, nil)
	if _, err := c.get(t.Context(), &holder{}); err != nil {
		t.Fatal(err)
	}
	if got := c.state().Expires; got != end.Round(0) {
		t.Errorf("the credential ends at %v, want %v", got, end.Round(0))
	}
}

// The handshake with a SOCKS proxy has a deadline, and whoever uses the connection afterwards may set others.
func TestTheFirstByteAfterTheSOCKSHandshakeEndsItsDeadline(t *testing.T) {
	c := &deadlines{}
	s := &socksConn{Conn: c}
	write := func(text string) {
		t.Helper()
		if n, err := s.Write([]byte(text)); n != len(text) || err != nil {
			t.Errorf("Write(%q) returned %d and %v", text, n, err)
		}
	}
	write("")
	write("\x05\x01\x00")
	if c.cleared != 0 {
		t.Error("the deadline ends within the handshake")
	}
	for _, text := range []string{"G", "ET"} {
		write(text)
		if c.cleared != 1 {
			t.Errorf("the deadline was cleared %d times, want once", c.cleared)
		}
	}
}

// deadlines is a connection that takes everything, and counts how often its deadlines are cleared.
type deadlines struct {
	net.Conn
	cleared int
}

func (d *deadlines) Write(b []byte) (int, error) { return len(b), nil }

func (d *deadlines) SetDeadline(t time.Time) error {
	if t.IsZero() {
		d.cleared++
	}
	return nil
}
