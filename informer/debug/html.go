package debug

import (
	"cmp"
	"strconv"
	"time"
)

// The parts that all pages have.

// document returns the whole page of a view.
func (p *Page) document(v view) []byte {
	m := &markup{b: make([]byte, 0, 32<<10)}
	live := constant("")
	current := ""
	switch v.(type) {
	case overview:
		live, current = "poll", "overview"
	case cacheView, controllerView, sharesView:
		live = "poll"
	case eventsView:
		live, current = "stream", "events"
	}
	m.raw(`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">`)
	m.raw(`<meta name="color-scheme" content="light dark"><meta name="robots" content="noindex"><title>`)
	m.text(v.title()).raw(" · ").text(p.o.Title).raw(`</title><link rel="icon" href="data:,"><link rel="stylesheet" href="?asset=page.css">`)
	m.raw(`<script src="?asset=page.js" defer></script></head><body><a class="skip" href="#main">Skip to the content</a>`)
	m.raw(`<header><a class="brand" href="?">`).text(p.o.Title).raw(`</a><nav aria-label="Pages">`)
	m.nav("?", "Overview", current == "overview").nav("?events", "Events", current == "events")
	m.raw(`</nav><button type="button" id="live" hidden aria-pressed="true" title="Pause or go on (p)"><span class="dot"></span><span id="livetext">Live</span></button>`)
	m.raw(`</header><main id="main" tabindex="-1" data-live="`).raw(live).raw(`">`)
	v.body(m)
	m.raw(`</main></body></html>`).raw("\n")
	return m.b
}

func (m *markup) nav(address constant, text string, current bool) *markup {
	m.raw(`<a href="`).raw(address).raw(`"`)
	if current {
		m.raw(` aria-current="page"`)
	}
	return m.raw(">").text(text).raw("</a>")
}

// ago writes a moment as the time since, or until it.
func (m *markup) ago(t *time.Time, now time.Time) *markup {
	if t == nil {
		return m.none()
	}
	m.raw("<time").attr("datetime", t.UTC().Format(time.RFC3339Nano)).attr("title", t.UTC().Format("2006-01-02 15:04:05.000 MST")).raw(">")
	switch d := now.Sub(*t); {
	case d < 0:
		m.raw("in ").text(short(-d))
	case d < time.Second:
		m.raw("now")
	default:
		m.text(short(d)).raw(" ago")
	}
	return m.raw("</time>")
}

// none stands for a missing value.
func (m *markup) none() *markup { return m.raw(`<span class="none">–</span>`) }

func (m *markup) orNone(s string) *markup {
	if s == "" {
		return m.none()
	}
	return m.text(s)
}

// span writes a duration, if there is one.
func (m *markup) span(d time.Duration) *markup {
	if d == 0 {
		return m.none()
	}
	return m.text(short(d))
}

// crumbs writes the breadcrumbs of a page, and the beginning of its heading.
func (m *markup) crumbs(kind constant, name string) *markup {
	return m.raw(`<p class="crumbs">`).link("?", "Overview").raw(" / ").raw(kind).raw("</p><h1>").text(name).raw(" ")
}

// alert writes a text that a reader should see first.
func (m *markup) alert(text string) *markup {
	return m.raw(`<p class="alert">`).text(text).raw("</p>")
}

// clip writes a text that is cut at the end of the table cell; the whole text appears on hovering.
func (m *markup) clip(s string) *markup {
	if s == "" {
		return m.raw(`<span class="clip none">–</span>`)
	}
	return m.raw(`<span class="clip"`).attr("title", s).raw(">").text(s).raw("</span>")
}

// tone is how a badge looks.
type tone constant

const (
	good  tone = "good"
	busy  tone = "busy"
	bad   tone = "bad"
	quiet tone = "quiet"
)

// tones has the tones of states; the tone of any other state is busy.
var tones = map[string]tone{
	"running": good, "sharing": good, "live": good, "joining": bad, "silent": bad, "ended": quiet, "stopped": quiet, "idle": quiet,
}

func (m *markup) state(name string) *markup { return m.badge(cmp.Or(tones[name], busy), name) }

func (m *markup) badge(t tone, text string) *markup {
	return m.raw(`<span class="badge `).raw(constant(t)).raw(`">`).text(text).raw("</span>")
}

// column is a column of a table, whose rows are of type R.
type column[R any] struct {
	name constant
	num  bool // numbers, aligned right
	cell func(row R)
}

func left[R any](name constant, cell func(row R)) column[R]  { return column[R]{name, false, cell} }
func right[R any](name constant, cell func(row R)) column[R] { return column[R]{name, true, cell} }

// table writes a table. On a narrow screen each row is a card, whose cells have the names of their columns.
func table[R any](m *markup, caption string, rows []R, columns ...column[R]) {
	class := func(c column[R]) constant {
		if c.num {
			return ` class="num"`
		}
		return ""
	}
	m.raw(`<div class="scroll"><table><caption class="hidden">`).text(caption).raw("</caption><thead><tr>")
	for _, c := range columns {
		m.raw(`<th scope="col"`).raw(class(c)).raw(">").raw(c.name).raw("</th>")
	}
	m.raw("</tr></thead><tbody>")
	for _, row := range rows {
		m.raw("<tr>")
		for _, c := range columns {
			m.raw(`<td data-label="`).raw(c.name).raw(`"`).raw(class(c)).raw(">")
			c.cell(row)
			m.raw("</td>")
		}
		m.raw("</tr>")
	}
	m.raw("</tbody></table></div>")
}

// mostRows bounds the rows of a table, in a view that has not cut them itself.
const mostRows = 300

// heading describes the heading of a section, and the rows of its table.
type heading struct {
	id, text constant
	caption  string
	noun     string // of a row
	counted  bool   // the number of rows is shown
	left     int    // how many rows the view has left out
}

// section writes a table under its heading, and nothing if there are no rows.
func section[R any](m *markup, h heading, rows []R, columns ...column[R]) {
	if len(rows) == 0 {
		return
	}
	m.raw(`<section aria-labelledby="`).raw(h.id).raw(`"><h2 id="`).raw(h.id).raw(`">`).raw(h.text)
	if h.counted {
		m.raw(" ").count(len(rows) + h.left)
	}
	m.raw("</h2>")
	shown := rows[:min(len(rows), mostRows)]
	table(m, h.caption, shown, columns...)
	m.more(len(rows)-len(shown)+h.left, h.noun).raw("</section>")
}

// more says how many rows are left out.
func (m *markup) more(n int, noun string) *markup {
	if n > 0 {
		m.raw(`<p class="more">and `).text(plural(n, noun)).raw(" more</p>")
	}
	return m
}

// fact writes a name and a value of a list of facts; value writes the value.
func (m *markup) fact(name constant, value func()) *markup {
	m.raw("<div><dt>").raw(name).raw("</dt><dd>")
	value()
	return m.raw("</dd></div>")
}

func (m *markup) factText(name constant, value string) *markup {
	return m.fact(name, func() { m.orNone(value) })
}

func (m *markup) factNumber(name constant, n int) *markup {
	return m.fact(name, func() { m.number(n) })
}

// searchForm writes a form that requests the same view with a query. hidden are the names and values to keep.
func (m *markup) searchForm(label constant, query string, hidden ...string) *markup {
	m.raw(`<form class="search" role="search" method="get">`)
	for i := 0; i < len(hidden); i += 2 {
		m.raw(`<input type="hidden"`).attr("name", hidden[i]).attr("value", hidden[i+1]).raw(">")
	}
	m.raw(`<input type="search" name="q" autocomplete="off" spellcheck="false" placeholder="`).raw(label).raw(`" aria-label="`).raw(label).raw(`"`)
	return m.attr("value", query).raw(`><button>Search</button></form>`)
}

func (m *markup) count(n int) *markup {
	return m.raw(`<span class="count">`).text(grouped(n)).raw("</span>")
}

func versionText(v string) string {
	if _, err := strconv.ParseUint(v, 10, 64); err != nil && len(v) > 24 {
		return v[:24] + "…"
	}
	return v
}
