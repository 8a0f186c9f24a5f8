package client

import (
	"net/http"
	"net/url"
	"testing"
	"time"
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
		act := Impersonation{User: "jane"}.header()
		a := &authorizer{server: server, source: fixed("Bearer t0k3n"), act: act, transport: &transport{}}
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
