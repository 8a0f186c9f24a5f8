package e2e

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/patch"
)

// fought is the object of a fight.
var fought = `{"metadata": {"name": "web", "labels": {"app": "web"}}, "spec": {
	"replicas": 1, "selector": {"matchLabels": {"app": "web"}},
	"template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web", "image": "web"}]}}}}`

// fighter writes to a deployment, with a handle that has the name of the writer.
type fighter func(ctx context.Context, r client.Resource[object], key meta.Key) error

func merges(fields map[string]any) fighter {
	return func(ctx context.Context, r client.Resource[object], key meta.Key) error {
		_, err := r.Patch(ctx, key, patch.Merge(fields))
		return err
	}
}

func applies(fields map[string]any) fighter {
	return func(ctx context.Context, r client.Resource[object], key meta.Key) error {
		config := map[string]any{"apiVersion": "apps/v1", "kind": "Deployment"}
		for name, value := range fields {
			config[name] = value
		}
		_, err := r.Apply(ctx, key, config, client.ApplyOptions{Force: true})
		return err
	}
}

func updates(change func(d object) error) fighter {
	return func(ctx context.Context, r client.Resource[object], key meta.Key) error {
		_, err := r.Modify(ctx, key, change)
		return err
	}
}

func scales(n int32) fighter {
	return func(ctx context.Context, r client.Resource[object], key meta.Key) error {
		_, err := client.ScaleOf(r).Modify(ctx, key, func(s *client.Scale) error { s.Spec.Replicas = n; return nil })
		return err
	}
}

func conditions(status string) fighter {
	return func(ctx context.Context, r client.Resource[object], key meta.Key) error {
		_, err := r.Status().Modify(ctx, key, func(d object) error {
			return meta.SetNested(d, []any{map[string]any{
				"type": "Progressing", "status": status, "lastUpdateTime": time.Now().UTC().Format(time.RFC3339),
				"lastTransitionTime": time.Now().UTC().Format(time.RFC3339),
			}}, "status", "conditions")
		})
		return err
	}
}

func replicated(n int) map[string]any { return map[string]any{"spec": map[string]any{"replicas": n}} }

func annotated(value any) map[string]any {
	return map[string]any{"metadata": map[string]any{"annotations": map[string]any{"example.com/a": value}}}
}

func tiered(value any) map[string]any {
	return map[string]any{"metadata": map[string]any{"labels": map[string]any{"tier": value}}}
}

// alternating returns a fighter that sets another annotation each time.
func alternating() fighter {
	var n atomic.Int64
	return func(ctx context.Context, r client.Resource[object], key meta.Key) error {
		return merges(annotated(strconv.FormatInt(n.Add(1), 10)))(ctx, r, key)
	}
}

// A controller and another writer undo each other's writes on a real server, whose managedFields are the evidence.
func TestFights(t *testing.T) {
	const finalizer = "example.com/ours"
	for name, test := range map[string]struct {
		ours, theirs fighter
		want         string // empty if it is no fight
	}{
		"two applies":               {applies(replicated(3)), applies(replicated(5)), `"kube-scaler" and "mirror" both write .spec.replicas`},
		"an apply and an update":    {applies(replicated(3)), updates(func(d object) error { return meta.SetNested(d, int64(5), "spec", "replicas") }), `"kube-scaler" and "mirror" both write .spec.replicas`},
		"scale and a patch":         {scales(3), merges(replicated(5)), `"kube-scaler" and "mirror" both write .spec.replicas`},
		"a patch and scale":         {merges(replicated(3)), scales(5), `"kube-scaler" and "mirror" both write .spec.replicas`},
		"an annotation they remove": {merges(annotated("a")), merges(annotated(nil)), `"mirror" sets .metadata.annotations.example.com/a and another writer removes it`},
		"a label that we remove":    {merges(tiered(nil)), merges(tiered("a")), `"kube-scaler" sets .metadata.labels.tier and "mirror" removes it`},
		"a finalizer": {
			func(ctx context.Context, r client.Resource[object], key meta.Key) error {
				_, err := r.AddFinalizer(ctx, key, finalizer, meta.FinalizerOptions{})
				return err
			},
			func(ctx context.Context, r client.Resource[object], key meta.Key) error {
				_, err := r.RemoveFinalizer(ctx, key, finalizer, meta.FinalizerOptions{})
				return err
			},
			`"mirror" sets .metadata.finalizers[="example.com/ours"] and another writer removes it`,
		},
		"a condition":                   {conditions("True"), conditions("False"), `"kube-scaler" and "mirror" both write .status.conditions[type="Progressing"].status`},
		"other fields":                  {applies(replicated(3)), alternating(), ""},
		"other values each time":        {alternating(), merges(replicated(5)), ""},
		"the same by both":              {merges(replicated(3)), applies(replicated(3)), ""},
		"a heartbeat beside the status": {merges(annotated("a")), conditions("True"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, namespace := admin(t)
			all := client.For(c, deployments)
			key := meta.KeyOf(create(t, all, namespace, fought))
			ours, theirs := all.With(client.WriteOptions{FieldManager: "mirror"}), all.With(client.WriteOptions{FieldManager: "kube-scaler"})

			told := make(chan error, 100)
			failed := func(err error) {
				select {
				case told <- err:
				default: // enough to fail
				}
			}
			ctl := controller.New("mirror", controller.Options{OnError: failed}, func(ctx context.Context, key meta.Key) (controller.Result, error) {
				return controller.Result{RequeueAfter: 300 * time.Millisecond}, test.ours(ctx, ours, key)
			}, controller.Every(time.Hour, key))
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- informer.Run(ctx, ctl) }()
			undone := make(chan struct{})
			go func() {
				defer close(undone)
				for ctx.Err() == nil {
					if err := test.theirs(ctx, theirs, key); err != nil && ctx.Err() == nil {
						t.Error(err)
					}
					select {
					case <-ctx.Done():
					case <-time.After(250 * time.Millisecond):
					}
				}
			}()
			limit := time.Minute
			if test.want == "" {
				limit = 10 * time.Second
			}
			select {
			case err := <-told:
				var fight *controller.FightError
				switch {
				case test.want == "":
					t.Errorf("told %v", err)
				case !errors.As(err, &fight) || !strings.Contains(err.Error(), test.want+", 5 times in "):
					t.Errorf("told %v\nwant %s", err, test.want)
				}
			case <-time.After(limit):
				if test.want != "" {
					t.Errorf("no fight within %v: %v", limit, ctl.Status())
				}
			}
			cancel()
			<-undone
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}
