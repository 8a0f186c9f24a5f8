// Package conn makes the connections of a client, and adds the client's identity to each request.
//
// A request passes through these layers:
//
//	Transport       adds credential and impersonation; after a 401, sends once more if there is a newer credential
//	Options.Wrap    the user's own transport
//	generations     reads the files of certificates and authorities; chooses the generation for them
//	generation      the connections of one identity, in three http.Transports: for watches, upgrades, and the rest
//	gate            lets one request at a time look for a connection, so that many requests share one
//
// The package deals with HTTP and TLS, and knows nothing about resources. Nothing runs in the background, except the
// read of a file and the fetch of a credential, each begun by a request.
package conn
