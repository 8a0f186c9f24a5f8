package clienttest

import (
	"fmt"
	"net/http"
)

// warnDeprecated adds the warning that a real server gives with every answer about a resource that should no longer be used. Only
// endpoints are such a resource among those that are served.
func (r *resource) warnDeprecated(w http.ResponseWriter) {
	if r.builtin && r.groupResource() == "endpoints" {
		w.Header().Add("Warning", fmt.Sprintf("299 - %q", "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"))
	}
}
