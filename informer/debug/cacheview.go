package debug

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
)

// Limits of the page of a cache.
const (
	mostFound       = 100
	mostUndecodable = 50
	mostNamespaces  = 50
)

// cacheView is the page of one cache.
type cacheView struct {
	At time.Time `json:"at"`
	cacheRow
	Mode           string           `json:"mode"`
	Why            string           `json:"why,omitempty"`
	Protobuf       bool             `json:"protobuf"`
	WhyJSON        string           `json:"whyJSON,omitempty"`
	Warm           int              `json:"warm,omitempty"` // objects that an earlier process had kept
	Cold           string           `json:"cold,omitempty"` // why there were none
	Since          time.Time        `json:"runningSince"`
	Ended          *time.Time       `json:"ended,omitempty"`
	LatestLists    []listModel      `json:"latestLists"`
	BadObjects     []badObject      `json:"undecodableObjects"`
	MoreBad        int              `json:"moreUndecodable,omitempty"`
	Namespaces     []namespaceModel `json:"namespaces,omitempty"`
	MoreNamespaces int              `json:"moreNamespaces,omitempty"`
	Search         *search          `json:"search,omitempty"` // nil without Options.Objects
}

type badObject struct {
	Key     string `json:"key"`
	Version string `json:"resourceVersion,omitempty"`
	Err     string `json:"error"`
}

type namespaceModel struct {
	Name      string     `json:"name"`
	State     string     `json:"state"`
	Synced    bool       `json:"synced"`
	Stale     bool       `json:"stale,omitempty"`
	Objects   int        `json:"objects"`
	Version   string     `json:"resourceVersion,omitempty"`
	LastEvent *time.Time `json:"lastEvent,omitempty"`
	Relists   int        `json:"relists"`
	Err       string     `json:"error,omitempty"`
}

// search has the objects of a cache that a search has found, in the order of their keys.
type search struct {
	Query string  `json:"query"`
	After string  `json:"after,omitempty"` // the key after which the search begins
	Total int     `json:"total"`           // objects that match
	Found []found `json:"found"`
	More  int     `json:"more,omitempty"` // objects that match and follow these
	Next  string  `json:"next,omitempty"` // the value of After for those
}

type found struct {
	Key     string `json:"key"` // namespace/name
	Version string `json:"resourceVersion,omitempty"`
	key     meta.Key
}

func (p *Page) cacheView(id, query, after string) (view, error) {
	e, ok := p.caches.find(id)
	if !ok {
		return nil, fmt.Errorf("%w: no cache is named %q", errNotFound, id)
	}
	now := time.Now()
	s := e.last
	if e.running {
		s = e.info.Status()
	}
	v := cacheView{
		At: now, cacheRow: p.cacheRow(e, now), Mode: s.Mode.String(), Why: clean(s.Why), Protobuf: s.Protobuf, WhyJSON: clean(s.WhyJSON),
		Warm: s.Warm, Cold: clean(errorText(s.Cold)), Since: e.began, LatestLists: []listModel{}, BadObjects: []badObject{},
	}
	if e.running {
		v.LatestLists = append(v.LatestLists, p.caches.lists.of(e.name)...)
	} else {
		v.Ended = at(e.ended)
	}
	for i, bad := range s.Undecodable {
		if v.MoreBad = len(s.Undecodable) - i; i == mostUndecodable {
			break
		}
		v.MoreBad = 0
		v.BadObjects = append(v.BadObjects, badObject{
			clean(objectName(bad.Identity.Key())), clean(bad.Identity.ResourceVersion), clean(errorText(bad.Err)),
		})
	}
	v.namespaces(s)
	if p.o.Objects && e.running {
		v.Search = find(e.info, query, after)
	}
	return v, nil
}

// namespaces adds the namespaces of a status: those with an error or without a complete list first, then by name.
func (v *cacheView) namespaces(s informer.Status) {
	names := slices.SortedFunc(maps.Keys(s.Namespaces), func(a, b string) int {
		bad := func(n string) int {
			if s.Namespaces[n].Err != nil || !s.Namespaces[n].Synced {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(bad(a), bad(b)), cmp.Compare(a, b))
	})
	if v.MoreNamespaces = max(0, len(names)-mostNamespaces); v.MoreNamespaces > 0 {
		names = names[:mostNamespaces]
	}
	for _, name := range names {
		n := s.Namespaces[name]
		m := namespaceModel{
			Name: clean(cmp.Or(name, "(one watch for all)")), State: stateOf(n), Stale: n.Stale, Synced: n.Synced, Objects: n.Objects,
			Version: clean(n.ResourceVersion), LastEvent: at(n.LastEvent), Err: clean(errorText(n.Err)),
		}
		for _, times := range n.Relists {
			m.Relists += times
		}
		v.Namespaces = append(v.Namespaces, m)
	}
}

// find returns the first objects after a key whose "namespace/name" contains the query. It looks at the key of every
// object and keeps no more than twice the keys that it returns.
func find(r informer.RunInfo, query, after string) *search {
	s := &search{Query: clean(query), Found: []found{}}
	from, paging := parseKey(after)
	if paging {
		s.After = clean(after)
	}
	query = strings.ToLower(strings.TrimSpace(query))
	byKey := func(a, b found) int { return a.key.Compare(b.key) }
	later := 0        // how many matches come after from
	var last meta.Key // if cut is set, matches after this key are only counted
	cut := false
	for id := range r.Objects() {
		key := id.Key()
		if !matches(key, query) {
			continue
		}
		s.Total++
		if paging && key.Compare(from) <= 0 {
			continue
		}
		later++
		if cut && key.Compare(last) > 0 {
			continue
		}
		s.Found = append(s.Found, found{Version: id.ResourceVersion, key: key})
		if len(s.Found) == 2*mostFound {
			slices.SortFunc(s.Found, byKey)
			s.Found = s.Found[:mostFound]
			last, cut = s.Found[mostFound-1].key, true
		}
	}
	slices.SortFunc(s.Found, byKey)
	if len(s.Found) > mostFound {
		s.Found = s.Found[:mostFound]
	}
	for i := range s.Found {
		s.Found[i].Key, s.Found[i].Version = clean(objectName(s.Found[i].key)), clean(s.Found[i].Version)
	}
	if s.More = later - len(s.Found); s.More > 0 {
		s.Next = keyText(s.Found[len(s.Found)-1].key)
	}
	return s
}

// matches reports whether a key contains the query, which is in lower case.
func matches(k meta.Key, query string) bool {
	if query == "" {
		return true
	}
	if !strings.Contains(query, "/") { // avoids building the whole key
		return strings.Contains(strings.ToLower(k.Name), query) || strings.Contains(strings.ToLower(k.Namespace), query)
	}
	return strings.Contains(strings.ToLower(keyText(k)), query)
}
