package meta

// Access is an operation that a user may or may not be allowed to do: a verb on a resource, or on a path that is not a
// resource's.
type Access struct {
	// Verb is the API's word, such as get, list, watch, create, update, patch, delete or deletecollection, or a verb
	// that only this resource has, such as impersonate. For a Path it is an HTTP method in lower case. "*" means every
	// verb.
	Verb string
	// Resource is the resource; "*" in its fields means all. An empty Version means every version.
	Resource GVR
	// Subresource is the subresource, such as "status" or "log".
	Subresource string
	// Key is the object. An empty Name means every object. An empty Namespace means every namespace, or none for a
	// cluster-wide resource.
	Key Key
	// LabelSelector and FieldSelector are the selectors of a list, a watch or a deletecollection, in the form of those
	// in client.ListOptions; empty selects everything (KEP-4601, in every cluster since 1.34). An authorizer may allow
	// access to only some of the objects, as the node authorizer does, or ignore the selectors, as RBAC does. A server
	// that cannot parse a selector ignores it, and says so in EvaluationError.
	LabelSelector string
	FieldSelector string
	// Path is a path that is not a resource's, such as "/healthz" or "/metrics"; it excludes the fields about
	// resources.
	Path string
}
