package sample_test

import (
	"context"
	"flag"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/apiserver"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/internal/proof/e2e/sample"
)

var minor = flag.String("apiserver", "", "minor release of Kubernetes to test with; empty means clienttest")

// either starts the server that the flag names.
func either(t *testing.T) client.Config {
	crds := []string{"foos.json"}
	if *minor == "" {
		return clienttest.Start(t, clienttest.Options{CRDs: crds}).Config()
	}
	return apiserver.Start(t, apiserver.Options{Minor: *minor, CRDs: crds}).Config()
}

// The same test runs on both servers: go test -run EitherServer . -apiserver 1.36
func TestAFooFollowsItsDeploymentOnEitherServer(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	cfg := either(t)
	c := connect(t, cfg)
	foos, deployments := client.For(c, sample.Foos), client.For(c, sample.Deployments)
	runs, end := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- informer.Run(runs, sample.New(connect(t, cfg), "", controller.Options{})) }()
	defer func() {
		end()
		if err := <-ended; err != nil {
			t.Errorf("the controller ended: %v", err)
		}
	}()

	foo := must(foos.Create(ctx, newFoo("a", 2)))(t)
	hasReplicas := func(n int) client.Condition {
		return client.Until("the deployment is as wanted", func(d *sample.Deployment) (bool, error) {
			owner, owned := meta.ControllerOf(d)
			return owned && owner.UID == foo.UID && d.Spec.Replicas == n, nil
		})
	}
	saysAvailable := func(n int) client.Condition {
		return client.Until("the status follows", func(f *sample.Foo) (bool, error) { return f.Status.AvailableReplicas == n, nil })
	}
	available := func(n int) {
		t.Helper()
		must(deployments.Status().Modify(ctx, appKey, func(d *sample.Deployment) error {
			d.Status.Replicas, d.Status.ReadyReplicas, d.Status.AvailableReplicas = n, n, n
			return nil
		}))(t)
		must(client.WaitFor(ctx, foos, key, saysAvailable(n)))(t)
	}
	must(client.WaitFor(ctx, deployments, appKey, hasReplicas(2)))(t)
	available(2)
	must(foos.Modify(ctx, key, func(f *sample.Foo) error { f.Spec.Replicas = 0; return nil }))(t)
	must(client.WaitFor(ctx, deployments, appKey, hasReplicas(0)))(t)
	available(0)

	first := must(deployments.Get(ctx, appKey))(t)
	if err := deployments.Delete(ctx, appKey, client.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	must(client.WaitFor(ctx, deployments, appKey, client.Until("the deployment is back", func(d *sample.Deployment) (bool, error) {
		return d.UID != first.UID, nil
	})))(t)
}
