package informer

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// Status is the condition of an informer. It is a copy: it does not change afterwards. It prints as one line.
//
// The Status of an informer of several namespaces sums up those in Namespaces: counts are added, Synced is true if all
// are synced, Stale if one is stale, State is the least advanced, Err, Since and LastEvent are the latest, Renewed is
// the earliest, and Polling is that of the namespace that has been polled for the longest time.
type Status struct {
	// Name is Options.Name, followed by the selectors if there are any, as in: eu labels app=web.
	Name string
	// State is what the informer is doing.
	State State
	// Synced says that the cache holds a complete list, and that it has been current in this Run. It is false between
	// two Runs.
	Synced bool
	// Stale says that the cache is synced and has not been renewed for Options.StaleAfter. Renewed is when a list, an
	// event or a bookmark last renewed it. While a watch is open at a server that sends no bookmarks, Renewed is the
	// present time. It is zero before the first renewal.
	Stale   bool
	Renewed time.Time
	// Polling is why the informer reads the collection again and again instead of following a watch: the last error of
	// a watch. It is nil if the informer follows a watch or waits for one. PollingSince is when that began.
	Polling      error
	PollingSince time.Time
	// Warm is the number of objects with which the cache began because an earlier process had kept them (Options.Warm)
	// and the server has confirmed them; it includes the changes between the two processes. Cold is the reason why the
	// cache began without kept objects; it is nil if the cache began with them, if the server has not decided yet, or
	// without Options.Warm.
	Warm int
	Cold error
	// Mode is how the collection was listed last, or is being listed: Paged or Streaming; Auto before the first list,
	// and where the namespaces differ. Why gives the reason.
	Mode Mode
	Why  string
	// Protobuf says that the latest list or watch came as protobuf. WhyJSON is the reason if it came as JSON although
	// the client's Config.Protobuf is set.
	Protobuf bool
	WhyJSON  string
	// Ranges are the ranges of which the cache holds a complete list, if Options.Shards is set. Sharded says where
	// their objects are selected; it is empty until a list of some ranges, or an event of another range, has shown
	// that.
	Ranges  meta.Ranges
	Sharded Sharding
	// Listed is how many objects the current list has brought so far, or how many the last one brought. Remaining is
	// how many follow after the current page. It is 0 if the server does not send it, as for lists with a selector and
	// for streaming lists.
	Listed, Remaining int
	// Err is the last error of a list or a watch. A later list or event clears it, and so does a later watch that has
	// been open for a second. While the informer polls, a list sets it to Polling again. Since is the time of the last
	// error, whether or not Err still has it.
	Err   error
	Since time.Time
	// LastEvent is when something last came from the server: a list, an event or a bookmark.
	LastEvent time.Time
	// ResourceVersion is the version that the cache is current to: the oldest of those of the namespaces. It is empty
	// if there is none yet or if they have no order.
	ResourceVersion string
	// Objects is how many objects the cache holds.
	Objects int
	// Lists and Watches count requests to the server, Events the applied events.
	Lists, Watches, Events int
	// Relists counts the complete lists after the first one, by cause.
	Relists map[Cause]int
	// Resets counts the relists after which the cache held an older version than before: the server has lost history,
	// as etcd does when it is restored from a backup.
	Resets int
	// Undecodable are the objects that do not decode at present, ordered by key. The cache holds their last good state,
	// if there was one.
	Undecodable []*client.DecodeError
	// Namespaces has the Status of each namespace of an informer with Options.Namespaces; otherwise it is nil.
	Namespaces map[string]Status
}

// String returns one line for people. It has the most important values first, and leaves out most values that are
// normal. Its form may change.
func (s Status) String() string {
	var b strings.Builder
	b.WriteString(s.State.String())
	add := func(shown bool, key string, value any) {
		text := fmt.Sprint(value)
		if _, isText := value.(string); isText && (text == "" || strings.ContainsAny(text, " \t\n\"=")) {
			text = strconv.Quote(text)
		}
		if shown {
			fmt.Fprintf(&b, ", %s=%s", key, text)
		}
	}
	add(s.Name != "", "name", s.Name)
	add(true, "synced", s.Synced)
	add(s.Stale, "stale", s.Stale)
	add(s.Stale, "renewed", s.Renewed.Format(time.RFC3339))
	add(s.State == Listing, "items", s.Listed)
	add(s.State == Listing, "remaining", s.Remaining)
	add(true, "objects", s.Objects)
	add(true, "version", s.ResourceVersion)
	add(s.Warm > 0, "warm", s.Warm)
	if s.Cold != nil {
		add(true, "cold", s.Cold.Error())
	}
	add(s.Mode != Auto, "mode", s.Mode)
	add(s.Ranges != meta.Ranges{}, "ranges", s.Ranges.String())
	add(s.Sharded != "", "sharded", s.Sharded)
	add(s.Why != "", "why", s.Why)
	add(s.Protobuf, "form", "protobuf")
	add(s.WhyJSON != "", "whyJSON", s.WhyJSON)
	add(true, "lists", s.Lists)
	add(true, "watches", s.Watches)
	add(true, "events", s.Events)
	for _, cause := range slices.Sorted(maps.Keys(s.Relists)) {
		add(true, "relists"+string(cause), s.Relists[cause])
	}
	add(s.Resets > 0, "resets", s.Resets)
	add(len(s.Undecodable) > 0, "undecodable", len(s.Undecodable))
	add(len(s.Namespaces) > 0, "namespaces", len(s.Namespaces))
	unsynced := s.unsynced()
	add(len(unsynced) > 0, "unsynced", strings.Join(unsynced, ", "))
	if s.Polling != nil {
		add(true, "pollingSince", s.PollingSince.Format(time.RFC3339))
		add(true, "polling", s.Polling.Error())
	}
	if s.Err != nil {
		add(true, "error", s.Err.Error())
	}
	return b.String()
}

// unsynced names the namespaces that have not been listed yet.
func (s Status) unsynced() []string {
	var names []string
	for _, ns := range slices.Sorted(maps.Keys(s.Namespaces)) {
		if !s.Namespaces[ns].Synced {
			names = append(names, ns)
		}
	}
	return names
}

// before reports whether s is less advanced than other: Waiting comes before Listing, and Listing before Watching.
func (s State) before(other State) bool {
	order := []State{Idle, Waiting, Listing, Watching}
	return slices.Index(order, s) < slices.Index(order, other)
}

// fault returns the latest error, unless the informer polls and the error is that of a watch.
func (s Status) fault() (err error) {
	if s.Namespaces == nil {
		if s.Polling != nil && errors.Is(s.Err, s.Polling) {
			return nil
		}
		return s.Err
	}
	var since time.Time
	for _, part := range s.Namespaces {
		if one := part.fault(); one != nil && (err == nil || part.Since.After(since)) {
			err, since = one, part.Since
		}
	}
	return err
}

// summary sums up the namespaces of an informer.
func summary(parts map[string]Status) Status {
	all := Status{Namespaces: parts, Synced: true}
	first := true
	for _, ns := range slices.Sorted(maps.Keys(parts)) {
		s := parts[ns]
		if first || s.State.before(all.State) {
			all.State = s.State
		}
		switch {
		case first:
			all.Mode, all.Why = s.Mode, s.Why
		case s.Mode != all.Mode:
			all.Mode, all.Why = Auto, ""
		}
		if s.Synced && (all.Renewed.IsZero() || s.Renewed.Before(all.Renewed)) {
			all.Renewed = s.Renewed
		}
		first = false
		if s.Polling != nil && (all.Polling == nil || s.PollingSince.Before(all.PollingSince)) {
			all.Polling, all.PollingSince = s.Polling, s.PollingSince
		}
		all.Stale = all.Stale || s.Stale
		all.Synced = all.Synced && s.Synced
		all.Warm += s.Warm
		all.Cold = errors.Join(all.Cold, s.Cold)
		all.Listed += s.Listed
		all.Remaining += s.Remaining
		if s.Err != nil && (all.Err == nil || s.Since.After(all.Since)) {
			all.Err = s.Err
		}
		if s.Since.After(all.Since) {
			all.Since = s.Since
		}
		if s.LastEvent.After(all.LastEvent) {
			all.LastEvent = s.LastEvent
		}
		all.Lists += s.Lists
		all.Watches += s.Watches
		all.Events += s.Events
		all.Resets += s.Resets
		for cause, n := range s.Relists {
			if all.Relists == nil {
				all.Relists = make(map[Cause]int)
			}
			all.Relists[cause] += n
		}
		all.Undecodable = append(all.Undecodable, s.Undecodable...)
	}
	slices.SortFunc(all.Undecodable, func(a, b *client.DecodeError) int { return a.Identity.Key().Compare(b.Identity.Key()) })
	return all
}
