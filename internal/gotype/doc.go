// Package gotype tells from a Go type, by its json tags, which fields of an object its values have.
package gotype
