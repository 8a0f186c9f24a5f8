package main

import (
	"slices"
	"strings"
)

// target is a package whose tests are tried.
type target struct {
	dir   string
	files []string // prefixes of the names of its files; nil for all of them
	also  []string // packages above it, whose tests are run if its own notice nothing
	part  int      // its share of the campaign's mutants, relative to the parts of the other packages
}

// targets returns the packages of the campaign: the cache, delivery, queues, recovery, caches in files, leader
// election, records, discovery, writes, connections into containers, credentials, patches, decoding, the division of
// work, and what joins Bowline to other programs. A package may belong to a nested module.
func targets() []target {
	return []target{
		{dir: "internal/store", also: []string{"cache", "informer"}, part: 13},
		{dir: "cache", also: []string{"informer"}, part: 1},
		{dir: "workqueue", also: []string{"informer/controller"}, part: 8},
		{dir: "informer", also: []string{"informer/warm"}, part: 15},
		{dir: "informer/warm", part: 2},
		{dir: "informer/controller", part: 7},
		{dir: "internal/fights", also: []string{"informer/controller"}, part: 1},
		{dir: "internal/fresh", also: []string{"informer/controller"}, part: 1},
		{dir: "informer/clusters", part: 3},
		{dir: "informer/debug", part: 3},
		{dir: "informer/ctrlcache", part: 4},
		{dir: "client/leader", part: 4},
		{dir: "client/recorder", part: 2},
		{dir: "client/shards", part: 3},
		{dir: "client/discovery", part: 2},
		{
			dir: "client",
			files: []string{
				"apply", "attempts", "credentials", "ensure", "error", "finalizer", "ignored", "impersonate", "list", "modify", "owner",
				"projection", "redact", "request", "resource", "retry", "serviceaccounttoken", "wait", "write",
			},
			part: 12,
		},
		{dir: "client/remote", part: 4},
		{dir: "internal/wsmux", also: []string{"client/remote"}, part: 2},
		{dir: "internal/conn", also: []string{"client"}, part: 7},
		{dir: "patch", also: []string{"client"}, part: 6},
		{dir: "internal/overlay", also: []string{"client"}, part: 3},
		{dir: "internal/patch/govalue", also: []string{"patch", "internal/overlay"}, part: 1},
		{dir: "internal/patch/tree", also: []string{"patch", "internal/patch/carry", "client"}, part: 2},
		{dir: "internal/patch/carry", also: []string{"patch", "client"}, part: 1},
		{dir: "internal/patch/strategic", also: []string{"patch"}, part: 3},
		{dir: "internal/codec", also: []string{"client"}, part: 6},
		{dir: "internal/jsonlex", part: 2},
		{dir: "internal/jsonstream", also: []string{"client"}, part: 4},
		{dir: "internal/protostream", also: []string{"client/protobuf"}, part: 3},
		{dir: "internal/protobuf", also: []string{"client/protobuf"}, part: 3},
		{dir: "client/protobuf", part: 1},
	}
}

// has reports whether a file of the package belongs to the campaign.
func (t target) has(name string) bool {
	return t.files == nil || slices.ContainsFunc(t.files, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}
