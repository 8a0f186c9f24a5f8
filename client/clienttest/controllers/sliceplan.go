package controllers

import (
	"cmp"
	"maps"
	"reflect"
	"slices"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// slicePlan has the changes to the slices of one family of a service.
type slicePlan struct {
	s       *service
	family  string
	create  []*endpointSlice
	changed []sliceChange
	surplus []*endpointSlice
}

type sliceChange struct{ old, new *endpointSlice }

// isOf reports whether the service owns the slice. A service of the same name that was deleted does not.
func (s *endpointSlice) isOf(owner *service) bool {
	return slices.ContainsFunc(s.OwnerReferences, func(o meta.OwnerReference) bool { return o.UID == owner.UID && o.Kind == "Service" })
}

// sliceLabels returns the labels of the slices of the service.
func (s *service) sliceLabels() map[string]string {
	labels := maps.Clone(s.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	delete(labels, headlessLabel)
	if s.isHeadless() {
		labels[headlessLabel] = ""
	}
	labels[serviceLabel], labels[managedLabel] = s.Name, sliceController
	return labels
}

// newSlice returns a slice without endpoints.
func (p *slicePlan) newSlice(ports []endpointPort) (*endpointSlice, error) {
	slice := &endpointSlice{AddressType: p.family, Endpoints: []endpoint{}, Ports: ports}
	slice.Namespace, slice.GenerateName, slice.Labels = p.s.Namespace, prefix(p.s.Name), p.s.sliceLabels()
	return slice, client.SetController(slice, client.OwnerOf(serviceType(), p.s))
}

// fill distributes the endpoints of a group over the slices that have its ports. Endpoints stay in their slices. New
// ones go into slices that change anyway, and then into one that has room for all that are left, before others are
// made.
func (p *slicePlan) fill(group *portGroup, existing []*endpointSlice) error {
	left := map[string]endpoint{}
	for _, e := range group.endpoints {
		left[endpointID(e)] = e
	}
	var changed, unchanged []sliceChange
	for _, old := range existing {
		slice := meta.Clone(old)
		slice.Labels, slice.Endpoints = p.s.sliceLabels(), old.Endpoints[:0:0] // a nil list stays nil
		for _, e := range old.Endpoints {
			if now, has := left[endpointID(e)]; has {
				slice.Endpoints = append(slice.Endpoints, now)
				delete(left, endpointID(e))
			}
		}
		switch c := (sliceChange{old, slice}); {
		case len(slice.Endpoints) == 0 && len(old.Endpoints) > 0:
			p.surplus = append(p.surplus, old)
		case reflect.DeepEqual(slice.Endpoints, old.Endpoints) && maps.Equal(slice.Labels, old.Labels):
			unchanged = append(unchanged, c)
		default:
			changed = append(changed, c)
		}
	}
	var added []endpoint // in the order of the pods
	for _, e := range group.endpoints {
		if _, is := left[endpointID(e)]; is {
			added = append(added, e)
		}
	}
	slices.SortStableFunc(changed, func(a, b sliceChange) int { return -cmp.Compare(len(a.new.Endpoints), len(b.new.Endpoints)) })
	for _, c := range changed {
		added = c.new.take(added)
	}
	if c := roomFor(len(added), unchanged); c != nil {
		added = c.new.take(added)
		changed = append(changed, *c)
	}
	p.changed = append(p.changed, changed...)
	for len(added) > 0 {
		slice, err := p.newSlice(group.ports)
		if err != nil {
			return err
		}
		added = slice.take(added)
		p.create = append(p.create, slice)
	}
	return nil
}

// take puts as many endpoints into the slice as it has room for, and returns the others.
func (s *endpointSlice) take(endpoints []endpoint) []endpoint {
	n := min(len(endpoints), most-len(s.Endpoints))
	s.Endpoints = append(s.Endpoints, endpoints[:n]...)
	return endpoints[n:]
}

// roomFor returns the fullest of the slices that have room for n endpoints, and nil if none has.
func roomFor(n int, among []sliceChange) (best *sliceChange) {
	for i := range among {
		c := &among[i]
		if size := len(c.new.Endpoints); n > 0 && size+n <= most && (best == nil || size > len(best.new.Endpoints)) {
			best = c
		}
	}
	return best
}

// finish completes the plan: a service without endpoints has one slice without ports, and a slice that is to be created
// takes the place of one that is to be deleted. existing is the number of slices that the family has now.
func (p *slicePlan) finish(existing int) error {
	if existing == len(p.surplus) && len(p.create) == 0 {
		empty, err := p.newSlice([]endpointPort{})
		if err != nil {
			return err
		}
		if len(p.surplus) == 1 && p.surplus[0].isLike(empty) {
			p.surplus = nil
		} else {
			p.create = append(p.create, empty)
		}
	}
	kept := p.surplus[:0:0]
	for _, old := range p.surplus {
		n := len(p.create)
		if n == 0 || !old.isOf(p.s) {
			kept = append(kept, old)
			continue
		}
		slice := meta.Clone(old)
		slice.Labels, slice.Endpoints, slice.Ports = p.create[n-1].Labels, p.create[n-1].Endpoints, p.create[n-1].Ports
		p.create = p.create[:n-1]
		p.changed = append(p.changed, sliceChange{old, slice})
	}
	p.surplus = kept
	return nil
}

// isLike reports whether two slices have no endpoints, and have the same owners, labels and ports.
func (s *endpointSlice) isLike(other *endpointSlice) bool {
	return maps.Equal(s.Labels, other.Labels) && len(s.Endpoints) == 0 && len(other.Endpoints) == 0 &&
		portsKey(s.Ports) == portsKey(other.Ports) && reflect.DeepEqual(s.OwnerReferences, other.OwnerReferences)
}
