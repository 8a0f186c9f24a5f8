package recorder

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/proof/histories"
)

// model plays random records, requests and outcomes with a book whose limits are low, and checks after each step that everything in it
// agrees and that each record is counted once.
type model struct {
	*testing.T
	b      *book
	flying map[*series]task
	chance *rand.Rand
}

func (m *model) check(what string) {
	m.Helper()
	b := m.b
	all := make(map[*series]bool)
	unsent, fresh := 0, 0
	add := func(s *series, where string) {
		if all[s] {
			m.Fatalf("%s: a series is in two places, one is %s", what, where)
		}
		all[s] = true
		unsent += s.unsent()
		if !s.created {
			fresh++
		}
	}
	for i, s := range b.due {
		add(s, "due")
		if s.index != i || s.flying || s.unsent() == 0 {
			m.Fatalf("%s: wrong among those that are due: %+v", what, s)
		}
		if i > 0 && b.due[(i-1)/2].when.After(s.when) {
			m.Fatalf("%s: no heap", what)
		}
	}
	idle := keysOf(m.T, b.idle)
	for _, d := range idle {
		if b.active[d] != nil {
			m.Fatalf("%s: a series is idle and active", what)
		}
	}
	for s := range m.flying {
		add(s, "with a sender")
		if !s.flying || s.index >= 0 {
			m.Fatalf("%s: wrong with a sender: %+v", what, s)
		}
	}
	for d, s := range b.active {
		if s.digest != d || !all[s] {
			m.Fatalf("%s: a series is active, and nowhere: %+v", what, s)
		}
	}
	dropped := 0
	for _, n := range b.dropped {
		dropped += n
	}
	switch {
	case b.flying != len(m.flying) || b.flying > senders:
		m.Fatalf("%s: %d senders, want %d", what, b.flying, len(m.flying))
	case b.total != len(all)+len(idle) || b.total > b.most:
		m.Fatalf("%s: %d series, counted as %d", what, len(all)+len(idle), b.total)
	case b.fresh != fresh:
		m.Fatalf("%s: %d new series, counted as %d", what, fresh, b.fresh)
	case b.recorded != b.sent+dropped+unsent || b.waiting() != unsent:
		m.Fatalf("%s: %d recorded, %d sent, %d dropped, %d unsent, %d waiting", what, b.recorded, b.sent, dropped, unsent, b.waiting())
	case len(keysOf(m.T, b.groups)) > maxObjects || len(keysOf(m.T, b.buckets)) > maxObjects:
		m.Fatalf("%s: %d groups and %d buckets", what, b.groups.size, b.buckets.size)
	}
}

func TestEachRecordIsCountedOnce(t *testing.T) {
	for seed := range histories.Seeds(60) {
		synctest.Test(t, func(t *testing.T) {
			chance := rand.New(rand.NewPCG(seed, 2))
			m := &model{T: t, flying: make(map[*series]task), chance: chance, b: newBook(Options{
				Burst: 1 + chance.IntN(10), Similar: 2 + chance.IntN(3),
			})}
			m.b.queued, m.b.maxAge, m.b.refill = 1+chance.IntN(8), 20*time.Minute, time.Minute
			m.b.most = 1 + chance.IntN(12)
			for step := range 2000 {
				m.step(fmt.Sprintf("seed %d, step %d", seed, step))
			}
			m.b.end(time.Now())
			for len(m.flying) > 0 || !m.b.isEmpty() {
				m.send("at the end", true)
				time.Sleep(time.Second)
			}
			m.b.close()
			m.check("after the end")
			if m.b.waiting() != 0 || m.b.total != 0 {
				t.Errorf("%d wait after the end", m.b.waiting())
			}
		})
	}
}

func (m *model) step(what string) {
	switch m.chance.IntN(10) {
	case 0, 1, 2, 3:
		m.b.recorded++
		id := meta.Identity{Namespace: "a", Name: fmt.Sprint(m.chance.IntN(4)), UID: "1"}
		m.b.add(time.Now(), Record{
			Warning: m.chance.IntN(4) == 0, Reason: "A", Action: "A", Note: fmt.Sprint(m.chance.IntN(6)),
			Regarding: Reference{GVK: meta.GVK{Version: "v1", Kind: "Page"}, Identity: id},
		})
		m.check(what + ", a record")
	case 4:
		limit := time.Minute
		if m.chance.IntN(20) == 0 {
			limit = time.Hour
		}
		time.Sleep(time.Duration(m.chance.Int64N(int64(limit))))
	default:
		m.send(what, false)
	}
}

// send takes a request, or ends one.
func (m *model) send(what string, works bool) {
	if t, wait, ok := m.b.take(time.Now()); ok {
		m.flying[t.s] = t
		m.check(what + ", a request")
		return
	} else if wait == 0 {
		m.Fatalf("%s: nothing to send, and no time to wait", what)
	}
	for s, t := range m.flying {
		o := []outcome{done, done, done, done, done, exists, gone, failed, refused}[m.chance.IntN(9)]
		if works || o == exists && !t.create || o == gone && t.create {
			o = done
		}
		var err error
		if o == failed || o == refused {
			err = errors.New("so it is")
		}
		delete(m.flying, s)
		m.b.settle(time.Now(), t, o, err)
		m.check(fmt.Sprintf("%s, outcome %d", what, o))
		return
	}
}

// The server may forget a record, and then gets it again as it was.
func TestAnIdleSeriesComesBackAsItWas(t *testing.T) {
	b := newBook(Options{Similar: 2})
	now := time.Now()
	send := func(version, note string) Record {
		b.add(now, Record{
			Regarding: Reference{GVK: meta.GVK{Version: "v1", Kind: "Page"}, Identity: meta.Identity{
				Namespace: "a", Name: "b", ResourceVersion: version,
			}},
			Related: Reference{GVK: meta.GVK{Version: "v1", Kind: "Page"}, Identity: meta.Identity{
				Namespace: "a", Name: "c", ResourceVersion: version + "0",
			}},
			Reason: "A", Action: "A", Note: note,
		})
		task, _, ok := b.take(now)
		if !ok {
			t.Fatalf("note %q is not sent", note)
		}
		b.settle(now, task, done, nil)
		now = now.Add(time.Minute)
		return task.s.record
	}
	first := send("1", "x")
	if again := send("2", "x"); again != first || again.Regarding.Identity.ResourceVersion != "1" {
		t.Errorf("the record is %+v, want %+v", again, first)
	}
	combined := send("3", "y")
	if again := send("4", "z"); again != combined || again.Note != combinedNote+"y" {
		t.Errorf("the combined record is %+v, want %+v", again, combined)
	}
	if len(b.active) != 0 || b.idle.size != 2 || b.total != 2 {
		t.Errorf("%d series are active and %d idle", len(b.active), b.idle.size)
	}
}

func BenchmarkRecordARepetition(b *testing.B) {
	r := New(nil, Options{})
	about := Record{Regarding: Reference{GVK: meta.GVK{Group: "example.com", Version: "v1", Kind: "Page"}, Identity: meta.Identity{
		Namespace: "default", Name: "a-page-of-some-length", UID: "0a5e8e0e-9dc7-4f3c-8d4b-3a0d1f5a8f10",
	}}, Reason: "Published", Note: "published 3 files to the server of the site"}
	b.ReportAllocs()
	for b.Loop() {
		r.Record(about)
	}
}

func BenchmarkHandleRecordsARepetition(b *testing.B) {
	type page struct {
		meta.Identity
	}
	about := For(New(nil, Options{}), client.Type[*page]{Group: "example.com", Version: "v1", Kind: "Page", Resource: "pages"})
	obj := &page{meta.Identity{Namespace: "default", Name: "a-page-of-some-length", UID: "0a5e8e0e-9dc7-4f3c-8d4b-3a0d1f5a8f10"}}
	b.ReportAllocs()
	for b.Loop() {
		about.Normal(obj, "Published", "published 3 files to the server of the site")
	}
}
