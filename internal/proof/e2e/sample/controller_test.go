package sample_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/internal/proof/e2e/sample"
)

// world is a server, a client of the test's and the handles that tests need.
type world struct {
	server      *clienttest.Server
	foos        client.Resource[*sample.Foo]
	deployments client.Resource[*sample.Deployment]
}

func newWorld(t *testing.T) *world {
	server := clienttest.Start(t, clienttest.Options{CRDs: []string{"foos.json"}})
	c := connect(t, server.Config())
	return &world{server: server, foos: client.For(c, sample.Foos), deployments: client.For(c, sample.Deployments)}
}

func connect(t *testing.T, cfg client.Config) *client.Client {
	c, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// run runs the controller until the test ends.
func (w *world) run(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	ctl := sample.New(connect(t, w.server.Config()), "", controller.Options{})
	go func() { ended <- informer.Run(ctx, ctl) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the controller ended: %v", err)
		}
	})
}

func newFoo(name string, replicas int) *sample.Foo {
	return &sample.Foo{
		ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: name},
		Spec:       sample.FooSpec{DeploymentName: name + "-app", Replicas: replicas},
	}
}

func must[V any](v V, err error) func(*testing.T) V {
	return func(t *testing.T) V {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

var key, appKey = meta.Key{Namespace: "default", Name: "a"}, meta.Key{Namespace: "default", Name: "a-app"}

// settle gives the controller time, which is virtual.
func settle() { time.Sleep(10 * time.Second) }

// newDeployment returns a deployment that a server takes.
func newDeployment(name string) *sample.Deployment {
	d := &sample.Deployment{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: name}}
	labels := map[string]string{"app": name}
	d.Spec.Selector.MatchLabels, d.Spec.Template.Metadata.Labels = labels, labels
	d.Spec.Template.Spec.Containers = []sample.Container{{Name: "a", Image: "example.com/a"}}
	return d
}

func TestAFooHasItsDeployment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.run(t)
		foo := must(w.foos.Create(t.Context(), newFoo("a", 2)))(t)
		settle()
		app := must(w.deployments.Get(t.Context(), appKey))(t)
		owner, ok := meta.ControllerOf(app)
		if !ok || owner.UID != foo.UID || app.Spec.Replicas != 2 {
			t.Errorf("the deployment is %+v", app)
		}
		must(w.deployments.Status().Modify(t.Context(), appKey, func(d *sample.Deployment) error {
			d.Status.Replicas, d.Status.ReadyReplicas, d.Status.AvailableReplicas = 2, 2, 2
			return nil
		}))(t)
		settle()
		if foo = must(w.foos.Get(t.Context(), key))(t); foo.Status.AvailableReplicas != 2 {
			t.Errorf("the status is %+v, want two available replicas", foo.Status)
		}
		if err := w.deployments.Delete(t.Context(), appKey, client.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		settle()
		must(w.deployments.Get(t.Context(), appKey))(t) // it is back
	})
}

// Scale to zero: a wanted zero is written, and so are the zeros of a status.
func TestAFooIsScaledToZero(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.run(t)
		must(w.foos.Create(t.Context(), newFoo("a", 3)))(t)
		settle()
		must(w.deployments.Status().Modify(t.Context(), appKey, func(d *sample.Deployment) error {
			d.Status.Replicas, d.Status.ReadyReplicas, d.Status.AvailableReplicas = 3, 3, 3
			return nil
		}))(t)
		settle()
		must(w.foos.Modify(t.Context(), key, func(f *sample.Foo) error { f.Spec.Replicas = 0; return nil }))(t)
		settle()
		if app := must(w.deployments.Get(t.Context(), appKey))(t); app.Spec.Replicas != 0 {
			t.Errorf("the deployment has %d replicas, want 0", app.Spec.Replicas)
		}
		must(w.deployments.Status().Modify(t.Context(), appKey, func(d *sample.Deployment) error {
			d.Status.Replicas, d.Status.ReadyReplicas, d.Status.AvailableReplicas = 0, 0, 0
			return nil
		}))(t)
		settle()
		if foo := must(w.foos.Get(t.Context(), key))(t); foo.Status.AvailableReplicas != 0 {
			t.Errorf("the status is %+v, want no available replicas", foo.Status)
		}
	})
}

// A deployment that somebody else controls is left alone, and the status says so.
func TestADeploymentOfAnotherOwnerIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		other := must(w.foos.Create(t.Context(), newFoo("other", 1)))(t)
		theirs := newDeployment("a-app")
		theirs.Spec.Replicas = 7
		if err := client.SetController(theirs, client.OwnerOf(sample.Foos, other)); err != nil {
			t.Fatal(err)
		}
		theirs = must(w.deployments.Create(t.Context(), theirs))(t)
		must(w.foos.Create(t.Context(), newFoo("a", 1)))(t)
		ctl := sample.New(connect(t, w.server.Config()), "", controller.Options{OnError: func(error) {}})
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		if err := informer.Run(ctx, ctl); err != nil {
			t.Fatal(err)
		}
		if live := must(w.deployments.Get(t.Context(), appKey))(t); live.ResourceVersion != theirs.ResourceVersion {
			t.Errorf("the deployment of another was changed: %+v", live)
		}
		foo := must(w.foos.Get(t.Context(), key))(t)
		if len(foo.Status.Conditions) != 1 || foo.Status.Conditions[0].Reason != "Taken" || !strings.Contains(foo.Status.Conditions[0].Message, `Foo "other"`) {
			t.Errorf("the conditions are %+v, want one that names the other controller", foo.Status.Conditions)
		}
	})
}

// An hour in which nothing happens costs no write and no read of single objects, also across a restart of the controller.
func TestAnIdleControllerSendsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		for _, name := range []string{"a", "b", "c"} {
			must(w.foos.Create(t.Context(), newFoo(name, 1)))(t)
		}
		run := func() {
			ctx, stop := context.WithTimeout(t.Context(), time.Hour)
			defer stop()
			if err := informer.Run(ctx, sample.New(connect(t, w.server.Config()), "", controller.Options{})); err != nil {
				t.Fatal(err)
			}
		}
		run()
		before := w.server.Requests()
		run()
		for call, n := range w.server.Requests() {
			if call.Verb != "list" && call.Verb != "watch" && n != before[call] {
				t.Errorf("%d requests %v although nothing has changed", n-before[call], call)
			}
		}
	})
}
