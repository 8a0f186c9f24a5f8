package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// release is the version that the operator reports as its own.
const release = "4.22.0"

// autoscalerOperator is cluster-autoscaler-operator. It runs a Deployment for a ClusterAutoscaler, writes the bounds
// of a MachineAutoscaler to its MachineSet, removes them before the MachineAutoscaler is deleted, and reports in a
// ClusterOperator. It caches MachineSets unstructured and Machines as metadata.
var autoscalerOperator = &operator{
	name:    "cluster-autoscaler",
	module:  "github.com/openshift/cluster-autoscaler-operator",
	version: "v0.0.1-0.20260608074635-5c8643284941",
	command: "./cmd/manager",
	file:    "pkg/operator/operator.go",
	edits: []string{
		// Only tools.go needs this module, whose version does not exist.
		"-droprequire=k8s.io/autoscaler/cluster-autoscaler/apis", "-dropreplace=k8s.io/autoscaler/cluster-autoscaler/apis",
		// The version that the operator requires does not compile with Kubernetes 1.37.
		"-require=" + machineAPI + "@" + machineAPIVersion,
	},
	adaptations: forNewKubernetes,
	definitions: []definition{
		{"github.com/openshift/cluster-autoscaler-operator", "install/01_clusterautoscaler.crd.yaml"},
		{"github.com/openshift/cluster-autoscaler-operator", "install/02_machineautoscaler.crd.yaml"},
		machineAPIOf("02_machine"), machineAPIOf("03_machineset"),
		configOf("0000_10_config-operator_01_infrastructures-Default"), configOf("0000_10_config-operator_01_apiservers-Default"),
		configOf("0000_10_config-operator_01_featuregates"), configOf("0000_00_cluster-version-operator_01_clusteroperators"),
		configOf("0000_00_cluster-version-operator_01_clusterversions-Default"),
	},
	settings: func(metricsPort, _ string) (args, env []string) {
		return nil, []string{"RELEASE_VERSION=" + release, "LEADER_ELECTION=false", "WEBHOOKS_ENABLED=false", "METRICS_PORT=" + metricsPort}
	},
	configure: configureAutoscalers,
	prepare:   func(context.Context, *cluster) error { return nil },
	play:      playAutoscalers,
	act:       actDeployments,
	state: append([]schema.GroupVersionResource{
		machineSets, machineAutoscalers, clusterAutoscalers, clusterOperators,
		{Group: "networking.k8s.io", Version: "v1", Resource: "networkpolicies"},
	}, owned...),
	lacks:      lacksOfAutoscalers,
	renamed:    []renaming{{regexp.MustCompile(`^10\.\d+\.\d+\.\d+$`), "an address"}},
	unsorted:   []string{"relatedObjects"},
	fill:       fillAutoscalers,
	touch:      touchMachineSet,
	controller: "machine_autoscaler_controller",
}

var (
	machineAutoscalers = schema.GroupVersionResource{Group: "autoscaling.openshift.io", Version: "v1beta1", Resource: "machineautoscalers"}
	clusterAutoscalers = schema.GroupVersionResource{Group: "autoscaling.openshift.io", Version: "v1", Resource: "clusterautoscalers"}
	clusterOperators   = schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: "clusteroperators"}
	deployments        = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}

	// owned are the resources of which a ClusterAutoscaler owns one object, called autoscalerName.
	owned = []schema.GroupVersionResource{
		deployments,
		{Version: "v1", Resource: "services"},
		{Group: "monitoring.coreos.com", Version: "v1", Resource: "servicemonitors"},
		{Group: "monitoring.coreos.com", Version: "v1", Resource: "prometheusrules"},
	}
)

const autoscalerName = "cluster-autoscaler-default"

func configureAutoscalers(ctx context.Context, c *cluster) error {
	// None of the operator's modules has these definitions. The operator needs no more of them than this.
	for _, kind := range []string{"ServiceMonitor", "PrometheusRule"} {
		if err := c.define(ctx, fmt.Appendf(nil, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[2]ss.monitoring.coreos.com}
spec:
  group: monitoring.coreos.com
  scope: Namespaced
  names: {kind: %[1]s, listKind: %[1]sList, plural: %[2]ss, singular: %[2]s}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`, kind, map[string]string{"ServiceMonitor": "servicemonitor", "PrometheusRule": "prometheusrule"}[kind])); err != nil {
			return err
		}
	}
	if err := createInfrastructure(ctx, c); err != nil {
		return err
	}
	config := func(resource string) schema.GroupVersionResource {
		return schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: resource}
	}
	for _, made := range []struct {
		at schema.GroupVersionResource
		of *unstructured.Unstructured
	}{
		{config("apiservers"), object("apiVersion: config.openshift.io/v1\nkind: APIServer\nmetadata: {name: cluster}\nspec: {}")},
		{config("featuregates"), object(`
apiVersion: config.openshift.io/v1
kind: FeatureGate
metadata: {name: cluster}
spec: {}
status: {featureGates: [{version: %s, enabled: [], disabled: []}]}
`, release)},
		{clusterOperators, object(`
apiVersion: config.openshift.io/v1
kind: ClusterOperator
metadata: {name: machine-api}
spec: {}
status:
  conditions:
  - {type: Available, status: "True", lastTransitionTime: %[1]q}
  - {type: Degraded, status: "False", lastTransitionTime: %[1]q}
`, longAgo)},
		{clusterAutoscalers, object(`
apiVersion: autoscaling.openshift.io/v1
kind: ClusterAutoscaler
metadata: {name: default}
spec: {resourceLimits: {maxNodesTotal: 10}}
`)},
	} {
		if _, err := c.create(ctx, made.at, made.of); err != nil {
			return err
		}
	}
	return nil
}

func target(set string) map[string]any {
	return map[string]any{"apiVersion": "machine.openshift.io/v1beta1", "kind": "MachineSet", "name": set}
}

// machineAutoscaler returns a MachineAutoscaler that scales a set.
func machineAutoscaler(name, set string) *unstructured.Unstructured {
	a := object(`
apiVersion: autoscaling.openshift.io/v1beta1
kind: MachineAutoscaler
metadata: {name: %s, namespace: %s}
spec: {minReplicas: 1, maxReplicas: 2}
`, name, namespace)
	_ = unstructured.SetNestedMap(a.Object, target(set), "spec", "scaleTargetRef")
	return a
}

// playAutoscalers makes 30 MachineAutoscalers with a MachineSet each. It changes their bounds, and the bounds on the
// sets, gives them other sets, deletes and makes them, changes the ClusterAutoscaler and deletes what it owns. It
// never deletes the MachineAutoscaler of a set that stays: the operator looks into its cache for the annotations to
// remove, so an old cache would leave them there.
func playAutoscalers(ctx context.Context, c *cluster, dice *rand.Rand, pace func() error) error {
	var live []string            // the MachineAutoscalers
	setOf := map[string]string{} // of a MachineAutoscaler
	made := 0
	add := func(resource schema.GroupVersionResource, o *unstructured.Unstructured) error {
		_, err := c.create(ctx, resource, o)
		return err
	}
	newSet := func() (string, error) {
		made++
		name := fmt.Sprintf("set-%03d", made)
		return name, add(machineSets, machineSet(name, 1))
	}
	newAutoscaler := func() error {
		set, err := newSet()
		if err != nil {
			return err
		}
		name := "for-" + set
		live, setOf[name] = append(live, name), set
		return add(machineAutoscalers, machineAutoscaler(name, set))
	}
	change := func(resource schema.GroupVersionResource, name, part string, fields map[string]any) error {
		return c.patch(ctx, resource, namespace, name, map[string]any{part: fields})
	}
	for range 30 {
		if err := newAutoscaler(); err != nil {
			return err
		}
		if err := pace(); err != nil {
			return err
		}
	}
	for range 240 {
		i := dice.IntN(len(live))
		name := live[i]
		old := setOf[name]
		var err error
		switch dice.IntN(8) {
		case 0, 1, 2:
			err = change(machineAutoscalers, name, "spec", map[string]any{"minReplicas": dice.IntN(5), "maxReplicas": 5 + dice.IntN(5)})
		case 3:
			err = change(machineSets, old, "metadata", map[string]any{"annotations": map[string]any{maxAnnotation: fmt.Sprint(50 + dice.IntN(50))}})
		case 4:
			if setOf[name], err = newSet(); err == nil {
				err = change(machineAutoscalers, name, "spec", map[string]any{"scaleTargetRef": target(setOf[name])})
			}
			if err == nil {
				err = c.remove(ctx, machineSets, namespace, old)
			}
		case 5:
			live = slices.Delete(live, i, i+1)
			if err = c.remove(ctx, machineAutoscalers, namespace, name); err == nil {
				err = c.remove(ctx, machineSets, namespace, old)
			}
			if err == nil {
				err = newAutoscaler()
			}
		case 6:
			err = c.remove(ctx, owned[dice.IntN(len(owned))], namespace, autoscalerName)
		case 7:
			err = c.patch(ctx, clusterAutoscalers, "", "default",
				map[string]any{"spec": map[string]any{"resourceLimits": map[string]any{"maxNodesTotal": 10 + dice.IntN(90)}}})
		}
		if err != nil {
			return err
		}
		if err := pace(); err != nil {
			return err
		}
	}
	return nil
}

// actDeployments plays the controller of Deployments, and says that their pods run.
func actDeployments(ctx context.Context, c *cluster) error {
	objects, err := c.list(ctx, deployments)
	if err != nil {
		return err
	}
	for _, o := range objects {
		if observed, _, _ := unstructured.NestedInt64(o.Object, "status", "observedGeneration"); observed == o.GetGeneration() {
			continue
		}
		if err := c.patch(ctx, deployments, namespace, o.GetName(), map[string]any{"status": map[string]any{
			"observedGeneration": o.GetGeneration(), "replicas": 1, "updatedReplicas": 1, "readyReplicas": 1, "availableReplicas": 1,
		}}, "status"); err != nil {
			return err
		}
	}
	return nil
}

const (
	minAnnotation   = "machine.openshift.io/cluster-api-autoscaler-node-group-min-size"
	maxAnnotation   = "machine.openshift.io/cluster-api-autoscaler-node-group-max-size"
	ownerAnnotation = "autoscaling.openshift.io/machineautoscaler"
)

// lacksOfAutoscalers says which MachineAutoscaler is not in force, which object of the ClusterAutoscaler is missing or
// old, or what the operator does not report.
func lacksOfAutoscalers(objects []unstructured.Unstructured) string {
	count, annotations := map[string]int{}, map[string]map[string]string{}
	var deployment, report *unstructured.Unstructured
	var nodes int64
	for i, o := range objects {
		count[o.GetKind()]++
		switch o.GetKind() {
		case "MachineSet":
			annotations[o.GetName()] = o.GetAnnotations()
		case "ClusterAutoscaler":
			nodes, _, _ = unstructured.NestedInt64(o.Object, "spec", "resourceLimits", "maxNodesTotal")
		case "Deployment":
			deployment = &objects[i]
		case "ClusterOperator":
			if o.GetName() == "cluster-autoscaler" {
				report = &objects[i]
			}
		}
	}
	targets := map[string]bool{}
	for _, o := range objects {
		if o.GetKind() != "MachineAutoscaler" {
			continue
		}
		set, _, _ := unstructured.NestedString(o.Object, "spec", "scaleTargetRef", "name")
		last, _, _ := unstructured.NestedString(o.Object, "status", "lastTargetRef", "name")
		least, _, _ := unstructured.NestedInt64(o.Object, "spec", "minReplicas")
		most, _, _ := unstructured.NestedInt64(o.Object, "spec", "maxReplicas")
		want := map[string]string{
			minAnnotation: fmt.Sprint(least), maxAnnotation: fmt.Sprint(most), ownerAnnotation: namespace + "/" + o.GetName(),
		}
		switch {
		case o.GetDeletionTimestamp() != nil:
			return o.GetName() + " is being deleted"
		case last != set:
			return o.GetName() + " does not say its set"
		case len(o.GetFinalizers()) == 0:
			return o.GetName() + " has no finalizer"
		case !maps.Equal(annotations[set], want):
			return fmt.Sprintf("%s has the annotations %v and wants %v", set, annotations[set], want)
		}
		targets[set] = true
	}
	for _, kind := range []string{"Service", "ServiceMonitor", "PrometheusRule", "NetworkPolicy"} {
		if count[kind] == 0 {
			return "there is no " + kind
		}
	}
	if deployment == nil || report == nil {
		return "there is no Deployment or no report"
	}
	if text, want := fmt.Sprint(deployment.Object["spec"]), fmt.Sprintf("--max-nodes-total=%d ", nodes); !regexp.MustCompile(want).MatchString(text) {
		return "the Deployment has not the argument " + want
	}
	return lacksOfReport(report, targets)
}

// lacksOfReport says what is missing in the report of a ClusterOperator: that all is well, or the sets in use.
func lacksOfReport(o *unstructured.Unstructured, sets map[string]bool) string {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	want := map[any]any{"Available": "True", "Progressing": "False", "Degraded": "False", "Upgradeable": "True"}
	for _, each := range conditions {
		condition, _ := each.(map[string]any)
		if message := condition["message"]; condition["type"] == "Available" && message != "at version "+release {
			return fmt.Sprintf("the operator reports %q", message)
		}
		if want[condition["type"]] == condition["status"] {
			delete(want, condition["type"])
		}
	}
	if len(want) > 0 {
		return fmt.Sprintf("the operator does not report %v", want)
	}
	related, _, _ := unstructured.NestedSlice(o.Object, "status", "relatedObjects")
	reported := map[string]bool{}
	for _, each := range related {
		if object, _ := each.(map[string]any); object["resource"] == "machinesets" {
			reported[fmt.Sprint(object["name"])] = true
		}
	}
	if !maps.Equal(reported, sets) {
		return fmt.Sprintf("the operator reports %d sets, or others than the %d", len(reported), len(sets))
	}
	return ""
}

const manySets = 2000

// fillAutoscalers makes 2,000 sets with two Machines each, and one set with a single Machine and a MachineAutoscaler.
// There is only one, because the report of the operator names the sets and Machines in the order in which its cache
// lists them. If there were more and the order were random, the operator would never stop reporting.
func fillAutoscalers(ctx context.Context, c *cluster) (int, error) {
	err := each(ctx, manySets+1, func(i int) error {
		set, err := c.create(ctx, machineSets, machineSet(fmt.Sprintf("set-%04d", i), 2))
		if err != nil {
			return err
		}
		if i < manySets {
			_, err = c.create(ctx, machines, machineOf(set, true))
		} else {
			_, err = c.create(ctx, machineAutoscalers, machineAutoscaler("scaler", set.GetName()))
		}
		if err == nil {
			_, err = c.create(ctx, machines, machineOf(set, true))
		}
		return err
	})
	return 1, err
}

func touchMachineSet(ctx context.Context, c *cluster, i int) error {
	return c.patch(ctx, machineSets, namespace, fmt.Sprintf("set-%04d", i%manySets), touched())
}
