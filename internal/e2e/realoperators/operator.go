package main

import (
	"context"
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
	settings    func(metrics, health string) (args, env []string)

	// configure makes the cluster's configuration that the operator reads, and prepare what the play needs.
	configure, prepare func(ctx context.Context, c *cluster) error
	// play is what users do during the storm. It waits for nothing but pace.
	play func(ctx context.Context, c *cluster, dice *rand.Rand, pace func() error) error
	// act is one round of the controllers that are not there. It is repeated until the end.
	act func(ctx context.Context, c *cluster) error
	// state is what the two runs are compared by, and settled says what it still lacks, or "".
	state   []schema.GroupVersionResource
	settled func(objects []unstructured.Unstructured) string
	renamed []renaming

	// fill makes many objects in their final state, and returns how many the controller has to reconcile at its start.
	fill func(ctx context.Context, c *cluster) (reconciles int, err error)
	// touch changes an object number i of them.
	touch      func(ctx context.Context, c *cluster, i int) error
	controller string // its name in the metrics
}

// definition is a file with a CustomResourceDefinition, in a module of the copy. An empty module is the operator's.
type definition struct{ module, file string }

const namespace = "openshift-machine-api"

var (
	namespaces             = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	nodes                  = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
	machines               = schema.GroupVersionResource{Group: "machine.openshift.io", Version: "v1beta1", Resource: "machines"}
	clusterInfrastructures = schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: "infrastructures"}
	clusterNames           = schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: "dnses"}
	machineSets            = schema.GroupVersionResource{Group: "machine.openshift.io", Version: "v1beta1", Resource: "machinesets"}
)

// longAgo is before everything, so that no operator waits for a time to pass.
var longAgo = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).Format(time.RFC3339)
