package debug

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/leader"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
)

// registry has the informers, the controllers, the elections or the groups of replicas that run, or have run, in the
// order in which they began. One that runs again takes its former place. The type I describes it while it runs, and
// the type S is its status.
type registry[I, S any] struct {
	mu  sync.Mutex // guards all
	all []*entry[I, S]
}

// entry is one informer, controller, election or group of replicas. Addresses of the page contain its id: the name,
// with a number if it is not the first of that name. registry.mu guards all fields but id and name.
type entry[I, S any] struct {
	id, name string
	nth      int
	info     I // zero when it has ended, so that its cache or queue can be collected
	running  bool
	began    time.Time
	ended    time.Time
	last     S // its status when it ended
}

// mostEnded is how many ended entries are kept.
const mostEnded = 50

func (r *registry[I, S]) begin(name string, info I) *entry[I, S] {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	nth := 1
	for _, e := range r.all {
		if e.name != name {
			continue
		}
		if !e.running {
			e.info, e.running, e.began = info, true, now
			return e
		}
		nth = max(nth, e.nth+1)
	}
	e := &entry[I, S]{id: name, name: name, nth: nth, info: info, running: true, began: now}
	if nth > 1 {
		e.id = fmt.Sprintf("%s~%d", name, nth)
	}
	r.all = append(r.all, e)
	return e
}

func (r *registry[I, S]) end(e *entry[I, S], last S) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var none I
	e.info, e.running, e.ended, e.last = none, false, time.Now(), last
	over := -mostEnded
	for _, o := range r.all {
		if !o.running {
			over++
		}
	}
	r.all = slices.DeleteFunc(r.all, func(o *entry[I, S]) bool {
		if o.running || over <= 0 {
			return false
		}
		over--
		return true
	})
}

// snapshot returns copies of the entries.
func (r *registry[I, S]) snapshot() []entry[I, S] {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]entry[I, S], len(r.all))
	for i, e := range r.all {
		all[i] = *e
	}
	return all
}

func (r *registry[I, S]) find(id string) (entry[I, S], bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.all {
		if e.id == id {
			return *e, true
		}
	}
	return entry[I, S]{}, false
}

// caches are the informers.
type caches struct {
	registry[informer.RunInfo, informer.Status]
	lists  lists
	meters meters
}

// controls are the controllers, and votes the elections.
type (
	controls struct {
		registry[controller.RunInfo, controller.Status]
	}
	votes struct {
		registry[leader.RunInfo, leader.Status]
	}
)

// labelOf names a cache on the page: its resource, after the Status.Name of its informer if there is one, as in
// eu:configmaps.v1. Resources have no colon.
func labelOf(name string, r meta.GVR) string {
	if name == "" {
		return r.String()
	}
	return name + ":" + r.String()
}

// parseLabel is the inverse of labelOf.
func parseLabel(label string) (name, resource string) {
	if i := strings.LastIndexByte(label, ':'); i >= 0 {
		return label[:i], label[i+1:]
	}
	return "", label
}

// lists are the latest lists of each label.
type lists struct {
	mu  sync.Mutex             // guards all
	all map[string][]listModel // by labelOf
}

// listModel is a list that has ended.
type listModel struct {
	At        time.Time     `json:"at"` // when it began
	Namespace string        `json:"namespace,omitempty"`
	Cause     string        `json:"cause"`
	Mode      string        `json:"mode"`
	Objects   int           `json:"objects"`
	Took      time.Duration `json:"tookNs"`
	Err       string        `json:"error,omitempty"`
}

const mostLists = 20

func (l *lists) add(of informer.ListInfo) {
	m := listModel{
		At: time.Now().Add(-of.Duration), Namespace: clean(of.Namespace), Cause: string(of.Cause), Mode: of.Mode.String(), Objects: of.Objects,
		Took: of.Duration, Err: clean(errorText(of.Err)),
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all = make(map[string][]listModel)
	}
	label := labelOf(of.Informer, of.Resource)
	kept := append(l.all[label], m)
	if extra := len(kept) - mostLists; extra > 0 {
		kept = slices.Delete(kept, 0, extra)
	}
	l.all[label] = kept
}

// of returns the latest lists of the informers of a label, the latest first.
func (l *lists) of(label string) []listModel {
	l.mu.Lock()
	defer l.mu.Unlock()
	some := slices.Clone(l.all[label])
	slices.Reverse(some)
	return some
}

func (p *Page) informerHooks() informer.Hooks {
	return informer.Hooks{
		Run: func(_ context.Context, r informer.RunInfo) func() {
			e := p.caches.begin(labelOf(r.Status().Name, r.Resource), r)
			p.events.add(event{Kind: ofRun, What: "begins", In: r.Name})
			return func() {
				p.caches.end(e, r.Status())
				p.caches.meters.forget(e.id)
				p.events.add(event{Kind: ofRun, What: "ends", In: r.Name})
			}
		},
		List: func(_ context.Context, l informer.ListInfo) {
			p.caches.lists.add(l)
			v := event{
				Kind: ofList, What: string(l.Cause), In: labelOf(l.Informer, l.Resource), Key: objectName(meta.Key{Namespace: l.Namespace}), Took: l.Duration,
				Text: fmt.Sprintf("%s objects, %v", grouped(l.Objects), l.Mode), Bad: l.Err != nil,
			}
			if l.Err != nil {
				v.Text = l.Err.Error()
			}
			p.events.add(v)
		},
		Event: func(_ context.Context, i informer.EventInfo) {
			v := event{Kind: ofWatch, What: strings.ToLower(string(i.Type)), In: labelOf(i.Informer, i.Resource), Key: objectName(i.Identity.Key()), Bad: i.Err != nil}
			switch {
			case i.Err != nil:
				v.Text = i.Err.Error()
			case i.Identity.ResourceVersion != "":
				v.Text = "version " + i.Identity.ResourceVersion
			}
			if i.Type == client.Bookmark {
				v.Key = ""
			}
			p.events.add(v)
		},
	}
}

func (p *Page) controllerHooks() controller.Hooks {
	return controller.Hooks{
		Run: func(_ context.Context, r controller.RunInfo) func() {
			e := p.controls.begin(r.Name, r)
			p.events.add(event{Kind: ofRun, What: "begins", In: "controller " + r.Name})
			return func() {
				p.controls.end(e, r.Status())
				p.events.add(event{Kind: ofRun, What: "ends", In: "controller " + r.Name})
			}
		},
		Reconcile: func(ctx context.Context, r controller.ReconcileInfo) (context.Context, func(controller.ReconcileEnd)) {
			return ctx, func(e controller.ReconcileEnd) {
				v := event{
					Kind: ofReconcile, What: e.Outcome.String(), In: r.Controller, Key: fmt.Sprint(r.Key), Took: e.Duration,
					Bad: e.Outcome == controller.Failed || e.Outcome == controller.FailedForGood,
				}
				switch after, again := e.Result.Delay(time.Now()); {
				case e.Err != nil:
					v.Text = e.Err.Error()
				case again && after > 0:
					v.Text = "again in " + short(after)
				case again:
					v.Text = "again now: its time has passed"
				}
				if r.Attempt > 1 {
					v.Text = fmt.Sprintf("attempt %d. %s", r.Attempt, v.Text)
				}
				p.events.add(v)
			}
		},
		Fight: func(_ context.Context, f *controller.FightError) {
			what := "fight"
			if f.Over {
				what = "fight is over"
			}
			p.events.add(event{Kind: ofWarning, What: what, In: f.Controller, Key: objectName(f.Object), Text: f.Error(), Bad: !f.Over})
		},
	}
}

func (p *Page) electionBegins(_ context.Context, r leader.RunInfo) func() {
	name := fmt.Sprintf("leader election by lease %q", r.Lease)
	e := p.votes.begin(name, r)
	p.events.add(event{Kind: ofRun, What: "begins", In: name})
	return func() {
		p.votes.end(e, r.Status())
		p.events.add(event{Kind: ofRun, What: "ends", In: name})
	}
}
