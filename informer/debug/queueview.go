package debug

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bowline-go/bowline/workqueue"
)

// mostKeys is how many keys of each list of a queue are on a page.
const mostKeys = 100

// controllerView is the page of one controller: its queue, key by key.
type controllerView struct {
	At time.Time `json:"at"`
	controllerRow
	Query string  `json:"query,omitempty"`
	Lists []queue `json:"queue"`
	Fight []fight `json:"fighting,omitempty"`
	// Groups are the groups of Controller.GroupBy, which share the workers: those with the most ready keys first.
	Groups     []groupRow `json:"groups,omitempty"`
	MoreGroups int        `json:"moreGroups,omitempty"`
}

// groupRow is a group of keys that shares the workers with other groups.
type groupRow struct {
	Name       string        `json:"name"`
	Weight     int           `json:"weight"`
	InProgress int           `json:"inProgress"`
	Ready      int           `json:"ready"`
	Oldest     time.Duration `json:"oldestNs"`
}

// mostGroups is how many groups of keys are on a page.
const mostGroups = 100

// queue is one list of keys.
type queue struct {
	Name string `json:"name"`
	Keys []key  `json:"keys"`
	More int    `json:"more,omitempty"`
	what string // for people
}

type key struct {
	Key      string     `json:"key"`
	Pending  string     `json:"pending,omitempty"` // what the next run waits for
	Due      *time.Time `json:"due,omitempty"`     // since when the key is ready, or when it becomes ready
	Started  *time.Time `json:"started,omitempty"` // since when the key is in progress
	Priority int        `json:"priority"`
	Failures int        `json:"failures,omitempty"`
	Err      string     `json:"lastError,omitempty"`
}

// fight is an object that another writer changes back.
type fight struct {
	Text  string    `json:"text"`
	Since time.Time `json:"since"`
	Count int       `json:"count"`
}

func (p *Page) controllerView(id, query string) (view, error) {
	e, ok := p.controls.find(id)
	if !ok {
		return nil, fmt.Errorf("%w: no controller is named %q", errNotFound, id)
	}
	v := controllerView{At: time.Now(), controllerRow: newControllerRow(e), Query: clean(query)}
	v.Lists = []queue{
		{Name: "failing", what: "Failing"},
		{Name: "inProgress", what: "In progress"},
		{Name: "ready", what: "Ready, in the order of the workers"},
		{Name: "delayed", what: "Delayed, held or throttled"},
	}
	for i := range v.Lists {
		v.Lists[i].Keys = []key{}
	}
	if !e.running {
		return v, nil
	}
	query = strings.ToLower(strings.TrimSpace(query))
	for k := range e.info.Keys() {
		if k.Failures > 0 {
			v.Lists[0].add(k, query)
		}
		switch {
		case !k.Started.IsZero():
			v.Lists[1].add(k, query)
		case k.Pending == workqueue.Ready:
			v.Lists[2].add(k, query)
		case k.Pending != workqueue.NotPending:
			v.Lists[3].add(k, query)
		}
	}
	for _, f := range e.info.Status().Fights {
		v.Fight = append(v.Fight, fight{clean(f.Error()), f.Since.Round(0), f.Count})
	}
	v.groups(e.info.Groups())
	return v, nil
}

// groups adds groups of keys.
func (v *controllerView) groups(all []workqueue.GroupStats) {
	slices.SortStableFunc(all, func(a, b workqueue.GroupStats) int {
		return cmp.Or(cmp.Compare(b.Ready, a.Ready), cmp.Compare(b.InProgress, a.InProgress))
	})
	if v.MoreGroups = max(0, len(all)-mostGroups); v.MoreGroups > 0 {
		all = all[:mostGroups]
	}
	for _, g := range all {
		v.Groups = append(v.Groups, groupRow{clean(g.Name), g.Weight, g.InProgress, g.Ready, g.Oldest})
	}
}

func (q *queue) add(k workqueue.KeyInfo[any], query string) {
	if query == "" && len(q.Keys) == mostKeys {
		q.More++
		return
	}
	text := fmt.Sprint(k.Key)
	switch {
	case !strings.Contains(strings.ToLower(text), query):
		return
	case len(q.Keys) == mostKeys:
		q.More++
		return
	}
	one := key{
		Key: clean(text), Due: at(k.Due), Started: at(k.Started), Priority: k.Priority, Failures: k.Failures, Err: clean(errorText(k.LastError)),
	}
	if k.Pending != workqueue.NotPending {
		one.Pending = k.Pending.String()
	} else {
		one.Priority = k.RunPriority
	}
	q.Keys = append(q.Keys, one)
}
