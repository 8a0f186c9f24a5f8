package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// machineSetOperator is the controller of machine-api-operator that keeps as many Machines as a MachineSet says.
var machineSetOperator = &operator{
	name:    "machineset",
	module:  machineAPI,
	version: machineAPIVersion,
	command: "./cmd/machineset",
	file:    "cmd/machineset/main.go",
	edits: []string{ // forks that its tests need
		"-dropreplace=k8s.io/apiserver", "-dropreplace=k8s.io/kubelet", "-dropreplace=k8s.io/kubernetes",
		"-dropreplace=github.com/onsi/ginkgo/v2", "-require=k8s.io/kubectl@v0.37.2",
	},
	adaptations: forNewKubernetes,
	definitions: []definition{
		machineAPIOf("02_machine"), machineAPIOf("03_machineset"),
		configOf("0000_10_config-operator_01_infrastructures-Default"), configOf("0000_10_config-operator_01_dnses"),
	},
	settings: func(metricsPort, healthPort string) (args, env []string) {
		return []string{
			"-webhook-enabled=false", "-namespace=" + namespace,
			"-metrics-bind-address=127.0.0.1:" + metricsPort, "-health-addr=127.0.0.1:" + healthPort,
		}, nil
	},
	configure:  configureMachineSets,
	prepare:    prepareNodes,
	play:       playMachineSets,
	act:        actMachines,
	state:      []schema.GroupVersionResource{machineSets, machines},
	lacks:      lacksOfMachineSets,
	renamed:    nodeNames,
	fill:       fillMachineSets,
	touch:      touchMachine,
	controller: "machineset_controller",
}

// nodeNames replaces the names of nodes, because it does not matter which Machine has which node.
var nodeNames = []renaming{{regexp.MustCompile(`^node-\d+$`), "a node"}}

// machineSet returns a set whose Machines are as large as those of a cloud.
func machineSet(name string, replicas int) *unstructured.Unstructured {
	return object(`
apiVersion: machine.openshift.io/v1beta1
kind: MachineSet
metadata: {name: %[1]s, namespace: %[2]s, labels: {machine.openshift.io/cluster-api-cluster: storm}}
spec:
  replicas: %[3]d
  selector: {matchLabels: {machine.openshift.io/cluster-api-machineset: %[1]s}}
  template:
    metadata:
      labels:
        machine.openshift.io/cluster-api-cluster: storm
        machine.openshift.io/cluster-api-machineset: %[1]s
        machine.openshift.io/cluster-api-machine-role: worker
    spec:
      metadata: {labels: {node-role.kubernetes.io/worker: ""}}
      providerSpec:
        value:
          apiVersion: machine.openshift.io/v1beta1
          kind: AWSMachineProviderConfig
          ami: {id: ami-0123456789abcdef0}
          blockDevices:
          - ebs: {encrypted: true, iops: 0, kmsKey: {arn: ""}, volumeSize: 120, volumeType: gp3}
          credentialsSecret: {name: aws-cloud-credentials}
          deviceIndex: 0
          iamInstanceProfile: {id: storm-worker-profile}
          instanceType: m6i.xlarge
          metadataServiceOptions: {}
          placement: {availabilityZone: us-east-1a, region: us-east-1}
          securityGroups:
          - filters:
            - {name: "tag:Name", values: [storm-worker-sg, storm-node-sg, storm-lb-sg]}
          subnet:
            filters:
            - {name: "tag:Name", values: [storm-private-us-east-1a]}
          tags:
          - {name: kubernetes.io/cluster/storm, value: owned}
          userDataSecret: {name: worker-user-data}
`, name, namespace, replicas)
}

// machineOf returns a Machine as the operator makes it, or one without an owner.
func machineOf(set *unstructured.Unstructured, owned bool) *unstructured.Unstructured {
	template, _, _ := unstructured.NestedMap(set.Object, "spec", "template", "spec")
	labels, _, _ := unstructured.NestedMap(set.Object, "spec", "template", "metadata", "labels")
	m := object("apiVersion: machine.openshift.io/v1beta1\nkind: Machine\nmetadata: {generateName: %s-, namespace: %s}", set.GetName(), namespace)
	_ = unstructured.SetNestedMap(m.Object, labels, "metadata", "labels")
	m.Object["spec"] = template
	if owned {
		yes := true
		m.SetOwnerReferences([]metav1.OwnerReference{{
			APIVersion: "machine.openshift.io/v1beta1", Kind: "MachineSet", Name: set.GetName(), UID: set.GetUID(),
			Controller: &yes, BlockOwnerDeletion: &yes,
		}})
	}
	return m
}

func configureMachineSets(ctx context.Context, c *cluster) error {
	if err := createInfrastructure(ctx, c); err != nil {
		return err
	}
	_, err := c.create(ctx, schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: "dnses"},
		object("apiVersion: config.openshift.io/v1\nkind: DNS\nmetadata: {name: cluster}\nspec: {baseDomain: example.com}"))
	return err
}

// spareNodes is more than the Machines of the play.
const spareNodes = 400

func prepareNodes(ctx context.Context, c *cluster) error {
	return each(ctx, spareNodes, func(i int) error { return makeNode(ctx, c, i) })
}

// makeNode makes a node that is ready, as large as a small one of a real cluster.
func makeNode(ctx context.Context, c *cluster, i int) error {
	n := object(`
apiVersion: v1
kind: Node
metadata:
  name: node-%04[1]d
  labels: {kubernetes.io/arch: amd64, kubernetes.io/os: linux, kubernetes.io/hostname: node-%04[1]d, node.kubernetes.io/instance-type: m6i.xlarge}
spec: {providerID: "aws:///us-east-1a/i-%017[1]d"}
status:
  capacity: {cpu: "4", memory: 16Gi, pods: "250"}
  allocatable: {cpu: 3500m, memory: 15Gi, pods: "250"}
  nodeInfo:
    {architecture: amd64, bootID: b, containerRuntimeVersion: "cri-o://1.34", kernelVersion: "6.12", kubeProxyVersion: "", kubeletVersion: v1.34.1,
    machineID: m, operatingSystem: linux, osImage: CoreOS, systemUUID: s}
  conditions:
  - {type: Ready, status: "True", reason: KubeletReady, message: kubelet is ready, lastHeartbeatTime: %[2]q, lastTransitionTime: %[2]q}
  - {type: MemoryPressure, status: "False", reason: KubeletHasSufficientMemory, message: enough, lastHeartbeatTime: %[2]q, lastTransitionTime: %[2]q}
`, i, longAgo)
	var images []any
	for j := range 20 {
		images = append(images, map[string]any{
			"names":     []any{fmt.Sprintf("quay.io/example/image-%02d@sha256:%064d", j, j), fmt.Sprintf("quay.io/example/image-%02d:v1", j)},
			"sizeBytes": int64(123456789),
		})
	}
	_ = unstructured.SetNestedSlice(n.Object, images, "status", "images")
	_, err := c.create(ctx, nodes, n)
	return err
}

// playMachineSets makes 30 sets, scales them, deletes six of them, deletes Machines, and makes Machines that the sets
// adopt.
func playMachineSets(ctx context.Context, c *cluster, dice *rand.Rand, pace func() error) error {
	const sets = 30
	name := func(i int) string { return fmt.Sprintf("set-%02d", i) }
	for i := range sets {
		if _, err := c.create(ctx, machineSets, machineSet(name(i), 1+dice.IntN(4))); err != nil {
			return err
		}
		if err := pace(); err != nil {
			return err
		}
	}
	for step := range 240 {
		i := dice.IntN(sets - 6) // the last six are deleted below
		var err error
		switch action := dice.IntN(4); action {
		case 0, 1:
			// Not to 0: whether a status of 0 replicas is written or left out depends on what the operator saw before.
			err = c.patch(ctx, machineSets, namespace, name(i), map[string]any{"spec": map[string]any{"replicas": 1 + dice.IntN(6)}})
		case 2:
			err = removeMachine(ctx, c, name(i))
		case 3:
			err = addOrphan(ctx, c, name(i))
		}
		if err != nil {
			return err
		}
		if step%40 == 20 {
			if err := c.remove(ctx, machineSets, namespace, name(sets-1-step/40)); err != nil {
				return err
			}
		}
		if err := pace(); err != nil {
			return err
		}
	}
	return nil
}

// removeMachine deletes a Machine of a set, if it has one.
func removeMachine(ctx context.Context, c *cluster, set string) error {
	l, err := c.at(machines, namespace).List(ctx, metav1.ListOptions{
		LabelSelector: "machine.openshift.io/cluster-api-machineset=" + set, Limit: 1,
	})
	if err != nil || len(l.Items) == 0 {
		return err
	}
	return c.remove(ctx, machines, namespace, l.Items[0].GetName())
}

// addOrphan makes a Machine without an owner that the set has to adopt.
func addOrphan(ctx context.Context, c *cluster, set string) error {
	s, err := c.at(machineSets, namespace).Get(ctx, set, metav1.GetOptions{})
	if err != nil {
		return err
	}
	_, err = c.create(ctx, machines, machineOf(s, false))
	return err
}

const machineFinalizer = "machine.machine.openshift.io"

// actMachines plays the machine controller, which gives a Machine a finalizer and a node, and removes the finalizer
// when the Machine is deleted; and the garbage collector, which deletes the Machines of a set that is gone.
func actMachines(ctx context.Context, c *cluster) error {
	objects, err := c.list(ctx, machineSets, machines)
	if err != nil {
		return err
	}
	sets, used := map[string]bool{}, map[string]bool{}
	for _, o := range objects {
		sets[string(o.GetUID())] = o.GetKind() == "MachineSet"
		if node, _, _ := unstructured.NestedString(o.Object, "status", "nodeRef", "name"); node != "" {
			used[node] = true
		}
	}
	next := 0
	for _, o := range objects {
		if o.GetKind() != "Machine" {
			continue
		}
		name := o.GetName()
		_, hasNode, _ := unstructured.NestedMap(o.Object, "status", "nodeRef")
		owner := metav1.GetControllerOf(&o)
		switch {
		case o.GetDeletionTimestamp() != nil:
			err = c.patch(ctx, machines, namespace, name, map[string]any{"metadata": map[string]any{"finalizers": nil}})
		case owner != nil && !sets[string(owner.UID)]:
			err = c.remove(ctx, machines, namespace, name)
		case len(o.GetFinalizers()) == 0:
			err = c.patch(ctx, machines, namespace, name, map[string]any{"metadata": map[string]any{"finalizers": []any{machineFinalizer}}})
		case !hasNode:
			for used[nodeName(next)] {
				next++
			}
			if next >= spareNodes {
				return fmt.Errorf("there are more than %d machines", spareNodes)
			}
			used[nodeName(next)] = true
			err = c.patch(ctx, machines, namespace, name, statusOfMachine(nodeName(next)), "status")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func nodeName(i int) string { return fmt.Sprintf("node-%04d", i) }

func statusOfMachine(node string) map[string]any {
	return map[string]any{"status": map[string]any{
		"phase": "Running", "lastUpdated": longAgo,
		"nodeRef":   map[string]any{"kind": "Node", "name": node},
		"addresses": []any{map[string]any{"type": "InternalIP", "address": "10.0.0.1"}},
	}}
}

// lacksOfMachineSets says which set does not have the Machines that its spec wants, or has another status.
func lacksOfMachineSets(objects []unstructured.Unstructured) string {
	count, sets := map[string]int64{}, map[string]bool{}
	for _, o := range objects {
		if o.GetKind() == "MachineSet" {
			sets[string(o.GetUID())] = true
		}
	}
	for _, o := range objects {
		if o.GetKind() != "Machine" {
			continue
		}
		owner := metav1.GetControllerOf(&o)
		_, hasNode, _ := unstructured.NestedMap(o.Object, "status", "nodeRef")
		switch {
		case o.GetDeletionTimestamp() != nil:
			return o.GetName() + " is being deleted"
		case owner == nil:
			return o.GetName() + " has no owner"
		case !sets[string(owner.UID)]:
			return o.GetName() + " has an owner that is gone"
		case !hasNode:
			return o.GetName() + " has no node"
		}
		count[string(owner.UID)]++
	}
	for _, o := range objects {
		if o.GetKind() != "MachineSet" {
			continue
		}
		want, _, _ := unstructured.NestedInt64(o.Object, "spec", "replicas")
		if got := count[string(o.GetUID())]; got != want {
			return fmt.Sprintf("%s has %d machines and wants %d", o.GetName(), got, want)
		}
		for _, field := range []string{"replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas"} {
			if got, _, _ := unstructured.NestedInt64(o.Object, "status", field); got != want {
				return fmt.Sprintf("%s says %s: %d and wants %d", o.GetName(), field, got, want)
			}
		}
		if observed, _, _ := unstructured.NestedInt64(o.Object, "status", "observedGeneration"); observed != o.GetGeneration() {
			return o.GetName() + " has a generation that is not observed"
		}
	}
	return ""
}

const (
	filledSets     = 30
	machinesOfASet = 100
)

// fillMachineSets makes 30 sets of 100 Machines, each with a node.
func fillMachineSets(ctx context.Context, c *cluster) (int, error) {
	err := each(ctx, filledSets, func(i int) error {
		set, err := c.create(ctx, machineSets, machineSet(fmt.Sprintf("set-%03d", i), machinesOfASet))
		if err != nil {
			return err
		}
		for j := range machinesOfASet {
			number := i*machinesOfASet + j
			if err := makeNode(ctx, c, number); err != nil {
				return err
			}
			m := machineOf(set, true)
			m.SetGenerateName("")
			m.SetName(fmt.Sprintf("machine-%04d", number))
			m.SetFinalizers([]string{machineFinalizer})
			m.Object["status"] = statusOfMachine(nodeName(number))["status"]
			if _, err := c.create(ctx, machines, m); err != nil {
				return err
			}
		}
		return nil
	})
	return filledSets, err
}

func touchMachine(ctx context.Context, c *cluster, i int) error {
	name := fmt.Sprintf("machine-%04d", i%(filledSets*machinesOfASet))
	return c.patch(ctx, machines, namespace, name, touched())
}
