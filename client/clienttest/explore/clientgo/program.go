package clientgo

import (
	"context"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/informer/ctrlcache"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/rest"
)

// Program returns the Program of an explore.Plan that runs an operator with the configuration of
// [ctrlcache.RESTConfig]. run is one replica: it serves until ctx ends, and returns when none of its goroutines runs
// any more.
//
// Program also removes one handler from [utilruntime.ErrorHandlers] for the whole process. That handler delays errors
// by a clock that all bubbles share. In a bubble, whose time begins in the year 2000, the handler would sleep for
// decades.
func Program(run func(ctx context.Context, cfg *rest.Config) error) func(ctx context.Context, cfg client.Config) error {
	delayNoErrors()
	return func(ctx context.Context, cfg client.Config) error {
		made, err := ctrlcache.RESTConfig(cfg)
		if err != nil {
			return err
		}
		return run(ctx, made)
	}
}

// delayNoErrors removes the handler that delays errors. It runs only once, because it changes a variable of the
// process.
var delayNoErrors = sync.OnceFunc(func() {
	utilruntime.ErrorHandlers = slices.DeleteFunc(slices.Clone(utilruntime.ErrorHandlers), func(h utilruntime.ErrorHandler) bool {
		return strings.Contains(runtime.FuncForPC(reflect.ValueOf(h).Pointer()).Name(), "/util/runtime.backoffError")
	})
})
