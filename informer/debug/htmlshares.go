package debug

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/bowline-go/bowline/client/meta"
)

// Groups of replicas in HTML.

func (row shareRow) badge(m *markup) {
	switch row.State {
	case "sharing":
		m.badge(good, row.State)
	case "joining":
		m.badge(bad, row.State)
	case "ended":
		m.badge(quiet, row.State)
	default:
		m.badge(busy, row.State)
	}
}

// ofDue writes a number of ranges, and how many they should be.
func (m *markup) ofDue(n int, due float64) *markup {
	m.number(n)
	if due > 0 {
		m.raw(" <small>of ").text(strconv.FormatFloat(due, 'f', 0, 64)).raw(" due</small>")
	}
	return m
}

func (v overview) sharesTable(m *markup) {
	if len(v.Shards) == 0 {
		return
	}
	m.raw(`<section aria-labelledby="shards"><h2 id="shards">Shards</h2>`)
	columns := []column{
		{"Group", false},
		{"Replica", false},
		{"State", false},
		{"Ranges", true},
		{"Since", true},
		{"Replicas", true},
		{"Silent", false},
		{"Unready", false},
		{"Last loss", true},
		{"Error", false},
	}
	m.table("Groups of replicas", columns, min(len(v.Shards), mostRows), func(row, column int) {
		s := v.Shards[row]
		switch columns[column].name {
		case "Group":
			m.link(link("shards", s.ID), s.Group)
		case "Replica":
			m.text(s.Identity)
		case "State":
			s.badge(m)
		case "Ranges":
			m.raw("<span").attr("title", s.Which).raw(">").ofDue(s.Ranges, s.Due).raw("</span>")
		case "Since":
			m.ago(s.Since, v.At)
		case "Replicas":
			m.number(s.Replicas)
		case "Silent":
			m.clip(strings.Join(s.Silent, ", "))
		case "Unready":
			m.clip(strings.Join(s.Unready, ", "))
		case "Last loss":
			m.ago(s.Lost, v.At)
		case "Error":
			m.clip(cmp.Or(s.Blocked, s.LeaseErr, s.Err))
		}
	})
	m.more(len(v.Shards)-mostRows, "group").raw("</section>")
}

func (v sharesView) title() string { return "Shards " + v.Group }

func (v sharesView) body(m *markup) {
	m.raw(`<p class="crumbs">`).link("?", "Overview").raw(` / Shards</p><h1>`).text(v.Group).raw(" ")
	v.badge(m)
	m.raw("</h1>")
	for _, err := range []string{v.Blocked, v.LeaseErr, v.Err} {
		if err != "" {
			m.raw(`<p class="alert">`).text(err).raw("</p>")
		}
	}
	if v.Lost != nil {
		kind := constant("note")
		if v.At.Sub(*v.Lost) < lossFor {
			kind = "alert"
		}
		m.raw(`<p class="`).raw(kind).raw(`">It last lost all its ranges `).ago(v.Lost, v.At).raw(": ").text(v.LostErr).raw("</p>")
	}
	m.raw(`<dl class="facts">`).factText("This replica", v.Identity).factText("Its lease", v.Lease)
	m.fact("Ranges", func() { m.number(v.Ranges).raw(" of ").number(meta.RangeCount) })
	if v.Due > 0 {
		m.factText("Its due, by weight", strconv.FormatFloat(v.Due, 'f', 1, 64))
	}
	m.fact("Since", func() { m.ago(v.Since, v.At) })
	m.factText("Lease left", v.Left).factNumber("Replicas", v.Replicas)
	m.factText("Silent", strings.Join(v.Silent, ", ")).factText("Leaving", strings.Join(v.Departs, ", "))
	m.factText("Which", v.Which)
	m.ranges("Waits for others", v.Waits, v.WaitsFor).ranges("Prepares for", v.Prepares, v.PreparesFor).ranges("Nobody's", v.Unowned, v.Nobodys)
	m.factText("Not ready", strings.Join(v.Unready, ", "))
	if v.Ended != nil {
		m.fact("Ended", func() { m.ago(v.Ended, v.At) })
	} else {
		m.fact("Running for", func() { m.text(short(v.At.Sub(v.RunSince))) })
	}
	m.raw("</dl>")
	v.memberTable(m)
}

// ranges writes a fact about ranges: how many there are, and which.
func (m *markup) ranges(name constant, n int, which string) *markup {
	return m.fact(name, func() {
		if m.number(n); n > 0 {
			m.raw(" <small>").text(which).raw("</small>")
		}
	})
}

func (v sharesView) memberTable(m *markup) {
	if len(v.Members) == 0 {
		return
	}
	m.raw(`<section aria-labelledby="members"><h2 id="members">Replicas `).count(len(v.Members) + v.MoreMembers).raw("</h2>")
	columns := []column{{"Replica", false}, {"State", false}, {"Weight", true}, {"Ranges", true}, {"Lease", false}, {"Which", false}}
	m.table("Replicas", columns, len(v.Members), func(row, column int) {
		r := v.Members[row]
		switch columns[column].name {
		case "Replica":
			if m.text(r.Identity); r.Self {
				m.raw(" <small>this process</small>")
			}
		case "State":
			switch r.State {
			case "live":
				m.badge(good, r.State)
			case "silent":
				m.badge(bad, r.State)
			default:
				m.badge(busy, r.State)
			}
		case "Weight":
			m.number(r.Weight)
		case "Ranges":
			m.ofDue(r.Ranges, r.Due)
		case "Lease":
			m.text(r.Lease)
		case "Which":
			m.clip(r.Which)
		}
	})
	m.more(v.MoreMembers, "replica").raw("</section>")
	m.raw(`<p class="note">A silent replica has not renewed its lease, or somebody has deleted or edited it. Ranges of a lease are those that its replica works on, or is ready for.</p>`)
}
