package conn

import (
	"net/http"
	"strings"
)

// Impersonate begins the names of the headers that say whom to act for.
const Impersonate = "Impersonate-"

// IsImpersonation reports whether a header says whom to act for, however it is written.
func IsImpersonation(name string) bool {
	return len(name) >= len(Impersonate) && strings.EqualFold(name[:len(Impersonate)], Impersonate)
}

// withoutImpersonation returns r itself, or a copy without the headers of that kind that it has.
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
