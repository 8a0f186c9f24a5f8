package conn

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/internal/shown"
)

// An origin is a scheme, a host and a port. Credentials are for one origin, and for the paths below that of
// Config.Server: an ingress may serve other programs beside the API server, which must not see them.
//
// If the API server passes a request on to a service, a pod or a node through the subresource proxy, the answer is the
// target's. So a redirect in it may only lead to the same target. The answer of an aggregated API server is not the
// API server's own either, but cannot be distinguished, because the paths look like those of any group. Its redirects
// are followed below the path of Config.Server, like the API server's. Registering such a server (an APIService) takes
// an administrator's rights.

// maxHost is how many bytes of an origin an error shows if a server chose that origin. It is more than the longest
// host name (RFC 1035, section 2.3.4).
const maxHost = 300

// maxRedirects is how many redirects one request follows.
const maxRedirects = 10

// StayOnOrigin is a CheckRedirect of http.Client. It follows redirects below the server's URL, and only for reads:
// credentials never reach another origin (CVE-2022-3172), and a write is never sent twice.
func StayOnOrigin(server *url.URL) func(*http.Request, []*http.Request) error {
	return func(r *http.Request, via []*http.Request) error {
		switch {
		case !sameOrigin(r.URL, server):
			return fmt.Errorf("server redirects to %q, which is not its own origin %q",
				shown.Clean(r.URL.Scheme+"://"+r.URL.Host, maxHost), server.Scheme+"://"+server.Host)
		case r.URL.User != nil: // net/http would send it instead of the client's credentials
			return errors.New("server redirects to a URL with a user, which would replace the client's credentials")
		case via[0].Method != http.MethodGet:
			return fmt.Errorf("server redirects a %s request; only GET requests are redirected", via[0].Method)
		case len(via) >= maxRedirects:
			return fmt.Errorf("server redirects more than %d times", maxRedirects)
		}
		base := segments(server)
		if !below(r.URL, base) {
			return fmt.Errorf("server redirects to %q, which is not below the path of Config.Server, %q", shown.Text(r.URL.EscapedPath()), server.EscapedPath())
		}
		if target := proxyTarget(segments(via[len(via)-1].URL), len(base)); target != nil && !below(r.URL, target) {
			return fmt.Errorf("the proxied server redirects to %q, which is not below its own path %q",
				shown.Text(r.URL.EscapedPath()), shown.Text("/"+strings.Join(target, "/")))
		}
		return nil
	}
}

// segments returns the segments of a URL's path, unescaped, without an empty one for a slash at the end.
func segments(u *url.URL) []string {
	path := strings.Trim(u.EscapedPath(), "/")
	if path == "" {
		return nil
	}
	all := strings.Split(path, "/")
	for i := range all {
		if plain, err := url.PathUnescape(all[i]); err == nil {
			all[i] = plain
		}
	}
	return all
}

// below reports whether a path begins with the segments of prefix, and stays below them for every reader: no ".."
// follows, nor a segment that could be read as one.
func below(u *url.URL, prefix []string) bool {
	path := segments(u)
	if len(path) < len(prefix) || !slices.Equal(path[:len(prefix)], prefix) {
		return false
	}
	escaped := u.EscapedPath()
	return !strings.HasPrefix(escaped, "//") && CheckDots(escaped) == nil
}

// proxyTarget returns the start of a path that names the target of proxied requests: up to the subresource proxy of an
// object. It is nil if the path has no target. The first base segments are those of the server itself. If the path is
// not an object's, the last segment called proxy counts, so that no redirect leads out of a path that may be a target.
func proxyTarget(path []string, base int) []string {
	end := -1
	for i := base; i < len(path); i++ {
		if path[i] == "proxy" {
			end = i + 1
		}
	}
	if end < 0 {
		return nil
	}
	at := base // the index of the resource
	switch {
	case at < len(path) && path[at] == "api":
		at += 2
	case at < len(path) && path[at] == "apis":
		at += 3
	default:
		return path[:end]
	}
	if at+2 < len(path) && path[at] == "namespaces" && path[at+2] != "proxy" {
		at += 2
	}
	if at+2 < len(path) && path[at+2] == "proxy" {
		return path[:at+3]
	}
	return path[:end]
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
