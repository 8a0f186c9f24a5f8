package recorder_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/recorder"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/proof/histories"
)

// behaviour 347: a day of records, through faults of all kinds.
func TestADayWithFaultsEndsWithTheRightCounts(t *testing.T) {
	for seed := range histories.Seeds(1) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { day(t, seed) })
	}
}

// day plays a day of records, in which requests fail in every way and records expire. Nothing may be lost, and nothing counted twice:
// the server must have had of each object and reason as many as were made.
func day(t *testing.T, seed uint64) {
	chance := rand.New(rand.NewPCG(seed, 1))
	// An hour is more than any fault lasts, and the limits are beyond reach.
	bubble(t, recorder.Options{Burst: -1, Similar: -1}, func(r *rig) {
		var until time.Time // of the present fault
		begin := func(fault func(q clienttest.Request) http.HandlerFunc, d time.Duration) {
			end := time.Now().Add(d)
			until = end
			r.answer(func(q clienttest.Request) http.HandlerFunc {
				if time.Now().Before(end) {
					return fault(q)
				}
				return nil
			})
		}
		cut := r.server.CutBody(10)
		faults := []func(q clienttest.Request) http.HandlerFunc{
			func(clienttest.Request) http.HandlerFunc { return failure(500, apierrors.InternalError) },
			func(clienttest.Request) http.HandlerFunc { return clienttest.TooManyRequests(30 * time.Second) },
			func(clienttest.Request) http.HandlerFunc { return clienttest.Reset() },
			func(clienttest.Request) http.HandlerFunc { return clienttest.Hang() },
			func(clienttest.Request) http.HandlerFunc { return cut }, // done, and the answer lost
			func(q clienttest.Request) http.HandlerFunc {
				if q.Verb == "patch" {
					return failure(503, apierrors.ServiceUnavailable)
				}
				return cut
			},
		}
		stop := r.start()
		made := make(map[string]int)
		had := make(map[string]int) // of records that have expired
		name := func(e *Event) string { return e.Regarding["name"] + " " + e.Reason }
		expired := make(map[string]int) // by the name of the record: the count that it had
		end := time.Now().Add(24 * time.Hour)
		for time.Now().Before(end) {
			object, reason := fmt.Sprint("p", chance.IntN(5)), fmt.Sprint("R", chance.IntN(3))
			for range 1 + chance.IntN(4) {
				r.pages.Warning(page(object), reason, "n")
				made[object+" "+reason]++
			}
			switch n := chance.IntN(1000); {
			case n < 8:
				begin(faults[chance.IntN(len(faults))], time.Duration(chance.IntN(600))*time.Second)
			case n < 10:
				r.server.Refuse(syscall.ECONNREFUSED)
				time.Sleep(time.Duration(chance.IntN(300)) * time.Second)
				r.server.Refuse(nil)
			case n < 15 && time.Now().After(until):
				for _, e := range r.taken() {
					switch err := r.events.Delete(r.Context(), meta.KeyOf(e), client.DeleteOptions{ResourceVersion: e.ResourceVersion}); {
					case err == nil:
						expired[e.Name] = e.count()
					case !errors.Is(err, apierrors.Conflict): // it has been updated meanwhile
						r.Fatal(err)
					}
				}
			}
			time.Sleep(time.Duration(chance.ExpFloat64() * float64(20*time.Second)))
			if chance.IntN(100) == 0 {
				time.Sleep(time.Duration(chance.IntN(20)) * time.Minute) // quiet: new series begin
			}
		}
		r.server.Intercept(nil)
		after(10 * time.Minute)
		got := r.taken()
		for _, e := range got {
			had[name(e)] += e.count()
			delete(expired, e.Name) // made again with all of its count
		}
		s := r.recorder.Status()
		total := 0
		for _, n := range made {
			total += n
		}
		if s.Recorded != total || s.Sent != total || s.Waiting != 0 || len(s.Dropped) != 0 {
			r.Errorf("%d were made, and the status is %v", total, s)
		}
		// A record that expired and was never made again has its count in its last state, which the server had.
		lost := 0
		for _, n := range expired {
			lost += n
		}
		sum := 0
		for k, n := range had {
			if sum += n; n > made[k] {
				r.Errorf("%s was made %d times, and the server has %d", k, made[k], n)
			}
		}
		if sum+lost != total {
			r.Errorf("the server has %d and had %d more, want %d", sum, lost, total)
		}
		stop()
		t.Logf("%d records, %d objects at the end, %d expired, requests: %v", total, len(got), len(expired), r.server.Requests())
	})
}
