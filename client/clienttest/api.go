package clienttest

import (
	"compress/gzip"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/bowline-go/bowline/client/clienttest/internal/admission"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/store"
	"github.com/bowline-go/bowline/client/meta"
)

// api is the state that requests share. It has no lock: each part has its own, or does not change while the server
// runs.
type api struct {
	options    Options
	address    string
	store      *store.Store
	registry   registry
	namespaces *resource
	crds       *resource

	limitRanges, quotas *resource

	mutatingHooks, validatingHooks *resource // the configurations of webhooks
	policyKinds, policyBindings    *resource // the ValidatingAdmissionPolicies
	policies                       policies
	caller                         admission.Caller

	validator object.Validator
	tokens    tokens
	roles     roles
	observed  observed

	definitions map[string]*definition     // by name; within a transaction only
	adopted     map[meta.Key]*object.Draft // converted objects of the definition being written; within a transaction only
	unchecked   map[string]int             // what Server.Unchecked returns; within a transaction only
	setVerbs    func(*resource)            // sets verbs from routes; a field, because routes refers to all handlers

	gzips sync.Pool // of *gzip.Writer

	streaming atomic.Int32 // StreamingLists
	sharded   atomic.Int32 // ShardedLists
	muted     atomic.Bool  // no periodic bookmarks
	old       atomic.Bool  // no aggregated discovery
	stale     sync.Map     // the group versions that discovery calls stale, as GVRs without a resource
}

// ask asks the roles, or Options.Authorize, about an access. The roles of a namespace count too, if there is one.
func (a *api) ask(access Access, namespace string) (allowed bool, reason string) {
	switch {
	case a.options.RBAC:
		return a.byRoles(access, namespace)
	case a.options.Authorize != nil:
		return a.options.Authorize(access)
	}
	return true, ""
}

// gzipFrom is the minimum size of a body that is compressed for clients that allow it.
const gzipFrom = 128 << 10

// compressed returns w, or a writer to it that compresses if the client allows it and size bytes are worth it. The
// caller must call finish at the end.
func (a *api) compressed(w http.ResponseWriter, r *http.Request, size int) (_ io.Writer, finish func()) {
	if size < gzipFrom || !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		return w, func() {}
	}
	w.Header().Set("Content-Encoding", "gzip")
	w.Header().Add("Vary", "Accept-Encoding")
	z, ok := a.gzips.Get().(*gzip.Writer)
	if !ok {
		z, _ = gzip.NewWriterLevel(nil, gzip.BestSpeed)
	}
	z.Reset(w)
	return z, func() {
		_ = z.Close() // ignored: the client may have gone
		a.gzips.Put(z)
	}
}

// writeCompressed answers with a body in two pieces, compressed if the client allows that and the size is worth it.
func (a *api) writeCompressed(w http.ResponseWriter, r *http.Request, code int, body, more []byte) {
	size := len(body) + len(more)
	out, finish := a.compressed(w, r, size)
	defer finish()
	if w.Header().Get("Content-Encoding") == "" {
		w.Header().Set("Content-Length", strconv.Itoa(size))
	}
	w.WriteHeader(code)
	_, _ = out.Write(body)
	_, _ = out.Write(more) // ignored: the client may have gone
}
