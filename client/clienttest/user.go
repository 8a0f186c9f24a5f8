package clienttest

// User is the sender of a request, after impersonation.
type User struct {
	// Name is "admin" for a request without a credential and for one with Options.Token, the subject of a client
	// certificate, "system:serviceaccount:NAMESPACE:NAME" for a token of the token subresource, or the value of an
	// Impersonate-User header.
	Name string `json:"username,omitempty"`
	// UID, Groups and Extra are further information about the user.
	UID    string              `json:"uid,omitempty"`
	Groups []string            `json:"groups,omitempty"`
	Extra  map[string][]string `json:"extra,omitempty"`
}

// Access is an operation that Options.Authorize decides about.
type Access struct {
	User User
	// Request is the user's operation. In a review, Resource.Version may be empty or "*". A list or a watch whose field
	// selector names one object has that name in Key, as in a real server.
	Request
	// LabelSelector and FieldSelector are the selectors of a list, a watch or a deletecollection, or those of a review
	// that has them as text; an empty one selects everything.
	LabelSelector string
	FieldSelector string
	// Path is set instead of Request.Resource if a review is about a path that is not a resource's.
	Path string
}

const (
	authenticated        = "system:authenticated"
	serviceAccountPrefix = "system:serviceaccount:"
)

func accountGroups(namespace string) []string {
	return []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace}
}
