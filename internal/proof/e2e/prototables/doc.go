// Package prototables makes the tables of internal/protobuf: of meta/v1, and of every version of an API group that
// kube-apiserver can serve. internal/protobuf/DESIGN.md says why it reads both the published .proto files and the Go
// types.
//
// Its test compares the tables with these sources, and writes them with -update.
package prototables
