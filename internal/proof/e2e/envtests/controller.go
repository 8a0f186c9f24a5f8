package envtests

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

const (
	finalizer = "web.example.com/registration"
	// registry is the ConfigMap, in the namespace of a Site, in which the operator registers hosts.
	registry = "hosts"
	// available is the type of the condition of a Site.
	available = "Available"
)

// reconciler is the operator.
type reconciler struct{ client.Client }

// setup adds the operator to a manager.
func (r reconciler) setup(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).For(&Site{}).Owns(&appsv1.Deployment{}).Named("site").
		WithOptions(controller.Options{SkipNameValidation: new(true)}). // a process has one for each environment
		Complete(r)
}

// Reconcile implements reconcile.Reconciler.
func (r reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var site Site
	if err := r.Get(ctx, req.NamespacedName, &site); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !site.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, r.finish(ctx, &site)
	}
	if controllerutil.AddFinalizer(&site, finalizer) {
		return ctrl.Result{}, r.Update(ctx, &site) // which leads to the next reconcile
	}
	if err := r.register(ctx, &site, site.Spec.Host); err != nil {
		return ctrl.Result{}, err
	}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: site.Namespace, Name: site.Name}}
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, d, func() error { return r.fill(d, &site) })
	switch {
	case apierrors.IsAlreadyExists(err): // the cache is behind
		return ctrl.Result{RequeueAfter: time.Second}, nil
	case err != nil && !apierrors.IsInvalid(err):
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.report(ctx, &site, d, err)
}

// fill sets what the operator wants of the Deployment of a Site.
func (r reconciler) fill(d *appsv1.Deployment, site *Site) error {
	labels := map[string]string{"site": site.Name}
	d.Labels = labels
	d.Spec.Replicas = site.Spec.Replicas
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	d.Spec.Template.Labels = labels
	containers := &d.Spec.Template.Spec.Containers
	if len(*containers) != 1 {
		*containers = []corev1.Container{{Name: "web"}}
	}
	c := &(*containers)[0]
	c.Image = site.Spec.Image
	if len(c.Ports) != 1 {
		c.Ports = []corev1.ContainerPort{{Name: "http"}}
	}
	c.Ports[0].ContainerPort = site.Spec.Port
	return controllerutil.SetControllerReference(site, d, r.Scheme())
}

// report writes the status of a Site, if it has changed. refused is the error of a server that refused the Deployment.
func (r reconciler) report(ctx context.Context, site *Site, d *appsv1.Deployment, refused error) error {
	before := site.DeepCopyObject().(*Site)
	is := metav1.Condition{Type: available, Status: metav1.ConditionFalse, Reason: "Waiting", ObservedGeneration: site.Generation}
	switch {
	case refused != nil:
		is.Reason, is.Message = "Refused", refused.Error()
	case d.Status.AvailableReplicas >= *site.Spec.Replicas:
		is.Status, is.Reason = metav1.ConditionTrue, "Served"
	}
	site.Status.Available = d.Status.AvailableReplicas
	if changed := meta.SetStatusCondition(&site.Status.Conditions, is); !changed && site.Status.Available == before.Status.Available {
		return nil
	}
	return r.Status().Patch(ctx, site, client.MergeFrom(before))
}

// register registers the host of a Site, or removes it if host is empty.
func (r reconciler) register(ctx context.Context, site *Site, host string) error {
	hosts := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: site.Namespace, Name: registry}}
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, hosts, func() error {
		if host == "" {
			delete(hosts.Data, site.Name)
			return nil
		}
		if hosts.Data == nil {
			hosts.Data = make(map[string]string)
		}
		hosts.Data[site.Name] = host
		return nil
	})
	return err
}

// finish undoes the registration of a Site that is being deleted.
func (r reconciler) finish(ctx context.Context, site *Site) error {
	if !controllerutil.ContainsFinalizer(site, finalizer) {
		return nil
	}
	if err := r.register(ctx, site, ""); err != nil {
		return err
	}
	controllerutil.RemoveFinalizer(site, finalizer)
	return client.IgnoreNotFound(r.Update(ctx, site))
}

// keyOf returns the key of an object.
func keyOf(o client.Object) types.NamespacedName { return client.ObjectKeyFromObject(o) }
