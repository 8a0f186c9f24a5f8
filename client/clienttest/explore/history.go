package explore

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// History does what people and other programs do in the cluster. Its steps follow each other at once; Rest lets the
// program catch up. If the program is late because of a disturbance, a step waits: a create waits until an object of
// the same name that is being deleted has gone, and any step waits until the program has made the object or its
// namespace.
type History struct {
	world *world
	users *client.Client
	steps int // begun so far
}

// Create creates an object.
func Create[T meta.Object](h *History, of client.Type[T], object T) {
	h.step("create", of.GVR(), meta.KeyOf(object), func(ctx context.Context) error {
		_, err := client.For(h.users, of).Create(ctx, object)
		return err
	})
}

// Modify changes an object, as [client.Resource.Modify] does.
func Modify[T meta.Object](h *History, of client.Type[T], key meta.Key, change func(T) error) {
	h.step("modify", of.GVR(), key, func(ctx context.Context) error {
		_, err := client.For(h.users, of).Modify(ctx, key, change)
		return err
	})
}

// Delete deletes an object.
func Delete[T meta.Object](h *History, of client.Type[T], key meta.Key) {
	h.step("delete", of.GVR(), key, func(ctx context.Context) error {
		return client.For(h.users, of).Delete(ctx, key, client.DeleteOptions{})
	})
}

// Rest waits until the program and the cluster have come to rest: until nothing has happened for a minute, or for less
// if the explorer knows that this is enough. A program that acts at certain times may do more later; see
// [History.Wait].
func (h *History) Rest() { h.world.rest() }

// Wait lets virtual time pass, so that the program does what it does at certain times. It returns at once if d is not
// positive. Nothing is compared before the next Rest. A disturbance makes a Rest last longer, usually for some minutes
// and at most for two hours. So when a Rest begins, the next time at which the program acts should be further away than
// that. The replicas keep renewing their leases, so a day of two replicas with an election takes seconds of real time.
func (h *History) Wait(d time.Duration) { h.world.pass(d) }

// step does one step. In the run without disturbances the step must succeed. In other runs it is done as soon as it is
// possible, and it may fail if it never becomes possible, for example because a person has deleted the object.
func (h *History) step(verb string, of meta.GVR, key meta.Key, do func(ctx context.Context) error) {
	w := h.world
	w.mu.Lock()
	w.kinds[of] = true
	w.mu.Unlock()
	h.steps++
	w.beginStep(h.steps, of)
	err := do(w.ctx)
	for _, wait := range []func(){w.catchUp, w.beSure} {
		if until := w.awaits(err, verb, of, key); until != "" {
			w.tell("user: %s %s %s%s, and waits until %s", verb, of.Resource, key, failed(err), until)
			wait()
			err = do(w.ctx)
		}
	}
	w.tell("user: %s %s %s%s", verb, of.Resource, key, failed(err))
	w.lookEverywhere(byUser)
	w.endStep(h.steps, err)
}

// awaits returns what to wait for after a step has failed because of an earlier disturbance: until another object of
// the same name has gone, or until the program has made what the step needs. It returns "" if waiting cannot help. An
// object that people have made and deleted does not come back.
func (w *world) awaits(err error, verb string, of meta.GVR, key meta.Key) string {
	switch {
	case !w.disturbed:
		return ""
	case errors.Is(err, apierrors.AlreadyExists):
		w.look(byProgram, of)
		if r := w.ledger.find(of, key); r != nil && r.meta.DeletionTimestamp != nil {
			return "the other one has gone"
		}
		return ""
	case !errors.Is(err, apierrors.NotFound):
		return ""
	case verb == "create":
		of, key = namespaces(), meta.Key{Name: key.Namespace}
	}
	w.know(of)
	for _, r := range slices.Backward(w.ledger.records) {
		if r.of == of && meta.KeyOf(&r.meta) == key && r.made == byUser {
			return ""
		}
	}
	return "the program has made it"
}

func namespaces() meta.GVR { return meta.GVR{Version: "v1", Resource: "namespaces"} }

// catchUp ends the disturbances that would last until a later step, and lets the program come to rest.
func (w *world) catchUp() {
	w.endAll()
	w.wait(w.still, restless)
}

func failed(err error) string {
	if err == nil {
		return ""
	}
	return ", which fails: " + err.Error()
}
