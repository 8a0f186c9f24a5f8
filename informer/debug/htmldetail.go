package debug

import (
	"cmp"
	"strconv"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
)

// The pages of a cache, of an object, of a controller and of events in HTML.

func (v cacheView) title() string { return v.ID }

func (v cacheView) body(m *markup) {
	m.crumbs("Cache", v.ID)
	v.badge(m)
	m.raw("</h1>")
	if v.Err != "" {
		m.raw(`<p class="alert">`).text(v.Err).raw(` <small>`).ago(v.ErrAt, v.At).raw("</small></p>")
	}
	m.raw(`<dl class="facts">`)
	m.factNumber("Objects", v.Objects)
	if v.Sharded != "" {
		m.fact("Ranges", func() { m.number(v.Ranges).raw(" of ").number(meta.RangeCount) }).factText("Which", v.Which)
		m.factText("Selected", map[bool]string{true: "by the server", false: "here; the server sends everything"}[v.Sharded == string(informer.ShardedByServer)])
	}
	m.factText("Memory, estimated", size(v.Memory)).factText("Version", v.Version)
	m.fact("Last event", func() { m.ago(v.LastEvent, v.At) })
	if v.Stale {
		m.fact("Stale, last renewed", func() { m.ago(v.Renewed, v.At) })
	}
	if v.Polling != "" {
		m.fact("Polls since", func() { m.ago(v.PollsSince, v.At) })
		m.factText("Why it polls", v.Polling)
	}
	m.factNumber("Events", v.Events).factNumber("Lists", v.Lists).factNumber("Watches", v.Watches)
	text, _ := relists(v.Relists)
	m.factText("Relists", text)
	if v.Resets > 0 {
		m.factNumber("Resets", v.Resets)
	}
	if v.Items > 0 && v.State == "listing" {
		m.fact("Listed", func() {
			if m.number(v.Items); v.Remaining > 0 {
				m.raw(" of ").number(v.Items + v.Remaining)
			}
		})
	}
	m.fact("Backlog", func() {
		if m.number(v.Backlog); v.Backlog > 0 {
			m.raw(" <small>").text(short(v.BacklogAge)).raw("</small>")
		}
	})
	m.factText("Lists are", v.Mode).factText("Form", map[bool]string{true: "protobuf", false: "JSON"}[v.Protobuf])
	if v.Why != "" {
		m.factText("Why so listed", v.Why)
	}
	if v.WhyJSON != "" {
		m.factText("Why JSON", v.WhyJSON)
	}
	if v.Warm > 0 {
		m.factNumber("From an earlier process", v.Warm)
	}
	if v.Cold != "" {
		m.factText("Why none is from an earlier process", v.Cold)
	}
	if v.Ended != nil {
		m.fact("Ended", func() { m.ago(v.Ended, v.At) })
	} else {
		m.fact("Running for", func() { m.text(short(v.At.Sub(v.Since))) })
	}
	m.raw("</dl>")
	v.undecodable(m)
	if v.Search != nil && (v.Search.Query != "" || v.Search.After != "") { // the user is searching for an object
		v.objects(m)
		return
	}
	v.lists(m)
	v.namespaceTable(m)
	v.objects(m)
}

func (v cacheView) undecodable(m *markup) {
	h := heading{id: "undecodable", text: "Undecodable objects", caption: "Undecodable objects", noun: "object", counted: true, left: v.MoreBad}
	section(m, h, v.BadObjects,
		left("Object", func(b badObject) { m.text(b.Key) }),
		right("Version", func(b badObject) { m.orNone(versionText(b.Version)) }),
		left("Error", func(b badObject) { m.text(b.Err) }),
	)
}

func (v cacheView) objects(m *markup) {
	m.raw(`<section aria-labelledby="objects"><h2 id="objects">Objects`)
	if v.Search == nil {
		m.raw("</h2>")
		if v.Running {
			m.raw(`<p class="empty">The page shows no objects. The program allows it with <code>debug.Options.Objects</code>.</p>`)
		}
		m.raw("</section>")
		return
	}
	s := v.Search
	m.raw(" ").count(s.Total).raw("</h2>").searchForm("Namespace or name", s.Query, "cache", v.ID)
	if len(s.Found) == 0 {
		m.raw(`<p class="empty">No object matches.</p></section>`)
		return
	}
	table(m, "Objects", s.Found,
		left("Object", func(f found) { m.link(link("cache", v.ID, "object", keyText(f.key)), f.Key) }),
		right("Version", func(f found) { m.orNone(versionText(f.Version)) }),
	)
	if s.More > 0 {
		m.raw(`<p class="more">`).link(link("cache", v.ID, "q", s.Query, "after", s.Next), "and "+plural(s.More, "object")+" more").raw("</p>")
	}
	m.raw("</section>")
}

func (v cacheView) lists(m *markup) {
	section(m, heading{id: "lists", text: "Latest lists of the resource", caption: "Latest lists", noun: "list"}, v.LatestLists,
		right("When", func(l listModel) { m.ago(&l.At, v.At) }),
		left("Cause", func(l listModel) { m.text(l.Cause) }),
		left("Namespace", func(l listModel) { m.orNone(l.Namespace) }),
		left("Mode", func(l listModel) { m.text(l.Mode) }),
		right("Objects", func(l listModel) { m.number(l.Objects) }),
		right("Took", func(l listModel) { m.text(short(l.Took)) }),
		left("Error", func(l listModel) { m.orNone(l.Err) }),
	)
}

func (v cacheView) namespaceTable(m *markup) {
	h := heading{id: "namespaces", text: "Namespaces", caption: "Namespaces", noun: "namespace", counted: true, left: v.MoreNamespaces}
	section(m, h, v.Namespaces,
		left("Namespace", func(n namespaceModel) { m.text(n.Name) }),
		left("State", func(n namespaceModel) {
			cacheRow{Running: true, State: n.State, Synced: n.Synced, Stale: n.Stale, Err: n.Err}.badge(m)
		}),
		right("Objects", func(n namespaceModel) { m.number(n.Objects) }),
		right("Version", func(n namespaceModel) { m.orNone(versionText(n.Version)) }),
		right("Last event", func(n namespaceModel) { m.ago(n.LastEvent, v.At) }),
		right("Relists", func(n namespaceModel) { m.number(n.Relists) }),
		left("Error", func(n namespaceModel) { m.clip(n.Err) }),
	)
}

func (v objectView) title() string { return v.Key }

func (v objectView) body(m *markup) {
	m.raw(`<p class="crumbs">`).link("?", "Overview").raw(" / ").link(link("cache", v.Cache), v.Cache).raw(` / Object</p><h1>`).text(v.Key).raw("</h1>")
	m.raw(`<dl class="facts">`).factText("Version", v.Version).factText("UID", v.UID).raw("</dl>")
	if v.Redacted {
		m.raw(`<p class="note">The values of this Secret are not shown.</p>`)
	}
	m.raw(`<pre tabindex="0" aria-label="The object as JSON">`).lines(v.text).raw("</pre>")
	if v.cut > 0 {
		m.raw(`<p class="more">and `).text(size(int64(v.cut))).raw(" more</p>")
	}
	m.raw(`<p class="note">This is the object as the cache holds it. It may lack fields that the program does not read.</p>`)
}

func (v controllerView) title() string { return "Controller " + v.Name }

func (v controllerView) body(m *markup) {
	m.crumbs("Controller", v.ID)
	v.badge(m)
	m.raw("</h1>")
	if v.Paused {
		m.alert("It is paused: no reconcile starts until Resume is called.")
	}
	for _, u := range v.Unsynced {
		m.alert("It waits for " + u)
	}
	m.raw(`<dl class="facts">`)
	m.fact("Workers", func() { m.number(v.InProgress).raw(" of ").number(v.Workers) })
	m.factNumber("Ready", v.Ready).factNumber("Delayed", v.Delayed).factNumber("Held", v.Held).factNumber("Throttled", v.Throttled)
	m.factNumber("Failing", v.Failing).factNumber("Reconciles", v.Reconciles).factNumber("Errors", v.Errors).factNumber("Panics", v.Panics)
	m.factNumber("Terminal", v.Terminal).factNumber("Conflicts", v.Conflicts).factNumber("Timeouts", v.Timeouts)
	m.raw("</dl>")
	if v.LastError != "" {
		m.raw(`<p class="note">Last error: `).text(v.LastError).raw("</p>")
	}
	for _, f := range v.Fight {
		m.alert(f.Text)
	}
	v.groupTable(m)
	m.raw(`<section aria-labelledby="queue"><h2 id="queue">Queue</h2>`).searchForm("Key", v.Query, "controller", v.ID)
	empty := true
	for _, q := range v.Lists {
		if len(q.Keys) > 0 {
			empty = false
			v.keys(m, q)
		}
	}
	if empty {
		m.raw(`<p class="empty">No key is in the queue`)
		if v.Query != "" {
			m.raw(" that matches")
		}
		m.raw(".</p>")
	}
	m.raw("</section>")
}

func (v controllerView) groupTable(m *markup) {
	h := heading{id: "groups", text: "Groups that share the workers", caption: "Groups", noun: "group", counted: true, left: v.MoreGroups}
	section(m, h, v.Groups,
		left("Group", func(g groupRow) { m.orNone(g.Name) }),
		right("Weight", func(g groupRow) { m.number(g.Weight) }),
		right("In progress", func(g groupRow) { m.number(g.InProgress) }),
		right("Ready", func(g groupRow) { m.number(g.Ready) }),
		right("Oldest", func(g groupRow) {
			if g.Ready == 0 {
				m.none()
				return
			}
			m.text(short(max(0, g.Oldest).Round(time.Millisecond)))
		}),
	)
}

func (v controllerView) keys(m *markup, q queue) {
	m.raw("<h3>").text(q.what).raw(" ").count(len(q.Keys) + q.More).raw("</h3>")
	table(m, q.what, q.Keys,
		left("Key", func(k key) { m.text(k.Key) }),
		left("State", func(k key) {
			state := cmp.Or(k.Pending, "in progress")
			if k.Started != nil && k.Pending != "" {
				state = "in progress, then " + k.Pending
			}
			m.text(state)
		}),
		right("In progress for", func(k key) {
			if k.Started == nil {
				m.none()
				return
			}
			m.text(short(max(0, v.At.Sub(*k.Started)).Round(time.Millisecond)))
		}),
		right("Due", func(k key) { m.ago(k.Due, v.At) }),
		right("Priority", func(k key) { m.number(k.Priority) }),
		right("Failures", func(k key) { m.number(k.Failures) }),
		left("Last error", func(k key) { m.clip(k.Err) }),
	)
	m.more(q.More, "key")
}

func (v eventsView) title() string { return "Events" }

func (v eventsView) body(m *markup) {
	m.raw(`<h1>Events</h1><form class="search events" method="get"><input type="hidden" name="events" value=""><fieldset><legend class="hidden">Kinds</legend>`)
	for _, k := range kinds() {
		m.raw(`<label class="chip"><input type="checkbox" name="kind"`).attr("value", string(k))
		for _, chosen := range v.Kinds {
			if chosen == k {
				m.raw(" checked")
			}
		}
		m.raw("><span>").text(string(k)).raw("</span></label>")
	}
	m.raw(`</fieldset><input type="search" name="q" autocomplete="off" spellcheck="false" placeholder="Name or text" aria-label="Name or text"`)
	m.attr("value", v.Query).raw(`><button>Filter</button></form><p id="missed" class="note" hidden></p>`)
	m.raw(`<div class="scroll"><table class="events"`).attr("data-last", strconv.FormatUint(v.Last, 10)).attr("data-most", strconv.Itoa(2*mostEvents))
	m.raw(`><caption class="hidden">Events, the latest first</caption><thead><tr>`)
	m.raw(`<th scope="col">Time</th><th scope="col">Kind</th><th scope="col">Event</th><th scope="col">Object</th><th scope="col" class="num">Took</th><th scope="col">Detail</th></tr></thead><tbody id="events" aria-live="off">`)
	for _, e := range v.Events {
		e.row(m)
	}
	m.raw("</tbody></table></div>")
	if len(v.Events) == 0 {
		m.raw(`<p class="empty" id="noevents">There are no events yet.</p>`)
	}
}

// row writes an event in the form that the page's script uses for later events.
func (e event) row(m *markup) {
	m.raw("<tr")
	if e.Bad {
		m.raw(` class="bad"`)
	}
	m.raw(`><td data-label="Time"><time`).attr("datetime", e.At.UTC().Format(time.RFC3339Nano)).raw(">").text(e.At.UTC().Format("15:04:05.000"))
	m.raw(`</time></td><td data-label="Kind"><span class="kind">`).text(string(e.Kind)).raw(`</span></td><td data-label="Event">`)
	m.text(e.What).raw(" <small>").text(e.In).raw(`</small></td><td data-label="Object">`).text(e.Key).raw(`</td><td data-label="Took" class="num">`)
	if e.Took > 0 {
		m.text(short(e.Took))
	}
	m.raw(`</td><td data-label="Detail">`).text(e.Text).raw("</td></tr>")
}
