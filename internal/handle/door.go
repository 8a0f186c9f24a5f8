package handle

import "context"

// Door is embedded in a client. It hides Trust, which is for package discovery, from the client's users.
type Door struct {
	trust func(context.Context) (string, error)
}

// NewDoor returns the door of a client whose Trust is trust.
func NewDoor(trust func(context.Context) (string, error)) Door { return Door{trust} }

// Trust returns a text that says how the client verifies its server: "plain" for a server without TLS, "unverified"
// with TLS.Insecure, and otherwise the name that the server's certificate must have, with the system's authorities or
// a digest of those that TLS names. Two clients with the same text trust the same answers of one server. If a program
// stores answers, on a disk for instance, it must store the text with them: a client that verifies its server must not
// believe an answer that another client has read without verifying. The text has no secret in it.
//
// Trust reads the files that TLS names, and waits for them as a request does. It returns an error if they cannot be
// used or ctx has ended.
func (d Door) Trust(ctx context.Context) (string, error) { return d.trust(ctx) }
