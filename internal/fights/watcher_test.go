package fights

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/follow"
)

// ring is what a controller with keys of text knows, without a server: the object n of another writer and ours.
type ring struct {
	*testing.T
	*Watcher
	version int
	read    int // how often it was
	before  []byte
	err     error
}

func inRing(t *testing.T, f func(r *ring)) {
	synctest.Test(t, func(t *testing.T) { f(&ring{T: t, Watcher: New()}) })
}

// write is a write of an object, with the number of its version.
func (r *ring) write(uid string, answer []byte) follow.Write {
	r.version++
	return follow.Write{
		Verb: "update", Manager: "me", Resource: meta.GVR{Resource: "things"}, Key: meta.Key{Name: uid}, UID: uid,
		ResourceVersion: fmt.Sprint(r.version), Answer: answer,
		Read: func(context.Context) ([]byte, error) {
			r.read++
			return bytes.Replace(r.before, []byte(`"uid":"same"`), fmt.Appendf(nil, `"uid":%q`, uid), 1), r.err
		},
	}
}

// reconcile is a reconcile of k that makes writes; a second has passed since the last one.
func (r *ring) reconcile(k string, writes ...follow.Write) []Fight {
	time.Sleep(time.Second)
	var of Reconcile
	r.Over()
	r.Look(r.Context(), k, &of)
	for _, w := range writes {
		r.Wrote(k, &of, w)
	}
	return r.Settle(&of)
}

const one = `{"f:n":{}}`

// fight lets somebody undo writes to an object until that is noticed.
func (r *ring) fight(k, uid string) {
	r.Helper()
	r.before = object(`"n":2`, "x", one)
	for range 100 {
		if len(r.reconcile(k, r.write(uid, object(`"n":1`, "me", one)))) > 0 {
			return
		}
	}
	r.Fatal("no fight is noticed")
}

// isEmpty fails unless there are no suspects.
func (r *ring) isEmpty() {
	r.Helper()
	if n, _ := r.On(); n != 0 || r.busy.Load() != 0 || len(r.keys) != 0 {
		r.Errorf("left are %d fights and %d keys, busy %d", n, len(r.keys), r.busy.Load())
	}
}

func TestObjectsThatAreWrittenOnceAreForgottenAfterAWhile(t *testing.T) {
	inRing(t, func(r *ring) {
		for i := range 3 * maxWatched {
			r.Wrote("k", new(Reconcile), r.write(fmt.Sprint(i), nil))
			w := r.write(fmt.Sprint(i), []byte("no JSON"))
			var of Reconcile
			r.Wrote("k", &of, w)
			r.Wrote("k", &of, r.write(fmt.Sprint(i), []byte("no JSON")))
			r.Settle(&of)
		}
		if n := len(r.recent) + len(r.older); n != maxWatched {
			r.Errorf("%d objects are watched", n)
		}
		for at, of := range r.recent {
			if of.again != nil {
				r.Fatalf("%v has %+v", at, of.again)
			}
		}
		time.Sleep(quietPeriod)
		r.reconcile("k", r.write("0", []byte("no JSON")), r.write("new", []byte("no JSON")))
		if len(r.recent) != 2 || len(r.older) != maxWatched-1 {
			r.Errorf("%d and %d objects are watched", len(r.recent), len(r.older))
		}
		time.Sleep(quietPeriod)
		r.reconcile("k", r.write("1", []byte("no JSON")))
		if len(r.recent) != 1 || len(r.older) != 2 {
			r.Errorf("%d and %d objects are watched", len(r.recent), len(r.older))
		}
		r.isEmpty()
	})
}

// A key that fights over many objects has many fights, of which the status shows some, and no reconcile reads more than a few.
func TestAKeyMayHaveManyFights(t *testing.T) {
	inRing(t, func(r *ring) {
		r.before = object(`"n":2`, "x", one)
		told := 0
		for range 60 {
			var writes []follow.Write
			for i := range 30 {
				writes = append(writes, r.write(fmt.Sprint("u", i), object(`"n":1`, "me", one)))
			}
			r.read = 0
			told += len(r.reconcile("k", writes...))
			if r.read > maxReads {
				r.Fatalf("%d reads", r.read)
			}
		}
		n, first := r.On()
		if n != 30 || told != 30 || len(first) != maxShown {
			r.Errorf("%d fights are on, %d were told, %d are shown", n, told, len(first))
		}
		for i, f := range first[1:] {
			if f.Since.Before(first[i].Since) {
				r.Errorf("number %d began before number %d", i+1, i)
			}
		}
		time.Sleep(2 * quietPeriod)
		if over := r.Over(); len(over) != 30 {
			r.Errorf("%d fights are over", len(over))
		}
		r.isEmpty()
	})
}

// A read that fails, or finds another object, is no evidence.
func TestAFailedReadIsNotEvidence(t *testing.T) {
	for _, test := range []struct {
		name   string
		before []byte
		err    error
	}{
		{"an error", nil, errors.New("forbidden")},
		{"no JSON", []byte("{"), nil},
		{"another object", bytes.Replace(object(`"n":2`, "x", one), []byte(`"same"`), []byte(`"v"`), 1), nil},
	} {
		inRing(t, func(r *ring) {
			r.before, r.err = test.before, test.err
			for range 100 {
				if f := r.reconcile("k", r.write("u", object(`"n":1`, "me", one))); f != nil {
					r.Errorf("%s: noticed %v", test.name, f)
				}
			}
			if r.read == 0 {
				r.Errorf("%s: nothing was read", test.name)
			}
			time.Sleep(quietPeriod)
			r.reconcile("k")
			r.isEmpty()
		})
	}
}

func TestQuietOrADeletionEndsAFight(t *testing.T) {
	for _, test := range []struct {
		name string
		end  func(r *ring)
	}{
		{"quiet", func(*ring) { time.Sleep(quietPeriod + 10*time.Second) }},
		{"a deletion of ours", func(r *ring) {
			r.reconcile("k", follow.Write{Verb: "delete", UID: "u"})
		}},
		{"a deletion by somebody else", func(r *ring) {
			r.err = apierrors.NotFound
			time.Sleep(time.Minute)
			r.reconcile("k")
			r.err = nil
		}},
		{"another object of that name", func(r *ring) {
			r.before = []byte(`{"metadata":{"uid":"w"}}`)
			time.Sleep(time.Minute)
			r.reconcile("k")
		}},
	} {
		inRing(t, func(r *ring) {
			r.fight("k", "u")
			if d := r.Delay("k"); d != time.Second || r.Delay("other") != 0 {
				r.Errorf("%s: the delay is %v", test.name, d)
			}
			r.reconcile("k", follow.Write{Verb: "delete", UID: "u", ResourceVersion: "9"}) // it only begins
			if n, first := r.On(); n != 1 || len(first) != 1 {
				r.Fatalf("%s: %d fights", test.name, n)
			}
			test.end(r)
			if fights := r.Over(); len(fights) != 1 || !fights[0].Over || fights[0].Count != minUndone {
				r.Errorf("%s: %v", test.name, fights)
			}
			if d := r.Delay("k"); d > 0 {
				r.Errorf("%s: the delay is %v", test.name, d)
			}
			r.isEmpty()
			r.fight("k", "u")
		})
	}
}

// A write of scale is compared with the object, which has the number of replicas where its resource says.
func TestAScaleIsComparedOnlyWithSpecReplicas(t *testing.T) {
	inRing(t, func(r *ring) {
		scaled := func() follow.Write {
			w := r.write("u", []byte(`{"kind":"Scale","metadata":{"uid":"u"},"spec":{"replicas":3}}`))
			w.Subresource, w.OwnKind = "scale", true
			return w
		}
		r.before = object(`"spec":{"size":5}`, "x", `{"f:spec":{"f:size":{}}}`)
		for range 100 {
			if f := r.reconcile("k", scaled()); f != nil {
				r.Fatalf("noticed %v", f)
			}
		}
		r.before = object(`"spec":{"replicas":5}`, "x", `{"f:spec":{"f:replicas":{}}}`)
		var got []Fight
		for range 1000 {
			got = append(got, r.reconcile("k", scaled())...)
		}
		if len(got) != 1 || Texts(got[0].Fields)[0] != `"me" and "x" both write .spec.replicas` || got[0].Kind != "Thing" {
			r.Errorf("noticed %v", got)
		}
	})
}

// An object whose writes were the same until now is a suspect; that others write what we write is no fight if we go on to write
// something else each time, and neither is that we take away something else each time.
func TestWritingAnotherValueEachTimeIsNotAFight(t *testing.T) {
	inRing(t, func(r *ring) {
		suspected := func() {
			r.before = object(`"n":1`, "me", one)
			for r.busy.Load() == 0 {
				r.reconcile("k", r.write("u", object(`"n":1`, "me", one)))
			}
		}
		suspected()
		r.before = object(`"n":2`, "x", one)
		for i := range 50 {
			suspected()
			r.before = object(`"n":2`, "x", one)
			if f := r.reconcile("k", r.write("u", object(fmt.Sprintf(`"n":%d`, 3+i%2), "me", one))); f != nil {
				r.Fatalf("noticed %v", f)
			}
		}
		suspected()
		for i := range 50 {
			r.before = object(fmt.Sprintf(`"n":1,"x%d":1`, i), "me", one, "x", fmt.Sprintf(`{"f:x%d":{}}`, i))
			if f := r.reconcile("k", r.write("u", object(`"n":1`, "me", one))); f != nil {
				r.Fatalf("noticed %v", f)
			}
		}
		r.before = object(`"n":1,"x":1`, "me", one, "x", `{"f:x":{}}`)
		var got []Fight
		for range minUndone + 1 {
			got = append(got, r.reconcile("k", r.write("u", object(`"n":1`, "me", one)))...)
		}
		if len(got) != 1 || Texts(got[0].Fields)[0] != `"x" sets .x and "me" removes it` {
			r.Errorf("noticed %v", got)
		}
	})
}

// A goroutine that goes on after its reconcile, or after the run, is not noted.
func TestLateWritesAreNotNoted(t *testing.T) {
	inRing(t, func(r *ring) {
		var of Reconcile
		r.Wrote("k", &of, r.write("u", []byte("{}")))
		r.Wrote("k", &of, follow.Write{Answer: []byte("{}")}) // without a uid
		r.Settle(&of)
		r.Wrote("k", &of, r.write("v", []byte("{}")))
		if len(r.recent) != 1 {
			r.Errorf("%d objects are watched", len(r.recent))
		}
		r.fight("k", "u")
		r.End()
		r.Wrote("k", new(Reconcile), r.write("u", []byte("{}")))
		if r.recent != nil || r.keys != nil || r.Delay("k") != 0 || r.Over() != nil {
			r.Error("something is left after the end")
		}
		r.reconcile("k")
	})
}

// A suspect that is not written to is read a few times only.
func TestASuspectWithoutWritesIsForgotten(t *testing.T) {
	inRing(t, func(r *ring) {
		r.before = object(`"n":1`, "me", one)
		for r.busy.Load() == 0 {
			r.reconcile("k", r.write("u", object(`"n":1`, "me", one)))
		}
		r.read = 0
		for range 100 {
			r.reconcile("k")
		}
		if r.read != maxVainReads {
			r.Errorf("%d reads", r.read)
		}
		r.isEmpty()
	})
}

// Writes with other content each time are examined now and then. A fight is noticed all the same.
func TestWritesThatDifferAreSeldomExamined(t *testing.T) {
	inRing(t, func(r *ring) {
		examined, last := 0, time.Time{}
		for i := range 100 {
			r.reconcile("k", r.write("u", object(fmt.Sprintf(`"n":%d`, i), "me", one)))
			if of := r.recent[target{"k", "u", false}]; of.again != nil && of.again.examined != last {
				examined, last = examined+1, of.again.examined
			}
		}
		if examined < 100/(maxSkip+1) || examined > 20 {
			r.Errorf("%d of 100 writes were examined", examined)
		}
		r.isEmpty()
		r.fight("k", "u")
	})
}
