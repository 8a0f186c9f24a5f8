package ctrlcache_test

import (
	"context"
	"maps"
	"testing"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/informer/ctrlcache"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// copier copies each ConfigMap into a Secret of the same name, which the ConfigMap owns.
type copier struct{ client.Client }

func (c copier) Reconcile(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
	var from corev1.ConfigMap
	if err := c.Get(ctx, r.NamespacedName, &from); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	to := corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: r.Namespace, Name: r.Name}}
	_, err := controllerutil.CreateOrUpdate(ctx, c.Client, &to, func() error {
		to.StringData = nil
		to.Data = make(map[string][]byte)
		for k, v := range from.Data {
			to.Data[k] = []byte(v)
		}
		return controllerutil.SetControllerReference(&from, &to, c.Scheme())
	})
	if apierrors.IsAlreadyExists(err) || apierrors.IsConflict(err) { // the cache is behind
		return ctrl.Result{RequeueAfter: 1}, nil
	}
	return ctrl.Result{}, err
}

// A program of controller-runtime, of which only NewCache differs.
func TestAManagerRunsItsControllersOnTheCache(t *testing.T) {
	ctrl.SetLogger(logr.Discard())
	server := clienttest.Start(t, clienttest.Options{})
	c := server.Config()
	cfg := &rest.Config{Host: c.Server, Dial: c.Dial, QPS: -1}
	mgr, err := ctrl.NewManager(cfg, manager.Options{
		NewCache:   ctrlcache.New,
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)}, // the test may run more than once
	})
	must(t, err)
	must(t, ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).Named("copier").Complete(copier{mgr.GetClient()}))

	secrets := make(chan *corev1.Secret, 100)
	deleted := make(chan string, 100)
	inf, err := mgr.GetCache().GetInformer(t.Context(), &corev1.Secret{})
	must(t, err)
	_, err = inf.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { secrets <- obj.(*corev1.Secret) },
		UpdateFunc: func(_, obj any) { secrets <- obj.(*corev1.Secret) },
		DeleteFunc: func(obj any) { deleted <- obj.(client.Object).GetName() },
	})
	must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()

	want := func(when string, data map[string]string) *corev1.Secret {
		t.Helper()
		for {
			select {
			case s := <-secrets:
				got := make(map[string]string)
				for k, v := range s.Data {
					got[k] = string(v)
				}
				if maps.Equal(got, data) {
					return s
				}
			case err := <-done:
				t.Fatalf("%s: the manager has ended: %v", when, err)
			}
		}
	}
	direct, err := client.New(cfg, client.Options{})
	must(t, err)
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}, Data: map[string]string{"k": "1"}}
	must(t, direct.Create(ctx, config))
	want("a ConfigMap is created", map[string]string{"k": "1"})
	config.Data["k"] = "2"
	must(t, direct.Update(ctx, config))
	secret := want("a ConfigMap is changed", map[string]string{"k": "2"})
	server.DropWatches()
	must(t, direct.Delete(ctx, &corev1.Secret{ObjectMeta: secret.ObjectMeta}))
	if name := <-deleted; name != "a" {
		t.Errorf("%s is deleted", name)
	}
	if again := want("the Secret is deleted", map[string]string{"k": "2"}); again.UID == secret.UID {
		t.Error("it is the same Secret")
	}
	stop()
	must(t, <-done)
	status, _ := ctrlcache.StatusOf(mgr.GetCache())
	if len(status) != 2 || status[0].GVK.Kind != "ConfigMap" || status[0].Objects != 1 || status[1].GVK.Kind != "Secret" {
		t.Errorf("the status is %v", status)
	}
}
