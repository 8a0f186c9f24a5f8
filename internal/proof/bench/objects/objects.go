// Package objects makes the small objects of caches that are measured without a server: the same for all sides.
package objects

import (
	"math/rand/v2"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Namespaces is the number of namespaces of the pods.
const Namespaces = 50

// PerNode is the number of pods on a node, PerApp the number with one value of the label App.
const (
	PerNode = 100
	PerApp  = 10
	App     = "app"
)

// Pod returns a state of the i-th pod: two versions differ only in the version.
func Pod(i, version int) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: Namespace(i), Name: Name(i),
			UID: types.UID("00000000-0000-4000-8000-" + strconv.Itoa(i)), ResourceVersion: strconv.Itoa(version),
			Labels: map[string]string{App: "app-" + strconv.Itoa(i/PerApp)},
		},
		Spec:   corev1.PodSpec{NodeName: Node(i / PerNode)},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
}

// Namespace returns the namespace of the i-th pod.
func Namespace(i int) string { return "team-" + strconv.Itoa(i%Namespaces) }

// Name returns the name of the i-th pod.
func Name(i int) string { return "app-" + strconv.Itoa(i) }

// Shuffled returns the numbers of n pods in a random order, which is the same for all sides and favours no cache.
func Shuffled(n int) []int { return rand.New(rand.NewPCG(1, 2)).Perm(n) }

// Node returns the name of a node.
func Node(i int) string { return "node-" + strconv.Itoa(i) }

// Pods returns n pods. The version of the first is after+1, and each further one has the next version.
func Pods(n, after int) []*corev1.Pod {
	pods := make([]*corev1.Pod, n)
	for i := range pods {
		pods[i] = Pod(i, after+i+1)
	}
	return pods
}
