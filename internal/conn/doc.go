// Package conn makes the connections of a client, and puts on each request who the client is.
//
// A request takes this way:
//
//	Transport       adds the credential and the impersonation; sends again what a 401 has refused, if there is a newer credential
//	Options.Wrap    of the user
//	generations     looks at the files of certificates and authorities; chooses the generation that they make
//	generation      the connections of one identity, in three http.Transports: for watches, upgrades, and the rest
//	gate            lets one request at a time look for a connection, so that many share what is dialled
//
// The package speaks of HTTP and of TLS; it knows no resource. It runs nothing in the background, but a read of a file
// and a fetch of a credential, each begun by a request.
package conn
