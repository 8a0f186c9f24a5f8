package debug

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The first page in HTML.

func (v overview) title() string {
	if n := len(v.Problems); n > 0 {
		return plural(n, "problem")
	}
	return "All is well"
}

func (v overview) body(m *markup) {
	v.tiles(m)
	v.problemList(m)
	v.cacheTable(m)
	v.controllerTable(m)
	v.electionTable(m)
	v.sharesTable(m)
	v.requestSection(m)
	v.credentialTable(m)
	v.programSection(m)
}

func (v overview) tiles(m *markup) {
	objects, memory, ready, failing := 0, int64(0), 0, 0
	for _, c := range v.Caches {
		objects += c.Objects
		memory += c.Memory
	}
	for _, c := range v.Controllers {
		ready += c.Ready
		failing += c.Failing
	}
	m.raw(`<h1 class="hidden">`).text(v.Program.Title).raw(`</h1><ul class="tiles" aria-label="Summary">`)
	if n := len(v.Problems); n == 0 {
		m.raw(`<li class="good"><b>All is well</b><span>no problem is known</span></li>`)
	} else {
		t := busy
		if v.Problems[0].Severe {
			t = bad
		}
		m.raw(`<li class="`).raw(constant(t)).raw(`"><b>`).text(plural(n, "problem")).raw("</b><span>").text(v.Problems[0].What).raw("</span></li>")
	}
	tile := func(value, note string) {
		m.raw("<li><b>").text(value).raw("</b><span>").text(note).raw("</span></li>")
	}
	tile(grouped(objects), "objects in "+plural(len(v.Caches), "cache"))
	tile(size(memory), "in caches, estimated")
	tile(grouped(ready), "keys ready")
	tile(grouped(failing), "keys failing")
	tile(grouped(len(v.Requests.InFlight)+v.Requests.More), "requests in flight")
	m.raw("</ul>")
}

// mostProblems is how many problems are on the page.
const mostProblems = 20

func (v overview) problemList(m *markup) {
	if len(v.Problems) == 0 {
		return
	}
	m.raw(`<section aria-labelledby="problems"><h2 id="problems">Problems</h2><ul class="problems">`)
	for _, p := range v.Problems[:min(len(v.Problems), mostProblems)] {
		t := busy
		if p.Severe {
			t = bad
		}
		m.raw(`<li class="`).raw(constant(t)).raw(`"><strong>`)
		if p.link != "" {
			m.link(p.link, p.What)
		} else {
			m.text(p.What)
		}
		m.raw("</strong> ").text(p.Text).raw("</li>")
	}
	m.raw("</ul>").more(len(v.Problems)-mostProblems, "problem").raw("</section>")
}

func (c cacheRow) badge(m *markup) {
	switch {
	case !c.Running:
		m.badge(quiet, "ended")
	case c.Stale:
		m.badge(bad, c.State+", stale")
	case c.Err != "" && c.State != "watching" && c.State != "polling":
		m.badge(bad, c.State)
	case c.State == "watching" && c.Synced && !c.shaky:
		m.badge(good, c.State)
	default:
		m.badge(busy, c.State)
	}
}

func relists(byCause map[string]int) (text string, n int) {
	var parts []string
	for _, cause := range slices.Sorted(maps.Keys(byCause)) {
		parts = append(parts, cause+" "+strconv.Itoa(byCause[cause]))
		n += byCause[cause]
	}
	return strings.Join(parts, ", "), n
}

func (v overview) cacheTable(m *markup) {
	if len(v.Caches) == 0 {
		m.raw(`<section aria-labelledby="caches"><h2 id="caches">Caches `).count(0)
		m.raw(`</h2><p class="empty">No informer runs with the context of this page.</p></section>`)
	}
	section(m, heading{id: "caches", text: "Caches", caption: "Caches", noun: "cache", counted: true}, v.Caches,
		left("Cache", func(c cacheRow) { m.link(link("cache", c.ID), c.ID) }),
		left("State", func(c cacheRow) {
			c.badge(m)
			if c.Undecodable > 0 {
				m.raw(" ").badge(busy, grouped(c.Undecodable)+" undecodable")
			}
		}),
		right("Objects", func(c cacheRow) {
			if m.number(c.Objects); c.Sharded != "" {
				m.raw(" <small").attr("title", c.Which).raw(">").text(plural(c.Ranges, "range")).raw("</small>")
			}
		}),
		right("Memory", func(c cacheRow) { m.text(size(c.Memory)) }),
		right("Version", func(c cacheRow) { m.orNone(versionText(c.Version)) }),
		right("Last event", func(c cacheRow) { m.ago(c.LastEvent, v.At) }),
		right("Events", func(c cacheRow) { m.number(c.Events) }),
		right("Relists", func(c cacheRow) {
			text, n := relists(c.Relists)
			if n == 0 {
				m.none()
				return
			}
			m.raw("<span").attr("title", text).raw(">").number(n).raw("</span>")
		}),
		right("Backlog", func(c cacheRow) {
			if m.number(c.Backlog); c.BacklogAge > time.Second {
				m.raw(` <small>`).text(short(c.BacklogAge)).raw("</small>")
			}
		}),
	)
}

func (c controllerRow) badge(m *markup) {
	if c.Paused {
		m.badge(busy, "paused").raw(" ")
	}
	m.state(c.State)
}

func (v overview) controllerTable(m *markup) {
	if len(v.Controllers) == 0 {
		m.raw(`<section aria-labelledby="controllers"><h2 id="controllers">Controllers `).count(0)
		m.raw(`</h2><p class="empty">No controller runs with the context of this page.</p></section>`)
	}
	section(m, heading{id: "controllers", text: "Controllers", caption: "Controllers", noun: "controller", counted: true}, v.Controllers,
		left("Controller", func(c controllerRow) { m.link(link("controller", c.ID), c.ID) }),
		left("State", func(c controllerRow) { c.badge(m) }),
		right("Workers", func(c controllerRow) { m.number(c.InProgress).raw(`<small> of `).number(c.Workers).raw("</small>") }),
		right("Ready", func(c controllerRow) {
			if m.number(c.Ready); c.Oldest > time.Second {
				m.raw(` <small>`).text(short(c.Oldest)).raw("</small>")
			}
		}),
		right("Delayed", func(c controllerRow) { m.number(c.Delayed + c.Held + c.Throttled) }),
		right("Failing", func(c controllerRow) {
			if c.Failing > 0 {
				m.badge(busy, grouped(c.Failing))
				return
			}
			m.number(0)
		}),
		right("Reconciles", func(c controllerRow) { m.number(c.Reconciles) }),
		right("Errors", func(c controllerRow) { m.number(c.Errors) }),
		left("Last error", func(c controllerRow) { m.clip(c.LastError) }),
	)
}

func (v overview) electionTable(m *markup) {
	section(m, heading{id: "leadership", text: "Leadership", caption: "Leader elections", noun: "election"}, v.Elections,
		left("Lease", func(e electionRow) { m.text(e.Lease) }),
		left("State", func(e electionRow) {
			switch {
			case !e.Running:
				m.badge(quiet, "ended")
			case e.Leading:
				m.badge(good, "leading")
			default:
				m.badge(busy, "following")
			}
		}),
		left("Leader", func(e electionRow) {
			if m.orNone(e.Leader); e.Leader != "" && e.Leader == e.Identity {
				m.raw(" <small>this process</small>")
			}
		}),
		right("Since", func(e electionRow) { m.ago(e.Since, v.At) }),
		right("Term", func(e electionRow) { m.number(int(e.Term)) }),
		right("Renewed", func(e electionRow) { m.ago(e.Observed, v.At) }),
		right("Left", func(e electionRow) { m.span(e.Left) }),
		left("Error", func(e electionRow) { m.clip(e.Err) }),
	)
}

func (v overview) requestSection(m *markup) {
	r := v.Requests
	m.raw(`<section aria-labelledby="requests"><h2 id="requests">Requests</h2><dl class="facts">`)
	m.factNumber("Sent", r.Sent).factNumber("Failed", r.Failed).factNumber("Answered 429", r.Limited).factNumber("Retried", r.Retried)
	m.raw("</dl>")
	if len(r.InFlight) > 0 {
		m.raw("<h3>In flight</h3>")
		table(m, "Requests in flight", r.InFlight,
			left("Request", func(f flight) { m.text(f.Verb + " " + f.Target) }),
			left("Object", func(f flight) { m.orNone(f.Key) }),
			right("For", func(f flight) { m.text(short(v.At.Sub(f.Since))) }),
			right("Attempt", func(f flight) { m.number(f.Attempts) }),
			right("Next attempt", func(f flight) { m.ago(f.Again, v.At) }),
			left("Error", func(f flight) { m.clip(f.Err) }),
		)
		m.more(r.More, "request")
	}
	if len(r.Retries) > 0 {
		m.raw("<h3>Latest retries</h3>")
		table(m, "Latest retries", r.Retries,
			right("When", func(e event) { m.ago(&e.At, v.At) }),
			left("Request", func(e event) { m.text(e.What + " " + e.In) }),
			left("Object", func(e event) { m.orNone(e.Key) }),
			left("Why", func(e event) { m.clip(e.Text) }),
		)
	}
	m.raw("</section>")
}

func (v overview) credentialTable(m *markup) {
	section(m, heading{id: "credentials", text: "Credentials", caption: "Credentials", noun: "credential"}, v.Credentials,
		left("Client", func(c credentialRow) { m.text(c.Client) }),
		left("Credential", func(c credentialRow) { m.text(c.From) }),
		right("Obtained", func(c credentialRow) { m.ago(c.Obtained, v.At) }),
		right("Expires", func(c credentialRow) { m.ago(c.Expires, v.At) }),
		left("Error", func(c credentialRow) { m.clip(c.Err) }),
	)
}

func (v overview) programSection(m *markup) {
	p := v.Program
	m.raw(`<section aria-labelledby="program"><h2 id="program">Program</h2><dl class="facts">`)
	if h := v.Health; h != nil {
		m.factText("Alive", cmp.Or(h.Live, "yes")).factText("Ready", cmp.Or(h.Ready, "yes"))
	}
	m.fact("Up", func() { m.text(short(v.At.Sub(p.Since))) })
	m.factNumber("Goroutines", p.Goroutines).factText("Heap", size(p.Heap)).factText("Go", p.Go).factText("Bowline", p.Bowline)
	if p.Version != "" {
		m.factText("Version", p.Version)
	}
	m.raw("</dl></section>")
}
