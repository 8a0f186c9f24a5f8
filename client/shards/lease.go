package shards

import (
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// leases is the descriptor with which a group reads the leases, into a struct of the fields that it needs. Package
// leader writes the leases.
var leases = client.Type[*lease]{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease", Resource: "leases"}

// lease is the part of a Lease that a group uses. Its times are compared for equality only.
type lease struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		HolderIdentity       string `json:"holderIdentity,omitempty"`
		LeaseDurationSeconds int64  `json:"leaseDurationSeconds,omitempty"`
		AcquireTime          string `json:"acquireTime,omitempty"`
		RenewTime            string `json:"renewTime,omitempty"`
		LeaseTransitions     int64  `json:"leaseTransitions,omitempty"`
	} `json:"spec"`
}

// leaseState is what one version of a lease says.
type leaseState struct {
	name, uid, version string
	record             record
	lasts              time.Duration // 0 if the lease does not say how long it lasts
	share              share
	broken             error // why share cannot be read: somebody has edited the lease
}

// record has the fields that a replica changes with every write of its lease.
type record struct {
	holder, acquired, renewed string
	transitions               int64
}

// stateOf returns what l says.
func stateOf(l *lease) leaseState {
	s := leaseState{
		name: l.Name, uid: l.UID, version: l.ResourceVersion,
		record: record{l.Spec.HolderIdentity, l.Spec.AcquireTime, l.Spec.RenewTime, l.Spec.LeaseTransitions},
		lasts:  time.Duration(max(l.Spec.LeaseDurationSeconds, 0)) * time.Second,
	}
	s.share, s.broken = parseShare(l.Annotations[shareAnnotation], l.Name)
	return s
}

// leaseList is the answer to a list of the group's leases.
type leaseList struct {
	version string
	leases  []leaseState
}

func listOf(list meta.List[*lease]) leaseList {
	l := leaseList{version: list.ResourceVersion, leases: make([]leaseState, len(list.Items))}
	for i, item := range list.Items {
		l.leases[i] = stateOf(item)
	}
	return l
}
