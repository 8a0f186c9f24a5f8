package controllers

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
)

// Deployments returns the controller that rolls out Deployments through ReplicaSets, with both strategies, pause,
// proportional scaling, revisions, the progress deadline and the conditions. [ReplicaSets] makes the pods. The value of
// the label pod-template-hash differs from that in a cluster.
func Deployments() Controller { return deploymentController{} }

type deploymentController struct{}

func (deploymentController) name() string { return "deployment controller" }

// deployment has the fields of a Deployment that its controller uses.
type deployment struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Replicas             *int                `json:"replicas,omitempty"`
		Selector             *meta.LabelSelector `json:"selector"`
		Template             template            `json:"template,omitzero"`
		Strategy             strategy            `json:"strategy,omitzero"`
		MinReadySeconds      int                 `json:"minReadySeconds,omitempty"`
		RevisionHistoryLimit *int                `json:"revisionHistoryLimit,omitempty"`
		Paused               bool                `json:"paused,omitempty"`
		ProgressDeadline     *int                `json:"progressDeadlineSeconds,omitempty"`
	} `json:"spec"`
	Status deploymentStatus `json:"status,omitzero"`
}

type strategy struct {
	Type          string `json:"type,omitempty"`
	RollingUpdate *struct {
		MaxUnavailable amount `json:"maxUnavailable,omitempty"`
		MaxSurge       amount `json:"maxSurge,omitempty"`
	} `json:"rollingUpdate,omitempty"`
}

type deploymentStatus struct {
	ObservedGeneration  int64               `json:"observedGeneration,omitempty"`
	Replicas            int                 `json:"replicas,omitempty"`
	UpdatedReplicas     int                 `json:"updatedReplicas,omitempty"`
	ReadyReplicas       int                 `json:"readyReplicas,omitempty"`
	AvailableReplicas   int                 `json:"availableReplicas,omitempty"`
	UnavailableReplicas int                 `json:"unavailableReplicas,omitempty"`
	TerminatingReplicas *int                `json:"terminatingReplicas,omitempty"`
	Conditions          []workloadCondition `json:"conditions,omitempty"`
	CollisionCount      *int                `json:"collisionCount,omitempty"`
}

func deploymentType() client.Type[*deployment] {
	return client.Type[*deployment]{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments"}
}

// amount is a number of pods, or a percentage of them, as JSON has it.
type amount json.RawMessage

func (a amount) MarshalJSON() ([]byte, error) {
	if len(a) == 0 {
		return []byte("null"), nil
	}
	return a, nil
}

func (a *amount) UnmarshalJSON(text []byte) error {
	*a = slices.Clone(text)
	return nil
}

// of returns the amount of a total; round rounds a fraction.
func (a amount) of(total int, round func(float64) float64) (int, error) {
	text, percent := strings.CutSuffix(strings.Trim(string(a), `"`), "%")
	if text == "" || text == "null" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("%s is neither a number nor a percentage", a)
	}
	if percent {
		n = int(round(float64(n) * float64(total) / 100))
	}
	return n, nil
}

func (d *deployment) replicas() int {
	if d.Spec.Replicas == nil {
		return 1 // the server's default
	}
	return *d.Spec.Replicas
}

func (d *deployment) isRolling() bool { return d.Spec.Strategy.Type == "RollingUpdate" }

// hasDeadline reports whether a rollout that makes no progress fails after some time.
func (d *deployment) hasDeadline() bool {
	return d.Spec.ProgressDeadline != nil && *d.Spec.ProgressDeadline != math.MaxInt32
}

// surge returns how many pods there may be beyond the replicas.
func (d *deployment) surge() int {
	if !d.isRolling() || d.Spec.Strategy.RollingUpdate == nil {
		return 0
	}
	n, _ := d.Spec.Strategy.RollingUpdate.MaxSurge.of(d.replicas(), math.Ceil) // the server has checked it
	return n
}

// maxUnavailable returns how many of the replicas may be unavailable. It is at least one if there is no surge, because
// nothing could be replaced otherwise.
func (d *deployment) maxUnavailable() int {
	if !d.isRolling() || d.Spec.Strategy.RollingUpdate == nil || d.replicas() == 0 {
		return 0
	}
	n, _ := d.Spec.Strategy.RollingUpdate.MaxUnavailable.of(d.replicas(), math.Floor) // the server has checked it
	if n == 0 && d.surge() == 0 {
		n = 1
	}
	return min(n, d.replicas())
}

// deployments has the clients, caches and indexes of the controller of deployments.
type deployments struct {
	deployments client.Resource[*deployment]
	sets        client.Resource[*replicaSet]
	cache       cache.Reader[*deployment]
	setCache    cache.Reader[*replicaSet]
	setsOf      *cache.Index[ownedBy, *replicaSet]
	podsOf      *cache.Index[ownedBy, *podObject]
}

func (deploymentController) run(ctx context.Context, env *environment) error {
	all, sets, pods := cached(env, deploymentType()), cached(env, replicaSetType()), cached(env, podType())
	c := &deployments{
		deployments: client.For(env.client, deploymentType()), sets: client.For(env.client, replicaSetType()),
		cache: all.Reader(), setCache: sets.Reader(),
		setsOf: cache.NewValueIndex(sets.Reader(), byController[*replicaSet]),
		podsOf: cache.NewValueIndex(pods.Reader(), byController[*podObject]),
	}
	defer c.setsOf.Close()
	defer c.podsOf.Close()
	return informer.Run(ctx, controller.New("deployments", controller.Options{Workers: workers}, c.reconcile,
		controller.Watch(all),
		controller.Owns(sets, deploymentType()),
		controller.Map(sets, c.adopters),
		controller.Map(pods, c.waiting),
		controller.Fresh[meta.Key](all, sets)))
}

// adopters returns the deployments that select a replica set without a controller.
func (c *deployments) adopters(set *replicaSet) (keys []meta.Key) {
	if _, has := meta.ControllerOf(set); has {
		return nil
	}
	for d := range c.cache.Namespace(set.Namespace) {
		if s, err := d.Spec.Selector.Selector(); err == nil && !s.Everything() && s.Matches(set.Labels) {
			keys = append(keys, d.Key())
		}
	}
	return keys
}

// waiting returns the deployment that waits for the end of a pod before it makes new ones.
func (c *deployments) waiting(p *podObject) []meta.Key {
	owner, _ := meta.ControllerOf(p)
	set, found := c.setCache.Get(meta.Key{Namespace: p.Namespace, Name: owner.Name})
	if !found || set.UID != owner.UID {
		return nil
	}
	owner, _ = meta.ControllerOf(set)
	d, found := c.cache.Get(meta.Key{Namespace: p.Namespace, Name: owner.Name})
	if !found || d.UID != owner.UID || d.isRolling() {
		return nil
	}
	return []meta.Key{d.Key()}
}

func (c *deployments) reconcile(ctx context.Context, key meta.Key) (controller.Result, error) {
	d, found := c.cache.Get(key)
	if !found {
		return controller.Result{}, nil
	}
	selector, err := d.Spec.Selector.Selector()
	if err != nil {
		return controller.Result{}, controller.Terminal(err)
	}
	candidates := func(yield func(*replicaSet) bool) {
		for _, uid := range []string{d.UID, ""} {
			for set := range c.setsOf.Get(ownedBy{d.Namespace, uid}) {
				if !yield(set) {
					return
				}
			}
		}
	}
	claimed := claim[*replicaSet]{
		objects: c.sets, owner: client.OwnerOf(deploymentType(), d), uid: d.UID, deleting: meta.IsDeleting(d),
		selector: selector, check: stillThere(c.deployments, d),
	}
	sets, err := claimed.run(ctx, candidates)
	if err != nil {
		return controller.Result{}, err
	}
	r := newRollout(c, d, sets)
	if err := r.run(ctx); err != nil {
		return controller.Result{}, unlessGone(err)
	}
	return controller.Result{RequeueAt: r.deadline()}, nil
}
