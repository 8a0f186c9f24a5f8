package machineset

import (
	"context"
	"testing"
	"time"

	"github.com/go-logr/logr"
	openshiftfeatures "github.com/openshift/api/features"
	machinev1 "github.com/openshift/api/machine/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/featuregate"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/explore"
	"github.com/bowline-go/bowline/client/clienttest/explore/clientgo"
	"github.com/bowline-go/bowline/client/meta"
)

// run is what cmd/machineset does with a configuration, without the webhooks.
func run(ctx context.Context, cfg *rest.Config) error {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return err
	}
	if err := machinev1.Install(scheme); err != nil {
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
	gate := featuregate.NewFeatureGate()
	if err := gate.Add(map[featuregate.Feature]featuregate.FeatureSpec{
		featuregate.Feature(openshiftfeatures.FeatureGateMachineAPIMigration): {PreRelease: featuregate.Alpha},
	}); err != nil {
		return err
	}
	if err := Add(mgr, options, gate); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

const definitions = "../../../install/0000_30_machine-api-operator_"

var (
	machineSets = client.Type[*meta.Unstructured]{Group: "machine.openshift.io", Version: "v1beta1", Kind: "MachineSet", Resource: "machinesets"}
	key         = meta.Key{Namespace: "default", Name: "a"}
)

func newMachineSet() *meta.Unstructured {
	labels := map[string]any{"set": "a"}
	return &meta.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"namespace": "default", "name": "a"},
		"spec": map[string]any{
			"replicas": 2, "selector": map[string]any{"matchLabels": labels},
			"template": map[string]any{"metadata": map[string]any{"labels": labels}, "spec": map[string]any{}},
		},
	}}
}

func scale(h *explore.History, replicas int) {
	explore.Modify(h, machineSets, key, func(s *meta.Unstructured) error { return meta.SetNested(s.Object, replicas, "spec", "replicas") })
}

// A MachineSet is made and scaled.
func TestScaling(t *testing.T) {
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	explore.Run(t, explore.Plan{
		Server: clienttest.Options{CRDs: []string{
			definitions + "02_machine.Default.crd.yaml", definitions + "03_machineset.Default.crd.yaml",
		}},
		Program: clientgo.Program(run), Budget: time.Minute,
		History: func(h *explore.History) {
			explore.Create(h, machineSets, newMachineSet())
			h.Rest()
			scale(h, 3)
			h.Rest()
			scale(h, 1)
			h.Rest()
		},
	})
}
