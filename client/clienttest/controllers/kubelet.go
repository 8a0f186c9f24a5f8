package controllers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
)

// Kubelet is a scheduler and some nodes, on which pods run. No program runs: pods only get the status that they would
// have. By default a pod is scheduled, Running and Ready as soon as it exists, and ends when it is deleted.
// [KubeletOptions.Life] says otherwise for containers, and so do the methods, for one pod at a time:
//
//	kubelet := controllers.NewKubelet(controllers.KubeletOptions{})
//	controllers.Start(t, server.Config(), controllers.Jobs(), kubelet)
//	...
//	err := kubelet.Finish(ctx, pod, "main", 1)
//
// The methods wait: for the pod to be on a node, for its container to be in the state that the method changes, and then
// until the server has the pod's new status. If ctx ends first, the error says what the method waited for. They may be
// called from several goroutines, also before the Kubelet runs.
//
// The Kubelet creates its nodes, which are ready from then on; it does not renew their leases, and leaves them behind.
// It schedules only onto its own nodes: it obeys nodeSelector, schedulingGates, schedulerName and spec.unschedulable of
// nodes, and nothing else, such as resources and taints. Pods that another scheduler binds to its nodes run too.
//
// Make one with [NewKubelet]. Only one Run at a time can use it. A later Run, also one in another process, takes over
// the containers that run according to the status of their pods.
type Kubelet struct {
	nodes []string
	life  func(Container) Life
	wrong error // of the options

	// The channels are made when they are first needed, so that a Kubelet that was made outside of a bubble of
	// testing/synctest works inside.
	mu      sync.Mutex
	stopped chan struct{} // closed at the end of the present Run; nil if there is none
	words   chan meta.Key // pods that a method has changed, during a Run
	pods    map[meta.Key]*podRun
	news    chan struct{} // closed at the next change of a pod; nil if no method waits for one
}

// KubeletOptions configure a Kubelet. The zero value is one node, on which pods run until they are deleted.
type KubeletOptions struct {
	// Nodes are the names of the nodes. Nil means one, with the name "node".
	Nodes []string
	// Life says what a container does by itself. It is called for each start of a container, also for one that is
	// restarted, by one goroutine at a time, and must be quick. It must not call the Kubelet. Nil means the zero Life for
	// all.
	Life func(c Container) Life
}

// Container is a container that is about to start.
type Container struct {
	// Pod is the metadata of its pod, which must not be changed.
	Pod *meta.ObjectMeta
	// Name and Image are those in the pod's spec.
	Name, Image string
	// Init is true for an init container that must end before the others start, and so not for a sidecar.
	Init bool
	// Restarts is how often the container has been restarted before.
	Restarts int
}

// Life is what a container does by itself. The zero value starts and becomes ready at once, and runs until its pod is
// deleted; an init container ends at once with code 0.
type Life struct {
	// Start is how long it takes until the container runs, for its image for example. A negative duration means that it
	// does not start before Kubelet.Start is called.
	Start time.Duration
	// Ready is how long it runs until it is ready. A negative duration means that it is not ready before Kubelet.SetReady
	// is called.
	Ready time.Duration
	// End is how long it runs until it ends with Code. 0 means that it does not end by itself; for an init container, that
	// it ends at once. A negative duration means that it does not end by itself, also for an init container.
	End  time.Duration
	Code int
	// Stop is how long it takes to end, with code 143, when its pod is deleted. It is killed, with code 137, at the end of
	// the pod's grace period. A negative duration means that it ends no earlier than that.
	Stop time.Duration
}

// NewKubelet returns a Kubelet, which does nothing until it is given to Start or Run. If the options are invalid, Run
// returns the error.
func NewKubelet(o KubeletOptions) *Kubelet {
	k := &Kubelet{nodes: o.Nodes, life: o.Life}
	if k.nodes == nil {
		k.nodes = []string{"node"}
	}
	if k.life == nil {
		k.life = func(Container) Life { return Life{} }
	}
	seen := map[string]int{}
	for i, name := range k.nodes {
		if err := meta.ValidSegment(fmt.Sprintf("Nodes[%d]", i), name); err != nil {
			k.wrong = fmt.Errorf("controllers.KubeletOptions: %w", err)
		}
		if j, twice := seen[name]; twice {
			k.wrong = fmt.Errorf("controllers.KubeletOptions: Nodes[%d] duplicates Nodes[%d] (%q)", i, j, name)
		}
		seen[name] = i
	}
	if len(k.nodes) == 0 {
		k.wrong = errors.New("controllers.KubeletOptions: Nodes must have a name, or be nil")
	}
	return k
}

func (k *Kubelet) name() string { return "kubelet of " + strings.Join(k.nodes, ", ") }

// begin marks the kubelet as running.
func (k *Kubelet) begin() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.stopped != nil {
		return errors.New("already running; only one Run at a time can use a Kubelet")
	}
	k.stopped, k.words, k.pods = make(chan struct{}), make(chan meta.Key), map[meta.Key]*podRun{}
	k.announce()
	return nil
}

// end marks the kubelet as not running. Methods that wait for the server return.
func (k *Kubelet) end() {
	k.mu.Lock()
	defer k.mu.Unlock()
	close(k.stopped)
	k.stopped, k.pods = nil, nil
	k.announce()
}

func (k *Kubelet) run(ctx context.Context, env *environment) error {
	if k.wrong != nil {
		return k.wrong
	}
	if err := k.begin(); err != nil {
		return err
	}
	defer k.end()
	pods, nodes := cached(env, podType()), cached(env, nodeType())
	r := &kubeletRun{
		k: k, pods: client.For(env.client, podType()), nodes: client.For(env.client, nodeType()),
		podCache: pods.Reader(), nodeCache: nodes.Reader(), assumed: map[meta.Key]string{},
		onNode: cache.NewValueIndex(pods.Reader(), func(p *podObject) string { return p.Spec.NodeName }),
	}
	defer r.onNode.Close()
	register := make(chan meta.Key, len(k.nodes))
	for _, name := range k.nodes {
		register <- meta.Key{Name: name}
	}
	return informer.Run(ctx,
		controller.New("nodes", controller.Options{}, r.register, controller.Chan(register)),
		controller.New("scheduler", controller.Options{Workers: workers}, r.schedule,
			controller.Watch(pods),
			controller.Map(nodes, r.unscheduled), controller.Reads[meta.Key](nodes),
			controller.Fresh[meta.Key](pods)),
		controller.New("kubelet", controller.Options{Workers: workers}, r.reconcile,
			controller.Watch(pods),
			controller.Chan(k.words),
			controller.Fresh[meta.Key](pods)))
}

// kubeletRun is one Run of a Kubelet.
type kubeletRun struct {
	k         *Kubelet
	pods      client.Resource[*podObject]
	nodes     client.Resource[*nodeObject]
	podCache  cache.Reader[*podObject]
	nodeCache cache.Reader[*nodeObject]
	onNode    *cache.Index[string, *podObject]

	mu      sync.Mutex
	assumed map[meta.Key]string // the nodes that the scheduler has chosen, until the cache knows
}

// grace returns how long the containers of a pod that is being deleted may take to end.
func grace(p *podObject) time.Duration {
	return time.Duration(or(p.DeletionGracePeriodSeconds, 0)) * time.Second
}
