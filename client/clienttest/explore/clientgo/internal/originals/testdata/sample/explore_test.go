package main

import (
	"context"
	"flag"
	"testing"
	"time"

	"github.com/go-logr/logr"
	kubeinformers "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	clientset "k8s.io/sample-controller/pkg/generated/clientset/versioned"
	informers "k8s.io/sample-controller/pkg/generated/informers/externalversions"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/explore"
	"github.com/bowline-go/bowline/client/clienttest/explore/clientgo"
	"github.com/bowline-go/bowline/client/meta"
)

var resync = flag.Duration("resync", 0, "the resync period of the informers; main has 30s")

// run is what main does with a configuration.
func run(ctx context.Context, cfg *rest.Config) error {
	kube, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	example, err := clientset.NewForConfig(cfg)
	if err != nil {
		return err
	}
	kubeFactory := kubeinformers.NewSharedInformerFactory(kube, *resync)
	exampleFactory := informers.NewSharedInformerFactory(example, *resync)
	controller := NewController(ctx, kube, example, kubeFactory.Apps().V1().Deployments(), exampleFactory.Samplecontroller().V1alpha1().Foos())
	kubeFactory.Start(ctx.Done())
	exampleFactory.Start(ctx.Done())
	err = controller.Run(ctx, 2)
	if ctx.Err() != nil { // main ends the process, whatever Run returns
		return nil
	}
	return err
}

type foo struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		DeploymentName string `json:"deploymentName,omitempty"`
		Replicas       int    `json:"replicas,omitempty"`
	} `json:"spec"`
	Status map[string]any `json:"status,omitempty"`
}

var (
	foos        = client.Type[*foo]{Group: "samplecontroller.k8s.io", Version: "v1alpha1", Kind: "Foo", Resource: "foos"}
	deployments = client.Type[*meta.Unstructured]{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments"}
)

func newFoo(name string) *foo {
	made := &foo{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: name}}
	made.Spec.DeploymentName, made.Spec.Replicas = name+"-app", 1
	return made
}

func exploreFoos(t *testing.T, history func(h *explore.History)) {
	klog.SetLogger(logr.Discard())
	explore.Run(t, explore.Plan{
		Server:  clienttest.Options{CRDs: []string{"artifacts/examples/crd-status-subresource.yaml"}},
		Program: clientgo.Program(run), History: history, Budget: time.Minute,
	})
}

// A Foo is made and scaled, and its Deployment is deleted.
func TestScaling(t *testing.T) {
	exploreFoos(t, func(h *explore.History) {
		a := newFoo("a")
		explore.Create(h, foos, a)
		h.Rest()
		explore.Modify(h, foos, a.Key(), func(f *foo) error { f.Spec.Replicas = 2; return nil })
		h.Rest()
		explore.Delete(h, deployments, meta.Key{Namespace: "default", Name: "a-app"})
		h.Rest()
	})
}

// A Foo is deleted and made again under its name.
func TestAFooIsDeletedAndMadeAgain(t *testing.T) {
	exploreFoos(t, func(h *explore.History) {
		a := newFoo("a")
		explore.Create(h, foos, a)
		h.Rest()
		explore.Delete(h, foos, a.Key())
		explore.Create(h, foos, newFoo("a"))
		h.Rest()
	})
}

// The name of the Deployment changes.
func TestAnotherDeployment(t *testing.T) {
	exploreFoos(t, func(h *explore.History) {
		a := newFoo("a")
		explore.Create(h, foos, a)
		h.Rest()
		explore.Modify(h, foos, a.Key(), func(f *foo) error { f.Spec.DeploymentName = "b-app"; return nil })
		h.Rest()
	})
}
