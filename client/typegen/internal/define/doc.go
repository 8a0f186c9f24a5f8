// Package define finds the tags and options with which crd.Of makes a given definition from a Go type.
//
// It lets package crd make the schema of a field, and chooses the words that lead to the wanted schema. [Version]
// returns a difference for each part that no word can express. So the caller always knows whether package crd makes the
// definition again.
package define
