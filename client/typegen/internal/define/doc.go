// Package define finds the tags and options with which crd.Of makes a given definition of a Go type.
//
// It asks package crd itself what it makes of a field, and chooses the words that make the wanted schema of it. What no
// word says is a difference, which [Version] returns. So the caller always knows whether the definition comes back.
package define
