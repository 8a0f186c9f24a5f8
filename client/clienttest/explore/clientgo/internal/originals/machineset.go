package main

const (
	machineAPI   = "github.com/openshift/machine-api-operator"
	openshiftAPI = "github.com/openshift/api"
)

// machineSet is the controller of machine-api-operator that keeps the number of Machines that a MachineSet specifies.
func machineSet() operator {
	return operator{
		name: "machineset", module: machineAPI + "@v0.2.1-0.20260226113419-88465550a74b",
		edits: []string{ // remove the forks that only the operator's own tests need
			"-dropreplace=k8s.io/apiserver", "-dropreplace=k8s.io/kubelet", "-dropreplace=k8s.io/kubernetes",
			"-dropreplace=github.com/onsi/ginkgo/v2", "-require=k8s.io/kubectl@v0.37.2",
		},
		drop: []dropped{ // Kubernetes 1.37 lacks these API versions, and a fake of library-go lacks a new method
			{openshiftAPI, "install.go", []string{"kautoscalingv2beta1", "kautoscalingv2beta2", "kschedulingv1alpha1"}},
			{"github.com/openshift/library-go", "pkg/operator/v1helpers/test_helpers.go", nil},
		},
		test: "machineset", pkg: "pkg/controller/machineset", cleared: true,
	}
}
