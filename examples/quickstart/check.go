package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// check reads what the server holds and compares it with what must be there.
func (s *storm) check(ctx context.Context) (*summary, error) {
	s.mu.Lock()
	want := maps.Clone(s.want)
	s.mu.Unlock()
	sources, mirrors := make(map[meta.Key]*ConfigMap), make(map[meta.Key]*ConfigMap)
	for _, namespace := range s.world.namespaces {
		for c, err := range s.configMaps.All(ctx, client.ListOptions{Namespace: namespace}) {
			switch {
			case err != nil:
				return nil, err
			case strings.HasSuffix(c.Name, mirrorSuffix):
				mirrors[c.Key()] = c
			case c.Labels[mirrorLabel] == "true":
				sources[c.Key()] = c
			}
		}
	}
	out := &summary{Objects: len(want)}
	problem := func(format string, args ...any) { out.problems = append(out.problems, fmt.Sprintf(format, args...)) }
	for _, key := range sorted(want) {
		source, mirror := sources[key], mirrors[mirrorKey(key)]
		delete(mirrors, mirrorKey(key))
		switch {
		case source == nil:
			problem("%s: the source is gone", key)
		case !maps.Equal(source.Data, want[key]):
			problem("%s: the source holds %v, want %v", key, source.Data, want[key])
		case mirror == nil:
			problem("%s: the mirror is missing", key)
		case !isMirrorOf(mirror, source):
			problem("%s: the mirror holds %v with annotations %v and owners %v, want the data %v",
				key, mirror.Data, mirror.Annotations, mirror.OwnerReferences, source.Data)
		default:
			out.InSync++
			continue
		}
		out.Wrong++
	}
	for _, key := range sorted(mirrors) {
		out.Orphans++
		problem("%s: a mirror without a source", key)
	}
	for _, key := range sorted(sources) {
		if _, ok := want[key]; !ok {
			out.Wrong++
			problem("%s: a source that should be gone", key)
		}
	}
	return out, nil
}

// settle checks until everything is right, or the time of ctx runs out; then it returns what is wrong.
func (s *storm) settle(ctx context.Context, phase string, p *progress) (*summary, error) {
	var last *summary
	for {
		began := time.Now()
		now, err := s.check(ctx)
		if err == nil {
			last = now
			p.show(phase, last.InSync, last.Objects+last.Orphans)
			if len(last.problems) == 0 {
				return last, nil
			}
			// A check reads everything, so the server gets a rest of twice its duration.
			select {
			case <-time.After(max(100*time.Millisecond, 2*time.Since(began))):
				continue
			case <-ctx.Done():
				err = ctx.Err()
			}
		}
		if last == nil || !errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
			return nil, err
		}
		last.problems = append([]string{"not everything was in sync within -timeout"}, last.problems...)
		return last, nil
	}
}

func sorted[V any](m map[meta.Key]V) []meta.Key {
	return slices.SortedFunc(maps.Keys(m), meta.Key.Compare)
}
