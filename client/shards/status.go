package shards

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// Status is a snapshot of what a replica knows.
type Status struct {
	// Group is the namespace and the name of the group, Lease the key of this replica's lease, and Identity the name of
	// the replica.
	Group    meta.Key
	Lease    meta.Key
	Identity string
	// Running says that Run has been called and has not returned.
	Running bool
	// Joined says that this replica holds its lease, without which it has no ranges. Left is how much longer it holds
	// the lease without another renewal.
	Joined bool
	Left   time.Duration
	// Leaving says that this replica is about to end, and keeps its ranges until others have taken them.
	Leaving bool
	// Ranges are the ranges that this replica works on, and Since is when they last changed.
	Ranges meta.Ranges
	Since  time.Time
	// Lost is when this replica last lost all its ranges at once, because it lost its lease, and LostErr is why. Both
	// are zero if that has not happened since New.
	Lost    time.Time
	LostErr error
	// Waits are ranges that this replica claims, and that others have not given up yet. Prepares are ranges that it
	// should own, and is not ready for.
	Waits    meta.Ranges
	Prepares meta.Ranges
	// Unready are the names of the informers and controllers that are not ready for ranges of Prepares.
	Unready []string
	// Blocked is why the work is not shared as it should be: something in this replica has not been ready for
	// LeaseDuration, or another replica has another Options.By. It is nil if there is no such reason.
	Blocked error
	// Unowned are ranges that no replica works on or waits for, as far as this replica knows.
	Unowned meta.Ranges
	// Members are all replicas of the group, this one included, by name.
	Members []Member
	// Err is the error of the last read of the group's leases, and LeaseErr that of the last read or write of this
	// replica's own lease. Each is nil if that succeeded.
	Err, LeaseErr error
}

// Member is a replica of the group.
type Member struct {
	// Identity is the replica's name, Lease the name of its lease, and Weight its Options.Weight.
	Identity string
	Lease    string
	Weight   int
	// Ranges are the ranges that its lease shows: the replica works on them, or is ready and waits for them.
	Ranges meta.Ranges
	// Due is how many ranges the replica would have if all ranges were divided evenly, by weight, among the replicas
	// that are neither Leaving nor Lost. It is 0 for a replica that is Leaving or Lost.
	Due float64
	// Self says that the member is this replica itself. Leaving says that the member is about to end. Lost says that
	// its lease has expired, or that somebody has deleted or edited the lease.
	Self, Leaving, Lost bool
}

// Status returns what the replica knows now.
func (g *Group) Status() Status {
	now, election := g.clock.Mono(), g.elector.Status()
	g.mu.Lock()
	defer g.mu.Unlock()
	t := &g.replica
	s := Status{
		Group: meta.Key{Namespace: g.config.Namespace, Name: g.config.Name}, Lease: g.config.lease(), Identity: g.config.Identity,
		Running: g.running, Joined: g.joined && election.Leading, Left: election.Left, Leaving: t.leaving && g.running,
		Ranges: t.owns, Since: g.since, Lost: g.lost, LostErr: g.lostErr, Waits: t.claims.Minus(t.owns).Minus(t.draining), Prepares: g.wanted.Minus(t.have),
		Unready: g.notReady(), Blocked: g.blocked, Unowned: g.unowned, Err: g.err, LeaseErr: election.Err,
	}
	if g.joined {
		s.Members = append(s.Members, Member{Identity: g.config.Identity, Lease: g.replica.view.self, Weight: g.config.Weight, Ranges: t.claims, Self: true, Leaving: t.leaving})
	}
	for _, m := range g.replica.view.members {
		if m.hasEnded() {
			continue
		}
		s.Members = append(s.Members, Member{
			Identity: m.identity, Lease: m.name, Weight: m.share.weight, Ranges: m.share.ranges, Leaving: m.share.leaving,
			Lost: m.gone || m.broken != nil || m.free || !m.isLive(now),
		})
	}
	divide(s.Members)
	slices.SortFunc(s.Members, func(a, b Member) int { return cmp.Compare(a.Lease, b.Lease) })
	return s
}

// divide sets Due of each member.
func divide(members []Member) {
	stays := func(m Member) bool { return !m.Leaving && !m.Lost }
	weights := 0
	for _, m := range members {
		if stays(m) {
			weights += m.Weight
		}
	}
	for i, m := range members {
		if stays(m) {
			members[i].Due = meta.RangeCount * float64(m.Weight) / float64(weights)
		}
	}
}

// String returns the status on one line, for people. Its form may change.
func (s Status) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "shards %q, replica %q: ", s.Group, s.Identity)
	switch {
	case !s.Running:
		b.WriteString("not running")
		return b.String()
	case !s.Joined:
		b.WriteString("without a lease")
	default:
		fmt.Fprintf(&b, "%d of %d ranges", s.Ranges.Len(), meta.RangeCount)
	}
	if s.Leaving {
		b.WriteString(", leaving")
	}
	if n := s.Waits.Len(); n > 0 {
		fmt.Fprintf(&b, ", waits for %d", n)
	}
	if n := s.Prepares.Len(); n > 0 {
		fmt.Fprintf(&b, ", prepares for %d (%s)", n, strings.Join(s.Unready, ", "))
	}
	if n := s.Unowned.Len(); n > 0 {
		fmt.Fprintf(&b, ", %d unowned", n)
	}
	if len(s.Members) > 0 {
		parts := make([]string, len(s.Members))
		for i, m := range s.Members {
			parts[i] = fmt.Sprintf("%s %d", m.Identity, m.Ranges.Len())
			if m.Lost {
				parts[i] += " (lost)"
			}
		}
		fmt.Fprintf(&b, "; replicas: %s", strings.Join(parts, ", "))
	}
	for _, err := range []error{s.Blocked, s.Err, s.LeaseErr} {
		if err != nil {
			fmt.Fprintf(&b, "; %v", err)
		}
	}
	return b.String()
}

// WhyIdle returns why this replica works on no range: the Group does not run, the replica has no lease, or the reason
// is in Status.Blocked or Status.Err. It returns nil if the replica works on a range, and also if nothing is wrong:
// others own all ranges, or this replica will soon have its first ones. Controllers show the reason.
func (g *Group) WhyIdle() error {
	s := g.Status()
	switch {
	case s.Ranges != (meta.Ranges{}):
		return nil
	case !s.Running:
		return fmt.Errorf("%v does not run: its Run has to call what runs the controllers", g)
	case s.Joined && s.Blocked != nil:
		return s.Blocked
	case s.Joined:
		return s.Err
	case s.LeaseErr == nil:
		return fmt.Errorf("%v: this replica has no lease", g)
	}
	return fmt.Errorf("%v: this replica has no lease: %w", g, s.LeaseErr)
}
