package controllers

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
)

// Namespaces returns the controller that deletes the contents of a namespace that is being deleted, and then lets the
// namespace go. It does what Kubernetes' controller does:
//
//   - It deletes the pods first, and the rest when no pod is left. It deletes in the background, whatever the policy of
//     the namespace's deletion was.
//   - It keeps the conditions of the namespace's status, such as NamespaceContentRemaining.
//   - While objects remain, because pods end slowly or finalizers hold them, it comes back after half of the time that
//     they are expected to take, and a second: 8 s for finalizers.
//   - When nothing is left it removes the finalizer kubernetes of the namespace.
//
// Kubernetes' controller begins 5 s after the deletion, for servers with replicas that are behind. This one begins at
// once.
//
// A server of package clienttest leaves namespaces to a controller only with clienttest.Options.NamespaceController.
// Without that option it deletes the contents itself, in the request that deletes the namespace, and nothing is left
// for this controller to do.
func Namespaces() Controller { return namespaceController{} }

// namespace has the fields of a namespace that the controller reads and writes.
type namespace struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Finalizers []string `json:"finalizers,omitempty"`
	} `json:"spec"`
	Status struct {
		Phase      string           `json:"phase,omitempty"`
		Conditions []meta.Condition `json:"conditions,omitempty"`
	} `json:"status"`
}

func namespaceType() client.Type[*namespace] {
	return client.Type[*namespace]{Version: "v1", Kind: "Namespace", Resource: "namespaces", Scope: meta.Cluster}
}

// namespaceFinalizer is the one that the controller removes.
const namespaceFinalizer = "kubernetes"

type namespaceController struct{}

func (namespaceController) name() string { return "namespace controller" }

func (namespaceController) run(ctx context.Context, env *environment) error {
	c := &terminator{env, client.For(env.client, namespaceType())}
	inf := cached(env, namespaceType())
	ctl := controller.New("namespaces", controller.Options{MaxBackoff: time.Minute, AllowFights: true}, c.terminate, controller.Watch(inf))
	return informer.Run(ctx, ctl)
}

// terminator ends namespaces.
type terminator struct {
	env        *environment
	namespaces client.Resource[*namespace]
}

// terminate takes the next step in the deletion of a namespace.
func (c *terminator) terminate(ctx context.Context, key meta.Key) (controller.Result, error) {
	live, err := c.namespaces.Get(ctx, key)
	if err != nil || !meta.IsDeleting(live) {
		return controller.Result{}, apierrors.Ignore(err, apierrors.NotFound)
	}
	if live.Status.Phase != "Terminating" {
		live, err = c.namespaces.Status().Modify(ctx, key, func(n *namespace) error {
			n.Status.Phase = "Terminating"
			return nil
		})
	}
	if err != nil || len(live.Spec.Finalizers) == 0 {
		return controller.Result{}, apierrors.Ignore(err, apierrors.NotFound)
	}
	found := c.empty(ctx, live)
	live, err = c.report(ctx, live, found)
	if live == nil || err != nil {
		return controller.Result{}, err
	}
	if err := found.err(); err != nil {
		return controller.Result{}, err
	}
	if found.estimate > 0 {
		return controller.Result{RequeueAfter: found.estimate/2 + time.Second}, nil
	}
	live.Spec.Finalizers = slices.DeleteFunc(slices.Clone(live.Spec.Finalizers), func(f string) bool { return f == namespaceFinalizer })
	_, err = c.namespaces.Sub("finalize").Update(ctx, live) // the server takes only these finalizers from it
	return controller.Result{}, apierrors.Ignore(err, apierrors.NotFound)
}

// report writes the conditions of a namespace, and returns the namespace as it is then; nil if it has gone, or another
// one has its name.
func (c *terminator) report(ctx context.Context, n *namespace, found *contents) (*namespace, error) {
	live, err := c.namespaces.Status().Modify(ctx, n.Key(), func(live *namespace) error {
		if live.UID != n.UID {
			return nil
		}
		var errs []error
		for _, condition := range found.conditions() {
			errs = append(errs, meta.SetCondition(&live.Status.Conditions, 0, condition))
		}
		return errors.Join(errs...)
	})
	if err != nil || live.UID != n.UID {
		return nil, apierrors.Ignore(err, apierrors.NotFound)
	}
	return live, nil
}
