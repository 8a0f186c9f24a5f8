package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// stormTime is how long the storm lasts at least, so that the faults have time to hit.
const stormTime = 3 * time.Second

// storm changes sources and mirrors, and knows what must be there afterwards.
type storm struct {
	configMaps client.Resource[*ConfigMap]
	world      *world
	dice       *rand.Rand

	mu   sync.Mutex // guards want
	want map[meta.Key]map[string]string
}

func newStorm(w *world, seed uint64) *storm {
	return &storm{
		configMaps: client.For(w.client, ConfigMaps), world: w,
		dice: rand.New(rand.NewPCG(seed, 1)), want: make(map[meta.Key]map[string]string),
	}
}

// seed makes n sources.
func (s *storm) seed(ctx context.Context, n int, p *progress) error {
	tasks := make([]task, n)
	for i := range tasks {
		if ctx.Err() != nil { // there may be a million of them
			return context.Cause(ctx)
		}
		key := meta.Key{Namespace: s.world.namespaces[i%len(s.world.namespaces)], Name: fmt.Sprintf("source-%06d", i)}
		data := map[string]string{"greeting": "hello", "number": fmt.Sprint(i)}
		s.want[key] = data
		tasks[i] = func(ctx context.Context) error {
			_, err := s.configMaps.Create(ctx, &ConfigMap{
				ObjectMeta: meta.ObjectMeta{
					Namespace: key.Namespace, Name: key.Name, Labels: map[string]string{mirrorLabel: "true"},
				},
				Data: data,
			})
			return err
		}
	}
	return do(ctx, tasks, 0, func(done int) { p.show("sources made", done, n) })
}

// rage updates 20 % of the sources, deletes 5 % of them and 5 % of the mirrors, takes the label from 2 % of the
// sources, and spoils 5 % of the mirrors, in random order and over at least stormTime.
func (s *storm) rage(ctx context.Context, p *progress) error {
	keys := sorted(s.want) // sorted, so that a seed always gives the same storm
	var tasks []task
	hit := func(percent int, change func(ctx context.Context, key meta.Key) error) (n int) {
		s.dice.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		n = min(len(keys), max(1, len(keys)*percent/100))
		for _, key := range keys[:n] {
			tasks = append(tasks, func(ctx context.Context) error {
				return apierrors.Ignore(change(ctx, key), apierrors.NotFound) // another part of the storm was faster
			})
		}
		return n
	}
	hit(20, s.update)
	hit(5, s.deleteMirror)
	hit(5, s.spoilMirror)
	keys = keys[hit(5, s.deleteSource):]
	hit(2, s.unlabel)
	s.dice.Shuffle(len(tasks), func(i, j int) { tasks[i], tasks[j] = tasks[j], tasks[i] })
	return do(ctx, tasks, stormTime, func(done int) { p.show("storm", done, len(tasks)) })
}

func (s *storm) update(ctx context.Context, key meta.Key) error {
	changed, err := s.configMaps.Modify(ctx, key, func(c *ConfigMap) error {
		c.Data["greeting"] = "hello again"
		c.Data["more"] = key.Name
		return nil
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.want[key]; ok {
		s.want[key] = changed.Data
	}
	return nil
}

func (s *storm) deleteSource(ctx context.Context, key meta.Key) error {
	s.unwant(key)
	return s.configMaps.Delete(ctx, key, client.DeleteOptions{})
}

func (s *storm) unlabel(ctx context.Context, key meta.Key) error {
	s.unwant(key)
	_, err := s.configMaps.Modify(ctx, key, func(c *ConfigMap) error {
		delete(c.Labels, mirrorLabel)
		return nil
	})
	return err
}

func (s *storm) deleteMirror(ctx context.Context, source meta.Key) error {
	return s.configMaps.Delete(ctx, mirrorKey(source), client.DeleteOptions{})
}

// spoilMirror changes a mirror in one of three ways.
func (s *storm) spoilMirror(ctx context.Context, source meta.Key) error {
	_, err := s.configMaps.Modify(ctx, mirrorKey(source), func(c *ConfigMap) error {
		switch source.Name[len(source.Name)-1] % 3 {
		case 0:
			c.Data = map[string]string{"spoilt": "yes"}
		case 1:
			c.Annotations = nil
		case 2:
			c.OwnerReferences = nil
		}
		return nil
	})
	return err
}

func (s *storm) unwant(key meta.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.want, key)
}

// task is one thing to do.
type task func(ctx context.Context) error

// do does all tasks, 16 at a time, spread over at least the given time, and returns the first error. report is called
// as they get done.
func do(ctx context.Context, tasks []task, over time.Duration, report func(done int)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		slots   = make(chan struct{}, 16)
		running sync.WaitGroup
		done    atomic.Int64
		began   = time.Now()
	)
	for i, t := range tasks {
		select {
		case <-time.After(over*time.Duration(i)/time.Duration(len(tasks)) - time.Since(began)):
		case <-ctx.Done():
		}
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		running.Go(func() {
			if err := t(ctx); err != nil {
				cancel(err)
			}
			report(int(done.Add(1)))
			<-slots
		})
	}
	running.Wait()
	return context.Cause(ctx)
}
