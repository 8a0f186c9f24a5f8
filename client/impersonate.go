package client

import "maps"

// Impersonation is somebody else on whose behalf requests are made (user impersonation in the Kubernetes documentation,
// "Authenticating"). The client's own identity needs the permission to impersonate. The zero value impersonates nobody.
type Impersonation struct {
	// User is the user's name. The other fields need it.
	User string
	// UID is the user's id.
	UID string
	// Groups are the groups that the user is in.
	Groups []string
	// Extra is what else an authenticator would say about the user.
	Extra map[string][]string
}

func (i Impersonation) clone() Impersonation {
	i.Groups = append([]string(nil), i.Groups...)
	i.Extra = maps.Clone(i.Extra)
	for k, v := range i.Extra {
		i.Extra[k] = append([]string(nil), v...)
	}
	return i
}
