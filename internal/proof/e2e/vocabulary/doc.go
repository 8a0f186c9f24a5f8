// Package vocabulary compares random values of package meta with those of k8s.io/apimachinery.
package vocabulary
