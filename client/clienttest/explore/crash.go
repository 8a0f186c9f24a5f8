package explore

import "net/http"

// The kinds of crashes.
const (
	crashBefore kind = "crash-before" // a replica dies before its request is sent
	crashAfter  kind = "crash-after"  // a replica dies after its request was served, and before the answer
)

func crashes() []effect {
	return []effect{
		{kind: crashBefore, at: func(*point, *result) []string { return once(true) }, serve: dieBefore, leaves: dead},
		{kind: crashAfter, at: func(p *point, _ *result) []string { return once(p.request.Verb != "watch") }, serve: dieAfter, leaves: deadAfter},
	}
}

func dieBefore(p *point, _ disturbance, _ http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) {
	p.life.world.tell("%s, and dies before it is sent", p)
	p.life.crash()
	panic(http.ErrAbortHandler)
}

func dieAfter(p *point, _ disturbance, _ http.ResponseWriter, r *http.Request, _ http.HandlerFunc) {
	p.life.world.tell("%s, and dies before the answer", p.said(p.ask(r)))
	p.life.crash()
	panic(http.ErrAbortHandler)
}

// dead says what a crash before a request leaves: the memory of the replica is lost.
func dead(p *point) string { return "replica " + p.life.name + " dies" }

// deadAfter is the same for a request that changes nothing, because its answer is lost.
func deadAfter(p *point) string {
	if p.changed {
		return ""
	}
	return dead(p)
}
