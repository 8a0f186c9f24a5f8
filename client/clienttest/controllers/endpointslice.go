package controllers

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
)

// EndpointSlices returns the controller that keeps the EndpointSlices of Services with a selector. A slice has at most
// 100 endpoints, with the addresses of pods and the conditions ready, serving and terminating. The endpoints of a slice
// have the same ports and the same family of addresses. The controller gives no hints for topology.
func EndpointSlices() Controller { return endpointSliceController{} }

type endpointSliceController struct{}

func (endpointSliceController) name() string { return "endpoint slice controller" }

// service has the fields of a Service that its endpoints depend on.
type service struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Type                     string            `json:"type,omitempty"`
		Selector                 map[string]string `json:"selector,omitempty"`
		ClusterIP                string            `json:"clusterIP,omitempty"`
		IPFamilies               []string          `json:"ipFamilies,omitempty"`
		Ports                    []servicePort     `json:"ports,omitempty"`
		PublishNotReadyAddresses bool              `json:"publishNotReadyAddresses,omitempty"`
	} `json:"spec"`
}

type servicePort struct {
	Name        string  `json:"name,omitempty"`
	Protocol    string  `json:"protocol,omitempty"`
	AppProtocol *string `json:"appProtocol,omitempty"`
	TargetPort  amount  `json:"targetPort,omitempty"`
}

func serviceType() client.Type[*service] {
	return client.Type[*service]{Version: "v1", Kind: "Service", Resource: "services"}
}

// endpointSlice is an EndpointSlice.
type endpointSlice struct {
	meta.ObjectMeta `json:"metadata"`
	AddressType     string         `json:"addressType"`
	Endpoints       []endpoint     `json:"endpoints"`
	Ports           []endpointPort `json:"ports"`
}

type endpoint struct {
	Addresses  []string           `json:"addresses"`
	Conditions endpointConditions `json:"conditions"`
	Hostname   *string            `json:"hostname,omitempty"`
	TargetRef  *targetRef         `json:"targetRef,omitempty"`
	NodeName   *string            `json:"nodeName,omitempty"`
	Zone       *string            `json:"zone,omitempty"`
}

type endpointConditions struct {
	Ready       *bool `json:"ready,omitempty"`
	Serving     *bool `json:"serving,omitempty"`
	Terminating *bool `json:"terminating,omitempty"`
}

type targetRef struct {
	Kind      string `json:"kind,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	UID       string `json:"uid,omitempty"`
}

type endpointPort struct {
	Name        *string `json:"name,omitempty"`
	Protocol    *string `json:"protocol,omitempty"`
	Port        *int    `json:"port,omitempty"`
	AppProtocol *string `json:"appProtocol,omitempty"`
}

func endpointSliceType() client.Type[*endpointSlice] {
	return client.Type[*endpointSlice]{Group: "discovery.k8s.io", Version: "v1", Kind: "EndpointSlice", Resource: "endpointslices"}
}

// The labels of slices, and the value of managedLabel that names their controller.
const (
	serviceLabel  = "kubernetes.io/service-name"
	managedLabel  = "endpointslice.kubernetes.io/managed-by"
	headlessLabel = "service.kubernetes.io/headless"

	sliceController = "endpointslice-controller.k8s.io"
)

// endpointSlices has the client, caches and index of the controller of slices.
type endpointSlices struct {
	slices   client.Resource[*endpointSlice]
	services cache.Reader[*service]
	pods     cache.Reader[*podObject]
	nodes    cache.Reader[*nodeObject]
	slicesOf *cache.Index[meta.Key, *endpointSlice]
}

func (endpointSliceController) run(ctx context.Context, env *environment) error {
	services, pods, nodes := cached(env, serviceType()), cached(env, podType()), cached(env, nodeType())
	all := cached(env, endpointSliceType())
	c := &endpointSlices{
		slices: client.For(env.client, endpointSliceType()), services: services.Reader(), pods: pods.Reader(), nodes: nodes.Reader(),
		slicesOf: cache.NewIndex(all.Reader(), serviceOfSlice),
	}
	defer c.slicesOf.Close()
	return informer.Run(ctx, controller.New("endpointslices", controller.Options{Workers: workers}, c.reconcile,
		controller.Watch(services),
		controller.Map(pods, c.servicesOfPod),
		controller.Map(all, serviceOfSlice),
		controller.Map(nodes, c.servicesOfNode),
		controller.Fresh[meta.Key](all)))
}

// serviceOfSlice returns the service that a slice of this controller belongs to.
func serviceOfSlice(s *endpointSlice) []meta.Key {
	if s.Labels[managedLabel] != sliceController || s.Labels[serviceLabel] == "" {
		return nil
	}
	return []meta.Key{{Namespace: s.Namespace, Name: s.Labels[serviceLabel]}}
}

func (c *endpointSlices) servicesOfPod(p *podObject) (keys []meta.Key) {
	for s := range c.services.Namespace(p.Namespace) {
		if len(s.Spec.Selector) > 0 && hasAll(p.Labels, s.Spec.Selector) {
			keys = append(keys, s.Key())
		}
	}
	return keys
}

// servicesOfNode returns the services that have a pod on a node. The zone of the node is a part of their endpoints.
func (c *endpointSlices) servicesOfNode(n *nodeObject) (keys []meta.Key) {
	for p := range c.pods.All() {
		if p.Spec.NodeName == n.Name {
			keys = append(keys, c.servicesOfPod(p)...)
		}
	}
	return keys
}

// most is how many endpoints a slice may have.
const most = 100

func (c *endpointSlices) reconcile(ctx context.Context, key meta.Key) (controller.Result, error) {
	s, found := c.services.Get(key)
	if !found || s.Spec.Type == "ExternalName" || s.Spec.Selector == nil {
		return controller.Result{}, nil // the garbage collector deletes the slices of a service that is gone
	}
	var surplus []*endpointSlice
	byFamily := map[string][]*endpointSlice{}
	for slice := range c.slicesOf.Get(key) {
		switch {
		case meta.IsDeleting(slice):
		case !slices.Contains(s.families(), slice.AddressType):
			surplus = append(surplus, slice)
		default:
			byFamily[slice.AddressType] = append(byFamily[slice.AddressType], slice)
		}
	}
	var errs []error
	for _, family := range s.families() {
		errs = append(errs, c.reconcileFamily(ctx, s, family, byFamily[family]))
	}
	for _, slice := range surplus {
		errs = append(errs, c.delete(ctx, slice))
	}
	return controller.Result{}, errors.Join(errs...)
}

// reconcileFamily brings the slices of one family of addresses up to date.
func (c *endpointSlices) reconcileFamily(ctx context.Context, s *service, family string, existing []*endpointSlice) error {
	wanted, missing := c.wanted(s, family)
	p := &slicePlan{s: s, family: family}
	slices.SortFunc(existing, func(a, b *endpointSlice) int { return a.Key().Compare(b.Key()) })
	byPorts := map[string][]*endpointSlice{}
	for _, slice := range existing {
		key := portsKey(slice.Ports)
		if slice.isOf(s) && wanted[key] != nil {
			byPorts[key] = append(byPorts[key], slice)
		} else {
			p.surplus = append(p.surplus, slice)
		}
	}
	for _, ports := range slices.Sorted(maps.Keys(wanted)) {
		if err := p.fill(wanted[ports], byPorts[ports]); err != nil {
			return err
		}
	}
	if err := p.finish(len(existing)); err != nil {
		return err
	}
	return errors.Join(c.carryOut(ctx, p), missing)
}

// carryOut sends the changes of a plan.
func (c *endpointSlices) carryOut(ctx context.Context, p *slicePlan) error {
	if !meta.IsDeleting(p.s) {
		for _, slice := range p.create {
			if _, err := c.slices.Create(ctx, slice); err != nil {
				return ignoreEnding(err)
			}
		}
	}
	for _, change := range p.changed {
		if _, err := write(ctx, c.slices.Patch, change.old, change.new); err != nil {
			return err
		}
	}
	for _, slice := range p.surplus {
		if err := c.delete(ctx, slice); err != nil {
			return err
		}
	}
	return nil
}

func (c *endpointSlices) delete(ctx context.Context, slice *endpointSlice) error {
	return apierrors.Ignore(c.slices.Delete(ctx, slice.Key(), client.DeleteOptions{UID: slice.UID}), apierrors.NotFound)
}
