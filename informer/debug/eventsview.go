package debug

import (
	"slices"
	"strings"
	"time"
)

// mostEvents is how many events are on the page at first. The page's script keeps twice as many.
const mostEvents = 200

// eventsView is the page of the latest events.
type eventsView struct {
	At     time.Time `json:"at"`
	Kinds  []kind    `json:"kinds,omitempty"` // empty if all are shown
	Query  string    `json:"query,omitempty"`
	Last   uint64    `json:"last"`   // the sequence number up to which all are considered
	Events []event   `json:"events"` // the latest first
}

func (p *Page) eventsView(names []string, query string) eventsView {
	v := eventsView{At: time.Now(), Query: clean(query), Events: []event{}}
	of := chosen(names)
	if len(of) < len(kinds()) {
		v.Kinds = of
	}
	most := mostEvents
	if query != "" {
		most = p.events.size * len(of)
	}
	all, last := p.events.since(0, of, most)
	v.Last = last
	for _, e := range slices.Backward(all) {
		if len(v.Events) == mostEvents {
			break
		}
		if e.matches(query) {
			v.Events = append(v.Events, e)
		}
	}
	return v
}

// matches reports whether one of the texts of an event contains the query.
func (e event) matches(query string) bool {
	query = strings.ToLower(strings.TrimSpace(query))
	return query == "" || slices.ContainsFunc([]string{e.What, e.In, e.Key, e.Text}, func(s string) bool {
		return strings.Contains(strings.ToLower(s), query)
	})
}
