// Package protostream frames lists and watches in protobuf, as package jsonstream does in JSON: object by object, with
// the identity of each, without managedFields, and never a list as a whole. It yields the steps of jsonstream.
//
// A list is an envelope around one message. The length of that message comes first, then its metadata, then each item
// with its length. An event of a watch has four bytes of length before it, and contains the envelope of an object.
//
// # Limits
//
// A length in a body is not trusted: memory is allocated as bytes arrive, at most twice their number. An object that is
// longer than MaxObject is skipped as it arrives; its identity is read from its first bytes. MaxDepth does not apply:
// this package does not follow nested messages, and their decoder has a limit.
package protostream
