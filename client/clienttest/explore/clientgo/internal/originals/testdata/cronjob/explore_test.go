package controller

import (
	"context"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/explore"
	"github.com/bowline-go/bowline/client/clienttest/explore/clientgo"
	"github.com/bowline-go/bowline/client/meta"

	batchv1 "tutorial.kubebuilder.io/project/api/v1"
)

// run is what main does with a configuration, without the webhooks.
func run(ctx context.Context, cfg *rest.Config) error {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return err
	}
	if err := batchv1.AddToScheme(scheme); err != nil {
		return err
	}
	options, err := clientgo.ManagerOptions(ctx, manager.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	mgr, err := ctrl.NewManager(cfg, options)
	if err != nil {
		return err
	}
	if err := (&CronJobReconciler{Client: mgr.GetClient(), Scheme: scheme}).SetupWithManager(mgr); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

var (
	cronJobs = client.Type[*meta.Unstructured]{Group: "batch.tutorial.kubebuilder.io", Version: "v1", Kind: "CronJob", Resource: "cronjobs"}
	key      = meta.Key{Namespace: "default", Name: "a"}
)

// newCronJob returns a CronJob for some minutes of an hour of the first day of a year. The time of a run begins then.
func newCronJob(minutes string) *meta.Unstructured {
	return &meta.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"namespace": "default", "name": "a"},
		"spec": map[string]any{
			"schedule": minutes + " 0 1 1 *",
			"jobTemplate": map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{
				"restartPolicy": "Never", "containers": []any{map[string]any{"name": "a", "image": "example.com/a"}},
			}}}},
		},
	}}
}

// until lets time pass until some minutes after the beginning of the run.
func until(h *explore.History, minutes int) {
	for end := time.Date(2000, 1, 1, 0, minutes, 0, 0, time.UTC); time.Now().Before(end); {
		h.Rest()
	}
}

func exploreCronJobs(t *testing.T, history func(h *explore.History)) {
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	explore.Run(t, explore.Plan{
		Server:  clienttest.Options{CRDs: []string{"../../config/crd/bases/batch.tutorial.kubebuilder.io_cronjobs.yaml"}},
		Program: clientgo.Program(run), History: history, Budget: time.Minute,
	})
}

// A CronJob starts a job.
func TestOneJob(t *testing.T) {
	exploreCronJobs(t, func(h *explore.History) {
		explore.Create(h, cronJobs, newCronJob("5"))
		until(h, 8)
	})
}

// A CronJob starts a job, is suspended and goes on, and starts another job.
func TestTwoJobs(t *testing.T) {
	exploreCronJobs(t, func(h *explore.History) {
		explore.Create(h, cronJobs, newCronJob("5,15"))
		until(h, 8)
		explore.Modify(h, cronJobs, key, func(c *meta.Unstructured) error { return meta.SetNested(c.Object, true, "spec", "suspend") })
		until(h, 11)
		explore.Modify(h, cronJobs, key, func(c *meta.Unstructured) error { return meta.SetNested(c.Object, false, "spec", "suspend") })
		until(h, 18)
	})
}
