package prototables

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// former has the fields that messages of Kubernetes 1.35 and 1.36 had and those of the newest release do not have. A
// program may still have the Go types of those releases, and a table must have every member of a type. The numbers are
// not in use any more.
var former = map[string][]string{
	"k8s.io.api.core.v1.NodeAllocatableResourceClaimStatus": {"3 resources {}quantity"},                                             // 1.36
	"k8s.io.api.core.v1.PodSpec":                            {"42 workloadRef WorkloadReference"},                                   // 1.35
	"k8s.io.api.core.v1.WorkloadReference":                  {"1 name string", "2 podGroup string", "3 podGroupReplicaKey string?"}, // 1.35

	"k8s.io.api.resource.v1.Device":                              {"13 nodeAllocatableResourceMappings {}NodeAllocatableResourceMapping"},
	"k8s.io.api.resource.v1beta1.BasicDevice":                    {"12 nodeAllocatableResourceMappings {}NodeAllocatableResourceMapping"},
	"k8s.io.api.resource.v1beta2.Device":                         {"13 nodeAllocatableResourceMappings {}NodeAllocatableResourceMapping"},
	"k8s.io.api.resource.v1.NodeAllocatableResourceMapping":      {"1 capacityKey string", "2 allocationMultiplier quantity"},
	"k8s.io.api.resource.v1beta1.NodeAllocatableResourceMapping": {"1 capacityKey string", "2 allocationMultiplier quantity"},
	"k8s.io.api.resource.v1beta2.NodeAllocatableResourceMapping": {"1 capacityKey string", "2 allocationMultiplier quantity"},
}

// names returns the names of the messages that the tables have, in order.
func (m *maker) names() []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(m.types)), maps.Keys(former))
	slices.Sort(all)
	return slices.Compact(all)
}

// addFormer returns the lines of a message with those of its former fields, in the order of their numbers.
func addFormer(name string, lines []string) ([]string, error) {
	if len(former[name]) == 0 {
		return lines, nil
	}
	for _, line := range former[name] {
		lines = append(lines, line+"\n")
	}
	number := func(line string) int {
		n, _ := strconv.Atoi(strings.Fields(line)[0]) // every line begins with one
		return n
	}
	slices.SortStableFunc(lines, func(a, b string) int { return cmp.Compare(number(a), number(b)) })
	seen := map[string]bool{}
	for _, line := range lines {
		words := strings.Fields(line)
		for _, word := range words[:2] {
			if word != "-" && seen[word] { // "-" is the name of inline fields
				return nil, fmt.Errorf("%s has %s twice, in a former field too", name, word)
			}
			seen[word] = true
		}
	}
	return lines, nil
}
