// Package protobuf lets a client read Kubernetes' protobuf. It uses tables, which map the numbers in a message to the
// members of an object's JSON.
//
// The packages below this one have a table for each version of an API group, such as core.V1() and apps.V1(). A
// program links only the tables that it imports. Package all has the tables of every group. The kinds of custom
// resources have no protobuf form: an API server answers them in JSON.
//
// The tables have the members of Kubernetes 1.37, and the other members that kinds of 1.35 and 1.36 had. So they can
// also fill the Go types of k8s.io/api of those releases. If a newer server sends a field that a table does not have,
// the client skips it, as it skips a field that T does not have.
package protobuf
