package explore

import (
	"net/http"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

// The kinds of disturbed answers.
const (
	lostAnswer kind = "lost-answer" // the server serves a request, and the connection breaks before the answer
	timeout    kind = "timeout"     // the server serves a request, and the answer is 504
	failure    kind = "failure"     // the answer is 500, and the request is not served
	throttled  kind = "throttled"   // the answer is 429 with Retry-After, and the request is not served
	slow       kind = "slow"        // the answer takes a while
)

func answers() []effect {
	return []effect{
		{kind: failure, at: func(*point, *result) []string { return once(true) }, serve: fail},
		{kind: throttled, at: func(p *point, _ *result) []string { return once(p.request.Verb != "watch") }, serve: throttle},
		{kind: slow, at: func(p *point, _ *result) []string { return once(p.request.Verb != "watch") }, serve: takeLong},
		{kind: lostAnswer, at: func(p *point, _ *result) []string { return once(p.writes()) }, serve: loseAnswer},
		{kind: timeout, at: func(p *point, _ *result) []string { return once(p.writes()) }, serve: timeOut},
	}
}

func fail(p *point, _ disturbance, rw http.ResponseWriter, r *http.Request, _ http.HandlerFunc) {
	p.refuse(rw, r, http.StatusInternalServerError, "InternalError")
}

func throttle(p *point, _ disturbance, rw http.ResponseWriter, r *http.Request, _ http.HandlerFunc) {
	rw.Header().Set("Retry-After", "1")
	p.refuse(rw, r, http.StatusTooManyRequests, "TooManyRequests")
}

func takeLong(p *point, _ disturbance, rw http.ResponseWriter, r *http.Request, _ http.HandlerFunc) {
	answer := p.ask(r)
	p.life.world.tell("%s, and the answer takes 40 s", p.said(answer))
	select {
	case <-time.After(pause):
	case <-r.Context().Done():
		panic(http.ErrAbortHandler)
	}
	p.answer(rw, answer)
}

func loseAnswer(p *point, _ disturbance, _ http.ResponseWriter, r *http.Request, _ http.HandlerFunc) {
	p.life.world.tell("%s, but the connection breaks before the answer", p.said(p.ask(r)))
	panic(http.ErrAbortHandler)
}

func timeOut(p *point, _ disturbance, rw http.ResponseWriter, r *http.Request, _ http.HandlerFunc) {
	p.life.world.tell("%s, but the answer is 504", p.said(p.ask(r)))
	clienttest.Answer(meta.Status{Code: http.StatusGatewayTimeout, Reason: "Timeout", Message: "explore"})(rw, r)
}
