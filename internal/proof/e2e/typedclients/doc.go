// Package typedclients has tests of client-go's typed clients, informers and leader election, with their defaults,
// against clienttest. By default these clients write and ask for protobuf.
package typedclients
