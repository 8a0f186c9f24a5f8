// Package storage has the kinds of the group storage.k8s.io: storage classes, CSI drivers and nodes, volume attachments
// and others. Package client/builtin describes what all of these packages have in common.
package storage

//go:generate go run github.com/bowline-go/bowline/client/typegen -o types.go -groups storage.k8s.io -import io.k8s.api.core.v1=github.com/bowline-go/bowline/client/builtin/core -functions
