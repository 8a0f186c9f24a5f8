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
	// quiet is how long nothing may happen until the world is at rest. It is longer than a lease and a restart
	// together, and than pause.
	quiet = time.Minute
	// calm is the same while nothing of the explorer's is under way. It is longer than a lease and the wait for it
	// together.
	calm = 30 * time.Second
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
	options  clienttest.Options
	server   *clienttest.Server
	begin    time.Time
	ctx      context.Context // ends with the run
	work     sync.WaitGroup  // of the networks and the programs

	// Of the scheduler alone:
	ends      map[int][]disturbance // what ends after which step of the history
	triggers  map[place][]func()    // what happens before what
	disturbed bool                  // something has gone wrong
	happened  schedule
	known     []time.Duration // the paces of a run in which nothing goes wrong; nil for a program that waits for times
	paces     []time.Duration // how long each rest was without a request, at most, before nothing moved any more
	digest    *digest
	granted   atomic.Int64                     // requests that were let through
	ask       func(compared schedule) *outcome // returns a run to compare with; nil if this is one
	states    []state                          // at each rest
	atRests   []disturbance                    // the edits that were possible at the rests
	lasting   []lasting                        // what others undo later
	altered   bool                             // by an edit that stays
	unlike    *unlike                          // the first state at rest that is not as it should be
	ledger    ledger
	claims    map[place]map[kind][]string // that others may make right before the steps
	cluster   cluster

	arrivals chan struct{} // holds a value if a request has arrived since the scheduler looked

	mu           sync.Mutex // guards what follows
	lives        []*life
	waiting      []*point
	away         int // replicas that start again soon
	answering    int // requests that were let through and have no answer yet, without watches
	watches      map[*point]context.CancelFunc
	forbidden    []permission // that the program does not have now
	hidden       int          // if positive, no list and no watch is served
	held         map[silence]int
	released     chan struct{} // closed and replaced when a silence ends
	kinds        map[meta.GVR]bool
	counts       map[string]int // of requests, by class
	points       []*point       // that were let through and counted
	written      []written      // by requests and steps
	steps        int            // of the history, begun so far
	rests        int            // how often the history has rested
	compared     schedule       // what happens in the run with which this is compared
	annotated    *point         // whose object another writer has annotated
	annotatedUID string
	story        story
	findings     []string
}

// play plays the history under a schedule. known are the paces of a run without disturbances, if there was one. It must
// be called in a bubble.
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
		panic(err) // the server's own configuration
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

// result is what a run has led to.
type result struct {
	schedule  schedule
	happened  schedule // the disturbances of the schedule whose places were reached
	steps     int
	states    []state                     // at each rest
	unlike    *unlike                     // the first of them that is not as it should be; nil if all are
	atRests   []disturbance               // that are possible at the rests
	claims    map[place]map[kind][]string // that others may make right before the steps
	harm      []string                    // that the program did to objects of others
	owners    bool                        // there was something to do for a garbage collector
	kinds     []meta.GVR                  // that somebody has written to
	existing  []meta.GVR                  // that had objects at the start, in the first run of all
	clustered bool                        // controllers of the cluster have run
	end       func()                      // must be called; it sets what follows
	points    []*point
	written   []written
	replicas  []string // their names
	story     story
	took      time.Duration   // of virtual time
	paces     []time.Duration // of each rest
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

// stop ends the programs.
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
	w.wake()
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

// settle lets requests through until nothing waits, or for some time at most. moved reports whether one of them counts.
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

// slowness returns how long a request takes that follows n others at once. Usually it takes no time. But a program that
// answers each event with another request, such as one that makes what the garbage collector deletes, would stop the
// clock, and what is to end that would never come.
func slowness(n int) time.Duration {
	const free, step = 300, 100
	if n < free {
		return 0
	}
	return min(100*time.Millisecond<<min((n-free)/step, 20), pause)
}

// rest waits until nothing moves, and checks what must be true then.
func (w *world) rest() {
	sure := w.quieten()
	if w.disturbRest() {
		if w.ask == nil { // others are compared with it, and wait as long if they differ
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

// beSure waits for as long as a work queue may.
func (w *world) beSure() { w.wait(func() time.Duration { return patience }, restless) }

// quieten waits until nothing moves. Until something goes wrong, a run does the same as the one without disturbances,
// and so it need not wait longer than that one did: then it is not sure. While a disturbance goes on, a program need
// not come to rest.
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

// still returns how long nothing may happen until the world is at rest.
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

// most returns the requests that were sent most often since some counts.
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

// wait waits until nothing has moved for a while, and others have undone what they undo; false if that does not happen
// in the time. pace is the longest time without a request before the last one.
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

// pass lets time pass.
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

// check calls a function of the plan.
func (w *world) check(when string, is func(State) error) {
	if err := is(State{w}); err != nil {
		w.found("%s: %v", when, err)
	}
}

// before calls a function right before a request or a step.
func (w *world) before(at place, do func()) { w.triggers[at] = append(w.triggers[at], do) }

// happen calls what is to happen before a request or a step.
func (w *world) happen(at place) {
	for _, do := range w.triggers[at] {
		do()
	}
}

// disturb notes that something goes wrong: at a request, or at a step of the history if p is nil.
func (w *world) disturb(p *point, d disturbance) {
	w.disturbed = true
	w.happened = append(w.happened, d)
	if leaves := effectOf(d.kind).leaves; leaves == nil || p == nil {
		w.digest.lasting = append(w.digest.lasting, d)
	}
}

// beginStep prepares for a step of the history.
func (w *world) beginStep(number int, of meta.GVR) {
	synctest.Wait() // what the step before has led to is in the network of the replicas
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

// endDisturbances ends what goes wrong until a step of the history.
func (w *world) endDisturbances(number int) {
	for _, d := range w.ends[number] {
		effectOf(d.kind).end(w, d)
	}
	delete(w.ends, number)
}

// endAll ends all that goes wrong until a later step.
func (w *world) endAll() {
	for _, number := range slices.Sorted(maps.Keys(w.ends)) {
		w.endDisturbances(number)
	}
}
