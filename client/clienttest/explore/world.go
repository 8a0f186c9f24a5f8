package explore

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/patch"
)

const (
	// quiet is how long nothing may happen until the world is at rest. It is longer than a lease and a restart together.
	quiet = time.Minute
	// patience is how long the world may stay different from what it should be at rest. It is longer than the longest
	// wait of a work queue, which is 1000 s for client-go's.
	patience = 30 * time.Minute
	// restless is how long a program may go on with requests after the last step.
	restless = 2 * time.Hour
)

// world is one run: a server, the replicas of the program, and people. Its scheduler, in the goroutine that calls play,
// lets one request of the program after the other through whenever everything else waits.
type world struct {
	plan     *Plan
	schedule schedule
	server   *clienttest.Server
	begin    time.Time
	ctx      context.Context // ends with the run
	work     sync.WaitGroup  // of the networks and the programs

	arrivals chan struct{} // holds a value if a request has arrived since the scheduler looked

	mu           sync.Mutex // guards what follows
	lives        []*life
	waiting      []*point
	watches      map[*point]context.CancelFunc
	hidden       bool // no list and no watch is served
	held         map[silence]bool
	released     chan struct{} // closed and replaced when a silence ends
	kinds        map[meta.GVR]bool
	counts       map[string]int // of requests, by class
	points       []*point       // that were let through and counted
	annotated    *point         // whose object another writer has annotated
	annotatedUID string
	story        []string
	findings     []string
}

// play plays the history under a schedule. It must be called in a bubble.
func play(plan *Plan, s schedule) *result {
	t := &test{}
	ctx, cancel := context.WithCancel(context.Background())
	w := &world{
		plan: plan, schedule: s, begin: time.Now(), ctx: ctx, arrivals: make(chan struct{}, 1),
		watches: map[*point]context.CancelFunc{}, held: map[silence]bool{}, counts: map[string]int{}, released: make(chan struct{}), kinds: map[meta.GVR]bool{},
	}
	t.world = w
	w.server = clienttest.Start(t, plan.Server)
	for i := range max(1, plan.Replicas) {
		(&replica{w, string(rune('A' + i))}).begin()
	}
	w.settle()
	users, err := client.New(w.config())
	if err != nil {
		panic(err) // the server's own configuration
	}
	h := &History{world: w, users: users}
	plan.History(h)
	w.reveal()
	w.rest()
	w.checkAnnotation()
	r := &result{schedule: s, steps: h.steps}
	if r.state, err = w.state(); err != nil {
		w.found("%v", err)
	}
	r.again = func() state {
		w.wait(patience, patience)
		is, err := w.state()
		if err != nil {
			w.found("%v", err)
		}
		return is
	}
	r.end = func() {
		users.Close()
		w.stop(cancel)
		t.end()
		r.points, r.story, r.findings = w.points, w.story, w.findings
	}
	return r
}

// result is what a run has led to.
type result struct {
	schedule schedule
	steps    int
	state    state
	again    func() state // the state after more time
	end      func()       // must be called; it sets what follows
	points   []*point
	story    []string
	findings []string
}

// stop ends the programs.
func (w *world) stop(cancel context.CancelFunc) {
	ended := make(chan struct{})
	cancel()
	go func() {
		w.work.Wait()
		close(ended)
	}()
	grace := time.NewTimer(time.Minute)
	defer grace.Stop()
	for {
		w.settle()
		select {
		case <-ended:
			return
		case <-w.arrivals:
		case <-grace.C:
			w.found("the program does not return within a minute after its context has ended")
			for _, l := range w.lives {
				_ = l.network.Close()
			}
			return
		}
	}
}

// tell adds a line to the story.
func (w *world) tell(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.story = append(w.story, fmt.Sprintf("%9.3fs  ", time.Since(w.begin).Seconds())+fmt.Sprintf(format, args...))
}

// found adds something that is wrong.
func (w *world) found(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.findings = append(w.findings, fmt.Sprintf(format, args...))
}

// arrive makes a request wait for the scheduler; false if its replica is dead.
func (w *world) arrive(p *point) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.life.dead {
		return false
	}
	w.waiting = append(w.waiting, p)
	select {
	case w.arrivals <- struct{}{}:
	default:
	}
	return true
}

// leave removes a request that does not wait any more.
func (w *world) leave(p *point) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting = slices.DeleteFunc(w.waiting, func(other *point) bool { return other == p })
}

// next takes the request that is let through next; nil if none may be.
func (w *world) next() *point {
	w.mu.Lock()
	defer w.mu.Unlock()
	var first *point
	for _, p := range w.waiting {
		if w.hidden && (p.request.Verb == "list" || p.request.Verb == "watch") || w.held[silence{p.life, ""}] {
			continue
		}
		if first == nil || p.compare(first) < 0 {
			first = p
		}
	}
	if first == nil {
		return nil
	}
	w.waiting = slices.DeleteFunc(w.waiting, func(p *point) bool { return p == first })
	if first.counted() {
		class := first.class()
		w.counts[class]++
		first.place = place{class, w.counts[class]}
		w.points = append(w.points, first)
	}
	if first.writes() && first.request.Resource.Resource != "" {
		w.kinds[first.request.Resource] = true
	}
	return first
}

// settle lets requests through until nothing waits. moved reports whether one of them counts.
func (w *world) settle() (moved bool) {
	for {
		synctest.Wait()
		p := w.next()
		if p == nil {
			return moved
		}
		moved = moved || p.counted() && p.request.Verb != "watch"
		d := w.schedule.at(p.place)
		switch d.kind {
		case touched:
			w.touch(p)
		case late:
			w.tell("%s, which is under way, as is everything of this replica", p)
			w.hold(silence{p.life, ""})
		case lag:
			w.tell("replica %s sees nothing of %s from now on", p.life.name, d.resource)
			w.hold(silence{p.life, d.resource})
		}
		p.granted <- d.kind
		synctest.Wait()
		if p.writes() && w.plan.Always != nil {
			w.check("always", w.plan.Always)
		}
	}
}

// rest waits until nothing moves, and checks what must be true then.
func (w *world) rest() {
	if !w.wait(quiet, restless) {
		w.found("the program still sends requests %v after the last step", restless)
	}
	if w.plan.AtRest != nil && !w.hidden {
		w.check("at rest", w.plan.AtRest)
	}
}

// wait waits until nothing has moved for a while; false if that does not happen in the time.
func (w *world) wait(still, most time.Duration) bool {
	begin := time.Now()
	last := begin
	for {
		if w.settle() {
			last = time.Now()
		}
		switch {
		case time.Since(last) >= still:
			return true
		case time.Since(begin) >= most:
			return false
		}
		timer := time.NewTimer(still - time.Since(last))
		select {
		case <-w.arrivals:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// check calls a function of the plan.
func (w *world) check(when string, is func(State) error) {
	if err := is(State{w}); err != nil {
		w.found("%s: %v", when, err)
	}
}

// touch changes an object as another writer does, right before a request of the program.
func (w *world) touch(p *point) {
	c, err := client.New(w.config())
	if err != nil {
		panic(err)
	}
	defer c.Close()
	body := fmt.Sprintf(`{"metadata":{"annotations":{%q:"%s"}}}`, touchedAnnotation, p.place.class)
	answer, err := c.Raw(w.ctx, client.RawRequest{
		Method: http.MethodPatch, Path: strings.TrimSuffix(p.path, "/"+p.request.Subresource), Body: []byte(body),
		Header: http.Header{"Content-Type": {patch.MergeType}},
	})
	var object meta.Unstructured
	if err == nil {
		err = json.NewDecoder(answer.Body).Decode(&object)
		_ = answer.Body.Close()
	}
	w.tell("user: annotate %s %s%s", p.request.Resource.Resource, p.request.Key, failed(err))
	if err == nil {
		w.annotated, w.annotatedUID = p, object.GetUID()
	}
}

// checkAnnotation looks whether the annotation of touch is still on the object.
func (w *world) checkAnnotation() {
	p := w.annotated
	if p == nil {
		return
	}
	items, err := w.list(p.request.Resource)
	if err != nil {
		return // state says so
	}
	for _, raw := range items {
		var object meta.Unstructured
		if err := json.Unmarshal(raw, &object); err != nil || object.GetUID() != w.annotatedUID {
			continue
		}
		if _, found := object.GetAnnotations()[touchedAnnotation]; !found {
			w.found("the annotation that a user added to %s %s is lost", p.request.Resource.Resource, p.request.Key)
		}
	}
}

// touchedAnnotation is what the other writer adds.
const touchedAnnotation = "explore.bowline.dev/touched"

// beginStep prepares for a step of the history.
func (w *world) beginStep(step int) {
	if w.schedule.hides(step) == w.hidden {
		return
	}
	w.mu.Lock()
	w.hidden = true
	for _, cut := range w.watches {
		cut()
	}
	w.mu.Unlock()
	w.tell("no list and no watch is served from now on")
	synctest.Wait()
}

// endStep ends a step of the history.
func (w *world) endStep(step int, err error) {
	if err != nil && len(w.schedule) == 0 {
		w.found("step %d of the history fails: %v", step, err)
	}
	if !w.schedule.hides(step + 1) {
		w.reveal()
	}
}

// reveal serves lists and watches again.
func (w *world) reveal() {
	if !w.hidden {
		return
	}
	w.mu.Lock()
	w.hidden = false
	w.mu.Unlock()
	w.tell("lists and watches are served again")
}
