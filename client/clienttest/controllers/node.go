package controllers

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer/controller"
)

// nodeObject has the fields of a Node that a kubelet sets, and those that a scheduler reads.
type nodeObject struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Unschedulable bool `json:"unschedulable,omitempty"`
	} `json:"spec,omitzero"`
	Status nodeStatus `json:"status,omitzero"`
}

type nodeStatus struct {
	Capacity    map[string]string `json:"capacity,omitempty"`
	Allocatable map[string]string `json:"allocatable,omitempty"`
	Conditions  []nodeCondition   `json:"conditions,omitempty"`
	Addresses   []nodeAddress     `json:"addresses,omitempty"`
	NodeInfo    nodeInfo          `json:"nodeInfo,omitzero"`
}

type nodeCondition struct {
	Type               string    `json:"type"`
	Status             string    `json:"status"`
	LastHeartbeatTime  meta.Time `json:"lastHeartbeatTime,omitzero"`
	LastTransitionTime meta.Time `json:"lastTransitionTime,omitzero"`
	Reason             string    `json:"reason,omitempty"`
	Message            string    `json:"message,omitempty"`
}

type nodeAddress struct {
	Type    string `json:"type"`
	Address string `json:"address"`
}

type nodeInfo struct {
	MachineID               string `json:"machineID"`
	SystemUUID              string `json:"systemUUID"`
	BootID                  string `json:"bootID"`
	KernelVersion           string `json:"kernelVersion"`
	OSImage                 string `json:"osImage"`
	ContainerRuntimeVersion string `json:"containerRuntimeVersion"`
	KubeletVersion          string `json:"kubeletVersion"`
	KubeProxyVersion        string `json:"kubeProxyVersion"`
	OperatingSystem         string `json:"operatingSystem"`
	Architecture            string `json:"architecture"`
}

func nodeType() client.Type[*nodeObject] {
	return client.Type[*nodeObject]{Version: "v1", Kind: "Node", Resource: "nodes", Scope: meta.Cluster}
}

// register creates a node, and makes it ready.
func (r *kubeletRun) register(ctx context.Context, key meta.Key) (controller.Result, error) {
	n := &nodeObject{ObjectMeta: key.ObjectMeta()}
	n.Labels = map[string]string{"kubernetes.io/hostname": key.Name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
	if _, err := r.nodes.Create(ctx, n); err != nil && !errors.Is(err, apierrors.AlreadyExists) {
		return controller.Result{}, err
	}
	_, err := r.nodes.Status().Modify(ctx, key, func(n *nodeObject) error {
		now := meta.Time{Time: time.Now()}
		resources := map[string]string{"cpu": "64", "memory": "256Gi", "pods": "110", "ephemeral-storage": "1Ti"}
		n.Status = nodeStatus{
			Capacity: resources, Allocatable: resources,
			Addresses: []nodeAddress{{"InternalIP", hostIP(key.Name)}, {"Hostname", key.Name}},
			NodeInfo:  nodeInfo{OperatingSystem: "linux", Architecture: "amd64", KubeletVersion: "v1.37.0", ContainerRuntimeVersion: "none://1"},
		}
		for _, c := range []nodeCondition{
			{Type: "MemoryPressure", Status: "False", Reason: "KubeletHasSufficientMemory"},
			{Type: "DiskPressure", Status: "False", Reason: "KubeletHasNoDiskPressure"},
			{Type: "PIDPressure", Status: "False", Reason: "KubeletHasSufficientPID"},
			{Type: "Ready", Status: "True", Reason: "KubeletReady"},
		} {
			c.LastHeartbeatTime, c.LastTransitionTime = now, now
			n.Status.Conditions = append(n.Status.Conditions, c)
		}
		return nil
	})
	return controller.Result{}, err
}

// network returns two numbers for the addresses of a node. They are the same in each Run.
func network(node string) (a, b byte) {
	h := fnv.New32a()
	_, _ = h.Write([]byte(node))
	n := h.Sum32()
	return byte(n >> 8), byte(n)
}

func hostIP(node string) string {
	a, b := network(node)
	return fmt.Sprintf("172.16.%d.%d", a, b)
}

// podIP returns the nth address of the pods of a node.
func podIP(node string, n int) string {
	_, b := network(node)
	return fmt.Sprintf("10.%d.%d.%d", b, n>>8&255, n&255)
}
