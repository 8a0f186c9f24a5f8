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

// dead describes what a crash before a request leaves: the replica has lost its memory.
func dead(p *point) string { return "replica " + p.life.name + " dies" }

// deadAfter describes what a crash after a request leaves: the same as dead if the request has changed nothing, because
// then only its answer is lost; "" otherwise.
func deadAfter(p *point) string {
	if p.changed {
		return ""
	}
	return dead(p)
}
