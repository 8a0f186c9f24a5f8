package explore

import (
	"context"
	"errors"
	"fmt"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// History does what people and other programs do in the cluster. Its steps follow each other at once; Rest lets the
// program catch up.
type History struct {
	world *world
	users *client.Client
	steps int // done so far
}

// Create creates an object.
func Create[T meta.Object](h *History, of client.Type[T], object T) {
	h.step(of.GVR(), fmt.Sprintf("create %s %s", of.Resource, meta.KeyOf(object)), func(ctx context.Context) error {
		_, err := client.For(h.users, of).Create(ctx, object)
		return err
	})
}

// Modify changes an object, as [client.Resource.Modify] does.
func Modify[T meta.Object](h *History, of client.Type[T], key meta.Key, change func(T) error) {
	h.step(of.GVR(), fmt.Sprintf("modify %s %s", of.Resource, key), func(ctx context.Context) error {
		_, err := client.For(h.users, of).Modify(ctx, key, change)
		return err
	})
}

// Delete deletes an object.
func Delete[T meta.Object](h *History, of client.Type[T], key meta.Key) {
	h.step(of.GVR(), fmt.Sprintf("delete %s %s", of.Resource, key), func(ctx context.Context) error {
		return client.For(h.users, of).Delete(ctx, key, client.DeleteOptions{})
	})
}

// Rest waits until nothing moves any more.
func (h *History) Rest() { h.world.rest() }

// step does one step. In the run without disturbances it must succeed. In others it may fail: an object may not be
// there yet, or not any more. A create waits for the end of an object that another program's finalizer holds.
func (h *History) step(of meta.GVR, what string, do func(ctx context.Context) error) {
	w := h.world
	w.mu.Lock()
	w.kinds[of] = true
	w.mu.Unlock()
	h.steps++
	w.beginStep(h.steps, of)
	err := do(w.ctx)
	for len(w.lasting) > 0 && errors.Is(err, apierrors.AlreadyExists) {
		w.tell("user: %s%s, and waits until the other program is done", what, failed(err))
		w.wait(w.still, restless)
		err = do(w.ctx)
	}
	w.tell("user: %s%s", what, failed(err))
	w.lookEverywhere(byUser)
	w.endStep(h.steps, err)
}

func failed(err error) string {
	if err == nil {
		return ""
	}
	return ", which fails: " + err.Error()
}
