// Package calls is the table of calls: one call of the client for every verb, every subresource and every option. The
// request of each call is kept in a file, and is tried on a real server.
//
// client/testdata/wire has the request of each call. The tests of package client compare them, byte by byte, with what
// the client sends. A file is an HTTP request as it is on the wire (RFC 9112), without the parts that depend on the
// connection or the machine: the method and the URI, the header fields sorted by name, an empty line and the body,
// which ends with the file.
//
// The calls are in an order in which an empty server accepts them all, unless Call says otherwise.
package calls
