package explore

import (
	"context"
	"net/http"
)

// The kinds of delays in the network: it holds traffic back for longer than a lease, and then lets it through.
const (
	late         kind = "late"          // the network holds all traffic of a replica for a while
	lateRequests kind = "late-requests" // the requests of a replica arrive late; its answers and events arrive at once
	lateAnswers  kind = "late-answers"  // the requests of a replica are served at once; their answers arrive late
	lateEvents   kind = "late-events"   // the events of a replica's watches arrive late
	cutOff       kind = "cut-off"       // as late, but from a step of the history on
)

func delays() []effect {
	atWrites := func(p *point, _ *result) []string { return once(p.writes()) }
	return []effect{
		{kind: late, at: atWrites, prepare: holds(requests, answered, events), serve: arriveLate},
		{kind: lateRequests, at: atWrites, prepare: holds(requests), serve: arriveLate},
		{kind: lateAnswers, at: atWrites, prepare: holds(answered)},
		{kind: lateEvents, at: atWrites, prepare: holds(events)},
		{kind: cutOff, argued: true, stepAt: func(_ int, want *result) []string { return want.replicas }, begin: cutReplica},
	}
}

// holds returns a function that begins silences of the replica that sends the request.
func holds(all ...traffic) func(*world, *point, disturbance) {
	return func(w *world, p *point, d disturbance) {
		switch d.kind {
		case late:
			w.tell("%s, which is under way, as is everything of this replica", p)
		case lateRequests:
			w.tell("%s, which is under way, as are all requests of this replica", p)
		default:
			w.tell("the network holds all %s of replica %s from now on", all[0], p.life.name)
		}
		w.holdFor(func() {}, p.life.silences(all...)...)
	}
}

// silences returns silences of the life, one for each kind of traffic.
func (l *life) silences(all ...traffic) (silences []silence) {
	for _, one := range all {
		silences = append(silences, silence{life: l, traffic: one})
	}
	return silences
}

// arriveLate serves a request that was sent before the silence. A write is served even if its client no longer waits
// for the answer; a watch without a client ends, as on any server.
func arriveLate(p *point, _ disturbance, rw http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
	p.life.world.untilReleased(context.Background(), silence{p.life, requests, ""})
	if p.request.Verb != "watch" {
		r = r.WithContext(context.WithoutCancel(r.Context()))
	}
	next(rw, r)
}

// cutReplica begins silences of the current life of a replica.
func cutReplica(w *world, d disturbance) {
	w.mu.Lock()
	var last *life
	for _, l := range w.lives {
		if l.name == d.argument {
			last = l
		}
	}
	w.mu.Unlock()
	if last != nil {
		w.tell("nothing of replica %s gets through from now on", d.argument)
		w.holdFor(func() {}, last.silences(requests, answered, events)...)
	}
}
