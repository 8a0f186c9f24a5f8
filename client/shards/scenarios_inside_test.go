package shards

import (
	"testing"
	"time"
)

// scenario is a small group from a moment on, and what may befall it.
type scenario struct {
	name    string
	players int
	ranges  int
	begun   []int // the players that work from the beginning
	left    budget
	rules   rules // what is not the usual
}

func (s scenario) world(t *testing.T) *world {
	r := s.rules
	r.ranges, r.lease, r.deadline, r.heals = max(s.ranges, 1), 3*time.Second, 2*time.Second, 8
	if r.events == 0 {
		r.events = 3
	}
	return newWorld(r, s.players, s.left).settled(t, s.begun...)
}

func scenarios() []scenario {
	one, both, late := []int{0}, []int{0, 1}, []int{1}
	return []scenario{
		{name: "two begin", players: 2},
		{name: "a second one begins", players: 2, begun: one},
		{name: "the second one is to have the range", players: 2, begun: late},
		{name: "two ranges", players: 2, ranges: 2, begun: one},
		{name: "something has to be prepared", players: 2, begun: one, left: budget{unready: 1}, rules: rules{prepares: true}},
		{name: "requests take time", players: 2, begun: late, rules: rules{slow: true}},
		{name: "plans come late", players: 2, begun: late, rules: rules{lazy: true}},
		{name: "an answer is lost", players: 2, begun: late, left: budget{lost: 2}},
		{name: "a write comes late", players: 2, begun: late, left: budget{lost: 2, late: 1}},
		{name: "a write comes late, and requests take time", players: 2, begun: both, left: budget{lost: 1, late: 1}, rules: rules{slow: true}},
		{name: "a watch ends", players: 2, begun: late, left: budget{cut: 2}},
		{name: "the history ends", players: 2, begun: late, left: budget{compact: 1, cut: 1}},
		{name: "a lease runs out", players: 2, begun: both, left: budget{expire: 1}},
		{name: "a process is stopped", players: 2, begun: both, left: budget{pause: 1, expire: 1}},
		{name: "a process crashes", players: 2, begun: both, left: budget{crash: 1, restart: 1}},
		{name: "a replica leaves", players: 2, begun: both, left: budget{leave: 1}},
		{name: "both leave", players: 2, begun: both, left: budget{leave: 2, restart: 1}},
		{name: "a lease is deleted", players: 2, begun: one, left: budget{remove: 1}},
		{name: "one of two leases is deleted", players: 2, begun: both, left: budget{remove: 1}},
		{name: "two leases are deleted", players: 2, begun: both, left: budget{remove: 2}},
		{name: "a lease is deleted, and the history ends", players: 2, begun: both, left: budget{remove: 1, compact: 1}},
		{name: "a lease is deleted, and an answer is lost", players: 2, begun: late, left: budget{remove: 1, lost: 1}},
		{name: "a lease is edited", players: 2, begun: both, left: budget{edit: 1}},
		{name: "a lease is edited twice", players: 2, begun: late, left: budget{edit: 2}},
		{name: "a backup is restored", players: 2, begun: both, left: budget{restore: 1}},
		{name: "a backup from before the second", players: 2, begun: one, left: budget{restore: 1}},
		{name: "three replicas", players: 3, begun: []int{1, 0}},
		{name: "three replicas, of which one crashes", players: 3, begun: []int{0, 1, 2}, left: budget{crash: 1}},
		{name: "three replicas, and a lease is deleted", players: 3, begun: both, left: budget{remove: 1}},
		{name: "who joins, and a lease is deleted", players: 3, ranges: 2, begun: []int{1, 2}, left: budget{remove: 1}},
		{name: "prompt, and a watch is held up", players: 2, begun: late, left: budget{deaf: 2, hold: 1, pause: 1}, rules: rules{prompt: true}},
		{name: "prompt, and both watches are held up", players: 2, begun: []int{1}, left: budget{deaf: 3, hold: 1}, rules: rules{prompt: true, events: 8}},
		{name: "prompt, and a list takes long", players: 2, begun: late, left: budget{deaf: 2, hold: 1, unready: 1}, rules: rules{prompt: true, prepares: true}},
		{name: "prompt, and replicas come and go", players: 2, begun: both, left: budget{deaf: 1, hold: 1, leave: 1, restart: 1, crash: 1}, rules: rules{prompt: true}},
		{name: "prompt, and writes are lost", players: 2, begun: late, left: budget{deaf: 1, hold: 1, lost: 2, late: 1}, rules: rules{prompt: true}},
		{name: "prompt, and a lease is deleted", players: 2, begun: late, left: budget{deaf: 2, remove: 1}, rules: rules{prompt: true, events: 8}},
		{name: "prompt, and a lease is deleted unseen", players: 2, begun: both, left: budget{deaf: 1, unready: 1, crash: 1, restart: 1, remove: 1}, rules: rules{prompt: true, prepares: true, events: 8}},
		{name: "prompt, and a lease is deleted in a gap", players: 2, begun: both, left: budget{deaf: 1, unready: 1, crash: 1, restart: 1, remove: 1, compact: 1}, rules: rules{prompt: true, prepares: true, events: 8}},
		{name: "prompt, and leases are deleted", players: 3, ranges: 2, begun: []int{1, 2}, left: budget{deaf: 1, pause: 1, remove: 1}, rules: rules{prompt: true}},
		{name: "prompt, and the history ends", players: 3, begun: both, left: budget{deaf: 1, pause: 1, remove: 1, compact: 1, cut: 1}, rules: rules{prompt: true}},
		{name: "prompt, and leases are edited", players: 2, begun: both, left: budget{deaf: 1, edit: 2, pause: 1, expire: 1}, rules: rules{prompt: true}},
		{name: "prompt, and a backup is restored", players: 3, begun: both, left: budget{deaf: 1, pause: 1, restore: 1}, rules: rules{prompt: true}},
		{name: "prompt, and not ready", players: 3, begun: both, left: budget{deaf: 1, hold: 1, unready: 2, crash: 1}, rules: rules{prompt: true, prepares: true}},
		{name: "another Options.By", players: 2, begun: one, rules: rules{mixed: true}},
		{name: "another Options.By, and one leaves", players: 2, begun: both, left: budget{leave: 1}, rules: rules{mixed: true}},
	}
}
