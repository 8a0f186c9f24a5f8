package controller_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/internal/proof/histories"
)

// crashing is a program that finalizes objects, and is killed and started again, beside a user who creates and deletes them.
type crashing struct {
	t      *testing.T
	random *rand.Rand
	server *clienttest.Server
	user   client.Resource[*pod]

	mu      sync.Mutex
	history []string
	steps   int // until the crash; below 0 after it
	die     context.CancelFunc
	effects map[string]bool // by uid: there is something to clean up
	ran     map[string]bool // by uid: reconcile was called
	cleaned map[string]bool // by uid: the cleanup has succeeded at least once
}

func (c *crashing) note(format string, args ...any) {
	c.history = append(c.history, fmt.Sprintf(format, args...))
}

func (c *crashing) fail(format string, args ...any) {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t.Errorf(format+", after\n\t%s", append(args, strings.Join(c.history, "\n\t"))...)
}

// step reports whether the program still runs after one more step, and kills it if it is its last.
func (c *crashing) step(what string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.steps < 0 {
		return false
	}
	if c.steps--; c.steps < 0 {
		c.note("crash at %s", what)
		c.die()
		return false
	}
	return true
}

// intercept makes each request of the program two steps: before the server has it, and before its answer arrives.
func (c *crashing) intercept(r *http.Request) http.HandlerFunc {
	if r.UserAgent() != "program" {
		return nil
	}
	request := clienttest.RequestOf(r)
	if !c.step("the begin of a " + request.Verb) {
		return clienttest.Reset()
	}
	if request.Verb != "get" && request.Verb != "patch" {
		return nil
	}
	return func(w http.ResponseWriter, r *http.Request) {
		answer := httptest.NewRecorder()
		c.server.ServeHTTP(answer, r)
		if !c.step("the end of a " + request.Verb) {
			clienttest.Reset()(w, r)
			return
		}
		for key, values := range answer.Header() {
			w.Header()[key] = values
		}
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	}
}

func (c *crashing) reconcile(ctx context.Context, p *pod) (controller.Result, error) {
	live, err := c.user.Get(c.t.Context(), p.Key())
	if err != nil || live.UID != p.UID || !slices.Contains(live.Finalizers, ours) {
		c.fail("reconcile of %+v, when the server has %+v, %v", p.ObjectMeta, live, err)
	}
	if !c.step("the begin of a reconcile") {
		return controller.Result{}, ctx.Err()
	}
	c.mu.Lock()
	c.note("reconcile %s %s", p.Name, p.UID)
	c.effects[p.UID], c.ran[p.UID] = true, true
	c.mu.Unlock()
	c.step("the end of a reconcile")
	return controller.Result{}, nil
}

func (c *crashing) cleanup(ctx context.Context, p *pod) (controller.Result, error) {
	if !c.step("the begin of a cleanup") {
		return controller.Result{}, ctx.Err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch c.random.IntN(6) {
	case 0:
		return controller.Result{}, errFailed
	case 1:
		return controller.Result{RequeueAfter: time.Second}, nil
	}
	c.note("cleanup %s %s", p.Name, p.UID)
	c.effects[p.UID], c.cleaned[p.UID] = false, true
	c.mu.Unlock()
	c.step("the end of a cleanup")
	c.mu.Lock()
	return controller.Result{}, nil
}

// program runs until it is killed after so many steps, or until life has passed.
func (c *crashing) program(steps int, life time.Duration) {
	ctx, die := context.WithTimeout(c.t.Context(), life)
	defer die()
	c.mu.Lock()
	c.steps, c.die = steps, die
	c.mu.Unlock()
	cfg := c.server.Config()
	cfg.UserAgent = "program"
	connection, err := client.New(cfg)
	if err != nil {
		c.t.Fatal(err)
	}
	defer connection.Close()
	maps := client.For(connection, configMaps)
	silent := informer.Options{OnError: func(error) {}}
	inf := informer.New(maps, silent)
	var source controller.Subscriber[*pod] = inf
	if c.random.IntN(2) == 0 {
		source = controller.CancelDeleted(inf)
	}
	ctl := controller.New("finalizes", controller.Options{Workers: 1 + c.random.IntN(3), OnError: func(error) {}},
		controller.Finalize(maps, inf.Reader(), ours, c.reconcile, c.cleanup, controller.FinalizeOptions{}), controller.Watch(source))
	if err := informer.Run(ctx, ctl); err != nil {
		c.t.Error(err)
	}
}

// act is what the user does next.
func (c *crashing) act(act, who int) {
	ctx := c.t.Context()
	key := meta.Key{Namespace: "default", Name: string(rune('a' + who))}
	var err error
	switch {
	case act < 4:
		p := &pod{ObjectMeta: key.ObjectMeta()}
		if act == 0 {
			p.Finalizers = []string{other}
		}
		_, err = c.user.Create(ctx, p)
	case act < 7:
		err = c.user.Delete(ctx, key, client.DeleteOptions{})
	case act < 8:
		_, err = c.user.RemoveFinalizer(ctx, key, other, meta.FinalizerOptions{})
	default:
		_, err = c.user.Modify(ctx, key, func(p *pod) error {
			p.Labels = map[string]string{"n": fmt.Sprint(len(p.Labels["n"]))}
			return nil
		})
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.note("act %d on %s: %v", act, key.Name, err)
	if err := apierrors.Ignore(err, apierrors.AlreadyExists, apierrors.NotFound, apierrors.Conflict); err != nil {
		c.t.Error(err)
	}
}

func (c *crashing) play() {
	c.server = clienttest.Start(c.t, clienttest.Options{Replicas: 2, HistoryAge: time.Hour})
	c.server.Replica(1).SetLag(0, time.Duration(c.random.IntN(100))*time.Millisecond)
	connection, err := client.New(c.server.Config())
	if err != nil {
		c.t.Fatal(err)
	}
	defer connection.Close()
	c.user = client.For(connection, configMaps)
	c.server.Intercept(c.intercept)

	// An observer hears of each object that goes.
	observed := informer.New(c.user, informer.Options{OnError: func(error) {}})
	observed.Subscribe(cache.HandlerFuncs[*pod]{Delete: func(p *pod) {
		c.mu.Lock()
		left := c.effects[p.UID] || c.ran[p.UID] && !c.cleaned[p.UID]
		c.note("%s %s is gone", p.Name, p.UID)
		c.mu.Unlock()
		if left {
			c.fail("%s %s went without a cleanup", p.Name, p.UID)
		}
	}})
	ctx, stop := context.WithCancel(c.t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = observed.Run(ctx) })

	acts := make([][3]int, 40) // chosen here, as the random numbers of a seed must not depend on the schedule
	for i := range acts {
		acts[i] = [3]int{c.random.IntN(10), c.random.IntN(3), c.random.IntN(40)}
	}
	over := make(chan struct{})
	running.Go(func() {
		defer close(over)
		for _, a := range acts {
			time.Sleep(time.Duration(a[2]) * time.Millisecond)
			c.act(a[0], a[1])
		}
	})
	for played := false; !played; {
		c.program(c.random.IntN(60), time.Minute)
		select {
		case <-over:
			played = true
		case <-time.After(time.Duration(c.random.IntN(20)) * time.Millisecond):
		}
	}
	// At the end everything is deleted, and the program lives long enough.
	for who := range 3 {
		c.act(7, who)
		c.act(4, who)
	}
	c.program(1<<30, time.Hour)
	stop()
	running.Wait()
	c.check()
}

func (c *crashing) check() {
	list, err := c.user.List(c.t.Context(), client.ListOptions{Namespace: "default"})
	if err != nil {
		c.t.Error(err)
	}
	for _, p := range list.Items {
		if strings.HasPrefix(p.Name, "kube-") {
			continue
		}
		c.fail("%s %s is left, with the finalizers %q", p.Name, p.UID, p.Finalizers)
	}
	for uid, left := range c.effects {
		if left {
			c.fail("%s is not cleaned up", uid)
		}
	}
}

// However often the program is killed, and wherever it is then, every object for which reconcile has run is cleaned up before
// it goes.
func TestFinalizeSurvivesCrashes(t *testing.T) {
	for seed := range histories.Seeds(40) {
		synctest.Test(t, func(t *testing.T) {
			c := &crashing{
				t: t, random: rand.New(rand.NewPCG(seed, 0)),
				effects: make(map[string]bool), ran: make(map[string]bool), cleaned: make(map[string]bool),
			}
			c.play()
		})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}
