package e2e

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/internal/controlplane"
	"github.com/bowline-go/bowline/internal/proof/conformance"
	"github.com/bowline-go/bowline/internal/proof/e2e/ledger"
	"github.com/bowline-go/bowline/patch"
)

// sharingBounds are those of the replicas. All processes of the test share two processors, so leases are long enough for a replica that
// does not run for seconds, and short enough that the test does not wait for long.
//
// Sync is for what a replica does between the end of another one's lease and the begin of its own work: it lists what it takes over, writes
// its lease, and lists the leases. Without the feature of the server, the list has every object. On two processors that are busy with the
// reconciles of all replicas this takes 1 to 3 s, and more if something else runs on the machine.
//
// Handover is for the end of the work that is under way, of which some takes longPause, and the same round trips.
var sharingBounds = ledger.Bounds{
	Lease: 6 * time.Second, Renew: 4 * time.Second, Sync: 10 * time.Second, Handover: longPause + 3*time.Second, Workers: 8,
}

const (
	longPause  = 1500 * time.Millisecond // of work that is under way when a replica is stopped
	shortPause = 300 * time.Millisecond  // of some other work
)

// sharingRights are those that the documentation of package shards names, and those of the replica's own work.
const sharingRights = `[
	{"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["create", "get", "update", "list", "watch", "delete"]},
	{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list", "watch", "patch"]}]`

// Replicas of a program share the work on objects, on a server that selects ranges and on one that sends everything. One joins late, one
// is killed, and one is stopped and goes on, while the objects change. Package ledger says what holds all the time.
func TestReplicasShareTheWork(t *testing.T) {
	for _, tc := range []struct {
		name    string
		flags   []string
		sharded informer.Sharding
	}{
		{"selected by the server", []string{"--feature-gates=ShardedListAndWatch=true"}, informer.ShardedByServer},
		{"selected by the replicas", []string{"--feature-gates=ShardedListAndWatch=false"}, informer.ShardedLocally},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := must(controlplane.Start(t.Context(), servers(tc.flags...)))(t)
			t.Cleanup(func() {
				if err := p.Stop(); err != nil {
					t.Error(err)
				}
			})
			s := newScene(t, p)
			s.sharded, s.objects = tc.sharded, 20_000
			testSharing(t, s)
		})
	}
}

// newScene makes the replicas' user, and what their proxies need.
func newScene(t *testing.T, p *controlplane.ControlPlane) *scene {
	t.Helper()
	admin := open(t, client.Config{Server: p.Server, TLS: client.TLS{CAData: client.Secret(p.CA)}, BearerToken: client.Secret(p.Token)})
	create(t, client.For(admin, clusterRoles), "", `{"metadata": {"name": "sharer"}, "rules": `+sharingRights+`}`)
	create(t, client.For(admin, clusterRoleBindings), "", `{"metadata": {"name": "sharer"},
		"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "sharer"},
		"subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "sharer"}]}`)
	certPEM, keyPEM, err := p.Issue("sharer", nil, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(p.CA)
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{must(tls.X509KeyPair(certPEM, keyPEM))(t)}}, ForceAttemptHTTP2: true,
	}
	t.Cleanup(transport.CloseIdleConnections)
	s := &scene{
		t: t, admin: admin, start: time.Now(), upstream: transport, server: must(url.Parse(p.Server))(t),
		noted: map[noteRef]bool{}, codes: map[int]int{},
	}
	s.ledger.Bounds = sharingBounds
	for i := range 8 {
		name := fmt.Sprint("notes-", i)
		must(client.For(admin, conformance.Namespaces).Create(t.Context(), &conformance.Namespace{ObjectMeta: meta.ObjectMeta{Name: name}}))(t)
		s.namespaces = append(s.namespaces, name)
	}
	return s
}

// sharerProcess is a process of a replica.
type sharerProcess struct {
	s        *scene
	identity string
	cmd      *exec.Cmd
	stdin    io.WriteCloser
	dumps    chan sharerLine
	pauses   chan sharerLine
	ended    chan struct{} // closed when the process is gone; exit is set by then
	exit     error
}

// run starts a replica.
func (s *scene) run(identity string) *sharerProcess {
	s.t.Helper()
	config := must(json.Marshal(sharerConfig{
		Server: s.proxy(identity), Namespace: s.namespaces[0], Identity: identity,
		LeaseDuration: sharingBounds.Lease, RenewDeadline: sharingBounds.Renew, RetryPeriod: time.Second, Workers: sharingBounds.Workers,
	}))(s.t)
	p := &sharerProcess{
		s: s, identity: identity, cmd: exec.Command(must(os.Executable())(s.t), sharer, string(config)),
		dumps: make(chan sharerLine, 1), pauses: make(chan sharerLine, 1000), ended: make(chan struct{}),
	}
	p.cmd.Stderr = os.Stderr
	p.stdin = must(p.cmd.StdinPipe())(s.t)
	stdout := must(p.cmd.StdoutPipe())(s.t)
	if err := p.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			var l sharerLine
			if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
				s.t.Errorf("%s says %s", identity, lines.Text())
			}
			p.hear(l)
		}
		p.exit = p.cmd.Wait()
	}()
	s.t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // it has ended, if the test has come to its end
		<-p.ended
	})
	return p
}

// hear records what a replica says.
func (p *sharerProcess) hear(l sharerLine) {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	switch l.Event {
	case "work":
		s.ledger.Works = append(s.ledger.Works, ledger.Work{
			Replica: p.identity, Range: l.Range, Object: l.Key.String(), Began: s.moment(l.Began), Ended: s.moment(l.Ended),
		})
		if l.Paused {
			s.paused = append(s.paused, pausedWork{p.identity, s.moment(l.Began), s.moment(l.Ended), l.Err})
		}
		if l.Err == "" {
			s.noted[noteRef{l.UID, l.Noted, p.identity}] = true
		}
	case "ranges":
		s.changed(p.identity, l)
	case "ready":
		s.ledger.Ready = append(s.ledger.Ready, ledger.Ready{Replica: p.identity, At: s.moment(l.At), Ranges: l.Ranges})
	case "dump":
		p.dumps <- l
	case "pause":
		select {
		case p.pauses <- l:
		default: // nobody waits for them
		}
	case "failure":
		s.t.Logf("%v: %s says: %s", s.now(), p.identity, l.Err)
	}
}

// changed records the ranges that a replica has gained and lost. The caller holds mu.
func (s *scene) changed(identity string, l sharerLine) {
	for n := range l.Gained.All() {
		s.ledger.Tenures = append(s.ledger.Tenures, ledger.Tenure{Replica: identity, Range: n, From: s.moment(l.At), To: ledger.Forever})
	}
	for i := range s.ledger.Tenures {
		if t := &s.ledger.Tenures[i]; t.Replica == identity && l.Lost.Has(t.Range) && t.To == ledger.Forever {
			t.To, t.Lost = s.moment(l.At), l.Err != ""
		}
	}
	s.t.Logf("%v: %s gained %d ranges, lost %d and has %d %s", s.moment(l.At).Round(time.Millisecond), identity, l.Gained.Len(), l.Lost.Len(), l.Ranges.Len(), l.Err)
}

func (p *sharerProcess) tell(command string) {
	p.s.t.Helper()
	if _, err := io.WriteString(p.stdin, command+"\n"); err != nil {
		p.s.t.Fatalf("%s: %v", p.identity, err)
	}
}

// dump asks the replica what it has.
func (p *sharerProcess) dump() sharerLine {
	p.s.t.Helper()
	p.tell("dump")
	select {
	case l := <-p.dumps:
		return l
	case <-p.ended:
		p.s.t.Fatalf("%s has ended: %v", p.identity, p.exit)
	case <-time.After(patience):
		p.s.t.Fatalf("%s does not say what it has, %v later", p.identity, patience)
	}
	panic("unreachable")
}

func (p *sharerProcess) signal(signal syscall.Signal) {
	p.s.t.Helper()
	if err := p.cmd.Process.Signal(signal); err != nil {
		p.s.t.Fatalf("%s: %v", p.identity, err)
	}
}

// befalls records that a replica has been killed or stopped now, and returns the place of the record.
func (s *scene) befalls(p *sharerProcess) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ledger.Troubles = append(s.ledger.Troubles, ledger.Trouble{Replica: p.identity, At: s.now(), Until: ledger.Forever})
	return len(s.ledger.Troubles) - 1
}

// settled waits until some replicas have each range once, and hold all objects between them, each in the cache of its range's replica.
// It returns the ranges of each.
func (s *scene) settled(ps ...*sharerProcess) []meta.Ranges {
	s.t.Helper()
	var has []meta.Ranges
	eventually(s.t, func() error {
		has = nil
		var all meta.Ranges
		ranges, cached := 0, 0
		text := ""
		for _, p := range ps {
			l := p.dump()
			has, all, ranges, cached = append(has, l.Ranges), all.Union(l.Ranges), ranges+l.Ranges.Len(), cached+l.Objects
			text += fmt.Sprintf("; %s has %d ranges and %d objects", p.identity, l.Ranges.Len(), l.Objects)
			// A replica that had all ranges at first, and has not listed some since, does not know who selects them.
			if l.Outside > 0 || !l.Synced || l.Ranges.Len() == 0 || l.Sharded != "" && l.Sharded != string(s.sharded) {
				return fmt.Errorf("%s has %d ranges, %d objects and %d of other ranges; synced: %t; selected: %q", p.identity, l.Ranges.Len(), l.Objects, l.Outside, l.Synced, l.Sharded)
			}
		}
		if all != meta.AllRanges() || ranges != meta.RangeCount || cached != s.objects {
			return fmt.Errorf("%d ranges and %d objects of %d%s", all.Len(), cached, s.objects, text)
		}
		s.t.Logf("%v: settled%s", s.now().Round(time.Millisecond), text)
		return nil
	})
	return has
}

// author makes notes and changes them.
type author struct {
	s     *scene
	notes client.Resource[*note]
	rng   *rand.Rand

	mu    sync.Mutex // guards the rest
	want  map[meta.Key]*note
	keys  []meta.Key
	edits int
}

func newAuthor(s *scene) *author {
	return &author{s: s, notes: client.For(s.admin, notes), rng: rand.New(rand.NewPCG(1, 2)), want: map[meta.Key]*note{}}
}

// makes makes notes until there are so many, as fast as the server goes.
func (a *author) makes(total int) {
	a.s.t.Helper()
	numbers := make(chan int)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for i := range numbers {
				a.create(meta.Key{Namespace: a.s.namespaces[i%len(a.s.namespaces)], Name: fmt.Sprint("note-", i)})
			}
		})
	}
	for i := len(a.keys); i < total; i++ {
		numbers <- i
	}
	close(numbers)
	wg.Wait()
	if a.s.t.Failed() {
		a.s.t.FailNow()
	}
	for i := len(a.keys); i < total; i++ {
		a.keys = append(a.keys, meta.Key{Namespace: a.s.namespaces[i%len(a.s.namespaces)], Name: fmt.Sprint("note-", i)})
	}
}

// newNote is a note as people make it.
type newNote struct {
	meta.ObjectMeta `json:"metadata"`
	Data            noteData `json:"data"`
}

var newNotes = client.Type[*newNote]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}

func (a *author) create(key meta.Key) {
	made, err := client.For(a.s.admin, newNotes).Create(a.s.t.Context(), &newNote{
		ObjectMeta: meta.ObjectMeta{Namespace: key.Namespace, Name: key.Name, Labels: map[string]string{noteLabel: "true"}},
		Data:       noteData{State: "1"},
	})
	if err != nil {
		a.s.t.Errorf("create %v: %v", key, err)
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.want[key] = &note{Identity: meta.Identity{Namespace: key.Namespace, Name: key.Name, UID: made.UID}, Data: noteData{State: "1"}}
}

// change changes the state of a note.
func (a *author) change(key meta.Key, pause time.Duration) {
	state := must(strconv.Atoi(a.want[key].Data.State))(a.s.t) + 1
	data := map[string]any{"state": strconv.Itoa(state)}
	if pause > 0 {
		data["pause"] = pause.String()
	}
	if _, err := a.notes.Patch(a.s.t.Context(), key, patch.Merge(map[string]any{"data": data})); err != nil {
		a.s.t.Errorf("change %v: %v", key, err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.want[key].Data.State = strconv.Itoa(state)
	a.edits++
}

// work changes notes, one after the other, until stop is closed. Some are deleted and made again, which gives them another uid, and so
// another range; and the work on some takes long.
func (a *author) work(stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		key := a.keys[a.rng.IntN(len(a.keys))]
		switch chance := a.rng.IntN(50); {
		case a.s.t.Failed():
			return
		case chance == 0:
			if err := a.notes.Delete(a.s.t.Context(), key, client.DeleteOptions{}); err != nil {
				a.s.t.Errorf("delete %v: %v", key, err)
			}
			a.create(key)
		case chance < 3:
			a.change(key, shortPause)
		default:
			a.change(key, 0)
		}
	}
}

// starts lets the author work, and returns what ends that.
func (a *author) starts() (stop func()) {
	stopping, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		a.work(stopping)
	}()
	stop = sync.OnceFunc(func() { close(stopping); <-stopped })
	a.s.t.Cleanup(stop)
	return stop
}

// changes waits for some more changes.
func (a *author) changes() {
	a.s.t.Helper()
	a.mu.Lock()
	enough := a.edits + 100
	a.mu.Unlock()
	eventually(a.s.t, func() error {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.edits < enough {
			return fmt.Errorf("%d changes are missing", enough-a.edits)
		}
		return nil
	})
}

// noted waits until the last state of each note has been noted by the replica that has its range; who says which may be that.
func (a *author) noted(who func(n int) []string) {
	a.s.t.Helper()
	limit := time.Now().Add(4 * patience) // it is all of the work
	for {
		missing := a.missing(who)
		if missing == nil {
			return
		}
		if time.Now().After(limit) {
			a.s.t.Fatal(missing)
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-a.s.t.Context().Done():
		}
	}
}

func (a *author) missing(who func(n int) []string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.s.mu.Lock()
	defer a.s.mu.Unlock()
	count := 0
	var first error
	for key, obj := range a.want {
		by := who(meta.ShardByUID.Range(obj.Identity))
		if !slices.ContainsFunc(by, func(by string) bool {
			return a.s.noted[noteRef{obj.UID, obj.Data.State, by}]
		}) {
			if count++; first == nil {
				first = fmt.Errorf("state %s of %v, which has uid %s, has not been noted by %v", obj.Data.State, key, obj.UID, by)
			}
		}
	}
	if first != nil {
		return fmt.Errorf("%d notes: %w", count, first)
	}
	return nil
}

func testSharing(t *testing.T, s *scene) {
	phase := func(text string) { t.Logf("%v: %s", s.now().Round(time.Millisecond), text) }
	phase("the first objects are made")
	a := newAuthor(s)
	a.makes(s.objects / 2)

	phase("two replicas start, and more objects are made")
	s.ledger.Begin = s.now()
	first, second := s.run("first"), s.run("second")
	a.makes(s.objects)
	phase("all objects are made")
	either := func(names ...string) func(int) []string { return func(int) []string { return names } }
	a.noted(either("first", "second"))
	s.settled(first, second)

	phase("a third one joins, while objects change")
	stop := a.starts()
	a.changes()
	third := s.run("third")
	s.settled(first, second, third)
	a.changes()

	phase("the first one is killed, while objects change")
	first.signal(syscall.SIGKILL)
	s.befalls(first)
	<-first.ended
	a.changes()
	s.settled(second, third)
	a.changes()

	phase("the second one is stopped, while objects change, and while it works on some")
	stop()
	s.stops(a, second, func() {
		stop = a.starts()
		s.settled(third)
		a.changes()
	})
	phase("the second one goes on")
	s.settled(second, third)
	a.changes()

	phase("objects do not change any more")
	stop()
	has := s.settled(second, third)
	owner := func(n int) []string {
		if has[0].Has(n) {
			return []string{second.identity}
		}
		return []string{third.identity}
	}
	a.noted(owner)
	for _, p := range []*sharerProcess{second, third} { // each has taken over ranges of others
		equal(t, "what selects the ranges of "+p.identity, p.dump().Sharded, string(s.sharded))
	}
	if again := s.settled(second, third); !slices.Equal(again, has) {
		t.Errorf("the ranges have passed on, although no replica came or left")
	}
	a.check(owner)

	phase("the second one leaves")
	second.leave()
	s.settled(third)
	s.mu.Lock()
	s.ledger.End = s.now()
	s.mu.Unlock()
	phase("the third one leaves")
	third.leave()
	phase("the record is checked")
	s.check(a.edits)
}

// stops sends SIGSTOP to a replica in the middle of a reconcile, calls during, and sends SIGCONT. The replica does not send the write that
// the reconcile was about to make; check looks for that.
func (s *scene) stops(a *author, p *sharerProcess, during func()) {
	s.t.Helper()
	has := p.dump().Ranges
	for len(p.pauses) > 0 { // of other work
		<-p.pauses
	}
	long := map[string]bool{}
	for _, key := range a.keys {
		if uid := a.want[key].UID; len(long) < 4 && has.Has(meta.ShardByUID.Range(meta.Identity{UID: uid})) {
			long[uid] = true
			a.change(key, longPause)
		}
	}
	limit := time.After(patience)
	for working := false; !working; {
		select {
		case l := <-p.pauses:
			working = long[l.UID]
		case <-limit:
			s.t.Fatalf("%s does not work on %v, %v later", p.identity, long, patience)
		}
	}
	p.signal(syscall.SIGSTOP)
	trouble := s.befalls(p)
	during()
	s.mu.Lock()
	s.ledger.Troubles[trouble].Until = s.now()
	s.mu.Unlock()
	p.signal(syscall.SIGCONT)
}

// leave lets a replica leave the group and end.
func (p *sharerProcess) leave() {
	p.s.t.Helper()
	p.tell("leave")
	select {
	case <-p.ended:
		if p.exit != nil {
			p.s.t.Errorf("%s ended: %v", p.identity, p.exit)
		}
	case <-time.After(patience):
		p.s.t.Fatalf("%s has not ended, %v later", p.identity, patience)
	}
}

// check compares the notes with what the server has. The replica that has the range has noted the last state of each.
func (a *author) check(owner func(n int) []string) {
	t := a.s.t
	t.Helper()
	all := must(a.notes.List(t.Context(), client.ListOptions{LabelSelector: noteLabel}))(t).Items
	equal(t, "the number of notes", len(all), len(a.want))
	for _, obj := range all {
		want := a.want[obj.Key()]
		by := owner(meta.ShardByUID.Range(obj.Identity))[0]
		if want == nil || obj.UID != want.UID || obj.Data.State != want.Data.State || obj.Data.Noted != want.Data.State || obj.Data.By != by || obj.Data.Pause != "" {
			t.Errorf("the note is %+v, want %+v, noted by %s", obj, want, by)
		}
	}
}

// check checks the record.
func (s *scene) check(edits int) {
	t := s.t
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	faults, sum := s.ledger.Faults()
	for _, fault := range faults[:min(len(faults), 20)] {
		t.Error(fault)
	}
	if len(faults) > 0 {
		t.Errorf("%d faults", len(faults))
	}
	t.Logf("%d objects, %d changes, %d reconciles, %d writes %v, %d cut; %+v", s.objects, edits, len(s.ledger.Works), len(s.ledger.Writes), s.codes, s.cut, sum)

	// The replica that was stopped had work under way, which ended without a write.
	stopped, refused := s.ledger.Troubles[1], 0
	for _, w := range s.paused {
		if w.replica == stopped.Replica && w.began < stopped.At && w.ended > stopped.Until {
			if refused++; w.err == "" {
				t.Errorf("work of %s, from %v to %v, succeeds, although it was stopped from %v to %v", w.replica, w.began, w.ended, stopped.At, stopped.Until)
			}
		}
	}
	if refused == 0 {
		t.Error("no work was under way when the replica was stopped")
	}
	if sum.Passed < meta.RangeCount || sum.Taken < meta.RangeCount/2 {
		t.Error("the record does not have what this test needs")
	}
}
