package conn

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/internal/shown"
)

// guarantee S1: should a request for another origin ever come this far, it goes without the token. From outside no way leads
// here, because redirects are refused before.
func TestTheTokenIsForItsServerOnly(t *testing.T) {
	server := &url.URL{Scheme: "https", Host: "api:443"}
	for _, test := range []struct {
		url  string
		want bool
	}{
		{"https://api:443/x", true},
		{"https://api/x", true},
		{"https://API/x", true},
		{"http://api:443/x", false},
		{"https://api:444/x", false},
		{"https://api.evil/x", false},
		{"https://evil/https://api:443", false},
		{"https://api@evil/", false},
	} {
		act := http.Header{"Impersonate-User": {"jane"}}
		a := &Transport{server: server, source: fixed{header: "Bearer t0k3n"}, act: act, generations: &generations{}}
		a.next = next(func(r *http.Request) (*http.Response, error) {
			for _, name := range []string{"Authorization", "Impersonate-User"} {
				if got := r.Header.Get(name) != ""; got != test.want {
					t.Errorf("%s goes with %s: %v, want %v", test.url, name, got, test.want)
				}
			}
			return &http.Response{}, nil
		})
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, test.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.RoundTrip(r); err != nil {
			t.Error(err)
		}
		if r.Header.Get("Authorization") != "" {
			t.Error("the caller's request has changed")
		}
	}
}

// guarantee S2: a program that logs the request of a response does not log the token.
func TestAResponseNamesTheRequestOfTheCaller(t *testing.T) {
	server := &url.URL{Scheme: "https", Host: "api:443"}
	a := &Transport{server: server, source: fixed{header: "Bearer t0k3n"}, generations: &generations{}}
	a.next = next(func(r *http.Request) (*http.Response, error) {
		if r.Header.Get("Authorization") == "" {
			t.Error("the request goes without the token")
		}
		return &http.Response{Request: r}, nil
	})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://api:443/x", nil)
	if err != nil {
		t.Fatal(err)
	}
	if resp, err := a.RoundTrip(r); err != nil || resp.Request != r {
		t.Errorf("got %+v and %v, want a response to the caller's request", resp, err)
	}
}

// A Write that fails before it has written anything says so.
func TestASOCKSConnectionThatHasNoDeadlinesWritesNothing(t *testing.T) {
	broken := errors.New("no deadlines")
	c := &socksConn{Conn: withoutDeadlines{err: broken}}
	if n, err := c.Write([]byte("GET")); n != 0 || !errors.Is(err, broken) {
		t.Errorf("Write returned %d and %v, want 0 and %v", n, err, broken)
	}
}

type withoutDeadlines struct {
	net.Conn
	err error
}

func (c withoutDeadlines) SetDeadline(time.Time) error { return c.err }

type next func(*http.Request) (*http.Response, error)

func (f next) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// fault F27: the wall clock may be set, and the monotonic one stops while the machine sleeps. A bubble of synctest has only
// one of them, so this looks from within.
func TestATokenIsFreshOnlyIfBothClocksSaySo(t *testing.T) {
	now := time.Now()
	monotonic := func(age time.Duration) time.Time { return now.Add(-age) }
	wall := func(age time.Duration) time.Time { return now.Add(-age).Round(0) }
	for _, test := range []struct {
		name string
		read time.Time
		want bool
	}{
		{"read just now", monotonic(0), true},
		{"read 49 s ago", monotonic(49 * time.Second), true},
		{"read 50 s ago", monotonic(50 * time.Second), false},
		{"never read", time.Time{}, false},
		{"the machine slept for an hour since", wall(time.Hour), false},
		{"the wall clock was set back since", wall(-time.Hour), false},
		{"the wall clock was set a little ahead", wall(20 * time.Second), true},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := fresh(test.read, now, tokenAge); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

// A request that the server passes on may be refused by what is behind it, which says nothing about the credential. One
// whose body cannot be had again is not sent again.
func TestProxiedRequestsAndStreamsAreNotReplayed(t *testing.T) {
	for _, test := range []struct {
		name      string
		ctx       context.Context
		body      io.ReadCloser
		again     func() (io.ReadCloser, error)
		sent, got int
	}{
		{"a get", t.Context(), nil, nil, 2, 2},
		{"a body that can be had again", t.Context(), text("abc"), func() (io.ReadCloser, error) { return text("abc"), nil }, 2, 2},
		{"no body", t.Context(), http.NoBody, nil, 2, 2},
		{"a stream", t.Context(), text("abc"), nil, 1, 2},
		{"a body that cannot be had again", t.Context(), text("abc"), func() (io.ReadCloser, error) { return nil, io.EOF }, 1, 2},
		{"a request that is passed on", Call{Proxied: true}.With(t.Context()), nil, nil, 1, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			sent, got := 0, 0
			c := NewCredentials(func(context.Context) (Credential, error) {
				got++
				return Credential{Token: shown.Secret(rune('a' + got))}, nil
			}, func(err error) error { return err })
			server := &url.URL{Scheme: "https", Host: "api"}
			a := &Transport{server: server, source: c, holder: &holder{}, generations: &generations{}}
			a.next = next(func(r *http.Request) (*http.Response, error) {
				sent++
				if r.Body != nil && r.Body != http.NoBody {
					if b, err := io.ReadAll(r.Body); string(b) != "abc" || err != nil {
						t.Errorf("the body is %q, %v", b, err)
					}
				}
				return &http.Response{StatusCode: http.StatusUnauthorized, Body: text("no")}, nil
			})
			r, err := http.NewRequestWithContext(test.ctx, http.MethodPost, "https://api/x", nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Body, r.GetBody = test.body, test.again
			resp, err := a.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			if b, _ := io.ReadAll(resp.Body); string(b) != "no" || sent != test.sent || got != test.got {
				t.Errorf("sent %d times with %d credentials, and the answer is %q; want %d and %d", sent, got, b, test.sent, test.got)
			}
		})
	}
}

func text(s string) io.ReadCloser { return io.NopCloser(strings.NewReader(s)) }

// fault F27
func TestACredentialExpiresByEitherClock(t *testing.T) {
	now := time.Now()
	l := func(taken time.Time, expires time.Duration) *lease {
		return &lease{Credential: Credential{Expires: now.Add(expires).Round(0)}, taken: taken}
	}
	for _, test := range []struct {
		name            string
		l               *lease
		expired, ending bool
	}{
		{"just taken", l(now, time.Hour), false, false},
		{"in its last fifth", l(now.Add(-50*time.Minute), 10*time.Minute), false, true},
		{"at its end", l(now.Add(-time.Hour), 0), true, true},
		{"without an end", &lease{taken: now.Add(-1000 * time.Hour)}, false, false},
		{"the machine slept for two hours since", l(now.Add(-2*time.Hour).Round(0), -time.Hour), true, true},
		// The wall clock says that it was taken just now.
		{"the wall clock was set back by an hour since", &lease{
			Credential: Credential{Expires: now.Add(-time.Hour).Round(0).Add(time.Hour)}, taken: now.Add(-time.Hour),
		}, true, true},
		{"the wall clock was set ahead since", l(now.Add(-2*time.Hour).Round(0), -time.Minute), true, true},
	} {
		if expired, ending := test.l.expired(now), test.l.ending(now); expired != test.expired || ending != test.ending && !test.expired {
			t.Errorf("%s: expired: %v, ending: %v", test.name, expired, ending)
		}
	}
}

// A request was sent again after an alert that a server may send when it has handled it.
func TestOnlyAHandshakeThatFailedForACertificateIsRepeated(t *testing.T) {
	for alert, want := range map[string]bool{
		"tls: bad certificate":               true,
		"tls: unknown certificate authority": true,
		"tls: expired certificate":           true,
		"tls: certificate required":          true,
		"tls: handshake failure":             true,
		"tls: access denied":                 true,
		"tls: bad record MAC":                false,
		"tls: internal error":                false,
		"tls: unexpected message":            false,
		"tls: user canceled":                 false,
	} {
		err := fmt.Errorf("read: %w", &net.OpError{Op: "remote error", Err: errors.New(alert)})
		if got := aboutCertificates(err); got != want {
			t.Errorf("%s: %t, want %t", alert, got, want)
		}
	}
	if aboutCertificates(&net.OpError{Op: "read", Err: errors.New("tls: bad certificate")}) {
		t.Error("what is no alert is taken for one")
	}
	if !aboutCertificates(&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}) {
		t.Error("a server that is not trusted is not noticed")
	}
}
