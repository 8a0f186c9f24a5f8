package clienttest

import (
	"maps"
	"slices"
	"strings"
)

// routes has the handler of each request. The key of a resource's row is the verb, the resource or * for any, and the
// rest of the path; a row that names the resource comes before one that does not. The key of any other row is a path,
// and the row handles every method. In keys, NAME, GROUP, VERSION and DOCUMENT stand for any text. Discovery lists the
// verbs in this table.
var routes = map[string]handler{
	// The objects of a resource.
	"list *":             serveList,
	"watch *":            serveWatch,
	"create *":           serveCreate,
	"deletecollection *": serveDeleteCollection,
	"get */NAME":         serveGet,
	"update */NAME":      serveUpdate,
	"patch */NAME":       servePatch,
	"delete */NAME":      serveDelete,
	"watch */NAME":       serveWatch,

	// The parts of an object.
	"get */NAME/status":                    serveGet,
	"update */NAME/status":                 serveUpdate,
	"patch */NAME/status":                  servePatch,
	"get */NAME/approval":                  serveGet,
	"update */NAME/approval":               serveUpdate,
	"patch */NAME/approval":                servePatch,
	"get */NAME/scale":                     serveScale,
	"update */NAME/scale":                  serveScaleUpdate,
	"patch */NAME/scale":                   serveScalePatch,
	"get pods/NAME/ephemeralcontainers":    serveGet,
	"update pods/NAME/ephemeralcontainers": serveUpdate,
	"patch pods/NAME/ephemeralcontainers":  servePatch,
	"get pods/NAME/resize":                 serveGet,
	"update pods/NAME/resize":              serveUpdate,
	"patch pods/NAME/resize":               servePatch,
	"update namespaces/NAME/finalize":      serveUpdate,

	// Actions on an object.
	"create bindings":                   serveBindings,
	"create pods/NAME/binding":          serveBinding,
	"create pods/NAME/eviction":         serveEviction,
	"create serviceaccounts/NAME/token": serveToken,

	// Requests for the containers of a pod. Discovery does not list them.
	"get pods/NAME/attach":         serveContainer,
	"create pods/NAME/attach":      serveContainer,
	"get pods/NAME/exec":           serveContainer,
	"create pods/NAME/exec":        serveContainer,
	"get pods/NAME/log":            serveContainer,
	"get pods/NAME/portforward":    serveContainer,
	"create pods/NAME/portforward": serveContainer,

	// Reviews, which are not stored.
	"create localsubjectaccessreviews.authorization.k8s.io": reviewed(reviewAccess),
	"create selfsubjectaccessreviews.authorization.k8s.io":  reviewed(reviewAccess),
	"create selfsubjectrulesreviews.authorization.k8s.io":   reviewed(reviewRules),
	"create selfsubjectreviews.authentication.k8s.io":       reviewed(reviewUser),
	"create subjectaccessreviews.authorization.k8s.io":      reviewed(reviewAccess),
	"create tokenreviews.authentication.k8s.io":             reviewed(reviewToken),

	// The components of a control plane, of which there are none.
	"get componentstatuses/NAME": serveGet,
	"list componentstatuses":     serveList,

	// Paths that are not a resource's.
	"/":                    servePaths,
	"/index.html":          servePaths,
	"/healthz":             serveHealth,
	"/livez":               serveHealth,
	"/readyz":              serveHealth,
	"/version":             serveRelease,
	"/api":                 serveCore,
	"/api/VERSION":         serveVersion,
	"/apis":                serveGroups,
	"/apis/GROUP":          serveGroup,
	"/apis/GROUP/VERSION":  serveVersion,
	"/openapi/v2":          serveOpenAPI2,
	"/openapi/v3":          serveOpenAPI,
	"/openapi/v3/DOCUMENT": serveOpenAPIDocument,
}

// route returns the handler of a verb on a resource, or nil. rest is the path below the resource, in the form of the
// keys.
func route(r *resource, verb, rest string) handler {
	own := routes[verb+" "+r.groupResource()+rest]
	if own != nil || r.review || r.Single && verb == "deletecollection" {
		return own
	}
	return routes[verb+" *"+rest]
}

// setVerbs sets the verbs that discovery lists for a resource and its subresources.
func setVerbs(r *resource) {
	known := map[string]bool{}
	for row := range routes {
		if verb, _, found := strings.Cut(row, " "); found {
			known[verb] = true
		}
	}
	at := func(rests ...string) (verbs []string) {
		for _, verb := range slices.Sorted(maps.Keys(known)) {
			if slices.ContainsFunc(rests, func(rest string) bool { return route(r, verb, rest) != nil }) {
				verbs = append(verbs, verb)
			}
		}
		return verbs
	}
	r.verbs = at("", "/NAME")
	for name, sub := range r.subresources {
		sub.verbs = at("/NAME/" + name)
	}
}

// rawPath returns the key of a request that is not for a resource.
func rawPath(parts []string) string {
	switch n := len(parts); {
	case n == 2 && parts[0] == "api":
		return "/api/VERSION"
	case n == 2 && parts[0] == "apis":
		return "/apis/GROUP"
	case n == 3 && parts[0] == "apis":
		return "/apis/GROUP/VERSION"
	case n > 2 && parts[0] == "openapi" && parts[1] == "v3":
		return "/openapi/v3/DOCUMENT"
	}
	return "/" + strings.Join(parts, "/")
}
