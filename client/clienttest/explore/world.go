package explore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

const (
	// quiet is how long nothing may happen before the world counts as at rest. It is longer than a lease and a restart
	// together, and longer than pause.
	quiet = time.Minute
	// calm replaces quiet while no silence, no answer and no restart is under way. It is longer than a lease and the
	// wait for the lease together.
	calm = 30 * time.Second
	// patience is how long a wrong state at rest may last before it is a finding. It is longer than the longest wait of
	// a work queue, which is 1000 s for client-go's.
	patience = 30 * time.Minute
	// restless is how long a program may continue to send requests after the last step.
	restless = 2 * time.Hour
)

// world is one run: a server, the replicas of the program, and people. Its scheduler, in the goroutine that calls play,
// lets the requests of the program through one at a time, whenever everything else waits.
type world struct {
	plan     *Plan
	schedule schedule
	options  clienttest.Options
	server   *clienttest.Server
	begin    time.Time
	ctx      context.Context // ends with the run
	work     sync.WaitGroup  // the goroutines of the networks and the programs

	// Only the scheduler uses these fields, with four exceptions: digest and ledger have their own locks, granted is
	// atomic, and the comments of cluster say what guards its fields.
	ends      map[int][]disturbance // disturbances by the step of the history after which they end
	triggers  map[place][]func()    // functions to call before a request or a step, by place
	disturbed bool                  // a disturbance has happened
	happened  schedule
	known     []time.Duration // the paces of the run without disturbances; nil if the program acts at certain times
	paces     []time.Duration // for each rest, the longest time without a request before its last request
	digest    *digest
	granted   atomic.Int64                     // number of requests that were let through
	ask       func(compared schedule) *outcome // returns a run to compare with; nil if this run is compared with none
	states    []state                          // the state at each rest
	atRests   []disturbance                    // the edits and the strangers that were possible at the rests
	lasting   []lasting                        // changes that others undo later
	altered   bool                             // an edit that stays has changed the state
	unlike    *unlike                          // the first state at rest that is not as it should be
	ledger    ledger
	claims    map[place]map[kind][]string // the addresses of possible claims before each step
	cluster   cluster

	arrivals chan struct{} // holds a value if a request has arrived since the scheduler last looked

	mu           sync.Mutex // guards the fields below
	lives        []*life
	waiting      []*point
	away         int // number of replicas that will start again
	answering    int // number of requests without an answer that were let through, except watches
	watches      map[*point]context.CancelFunc
	forbidden    []permission // the permissions that the program does not have now
	hidden       int          // if positive, no list and no watch is served
	held         map[silence]int
	released     chan struct{} // closed and replaced when a silence ends
	kinds        map[meta.GVR]bool
	counts       map[string]int // number of requests by class
	points       []*point       // the counted requests that were let through
	written      []written      // the writes of requests and steps
	steps        int            // number of steps of the history that have begun
	rests        int            // how often the history has rested
	compared     schedule       // the disturbances of the run with which this run is compared
	annotated    *point         // the request whose object another writer has annotated
	annotatedUID string
	story        story
	findings     []string
}

// play plays the history under a schedule. known are the paces of the run without disturbances, if they are known. The
// caller must be in a bubble.
func play(plan *Plan, s schedule, known []time.Duration, ask func(compared schedule) *outcome) *result {
	t := &test{}
	ctx, cancel := context.WithCancel(context.Background())
	w := &world{
		plan: plan, schedule: s, ask: ask, ledger: ledger{known: map[meta.GVR]bool{}}, claims: map[place]map[kind][]string{}, begin: time.Now(), ctx: ctx, arrivals: make(chan struct{}, 1),
		watches: map[*point]context.CancelFunc{}, held: map[silence]int{}, counts: map[string]int{},
		released: make(chan struct{}), kinds: map[meta.GVR]bool{}, ends: map[int][]disturbance{},
		triggers: map[place][]func(){}, options: plan.Server, known: known, digest: newDigest(),
	}
	t.world = w
	for _, d := range s {
		if effect := effectOf(d.kind); effect.plan != nil {
			effect.plan(w, d)
		}
	}
	w.server = clienttest.Start(t, w.options)
	var existing []meta.GVR
	if plan.served == nil && ask == nil {
		existing = w.existing()
	}
	w.beginCluster()
	var names []string
	for i := range max(1, plan.Replicas) {
		r := &replica{w, string(rune('A' + i))}
		names = append(names, r.name)
		r.begin()
	}
	w.settle(restless)
	users, err := client.New(w.config())
	if err != nil {
		panic(err) // cannot fail: the configuration is the server's own
	}
	h := &History{world: w, users: users}
	plan.History(h)
	w.endAll()
	w.rest()
	w.checkAnnotation()
	w.checkHarm()
	r := &result{
		schedule: s, steps: h.steps, replicas: names, states: w.states, atRests: w.atRests, claims: w.claims, unlike: w.unlike,
		harm: w.ledger.harm, owners: w.ledger.owners, kinds: w.resources(), existing: existing, clustered: w.cluster.runs,
	}
	r.end = func() {
		users.Close()
		w.stop(cancel)
		t.end()
		r.points, r.written, r.story, r.findings = w.points, w.written, w.story, w.findings
		r.stuck = t.stuck
		for of := range w.kinds {
			r.wrote = append(r.wrote, of.Resource)
		}
		r.happened = w.happened
		r.paces, r.took = w.paces, time.Since(w.begin)
	}
	return r
}

// result is the result of a run.
type result struct {
	schedule  schedule
	happened  schedule // the disturbances of the schedule whose places were reached
	steps     int
	states    []state                     // the state at each rest
	unlike    *unlike                     // the first wrong state; nil if there is none
	atRests   []disturbance               // the edits and the strangers that were possible at the rests
	claims    map[place]map[kind][]string // the addresses of possible claims before each step
	harm      []string                    // what the program did to objects of others
	owners    bool                        // a garbage collector had work
	kinds     []meta.GVR                  // the resources that somebody has written to
	existing  []meta.GVR                  // the resources with objects at the start; nil unless play looked for them
	clustered bool                        // controllers of the cluster have run
	end       func()                      // must be called; it sets happened, and the fields below except replicas
	points    []*point
	written   []written
	replicas  []string // their names
	story     story
	took      time.Duration   // the length of the run in virtual time
	paces     []time.Duration // as in world, for each rest
	wrote     []string        // the resources that somebody has written to
	findings  []string
	stuck     bool // a goroutine is left over
}

// watched returns the resources that the program watches.
func (r *result) watched() (names []string) {
	for _, p := range r.points {
		if name := p.request.Resource.Resource; p.request.Verb == "watch" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// stop ends the programs, and waits up to a minute until they have returned.
func (w *world) stop(cancel context.CancelFunc) {
	ended := make(chan struct{})
	cancel()
	go func() {
		w.work.Wait()
		close(ended)
	}()
	grace := time.NewTimer(time.Minute + afterwards)
	defer grace.Stop()
	for {
		w.settle(restless)
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

// found adds a finding.
func (w *world) found(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.findings = append(w.findings, fmt.Sprintf(format, args...))
}

// arrive makes a request wait for the scheduler. It returns false if the request's replica is dead.
func (w *world) arrive(p *point) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.life.dead {
		return false
	}
	w.waiting = append(w.waiting, p)
	w.wake()
	return true
}

// leave removes a request that no longer waits.
func (w *world) leave(p *point) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting = slices.DeleteFunc(w.waiting, func(other *point) bool { return other == p })
}

// next removes and returns the waiting request that is let through next; nil if there is none.
func (w *world) next() *point {
	w.mu.Lock()
	defer w.mu.Unlock()
	var first *point
	for _, p := range w.waiting {
		if w.hidden > 0 && (p.request.Verb == "list" || p.request.Verb == "watch") || w.isHeld(silence{p.life, requests, ""}) {
			continue
		}
		if first == nil || p.compare(first) < 0 {
			first = p
		}
		p.passed++
	}
	if first == nil {
		return nil
	}
	w.waiting = slices.DeleteFunc(w.waiting, func(p *point) bool { return p == first })
	if first.counted() {
		class := first.class()
		w.counts[class]++
		first.place = place{class, w.counts[class]}
		first.wrong = w.schedule.at(first.place)
		if first.writtenBefore = len(w.written); first.writes() {
			w.written = append(w.written, written{first.place, first.request.Resource.Resource})
		}
		first.step, first.past = w.steps, w.digest.at(w)
		w.points = append(w.points, first)
	}
	if first.writes() && first.request.Resource.Resource != "" {
		w.kinds[first.request.Resource] = true
	}
	return first
}

// settle lets requests through until none waits, but for at most the given time. moved reports whether anything
// happened besides watches and requests for leases.
func (w *world) settle(most time.Duration) (moved bool) {
	begin := time.Now()
	for n := 0; ; n++ {
		time.Sleep(slowness(n))
		synctest.Wait()
		if w.lapse() {
			moved = true
			continue
		}
		moved = w.cluster.stirred.Swap(false) || moved
		if time.Since(begin) > most {
			return moved
		}
		p := w.next()
		if p == nil {
			return moved
		}
		w.offer(p)
		moved = moved || p.counted() && p.request.Verb != "watch"
		w.happen(p.place)
		w.granted.Add(1)
		for _, d := range p.wrong {
			w.disturb(p, d)
			if prepare := effectOf(d.kind).prepare; prepare != nil {
				prepare(w, p, d)
			}
		}
		close(p.granted)
		synctest.Wait()
		if p.writes() && w.plan.Always != nil && !w.altered {
			w.check("always", w.plan.Always)
		}
	}
}

// slowness returns the virtual time that a request takes if it follows n others without a pause. Usually that is zero.
// But a program that answers each event with another request would stop the clock, for example a program that makes an
// object again each time the garbage collector deletes it. Then the later event that would end this loop could never
// happen.
func slowness(n int) time.Duration {
	const free, step = 300, 100
	if n < free {
		return 0
	}
	return min(100*time.Millisecond<<min((n-free)/step, 20), pause)
}

// rest waits until the world is at rest, and checks the state.
func (w *world) rest() {
	sure := w.quieten()
	if w.disturbRest() {
		if w.ask == nil { // other runs are compared with this one, and they wait as long if they differ
			w.beSure()
		}
		sure = w.quieten()
	}
	if len(w.ends) == 0 {
		w.atRests = append(w.atRests, w.ledger.offersAtRest(w.rests)...)
	}
	w.compare(sure)
	if sure && w.plan.AtRest != nil && len(w.ends) == 0 && !w.altered {
		w.check("at rest", w.plan.AtRest)
	}
}

// beSure waits for patience, which is longer than a work queue may wait.
func (w *world) beSure() { w.wait(func() time.Duration { return patience }, restless) }

// quieten waits until the world is at rest. Before the first disturbance a run does the same as the run without
// disturbances, so it waits only about as long as that run did; sure is then false. During a disturbance that lasts for
// several steps, the program need not come to rest.
func (w *world) quieten() (sure bool) {
	before := maps.Clone(w.counts)
	most := restless
	if len(w.ends) > 0 {
		most = patience
	}
	pace, rests := w.wait(w.still, most)
	if !rests && len(w.ends) == 0 {
		w.found("the program still sends requests %v after the last step: %s", restless, w.most(before))
	}
	sure = w.disturbed || len(w.known) == 0
	w.paces = append(w.paces, pace)
	return sure
}

// still returns how long nothing may happen before the world counts as at rest.
func (w *world) still() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	number := len(w.paces)
	switch {
	case !w.disturbed && number < len(w.known):
		return min(quiet, w.known[number]+time.Second)
	case len(w.known) == 0, len(w.held) > 0, w.answering > 0, w.away > 0:
		return quiet
	}
	return calm
}

// most describes the classes of the requests that were sent most often since the counts in before were taken.
func (w *world) most(before map[string]int) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	classes := slices.SortedFunc(maps.Keys(w.counts), func(a, b string) int {
		return cmp.Or(w.counts[b]-before[b]-w.counts[a]+before[a], cmp.Compare(a, b))
	})
	var texts []string
	for _, class := range classes[:min(3, len(classes))] {
		texts = append(texts, fmt.Sprintf("%s %d times", class, w.counts[class]-before[class]))
	}
	return strings.Join(texts, ", ")
}

// wait waits until nothing has happened for the duration still() and others have undone their changes. rests is false
// if that does not happen within the duration most. pace is the longest time without a request before the last request.
func (w *world) wait(still func() time.Duration, most time.Duration) (pace time.Duration, rests bool) {
	begin := time.Now()
	last := begin
	for {
		if w.settle(most - time.Since(begin)) {
			pace = max(pace, time.Since(last))
			last = time.Now()
		}
		left := still() - time.Since(last)
		switch {
		case left <= 0 && len(w.lasting) == 0:
			return pace, true
		case time.Since(begin) >= most:
			return pace, false
		case len(w.lasting) > 0:
			left = time.Until(w.lasting[0].until)
		}
		w.sleep(left)
	}
}

// pass lets virtual time pass.
func (w *world) pass(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		w.settle(time.Until(end))
		left := time.Until(end)
		if len(w.lasting) > 0 {
			left = min(left, time.Until(w.lasting[0].until))
		}
		w.sleep(left)
	}
}

// sleep waits for a while, or until a request arrives.
func (w *world) sleep(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-w.arrivals:
	case <-timer.C:
	}
}

// check calls a function of the plan, and makes its error a finding.
func (w *world) check(when string, is func(State) error) {
	if err := is(State{w}); err != nil {
		w.found("%s: %v", when, err)
	}
}

// before registers a function that is called right before a request or a step.
func (w *world) before(at place, do func()) { w.triggers[at] = append(w.triggers[at], do) }

// happen calls the functions that were registered for a request or a step; see [world.before].
func (w *world) happen(at place) {
	for _, do := range w.triggers[at] {
		do()
	}
}

// disturb records that a disturbance happens: at the request p, or at a step or a rest of the history if p is nil.
func (w *world) disturb(p *point, d disturbance) {
	w.disturbed = true
	w.happened = append(w.happened, d)
	if leaves := effectOf(d.kind).leaves; leaves == nil || p == nil {
		w.digest.lasting = append(w.digest.lasting, d)
	}
}

// beginStep prepares for a step of the history.
func (w *world) beginStep(number int, of meta.GVR) {
	synctest.Wait() // the effects of the previous step have reached the network of the replicas
	w.claims[place{step, number}] = w.ledger.claimsAt()
	w.mu.Lock()
	w.steps = number
	w.written = append(w.written, written{place{step, number}, of.Resource})
	w.mu.Unlock()
	w.happen(place{step, number})
	for _, d := range w.schedule.at(place{step, number}) {
		w.disturb(nil, d)
		effect := effectOf(d.kind)
		effect.begin(w, d)
		if effect.end != nil {
			w.ends[number+effect.steps-1] = append(w.ends[number+effect.steps-1], d)
		}
	}
}

// endStep ends a step of the history.
func (w *world) endStep(number int, err error) {
	if err != nil && len(w.schedule) == 0 {
		w.found("step %d of the history fails: %v", number, err)
	}
	w.endDisturbances(number)
}

// endDisturbances ends the disturbances that last until a step of the history.
func (w *world) endDisturbances(number int) {
	for _, d := range w.ends[number] {
		effectOf(d.kind).end(w, d)
	}
	delete(w.ends, number)
}

// endAll ends all disturbances that would last until a later step.
func (w *world) endAll() {
	for _, number := range slices.Sorted(maps.Keys(w.ends)) {
		w.endDisturbances(number)
	}
}
