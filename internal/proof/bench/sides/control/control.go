// Package control has the controller of Bowline's sides, which use different types for pods.
package control

import (
	"context"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/internal/proof/bench/sample"
	"github.com/bowline-go/bowline/internal/proof/bench/sides/setting"
)

// Job returns the job controller with pods of type t. name is the type's name in the report.
func Job[T meta.Object](t client.Type[T], name string) sample.Job {
	return func(ctx context.Context, p sample.Params) (sample.Report, error) {
		o, told, err := setting.Options(p.Setting)
		if err != nil {
			return sample.Report{}, err
		}
		return sample.Controlled(sample.Controller{
			Settings: "informer.Run of a controller with the zero Options, " + name + ", " + told,
			Run: func(ctx context.Context, server string, reconciled func(name string)) error {
				c, err := client.New(client.Config{Server: server})
				if err != nil {
					return err
				}
				inf := informer.New(client.For(c, t), o)
				reconcile := func(_ context.Context, key meta.Key) (controller.Result, error) {
					reconciled(key.Name)
					return controller.Result{}, nil
				}
				return informer.Run(ctx, controller.New("pods", controller.Options{}, reconcile, controller.Watch(inf)))
			},
		})(ctx, p)
	}
}
