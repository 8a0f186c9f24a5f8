package controller_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/shards"
	"github.com/bowline-go/bowline/informer/controller"
)

// A Group waits for a controller in each Run, also if the controller was made in an earlier one.
func TestAGroupWaitsForAControllerOfAnEarlierRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{})
		server.Intercept(func(*http.Request) http.HandlerFunc {
			time.Sleep(time.Millisecond) // so that work has begun when the group has its ranges
			return nil
		})
		c, err := client.New(server.Config())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		group := shards.New(c, shards.Options{Namespace: "default", Name: "web", By: meta.ShardByNamespace})
		var ctl *controller.Controller[meta.Key]
		for range 2 {
			ctx, cancel := context.WithCancel(logr.NewContext(t.Context(), logr.Discard()))
			err := group.Run(ctx, func(ctx context.Context) error {
				if ctl == nil {
					ctl = controller.New("c", controller.Options{Shards: group}, func(context.Context, meta.Key) (controller.Result, error) {
						return controller.Result{}, nil
					}, controller.Watch(newPods(t).Reader())) // which is never filled
				}
				time.AfterFunc(time.Second, func() {
					if s := group.Status(); s.Ranges.Len() > 0 || strings.Join(s.Unready, "") != `controller "c"` {
						t.Errorf("before the controller has synced: %v", s)
					}
					cancel()
				})
				return ctl.Run(ctx)
			})
			cancel()
			if err != nil {
				t.Error(err)
			}
		}
	})
}
