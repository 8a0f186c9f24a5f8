// Package protobuf has what a client needs to speak Kubernetes' protobuf: tables, which say which number of a message is which
// member of an object's JSON.
//
// The packages below this one have a table for each version of an API group, such as core.V1() and apps.V1(). A program links those
// that it imports. Package all has the tables of every group. The kinds of custom resources have no protobuf form: an API server
// answers them in JSON.
//
// The tables are those of Kubernetes 1.37. A field of a newer server that a table does not have is skipped, as a field is that T
// does not have.
package protobuf
