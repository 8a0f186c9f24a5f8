package controllers

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// surplus returns n of the pods, those that are deleted first: pods without a node, pending ones and those that are not
// ready come before others. onNode counts the pods of the whole workload by node.
func surplus(pods []*podObject, onNode map[string]int, n int) []*podObject {
	now := time.Now()
	sorted := slices.SortedFunc(slices.Values(pods), func(a, b *podObject) int { return deletedBefore(a, b, onNode, now) })
	return sorted[:min(n, len(sorted))]
}

// deletedBefore compares two pods: it is negative if a is deleted before b. The first criterion that differs decides.
func deletedBefore(a, b *podObject, onNode map[string]int, now time.Time) int {
	costOf := func(p *podObject) int {
		n, err := strconv.ParseInt(p.Annotations["controller.kubernetes.io/pod-deletion-cost"], 10, 32)
		if err != nil {
			return 0
		}
		return int(n)
	}
	restartsA, sidecarsA := a.restarts()
	restartsB, sidecarsB := b.restarts()
	return cmp.Or(
		-compareBool(a.Spec.NodeName == "", b.Spec.NodeName == ""),
		cmp.Compare(phaseOrder(a.Status.Phase), phaseOrder(b.Status.Phase)),
		compareBool(a.isReady(), b.isReady()),
		cmp.Compare(costOf(a), costOf(b)),
		-cmp.Compare(onNode[a.Spec.NodeName], onNode[b.Spec.NodeName]),
		compareAge(a.readySince(), b.readySince(), a.UID, b.UID, now),
		-cmp.Compare(restartsA, restartsB),
		-cmp.Compare(sidecarsA, sidecarsB),
		compareAge(a.CreationTimestamp.Time, b.CreationTimestamp.Time, a.UID, b.UID, now),
		strings.Compare(a.UID, b.UID),
	)
}

// compareBool is negative if only b is true, and positive if only a is.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// phaseOrder orders the phases of active pods.
func phaseOrder(phase string) int { return slices.Index([]string{pending, "Unknown", running}, phase) }

// compareAge is negative if a is the more recent time. Ages in nanoseconds that have the same power of two count as
// equal, and then the uid decides.
func compareAge(a, b time.Time, uidA, uidB string, now time.Time) int {
	if a.Equal(b) {
		return 0
	}
	magnitude := func(t time.Time) int {
		if age := now.Sub(t); age > 0 {
			return int(math.Log2(float64(age)))
		}
		return -1
	}
	return cmp.Or(cmp.Compare(magnitude(a), magnitude(b)), strings.Compare(uidA, uidB))
}
