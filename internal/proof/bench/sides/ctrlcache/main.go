// Command ctrlcache is the side of a program of controller-runtime with the cache of informer/ctrlcache.
package main

import (
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/bowline-go/bowline/informer/compact"
	"github.com/bowline-go/bowline/informer/ctrlcache"
	"github.com/bowline-go/bowline/internal/proof/bench/managed"
	"github.com/bowline-go/bowline/internal/proof/bench/sample"
)

func main() {
	sample.Main(managed.Jobs(managed.Side{
		Settings: "a manager with NewCache: ctrlcache.New, its defaults",
		NewCache: ctrlcache.New,

		FewerSettings: "a manager with NewCache: ctrlcache.Options{Fields: ...}.New, of the node name and the phase",
		Fewer: ctrlcache.Options{Fields: map[client.Object][]string{
			&corev1.Pod{}: {"spec.nodeName", "status.phase"},
		}}.New,

		CompactSettings: "a manager with NewCache: ctrlcache.Options{Compact: compact.New()}.New",
		Compact:         ctrlcache.Options{Compact: compact.New()}.New,

		Applied: func(c cache.Cache) (events int) {
			all, _ := ctrlcache.StatusOf(c)
			for _, s := range all {
				events += s.Events
			}
			return events
		},
	}))
}
