package debug

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/bowline-go/bowline/client/meta"
)

// Groups of replicas in HTML.

// ofDue writes a number of ranges, and the number that is due.
func (m *markup) ofDue(n int, due float64) *markup {
	m.number(n)
	if due > 0 {
		m.raw(" <small>of ").text(strconv.FormatFloat(due, 'f', 0, 64)).raw(" due</small>")
	}
	return m
}

func (v overview) sharesTable(m *markup) {
	section(m, heading{id: "shards", text: "Shards", caption: "Groups of replicas", noun: "group"}, v.Shards,
		left("Group", func(s shareRow) { m.link(link("shards", s.ID), s.Group) }),
		left("Replica", func(s shareRow) { m.text(s.Identity) }),
		left("State", func(s shareRow) { m.state(s.State) }),
		right("Ranges", func(s shareRow) { m.raw("<span").attr("title", s.Which).raw(">").ofDue(s.Ranges, s.Due).raw("</span>") }),
		right("Since", func(s shareRow) { m.ago(s.Since, v.At) }),
		right("Replicas", func(s shareRow) { m.number(s.Replicas) }),
		left("Silent", func(s shareRow) { m.clip(strings.Join(s.Silent, ", ")) }),
		left("Unready", func(s shareRow) { m.clip(strings.Join(s.Unready, ", ")) }),
		right("Last loss", func(s shareRow) { m.ago(s.Lost, v.At) }),
		left("Error", func(s shareRow) { m.clip(cmp.Or(s.Blocked, s.LeaseErr, s.Err)) }),
	)
}

func (v sharesView) title() string { return "Shards " + v.Group }

func (v sharesView) body(m *markup) {
	m.crumbs("Shards", v.Group)
	m.state(v.State)
	m.raw("</h1>")
	for _, err := range []string{v.Blocked, v.LeaseErr, v.Err} {
		if err != "" {
			m.alert(err)
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
	section(m, heading{id: "members", text: "Replicas", caption: "Replicas", noun: "replica", counted: true, left: v.MoreMembers}, v.Members,
		left("Replica", func(r memberRow) {
			if m.text(r.Identity); r.Self {
				m.raw(" <small>this process</small>")
			}
		}),
		left("State", func(r memberRow) { m.state(r.State) }),
		right("Weight", func(r memberRow) { m.number(r.Weight) }),
		right("Ranges", func(r memberRow) { m.ofDue(r.Ranges, r.Due) }),
		left("Lease", func(r memberRow) { m.text(r.Lease) }),
		left("Which", func(r memberRow) { m.clip(r.Which) }),
	)
	m.raw(`<p class="note">A silent replica has not renewed its lease, or somebody has deleted or edited it. Ranges of a lease are those that its replica works on, or is ready for.</p>`)
}
