// Command ctrlcache is the side of a program of controller-runtime with the cache of informer/ctrlcache.
package main

import (
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/bowline-go/bowline/informer/ctrlcache"
	"github.com/bowline-go/bowline/internal/bench/managed"
	"github.com/bowline-go/bowline/internal/bench/sample"
)

func main() {
	sample.Main(managed.Jobs(managed.Side{
		Settings: "a manager with NewCache: ctrlcache.New, its defaults",
		NewCache: ctrlcache.New,
		Applied: func(c cache.Cache) (events int) {
			all, _ := ctrlcache.StatusOf(c)
			for _, s := range all {
				events += s.Events
			}
			return events
		},
	}))
}
