package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
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
	keys := make([]meta.Key, 0, len(s.want))
	for key := range s.want {
		keys = append(keys, key)
	}
	// The order of a map is random: sort first, so that a seed always means the same.
	sortKeys(keys)
	s.dice.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	part := func(percent int) []meta.Key {
		n := min(len(keys), max(1, len(keys)*percent/100))
		return keys[:n]
	}
	var tasks []task
	for _, key := range part(20) {
		tasks = append(tasks, s.update(key))
	}
	s.dice.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	for _, key := range part(5) {
		tasks = append(tasks, s.deleteMirror(key))
	}
	s.dice.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	for i, key := range part(5) {
		tasks = append(tasks, s.spoilMirror(key, i))
	}
	s.dice.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	gone := part(5)
	for _, key := range gone {
		tasks = append(tasks, s.deleteSource(key))
	}
	keys = keys[len(gone):]
	for _, key := range part(2) {
		tasks = append(tasks, s.unlabel(key))
	}
	s.dice.Shuffle(len(tasks), func(i, j int) { tasks[i], tasks[j] = tasks[j], tasks[i] })
	return do(ctx, tasks, stormTime, func(done int) { p.show("storm", done, len(tasks)) })
}

func (s *storm) update(key meta.Key) task {
	return func(ctx context.Context) error {
		changed, err := s.configMaps.Modify(ctx, key, func(c *ConfigMap) error {
			c.Data["greeting"] = "hello again"
			c.Data["more"] = key.Name
			return nil
		})
		if err == nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			if _, ok := s.want[key]; ok {
				s.want[key] = changed.Data
			}
		}
		return missing(err)
	}
}

func (s *storm) deleteSource(key meta.Key) task {
	return func(ctx context.Context) error {
		s.unwant(key)
		return missing(s.configMaps.Delete(ctx, key, client.DeleteOptions{}))
	}
}

func (s *storm) unlabel(key meta.Key) task {
	return func(ctx context.Context) error {
		s.unwant(key)
		_, err := s.configMaps.Modify(ctx, key, func(c *ConfigMap) error {
			delete(c.Labels, mirrorLabel)
			return nil
		})
		return missing(err)
	}
}

func (s *storm) deleteMirror(source meta.Key) task {
	return func(ctx context.Context) error {
		return missing(s.configMaps.Delete(ctx, mirrorKey(source), client.DeleteOptions{}))
	}
}

// spoilMirror changes a mirror in one of three ways.
func (s *storm) spoilMirror(source meta.Key, way int) task {
	return func(ctx context.Context) error {
		_, err := s.configMaps.Modify(ctx, mirrorKey(source), func(c *ConfigMap) error {
			switch way % 3 {
			case 0:
				c.Data = map[string]string{"spoilt": "yes"}
			case 1:
				c.Annotations = nil
			case 2:
				c.OwnerReferences = nil
			}
			return nil
		})
		return missing(err)
	}
}

func (s *storm) unwant(key meta.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.want, key)
}

// missing forgives that an object is not there: another part of the storm was faster.
func missing(err error) error {
	return apierrors.Ignore(err, apierrors.NotFound)
}

// task is one thing to do.
type task func(ctx context.Context) error

// do does all tasks, 16 at a time, spread over at least the given time, and returns the first error. report is called
// as they get done, from this goroutine.
func do(ctx context.Context, tasks []task, over time.Duration, report func(done int)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := make(chan task)
	done := make(chan struct{}, len(tasks))
	var wg sync.WaitGroup
	for range min(16, len(tasks)) {
		wg.Go(func() {
			for t := range queue {
				if err := t(ctx); err != nil {
					cancel(err)
				}
				done <- struct{}{}
			}
		})
	}
	began, finished := time.Now(), 0
	for i, t := range tasks {
		due := time.After(over*time.Duration(i)/time.Duration(len(tasks)) - time.Since(began))
		var ready chan task // nil until the task is due
		for sent := false; !sent && ctx.Err() == nil; {
			select {
			case <-due:
				ready = queue
			case ready <- t:
				sent = true
			case <-done:
				finished++
				report(finished)
			case <-ctx.Done():
			}
		}
	}
	close(queue)
	wg.Wait()
	finished += len(done)
	report(finished)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}
