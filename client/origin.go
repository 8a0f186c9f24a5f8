package client

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// An origin is a scheme, a host and a port. Credentials are for one of them.

// stayOnOrigin follows redirects within the server's origin, for reads only: credentials never reach another origin
// (CVE-2022-3172), and a write is never sent twice.
func stayOnOrigin(server *url.URL) func(*http.Request, []*http.Request) error {
	return func(r *http.Request, via []*http.Request) error {
		switch {
		case !sameOrigin(r.URL, server):
			return fmt.Errorf("server redirects to %q, which is not its own origin %q",
				r.URL.Scheme+"://"+r.URL.Host, server.Scheme+"://"+server.Host)
		case via[0].Method != http.MethodGet:
			return fmt.Errorf("server redirects a %s request", via[0].Method)
		case len(via) >= 10:
			return errors.New("server redirects more than 10 times")
		}
		return nil
	}
}

func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}
