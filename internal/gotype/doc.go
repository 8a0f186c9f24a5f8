// Package gotype derives from a Go type and its json tags which fields of an object its values have.
package gotype
