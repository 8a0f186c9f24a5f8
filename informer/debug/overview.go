package debug

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/internal/version"
)

// overview is the first page: everything that runs, with problems first.
type overview struct {
	At          time.Time       `json:"at"`
	Program     program         `json:"program"`
	Problems    []problem       `json:"problems"`
	Caches      []cacheRow      `json:"caches"`
	Controllers []controllerRow `json:"controllers"`
	Elections   []electionRow   `json:"elections"`
	Shards      []shareRow      `json:"shards"`
	Requests    requestsModel   `json:"requests"`
	Credentials []credentialRow `json:"credentials"`
	Health      *health         `json:"health,omitempty"`
	Events      map[kind]int    `json:"events"`
}

// program is the process.
type program struct {
	Title      string    `json:"title"`
	Version    string    `json:"version,omitempty"`
	Bowline    string    `json:"bowline"` // the version of this library
	Go         string    `json:"go"`
	Since      time.Time `json:"since"` // when the Page was made
	Goroutines int       `json:"goroutines"`
	Heap       int64     `json:"heapBytes"`
}

// problem is something that a person should check.
type problem struct {
	Severe bool   `json:"severe"` // something does not work now
	What   string `json:"what"`
	Text   string `json:"text"`
	link   string
}

// health is the Group's report about itself.
type health struct {
	Live  string `json:"live,omitempty"`  // why it is not alive
	Ready string `json:"ready,omitempty"` // why it is not ready
}

type cacheRow struct {
	ID          string         `json:"id"`
	Resource    string         `json:"resource"`
	Informer    string         `json:"informer,omitempty"` // Status.Name
	Name        string         `json:"name"`               // the informer's name
	Running     bool           `json:"running"`
	State       string         `json:"state"`
	Synced      bool           `json:"synced"`
	Stale       bool           `json:"stale,omitempty"`
	Renewed     *time.Time     `json:"renewed,omitempty"`
	Polling     string         `json:"polling,omitempty"` // why it reads the collection again and again
	PollsSince  *time.Time     `json:"pollsSince,omitempty"`
	Objects     int            `json:"objects"`
	Ranges      int            `json:"ranges,omitempty"` // ranges with a complete list, with Options.Shards
	Which       string         `json:"which,omitempty"`
	Sharded     string         `json:"sharded,omitempty"` // where the ranges are selected; empty without Options.Shards
	Memory      int64          `json:"memoryBytes"`       // estimated
	Version     string         `json:"resourceVersion,omitempty"`
	LastEvent   *time.Time     `json:"lastEvent,omitempty"`
	Lists       int            `json:"lists"`
	Watches     int            `json:"watches"`
	Events      int            `json:"events"`
	Relists     map[string]int `json:"relists,omitempty"`
	Resets      int            `json:"resets,omitempty"`
	Undecodable int            `json:"undecodable"`
	Backlog     int            `json:"backlog"`
	BacklogAge  time.Duration  `json:"backlogAgeNs"`
	Items       int            `json:"items,omitempty"` // objects of the list in progress
	Remaining   int            `json:"remaining,omitempty"`
	Err         string         `json:"error,omitempty"`
	ErrAt       *time.Time     `json:"errorAt,omitempty"`
	shaky       bool           // it watches, but its last error is recent
}

type controllerRow struct {
	ID         string        `json:"id"`
	Name       string        `json:"name"`
	State      string        `json:"state"`
	Workers    int           `json:"workers"`
	Paused     bool          `json:"paused"`
	InProgress int           `json:"inProgress"`
	Longest    time.Duration `json:"longestNs"`
	Ready      int           `json:"ready"`
	Oldest     time.Duration `json:"oldestNs"`
	Delayed    int           `json:"delayed"`
	Held       int           `json:"held"`
	Throttled  int           `json:"throttled"`
	Failing    int           `json:"failing"`
	Reconciles int           `json:"reconciles"`
	Errors     int           `json:"errors"`
	Panics     int           `json:"panics"`
	Terminal   int           `json:"terminal"`
	Conflicts  int           `json:"conflicts"`
	Timeouts   int           `json:"timeouts"`
	Fights     int           `json:"fights"`
	Unsynced   []string      `json:"unsynced,omitempty"`
	LastError  string        `json:"lastError,omitempty"`
}

type electionRow struct {
	ID       string        `json:"id"`
	Lease    string        `json:"lease"`
	Identity string        `json:"identity"`
	Running  bool          `json:"running"`
	Leading  bool          `json:"leading"`
	Leader   string        `json:"leader,omitempty"`
	Since    *time.Time    `json:"since,omitempty"`
	Term     int64         `json:"term"`
	Observed *time.Time    `json:"observed,omitempty"`
	Left     time.Duration `json:"leftNs"`
	Err      string        `json:"error,omitempty"`
}

type credentialRow struct {
	Client   string     `json:"client"`
	From     string     `json:"from"`
	Obtained *time.Time `json:"obtained,omitempty"`
	Expires  *time.Time `json:"expires,omitempty"`
	Err      string     `json:"error,omitempty"`
}

func (p *Page) overview() overview {
	now := time.Now()
	v := overview{
		At: now, Program: p.program(), Caches: []cacheRow{}, Controllers: []controllerRow{}, Elections: []electionRow{}, Shards: []shareRow{},
		Credentials: []credentialRow{}, Requests: p.requestsModel(now), Events: p.events.counts(),
	}
	for _, e := range p.caches.snapshot() {
		v.Caches = append(v.Caches, p.cacheRow(e, now))
	}
	for _, e := range p.controls.snapshot() {
		v.Controllers = append(v.Controllers, newControllerRow(e))
	}
	for _, e := range p.votes.snapshot() {
		s := e.last
		if e.running {
			s = e.info.Status()
		}
		v.Elections = append(v.Elections, electionRow{
			ID: clean(e.id), Lease: clean(objectName(s.Lease)), Identity: clean(s.Identity), Running: s.Running && e.running, Leading: s.Leading,
			Leader: clean(s.Leader), Since: at(s.Since), Term: s.Term, Observed: at(s.Observed), Left: s.Left, Err: clean(errorText(s.Err)),
		})
	}
	for _, e := range p.shares.snapshot() {
		row, _ := newShareRow(e)
		v.Shards = append(v.Shards, row)
	}
	for _, c := range p.o.Clients {
		s := c.CredentialStatus()
		v.Credentials = append(v.Credentials, credentialRow{
			Client: clean(c.String()), From: clean(cmp.Or(s.From, "anonymous")), Obtained: at(s.Obtained), Expires: at(s.Expires),
			Err: clean(errorText(s.Err)),
		})
	}
	if g := p.o.Group; g != nil {
		v.Health = &health{Live: clean(errorText(g.Live())), Ready: clean(errorText(g.Ready()))}
	}
	v.Problems = v.problems()
	return v
}

func (p *Page) program() program {
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(heap)
	out := program{
		Title: clean(p.o.Title), Bowline: version.Bowline(), Go: runtime.Version(), Since: p.began,
		Goroutines: runtime.NumGoroutine(),
	}
	if heap[0].Value.Kind() == metrics.KindUint64 {
		out.Heap = int64(heap[0].Value.Uint64())
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "(devel)" {
		out.Version = info.Main.Version
	}
	return out
}

func (p *Page) cacheRow(e entry[informer.RunInfo, informer.Status], now time.Time) cacheRow {
	s := e.last
	name, resource := parseLabel(e.name)
	row := cacheRow{ID: e.id, Resource: resource, Informer: name, Running: e.running, Name: "informer of " + resource}
	if name != "" {
		row.Name = fmt.Sprintf("informer %q of %s", name, resource)
	}
	if e.running {
		s = e.info.Status()
		row.Name = e.info.Name
		row.Memory = p.caches.meters.of(e.id, e.info, s.Objects, now)
		row.Backlog, row.BacklogAge = e.info.Backlog()
	}
	row.State, row.Synced, row.Objects, row.Version = stateOf(s), s.Synced, s.Objects, clean(s.ResourceVersion)
	row.Stale, row.Renewed, row.Polling, row.PollsSince = s.Stale, at(s.Renewed), clean(errorText(s.Polling)), at(s.PollingSince)
	if !e.running {
		row.State, row.Objects = "ended", 0
	} else if s.Sharded != "" || s.Ranges != (meta.Ranges{}) {
		row.Ranges, row.Which, row.Sharded = s.Ranges.Len(), s.Ranges.String(), string(s.Sharded)
	}
	row.LastEvent, row.Lists, row.Watches, row.Events, row.Resets = at(s.LastEvent), s.Lists, s.Watches, s.Events, s.Resets
	row.Undecodable = len(s.Undecodable)
	if s.State == informer.Listing {
		row.Items, row.Remaining = s.Listed, s.Remaining
	}
	if len(s.Relists) > 0 {
		row.Relists = make(map[string]int)
		for cause, n := range s.Relists {
			row.Relists[string(cause)] = n
		}
	}
	if s.Err != nil {
		// A status keeps its error until something arrives, or a watch has been open for a second.
		row.Err, row.ErrAt = clean(s.Err.Error()), at(s.Since)
		row.shaky = e.running && s.Synced && s.State == informer.Watching && now.Sub(s.Since) < shakyFor
	}
	return row
}

// stateOf names the activity of an informer. It is "polling" in every state of an informer that polls.
func stateOf(s informer.Status) string {
	if s.Polling != nil {
		return "polling"
	}
	return strings.ToLower(s.State.String())
}

func newControllerRow(e entry[controller.RunInfo, controller.Status]) controllerRow {
	s := e.last
	if e.running {
		s = e.info.Status()
	}
	q := s.Queue
	row := controllerRow{
		ID: e.id, Name: clean(e.name), State: s.State.String(), Workers: s.Workers, Paused: s.Paused,
		InProgress: q.InProgress, Longest: q.Longest, Ready: q.Ready, Oldest: q.Oldest, Delayed: q.Delayed, Held: q.Held, Throttled: q.Throttled,
		Failing: s.Failing, Reconciles: s.Reconciles, Errors: s.Errors, Panics: s.Panics, Terminal: s.Terminal, Conflicts: s.Conflicts,
		Timeouts: s.Timeouts, Fights: s.Fighting, LastError: clean(errorText(s.LastError)),
	}
	if !e.running {
		row.Paused = false
		row.State, row.InProgress, row.Ready, row.Delayed, row.Held, row.Throttled, row.Failing = "ended", 0, 0, 0, 0, 0, 0
	}
	for _, u := range s.Unsynced {
		row.Unsynced = append(row.Unsynced, clean(u.Error()))
	}
	return row
}

// The times after which the page reports that something takes long.
const (
	longRequest   = 30 * time.Second
	longReconcile = 5 * time.Minute
	soonExpired   = 5 * time.Minute
	// shakyFor is how long a watch that works again after an error still counts as a problem.
	shakyFor = time.Minute
)

// problems finds what a person should check, with current failures first.
func (v overview) problems() []problem {
	all := []problem{}
	add := func(severe bool, link, what, format string, args ...any) {
		all = append(all, problem{severe, what, fmt.Sprintf(format, args...), link})
	}
	if h := v.Health; h != nil {
		if h.Live != "" {
			add(true, "", "program", "it should be restarted: %s", h.Live)
		}
		if h.Ready != "" {
			add(false, "", "program", "it is not ready: %s", h.Ready)
		}
	}
	for _, c := range v.Caches {
		where := link("cache", c.ID)
		switch {
		case !c.Running:
		case !c.Synced && c.Err != "":
			add(true, where, c.ID, "no complete list yet: %s", c.Err)
		case !c.Synced:
			add(false, where, c.ID, "no complete list yet: %s objects so far", grouped(c.Items))
		case c.Err != "" && c.State != "watching":
			add(true, where, c.ID, "%s", c.Err)
		case c.shaky:
			add(false, where, c.ID, "it watches again; last error: %s", c.Err)
		}
		if c.Undecodable > 0 {
			add(false, where, c.ID, "undecodable: %s", plural(c.Undecodable, "object"))
		}
	}
	for _, c := range v.Controllers {
		where := link("controller", c.ID)
		if len(c.Unsynced) > 0 {
			add(true, where, c.Name, "it waits for %s", strings.Join(c.Unsynced, "; "))
		}
		if c.Paused {
			add(false, where, c.Name, "it is paused: %s ready", areKeys(c.Ready))
		}
		if c.Failing > 0 {
			add(false, where, c.Name, "%s failing; last error: %s", areKeys(c.Failing), cmp.Or(c.LastError, "none"))
		}
		if c.Fights > 0 {
			add(false, where, c.Name, "other writers undo what it writes to %s", plural(c.Fights, "object"))
		}
		if c.InProgress > 0 && c.Longest > longReconcile {
			add(false, where, c.Name, "a reconcile has been in progress for %s", short(c.Longest))
		}
	}
	for _, e := range v.Elections {
		if e.Running && e.Err != "" {
			add(true, "", "lease "+e.Lease, "%s", e.Err)
		}
	}
	for _, s := range v.Shards {
		s.problems(v.At, add)
	}
	for _, c := range v.Credentials {
		switch {
		case c.Expires != nil && !c.Expires.After(v.At):
			add(true, "", c.Client, "the credential has expired by the clock of this machine; the client still sends it, because the clock of the server decides")
		case c.Err != "":
			add(false, "", c.Client, "the credential is not renewed: %s", c.Err)
		case c.Expires != nil && c.Expires.Sub(v.At) < soonExpired && c.Obtained == nil:
			add(false, "", c.Client, "the credential expires in %s, and nothing renews it", short(c.Expires.Sub(v.At)))
		}
	}
	if v.Requests.Longest > longRequest {
		add(false, "", "requests", "a request has had no answer for %s", short(v.Requests.Longest))
	}
	slices.SortStableFunc(all, func(a, b problem) int {
		switch {
		case a.Severe == b.Severe:
			return 0
		case a.Severe:
			return -1
		}
		return 1
	})
	return all
}

// at returns a pointer to t, nil for the zero time, which JSON leaves out.
func at(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.Round(0)
	return &t
}

var errNotAllowed = errors.New("the page shows no objects: debug.Options.Objects is not set")
