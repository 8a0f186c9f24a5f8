package ctrlcache

import (
	"errors"
	"slices"
	"time"

	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
)

// joined shows the two informers of an entry as one. Calls of a handler that is added to it may overlap, as with
// controller-runtime's informer of several namespaces.
type joined struct {
	name   string
	parts  []*part
	synced <-chan struct{} // closed soon after all parts are
}

var _ cache.Informer = &joined{}

func newJoined(name string, parts []*part) *joined {
	done := make([]<-chan struct{}, len(parts))
	for i, p := range parts {
		done[i] = p.synced
	}
	return &joined{name, parts, allOf(parts[0], done)}
}

// joinedRegistration has a registration of each part.
type joinedRegistration struct {
	name   string
	parts  []toolscache.ResourceEventHandlerRegistration
	synced <-chan struct{} // closed soon after all parts are
}

func (r *joinedRegistration) HasSynced() bool {
	return !slices.ContainsFunc(r.parts, func(p toolscache.ResourceEventHandlerRegistration) bool { return !p.HasSynced() })
}

func (r *joinedRegistration) HasSyncedChecker() toolscache.DoneChecker {
	return checker{r.name, r.synced}
}

// allOf returns a channel that is closed when all of done are. It closes the channel only while p runs.
func allOf(p *part, done []<-chan struct{}) <-chan struct{} {
	all := make(chan struct{})
	p.attend(func(ending <-chan struct{}) {
		for _, d := range done {
			select {
			case <-d:
			case <-ending:
				return
			}
		}
		close(all)
	})
	return all
}

func (j *joined) each(add func(p *part) (toolscache.ResourceEventHandlerRegistration, error)) (
	toolscache.ResourceEventHandlerRegistration, error,
) {
	r := &joinedRegistration{name: "handler of " + j.name}
	var done []<-chan struct{}
	for _, p := range j.parts {
		added, err := add(p)
		if err != nil {
			return nil, errors.Join(err, j.RemoveEventHandler(r))
		}
		r.parts = append(r.parts, added)
		done = append(done, added.HasSyncedChecker().Done())
	}
	r.synced = allOf(j.parts[0], done)
	return r, nil
}

func (j *joined) AddEventHandler(h toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	return j.each(func(p *part) (toolscache.ResourceEventHandlerRegistration, error) { return p.AddEventHandler(h) })
}

func (j *joined) AddEventHandlerWithResyncPeriod(h toolscache.ResourceEventHandler, period time.Duration) (
	toolscache.ResourceEventHandlerRegistration, error,
) {
	return j.each(func(p *part) (toolscache.ResourceEventHandlerRegistration, error) {
		return p.AddEventHandlerWithResyncPeriod(h, period)
	})
}

func (j *joined) AddEventHandlerWithOptions(h toolscache.ResourceEventHandler, o toolscache.HandlerOptions) (
	toolscache.ResourceEventHandlerRegistration, error,
) {
	return j.each(func(p *part) (toolscache.ResourceEventHandlerRegistration, error) {
		return p.AddEventHandlerWithOptions(h, o)
	})
}

func (j *joined) RemoveEventHandler(handle toolscache.ResourceEventHandlerRegistration) error {
	r, ok := handle.(*joinedRegistration)
	if !ok {
		return errors.New("remove event handler: the registration belongs to another informer")
	}
	var errs []error
	for i, p := range r.parts {
		errs = append(errs, j.parts[i].RemoveEventHandler(p))
	}
	return errors.Join(errs...)
}

func (j *joined) AddIndexers(more toolscache.Indexers) error {
	for _, p := range j.parts {
		if err := p.AddIndexers(more); err != nil {
			return err
		}
	}
	return nil
}

func (j *joined) HasSynced() bool {
	return !slices.ContainsFunc(j.parts, func(p *part) bool { return !p.HasSynced() })
}

func (j *joined) HasSyncedChecker() toolscache.DoneChecker { return checker{j.name, j.synced} }

func (j *joined) IsStopped() bool {
	for _, p := range j.parts {
		if !p.IsStopped() {
			return false
		}
	}
	return true
}
