// The namespaces of keys.

package controller

import "github.com/bowline-go/bowline/client/meta"

// namespacer is a key with a namespace that is not a meta.Key, such as a key that also names a cluster.
type namespacer interface{ GetNamespace() string }

// namespaceOf returns the namespace of a key; false if it has none.
func namespaceOf[K comparable](k K) (string, bool) {
	switch k := any(k).(type) {
	case meta.Key:
		return k.Namespace, true
	case namespacer:
		return k.GetNamespace(), true
	}
	return "", false
}
