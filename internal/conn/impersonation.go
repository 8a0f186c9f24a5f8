package conn

import (
	"net/http"
	"strings"
)

// Impersonate is the prefix of the names of the headers that name the user to act for.
const Impersonate = "Impersonate-"

// IsImpersonation reports whether a header has that prefix, in upper or lower case.
func IsImpersonation(name string) bool {
	return len(name) >= len(Impersonate) && strings.EqualFold(name[:len(Impersonate)], Impersonate)
}

// withoutImpersonation returns r itself if it has no such headers, and otherwise a copy without them.
func withoutImpersonation(r *http.Request) *http.Request {
	out := r
	for name := range r.Header {
		if IsImpersonation(name) {
			if out == r {
				out = r.Clone(r.Context())
			}
			delete(out.Header, name)
		}
	}
	return out
}
