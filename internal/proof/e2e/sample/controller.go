// Package sample is a controller like kubernetes/sample-controller, but with its own structs and no generated code: a
// custom resource owns a deployment, and its status says how many replicas of it are available.
package sample

import (
	"context"
	"errors"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
)

// Ready is the condition of a Foo that says whether its deployment is as wanted.
const Ready = "Ready"

// New returns the controller of the Foos of one namespace, or of all if it is empty.
func New(c *client.Client, namespace string, o controller.Options) *controller.Controller[meta.Key] {
	r := &reconciler{foos: client.For(c, Foos), deployments: client.For(c, Deployments)}
	r.knownFoos = informer.New(r.foos, informer.Options{Namespace: namespace})
	r.knownDeployments = informer.New(r.deployments, informer.Options{Namespace: namespace})
	return controller.New("foos", o, r.reconcile,
		controller.Watch(r.knownFoos),
		controller.Owns(r.knownDeployments, Foos))
}

type reconciler struct {
	foos             client.Resource[*Foo]
	deployments      client.Resource[*Deployment]
	knownFoos        *informer.Informer[*Foo]
	knownDeployments *informer.Informer[*Deployment]
}

func (r *reconciler) reconcile(ctx context.Context, key meta.Key) (controller.Result, error) {
	foo, ok := r.knownFoos.Reader().Get(key)
	if !ok || meta.IsDeleting(foo) {
		return controller.Result{}, nil // the garbage collector deletes the deployment
	}
	if foo.Spec.DeploymentName == "" {
		err := errors.New("spec.deploymentName must be set")
		return controller.Result{}, errors.Join(controller.Terminal(err), r.report(ctx, foo, nil, "NoName", err))
	}
	want, err := deployment(foo)
	if err != nil {
		return controller.Result{}, controller.Terminal(err)
	}
	known, _ := r.knownDeployments.Reader().Get(meta.KeyOf(want))
	live, _, err := r.deployments.Ensure(ctx, want, client.EnsureOptions{Known: known})
	var taken *client.ControllerError
	if errors.As(err, &taken) {
		return controller.Result{}, errors.Join(controller.Terminal(err), r.report(ctx, foo, nil, "Taken", err))
	}
	if err != nil {
		return controller.Result{}, err
	}
	return controller.Result{}, r.report(ctx, foo, live, "Deployed", nil)
}

// deployment returns the Deployment that a Foo asks for.
func deployment(foo *Foo) (*Deployment, error) {
	labels := map[string]string{"app": "nginx", "controller": foo.Name}
	d := &Deployment{ObjectMeta: meta.ObjectMeta{Namespace: foo.Namespace, Name: foo.Spec.DeploymentName}}
	d.Spec.Replicas = foo.Spec.Replicas
	d.Spec.Selector.MatchLabels = labels
	d.Spec.Template.Metadata.Labels = labels
	d.Spec.Template.Spec.Containers = []Container{{Name: "nginx", Image: "nginx:latest"}}
	return d, client.SetController(d, client.OwnerOf(Foos, foo))
}

// report writes the status of a Foo. It sends nothing if the Foo already has that status.
func (r *reconciler) report(ctx context.Context, foo *Foo, live *Deployment, reason string, failed error) error {
	ready := meta.Condition{Type: Ready, Status: meta.ConditionTrue, Reason: reason}
	if failed != nil {
		ready.Status, ready.Message = meta.ConditionFalse, failed.Error()
	}
	_, err := r.foos.Status().ModifyWith(ctx, meta.KeyOf(foo), func(f *Foo) error {
		if live != nil {
			f.Status.AvailableReplicas = live.Status.AvailableReplicas
		}
		return meta.SetCondition(&f.Status.Conditions, foo.Generation, ready)
	}, client.ModifyOptions{Known: foo})
	return err
}
