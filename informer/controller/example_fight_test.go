package controller_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/patch"
)

// A controller and another program each label a config map their own way, and undo what the other has written. OnError is told
// once, who writes what; the key is slowed down from then on.
func ExampleFightError() {
	server := clienttest.New(clienttest.Options{})
	c, err := client.New(server.Config())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	maps := client.For(c, settingsType)
	inf := informer.New(maps, informer.Options{})
	key := meta.Key{Namespace: "default", Name: "web"}
	label := func(ctx context.Context, manager, team string) error {
		_, err := maps.With(client.WriteOptions{FieldManager: manager}).Patch(ctx, key,
			patch.Merge(map[string]any{"metadata": map[string]any{"labels": map[string]any{"team": team}}}))
		return err
	}

	ctx, cancel := context.WithCancel(context.Background())
	other := informer.RunnerFunc(func(ctx context.Context) error {
		_, err := maps.Create(ctx, &settings{
			ObjectMeta: meta.ObjectMeta{Namespace: key.Namespace, Name: key.Name}, Data: map[string]string{"a": "b"},
		})
		for ctx.Err() == nil && err == nil {
			err = label(ctx, "labeller", "a")
			time.Sleep(20 * time.Millisecond)
		}
		if ctx.Err() != nil {
			return nil
		}
		return err
	})
	ctl := controller.New("teams", controller.Options{
		OnError: func(err error) {
			var fight *controller.FightError
			if !errors.As(err, &fight) {
				return
			}
			fmt.Println(fight.Object, fight.Fields[0], "and waits", fight.Delay)
			cancel()
		},
	}, func(ctx context.Context, key meta.Key) (controller.Result, error) {
		return controller.Result{}, label(ctx, "teams", "b")
	}, controller.Watch(inf))
	if err := informer.Run(ctx, informer.RunnerFunc(server.Run), ctl, other); err != nil {
		fmt.Println(err)
	}
	// Output:
	// default/web "labeller" and "teams" both write .metadata.labels.team and waits 1s
}
