// Package vocabulary compares the values of package meta with those of k8s.io/apimachinery, at random.
package vocabulary
