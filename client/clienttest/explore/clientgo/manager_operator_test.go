package clientgo_test

import (
	"context"

	"github.com/bowline-go/bowline/client/clienttest/explore/clientgo"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	crclient "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

const (
	finalizer  = "example.com/copy"
	annotation = "example.com/copied"
)

// copier is a controller of controller-runtime. It copies the text of each ConfigMap into a Secret of the same name,
// notes the text in an annotation, and deletes the Secret with the ConfigMap.
type copier struct {
	crclient.Client
	elects             bool
	generates, forgets bool // bugs
}

func (c copier) Reconcile(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
	from := &corev1.ConfigMap{}
	if err := c.Get(ctx, r.NamespacedName, from); err != nil {
		return ctrl.Result{}, crclient.IgnoreNotFound(err)
	}
	if from.DeletionTimestamp != nil {
		return ctrl.Result{}, c.clean(ctx, from)
	}
	if controllerutil.AddFinalizer(from, finalizer) {
		return ctrl.Result{}, c.Update(ctx, from)
	}
	if from.Annotations[annotation] == from.Data["text"] {
		return ctrl.Result{}, nil
	}
	if err := c.copy(ctx, from); err != nil {
		return ctrl.Result{}, err
	}
	metav1.SetMetaDataAnnotation(&from.ObjectMeta, annotation, from.Data["text"])
	return ctrl.Result{}, c.Update(ctx, from)
}

// copy makes the Secret as it should be.
func (c copier) copy(ctx context.Context, from *corev1.ConfigMap) error {
	to := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: from.Namespace, Name: from.Name}}
	if c.generates && from.Annotations[annotation] == "" {
		to.Name, to.GenerateName = "", from.Name+"-"
		return c.Create(ctx, to)
	}
	_, err := controllerutil.CreateOrUpdate(ctx, c.Client, to, func() error {
		to.Data = map[string][]byte{"text": []byte(from.Data["text"])}
		return nil
	})
	return err
}

// clean deletes the Secret, and lets the ConfigMap go.
func (c copier) clean(ctx context.Context, from *corev1.ConfigMap) error {
	remove := func() error {
		to := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: from.Namespace, Name: from.Name}}
		return crclient.IgnoreNotFound(c.Delete(ctx, to))
	}
	release := func() error {
		if !controllerutil.RemoveFinalizer(from, finalizer) {
			return nil
		}
		return crclient.IgnoreNotFound(c.Update(ctx, from))
	}
	first, second := remove, release
	if c.forgets {
		first, second = release, remove
	}
	if err := first(); err != nil {
		return err
	}
	return second()
}

// run is one replica.
func (c copier) run(ctx context.Context, cfg *rest.Config) error {
	options, err := clientgo.ManagerOptions(ctx, manager.Options{
		LeaderElection: c.elects, LeaderElectionID: "copier", LeaderElectionNamespace: "default",
	})
	if err != nil {
		return err
	}
	return c.serve(ctx, cfg, options)
}

// serve is what main of an operator does with a configuration and options.
func (c copier) serve(ctx context.Context, cfg *rest.Config, options manager.Options) error {
	mgr, err := ctrl.NewManager(cfg, options)
	if err != nil {
		return err
	}
	c.Client = mgr.GetClient()
	if err := ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Named("copier").Complete(c); err != nil {
		return err
	}
	return mgr.Start(ctx)
}
