package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// operator is an operator of controller-runtime, and a play for it.
type operator struct {
	name    string
	module  string
	version string
	command string // the package of its main function
	file    string // the file with its manager.Options

	edits       []string // of go.mod, as flags of go mod edit
	adaptations []adaptation

	definitions []definition // its custom resources
	settings    func(metricsPort, healthPort string) (args, env []string)

	// configure makes the objects that the operator needs to start, and prepare those that the play needs.
	configure, prepare func(ctx context.Context, c *cluster) error
	// play acts for the users during the storm. It waits only for pace.
	play func(ctx context.Context, c *cluster, dice *rand.Rand, pace func() error) error
	// act is one round of the controllers that the cluster lacks. It is repeated until the end.
	act func(ctx context.Context, c *cluster) error
	// state are the resources whose objects are compared between the two runs. lacks says what the objects lack, or "".
	state    []schema.GroupVersionResource
	lacks    func(objects []unstructured.Unstructured) string
	renamed  []renaming
	unsorted []string // the lists of objects that have no order

	// fill makes many objects in their final state, and returns how many the controller has to reconcile at its start.
	fill func(ctx context.Context, c *cluster) (reconciles int, err error)
	// touch changes object number i of them.
	touch      func(ctx context.Context, c *cluster, i int) error
	controller string // its name in the metrics
}

// definition is a file of a module with a CustomResourceDefinition.
type definition struct{ module, file string }

// adaptation changes a copy of a module that does not compile with the Kubernetes modules of informer/ctrlcache. Both
// builds use the copy.
type adaptation struct {
	module string
	file   string
	drop   []string // the lines with one of these words go; empty means that the whole file goes
}

const (
	machineAPI        = "github.com/openshift/machine-api-operator"
	machineAPIVersion = "v0.2.1-0.20260226113419-88465550a74b"
	openshiftAPI      = "github.com/openshift/api"
)

// openshift/api registers versions that Kubernetes 1.37 has removed, and a fake of library-go's tests lacks a new
// method.
var forNewKubernetes = []adaptation{
	{openshiftAPI, "install.go", []string{"kautoscalingv2beta1", "kautoscalingv2beta2", "kschedulingv1alpha1"}},
	{"github.com/openshift/library-go", "pkg/operator/v1helpers/test_helpers.go", nil},
}

// configOf is the definition of a resource of config.openshift.io.
func configOf(file string) definition {
	return definition{openshiftAPI, "config/v1/zz_generated.crd-manifests/" + file + ".crd.yaml"}
}

func machineAPIOf(file string) definition {
	return definition{machineAPI, "install/0000_30_machine-api-operator_" + file + ".Default.crd.yaml"}
}

const namespace = "openshift-machine-api"

var (
	namespaces      = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	nodes           = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
	machines        = schema.GroupVersionResource{Group: "machine.openshift.io", Version: "v1beta1", Resource: "machines"}
	machineSets     = schema.GroupVersionResource{Group: "machine.openshift.io", Version: "v1beta1", Resource: "machinesets"}
	infrastructures = schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: "infrastructures"}
)

// createInfrastructure creates the object that says that the cluster runs on no cloud.
func createInfrastructure(ctx context.Context, c *cluster) error {
	_, err := c.create(ctx, infrastructures, object(`
apiVersion: config.openshift.io/v1
kind: Infrastructure
metadata: {name: cluster}
spec: {platformSpec: {type: None}}
status:
  apiServerInternalURI: ""
  apiServerURL: ""
  controlPlaneTopology: HighlyAvailable
  etcdDiscoveryDomain: ""
  infrastructureName: storm
  infrastructureTopology: HighlyAvailable
  platform: None
  platformStatus: {type: None}
`))
	return err
}

// longAgo is before everything, so that no operator waits for a time to pass.
var longAgo = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).Format(time.RFC3339)

// touched returns a change that no operator cares about, and a different one each time.
func touched() map[string]any {
	return map[string]any{"metadata": map[string]any{"annotations": map[string]any{"example.com/touched": fmt.Sprint(time.Now().UnixNano())}}}
}
