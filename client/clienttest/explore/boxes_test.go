package explore

import (
	"context"
	"slices"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
)

// Box is the custom resource of the planted controllers. Each makes a ConfigMap with the text of a Box, and says so in
// the status.
type Box struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Text string `json:"text,omitempty"`
	} `json:"spec"`
	Status struct {
		Text  string `json:"text,omitempty"`
		Child string `json:"child,omitempty"`
		Count int    `json:"count,omitempty"`
	} `json:"status"`
}

// ConfigMap is the child of a Box.
type ConfigMap struct {
	meta.ObjectMeta `json:"metadata"`
	Data            map[string]string `json:"data,omitempty"`
}

func boxType() client.Type[*Box] {
	return client.Type[*Box]{Group: "example.com", Version: "v1", Kind: "Box", Resource: "boxes"}
}

func mapType() client.Type[*ConfigMap] {
	return client.Type[*ConfigMap]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}
}

// program is what a planted controller works with.
type program struct {
	boxes  client.Resource[*Box]
	maps   client.Resource[*ConfigMap]
	box    cache.Reader[*Box]
	child  cache.Reader[*ConfigMap]
	memory map[meta.Key]int      // of this life
	make   func(*Box) *ConfigMap // returns the child of a Box
}

// reconcile brings one Box into its state. box is nil if it has gone.
type reconcile func(ctx context.Context, p *program, key meta.Key, box *Box) error

// run runs a controller with a reconcile function.
func (do reconcile) run(ctx context.Context, cfg client.Config) error {
	return do.with(ctx, cfg, informer.Options{})
}

// runStale runs a controller whose caches may start with an older state.
func (do reconcile) runStale(ctx context.Context, cfg client.Config) error {
	return do.with(ctx, cfg, informer.Options{AllowStale: true})
}

// with runs a controller whose informers have some options.
func (do reconcile) with(ctx context.Context, cfg client.Config, o informer.Options) error {
	c, err := client.New(cfg)
	if err != nil {
		return err
	}
	defer c.Close()
	p := &program{boxes: client.For(c, boxType()), maps: client.For(c, mapType()), memory: map[meta.Key]int{}, make: childOf}
	boxes, children := informer.New(p.boxes, o), informer.New(p.maps, o)
	p.box, p.child = boxes.Reader(), children.Reader()
	return informer.Run(ctx, controller.New("boxes", controller.Options{}, func(ctx context.Context, key meta.Key) (controller.Result, error) {
		box, found := p.box.Get(key)
		if !found {
			box = nil
		} else {
			box = meta.Clone(box)
		}
		return controller.Result{}, do(ctx, p, key, box)
	}, controller.Watch(boxes), controller.Watch(children)))
}

// childOf returns the ConfigMap that a Box should have.
func childOf(box *Box) *ConfigMap {
	return &ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: box.Namespace, Name: box.Name}, Data: map[string]string{"text": box.Spec.Text}}
}

// ensure makes the child as it should be.
func (p *program) ensure(ctx context.Context, box *Box) error {
	child, found := p.child.Get(box.Key())
	switch {
	case !found:
		_, err := p.maps.Create(ctx, p.make(box))
		return err
	case child.Data["text"] != box.Spec.Text:
		child = meta.Clone(child)
		child.Data = childOf(box).Data
		_, err := p.maps.Update(ctx, child)
		return err
	}
	return nil
}

// say writes the status.
func (p *program) say(ctx context.Context, box *Box, change func(*Box)) error {
	_, err := p.boxes.Status().Modify(ctx, box.Key(), func(b *Box) error { change(b); return nil })
	return apierrors.Ignore(err, apierrors.NotFound)
}

// remove deletes the child.
func (p *program) remove(ctx context.Context, key meta.Key) error {
	return apierrors.Ignore(p.maps.Delete(ctx, key, client.DeleteOptions{}), apierrors.NotFound)
}

const boxFinalizer = "example.com/child"

// hold adds the finalizer to a Box that is as the cache has it.
func (p *program) hold(ctx context.Context, box *Box) error {
	box.Finalizers = append(box.Finalizers, boxFinalizer)
	_, err := p.boxes.Update(ctx, box)
	return apierrors.Ignore(err, apierrors.NotFound)
}

// release removes the finalizer from a Box that is as the cache has it.
func (p *program) release(ctx context.Context, box *Box) error {
	box.Finalizers = slices.DeleteFunc(box.Finalizers, func(f string) bool { return f == boxFinalizer })
	_, err := p.boxes.Update(ctx, box)
	return apierrors.Ignore(err, apierrors.NotFound)
}

// right is a controller without a bug: with a finalizer, a child that follows the Box, and a status.
func right(ctx context.Context, p *program, key meta.Key, box *Box) error {
	switch {
	case box == nil:
		return nil
	case meta.IsDeleting(box):
		if !slices.Contains(box.Finalizers, boxFinalizer) {
			return nil
		}
		if err := p.remove(ctx, key); err != nil {
			return err
		}
		return p.release(ctx, box)
	case !slices.Contains(box.Finalizers, boxFinalizer):
		return p.hold(ctx, box)
	}
	if err := p.ensure(ctx, box); err != nil || box.Status.Text == box.Spec.Text {
		return err
	}
	return p.say(ctx, box, func(b *Box) { b.Status.Text = box.Spec.Text })
}

// rightOwner is right with a child that its Box owns. If a former leader makes the child too late, when the successor has
// cleaned up, only the garbage collector can delete it.
func rightOwner(ctx context.Context, p *program, key meta.Key, box *Box) error {
	owner := *p
	owner.make = ownChild
	return right(ctx, &owner, key, box)
}
