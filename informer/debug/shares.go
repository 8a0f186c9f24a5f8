package debug

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/shards"
)

// A replica's part in a group whose replicas share the work.

// shares are the groups in which this program is a replica.
type shares struct {
	registry[shards.RunInfo, shards.Status]
}

// shareRow is a group on the first page.
type shareRow struct {
	ID       string     `json:"id"`
	Group    string     `json:"group"`
	Identity string     `json:"identity"`
	State    string     `json:"state"`  // ended, joining, sharing or leaving
	Ranges   int        `json:"ranges"` // of meta.RangeCount
	Which    string     `json:"which"`
	Since    *time.Time `json:"since,omitempty"`
	// Due is how many ranges this replica gets by the weights of the live replicas, if all are divided evenly; 0
	// without a lease.
	Due      float64    `json:"dueRanges"`
	Replicas int        `json:"replicas"` // live ones, this one included
	Silent   []string   `json:"silent,omitempty"`
	Departs  []string   `json:"leaving,omitempty"`
	Waits    int        `json:"waits"`    // ranges that other replicas have not given up yet
	Prepares int        `json:"prepares"` // ranges that some caches or controllers are not ready for
	Unready  []string   `json:"unready,omitempty"`
	Unowned  int        `json:"unowned"` // ranges that no replica works on or waits for
	Lost     *time.Time `json:"lost,omitempty"`
	LostErr  string     `json:"lostError,omitempty"`
	Blocked  string     `json:"blocked,omitempty"`
	LeaseErr string     `json:"leaseError,omitempty"` // of this replica's lease
	Err      string     `json:"error,omitempty"`      // of the leases of the group
}

// sharesView is the page of one group.
type sharesView struct {
	At time.Time `json:"at"`
	shareRow
	Lease       string      `json:"lease"`
	Left        string      `json:"left,omitempty"`
	WaitsFor    string      `json:"waitsFor,omitempty"`
	PreparesFor string      `json:"preparesFor,omitempty"`
	Nobodys     string      `json:"nobodys,omitempty"`
	Members     []memberRow `json:"members"`
	MoreMembers int         `json:"moreMembers,omitempty"`
	RunSince    time.Time   `json:"runningSince"`
	Ended       *time.Time  `json:"ended,omitempty"`
}

// memberRow is a replica.
type memberRow struct {
	Identity string  `json:"identity"`
	Lease    string  `json:"lease"`
	Self     bool    `json:"self"`
	State    string  `json:"state"` // live, leaving or silent
	Weight   int     `json:"weight"`
	Ranges   int     `json:"ranges"`
	Due      float64 `json:"dueRanges"` // see shareRow
	Which    string  `json:"which"`
}

// mostNames bounds the names in a row, and mostMembers the replicas on a page.
const (
	mostNames   = 20
	mostMembers = 300
)

func newShareRow(e entry[shards.RunInfo, shards.Status]) (shareRow, shards.Status) {
	s := e.last
	if e.running {
		s = e.info.Status()
	}
	row := shareRow{
		ID: clean(e.id), Group: clean(objectName(s.Group)), Identity: clean(s.Identity), State: "sharing",
		Ranges: s.Ranges.Len(), Which: s.Ranges.String(), Since: at(s.Since), Waits: s.Waits.Len(), Prepares: s.Prepares.Len(),
		Unowned: s.Unowned.Len(), Lost: at(s.Lost), LostErr: clean(errorText(s.LostErr)), Blocked: clean(errorText(s.Blocked)),
		LeaseErr: clean(errorText(s.LeaseErr)), Err: clean(errorText(s.Err)),
	}
	switch {
	case !e.running:
		row.State = "ended"
		return row, s
	case !s.Joined:
		row.State = "joining"
	case s.Leaving:
		row.State = "leaving"
	}
	row.Unready = names(s.Unready)
	for _, m := range s.Members {
		switch {
		case m.Lost:
			row.Silent = append(row.Silent, m.Identity)
			continue
		case m.Leaving && !m.Self:
			row.Departs = append(row.Departs, m.Identity)
		}
		row.Replicas++
		if m.Self {
			row.Due = m.Due
		}
	}
	row.Silent, row.Departs = names(row.Silent), names(row.Departs)
	return row, s
}

// names returns texts from outside this package, fit to be shown, and at most mostNames of them.
func names(all []string) []string {
	var some []string
	for i, name := range all {
		if i == mostNames {
			return append(some, "and "+plural(len(all)-i, "other"))
		}
		some = append(some, clean(name))
	}
	return some
}

func (p *Page) sharesView(id string) (view, error) {
	e, ok := p.shares.find(id)
	if !ok {
		return nil, fmt.Errorf("%w: no group of replicas is named %q", errNotFound, id)
	}
	row, s := newShareRow(e)
	v := sharesView{
		At: time.Now(), shareRow: row, Lease: clean(objectName(s.Lease)), WaitsFor: s.Waits.String(), PreparesFor: s.Prepares.String(),
		Nobodys: s.Unowned.String(), Members: []memberRow{}, RunSince: e.began,
	}
	if s.Left > 0 && e.running {
		v.Left = short(s.Left)
	}
	if !e.running {
		v.Ended = at(e.ended)
		return v, nil
	}
	for _, m := range s.Members {
		state := "live"
		switch {
		case m.Lost:
			state = "silent"
		case m.Leaving:
			state = "leaving"
		}
		v.Members = append(v.Members, memberRow{
			Identity: clean(m.Identity), Lease: clean(m.Lease), Self: m.Self, State: state, Weight: m.Weight, Ranges: m.Ranges.Len(),
			Due: m.Due, Which: m.Ranges.String(),
		})
	}
	// This replica comes first, then the silent ones.
	rank := func(m memberRow) int {
		switch {
		case m.Self:
			return 0
		case m.State == "silent":
			return 1
		}
		return 2
	}
	slices.SortStableFunc(v.Members, func(a, b memberRow) int { return cmp.Compare(rank(a), rank(b)) })
	if v.MoreMembers = max(0, len(v.Members)-mostMembers); v.MoreMembers > 0 {
		v.Members = v.Members[:mostMembers]
	}
	return v, nil
}

// lossFor is how long a loss of all ranges counts as a problem after the replica has joined again.
const lossFor = 10 * time.Minute

// problems finds what a person should check.
func (row shareRow) problems(now time.Time, add func(severe bool, link, what, format string, args ...any)) {
	where, what := link("shards", row.ID), "replica "+row.Identity
	switch {
	case row.State == "ended":
		return
	case row.State == "joining" && row.LeaseErr != "":
		add(true, where, what, "it has no lease, so it has no ranges: %s", row.LeaseErr)
	case row.State == "joining":
		add(false, where, what, "it has no lease yet, so it has no ranges")
	case row.LeaseErr != "":
		add(false, where, what, "it cannot write its lease: %s", row.LeaseErr)
	}
	if row.Err != "" {
		add(false, where, what, "the leases of its group cannot be read: %s", row.Err)
	}
	if row.Blocked != "" {
		add(true, where, what, "%s", row.Blocked)
	}
	if row.Lost != nil && now.Sub(*row.Lost) < lossFor {
		add(false, where, what, "it lost all its ranges %s ago: %s", short(max(0, now.Sub(*row.Lost))), row.LostErr)
	}
	if row.Blocked == "" && row.Prepares > 0 && len(row.Unready) > 0 {
		add(false, where, what, "not ready for %s: %s", plural(row.Prepares, "range"), strings.Join(row.Unready, ", "))
	}
	if row.Unowned > 0 {
		add(false, where, what, "nobody works on %s", plural(row.Unowned, "range"))
	}
	if len(row.Silent) > 0 {
		add(false, where, what, "other replicas have lost their leases: %s", strings.Join(row.Silent, ", "))
	}
}

func (p *Page) sharingBegins(_ context.Context, r shards.RunInfo) func() {
	name := shardsName(r.Group)
	e := p.shares.begin(name, r)
	p.events.add(event{Kind: ofRun, What: "begins", In: name})
	return func() {
		p.shares.end(e, r.Status())
		p.events.add(event{Kind: ofRun, What: "ends", In: name})
	}
}

// shardsName names a group on the page.
func shardsName(group meta.Key) string { return fmt.Sprintf("shards %q", group) }

func (p *Page) sharesChange(_ context.Context, c shards.ChangedInfo) {
	v := event{Kind: ofRanges, What: "ranges", In: shardsName(c.Group), Text: fmt.Sprintf("%d now", c.Ranges.Len()), Bad: c.Err != nil}
	for _, part := range []struct {
		what string
		n    int
	}{{"gained", c.Gained.Len()}, {"given up", c.Lost.Len()}} {
		if part.n > 0 {
			if c.Err != nil {
				part.what = "lost"
			}
			v.Text = fmt.Sprintf("%d %s, %s", part.n, part.what, v.Text)
		}
	}
	if c.Err != nil {
		v.Text += ": " + c.Err.Error()
	}
	p.events.add(v)
}
