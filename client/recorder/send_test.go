package recorder_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/recorder"
	apierrors "github.com/bowline-go/bowline/errors"
)

func failure(code int, reason apierrors.Reason) http.HandlerFunc {
	return clienttest.Answer(meta.Status{Status: "Failure", Code: code, Reason: string(reason), Message: "so it is"})
}

// behaviour 347
func TestARecordIsSentAgainAfterAFailure(t *testing.T) {
	for _, test := range []struct {
		name  string
		fault http.HandlerFunc
	}{
		{"500", failure(500, apierrors.InternalError)},
		{"503", failure(503, apierrors.ServiceUnavailable)},
		{"504", failure(504, apierrors.Timeout)},
		{"429", failure(429, apierrors.TooManyRequests)},
		{"401", failure(401, apierrors.Unauthorized)},
		{"409", failure(409, apierrors.Conflict)},
		{"a page of a proxy", clienttest.HTML()},
		{"a 404 that is no Status", http.NotFound},
		{"a reset", clienttest.Reset()},
		{"silence", clienttest.Hang()},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, recorder.Options{}, func(r *rig) {
				r.start()
				r.answer(func(clienttest.Request) http.HandlerFunc { return test.fault })
				r.pages.Normal(page("a"), "A", "")
				r.pages.Normal(page("b"), "B", "")
				after(10 * time.Minute)
				r.want()
				r.wantStatus("recorded 2, sent 0, waiting 2")
				if r.recorder.Status().Err == nil {
					r.Error("the status has no error")
				}
				if creates, _ := r.writes(); creates < 10 || creates > 80 {
					r.Errorf("%d requests in ten minutes", creates)
				}
				var op *client.OpError
				if told := r.told(); len(told) == 0 || !errors.As(told[0], &op) || op.Verb != "create" {
					r.Errorf("told %v", told)
				}
				r.pages.Normal(page("a"), "A", "")
				r.server.Intercept(nil)
				after(2 * time.Minute)
				r.want("a A x2", "b B x1")
				r.wantStatus("recorded 3, sent 3, waiting 0")
				if err := r.recorder.Status().Err; err != nil {
					r.Errorf("the status has the error %v", err)
				}
			})
		})
	}
}

func TestAServerThatCannotBeReachedGetsFewRequests(t *testing.T) {
	bubble(t, recorder.Options{}, func(r *rig) {
		recorder.SetLimits(r.recorder, 0, 24*time.Hour, 0)
		attempts := 0
		r.server.Refuse(syscall.ECONNREFUSED)
		stop := r.start()
		for i := range 1000 {
			r.pages.Normal(page(fmt.Sprintf("p%03d", i)), "A", "")
		}
		after(time.Hour)
		attempts = len(r.told())
		if attempts < 60 || attempts > 600 { // one at a time, at most half a minute apart
			r.Errorf("%d attempts in an hour", attempts)
		}
		r.server.Refuse(nil)
		after(2 * time.Minute)
		r.wantStatus("recorded 1000, sent 1000, waiting 0")
		stop()
	})
}

// A server that asks for time gets it.
func TestRetryAfterIsObeyed(t *testing.T) {
	bubble(t, recorder.Options{}, func(r *rig) {
		r.start()
		r.answer(func(clienttest.Request) http.HandlerFunc { return clienttest.TooManyRequests(5 * time.Minute) })
		for _, name := range []string{"a", "b", "c"} {
			r.pages.Normal(page(name), "A", "")
		}
		after(4 * time.Minute)
		creates, _ := r.writes()
		if creates > 3 {
			r.Errorf("%d requests before the time is over", creates)
		}
		r.server.Intercept(nil)
		after(10 * time.Minute)
		r.wantStatus("recorded 3, sent 3, waiting 0")
	})
}

// A failure of one record does not hold up the others.
func TestABrokenNamespaceDelaysNoOther(t *testing.T) {
	bubble(t, recorder.Options{}, func(r *rig) {
		r.start()
		r.answer(func(q clienttest.Request) http.HandlerFunc {
			if q.Key.Namespace == "kube-system" {
				return failure(500, apierrors.InternalError)
			}
			return nil
		})
		broken := page("broken")
		broken.Namespace = "kube-system"
		r.pages.Normal(broken, "A", "")
		after(10 * time.Minute) // its waits are long by now
		for i := range 20 {
			r.pages.Normal(page(fmt.Sprintf("p%02d", i)), "A", "")
		}
		after(31 * time.Second)
		r.wantStatus("recorded 21, sent 20, waiting 1")
		after(time.Hour)
		r.wantStatus("recorded 21, sent 20, waiting 0, dropped 1 (TooOld)")
	})
}

func TestARecordThatIsTooOldIsDropped(t *testing.T) {
	bubble(t, recorder.Options{}, func(r *rig) {
		recorder.SetLimits(r.recorder, 0, 10*time.Minute, 0)
		r.pages.Normal(page("early"), "A", "") // before Run
		after(11 * time.Minute)
		r.start()
		after(time.Second)
		r.wantStatus("recorded 1, sent 0, waiting 0, dropped 1 (TooOld)")
		r.told()

		r.pages.Normal(page("a"), "A", "")
		after(time.Second)
		r.answer(func(clienttest.Request) http.HandlerFunc { return failure(500, apierrors.InternalError) })
		r.pages.Normal(page("a"), "A", "")
		r.pages.Normal(page("b"), "B", "")
		r.pages.Normal(page("b"), "B", "")
		after(12 * time.Minute)
		r.wantStatus("recorded 5, sent 1, waiting 0, dropped 4 (TooOld)")
		count := 0
		for _, err := range r.told() {
			var dropped *recorder.DropError
			if errors.As(err, &dropped) && dropped.Cause == recorder.TooOld && errors.Is(err, apierrors.InternalError) {
				count += dropped.Count
			}
		}
		if count != 3 {
			r.Errorf("told of %d records, want 3", count)
		}
		// The record that the server has is still counted right.
		r.server.Intercept(nil)
		r.pages.Normal(page("a"), "A", "")
		r.pages.Normal(page("b"), "B", "")
		after(5 * time.Minute)
		got := r.taken()
		if len(got) < 2 {
			r.Fatalf("the server has %d records", len(got))
		}
		r.wantStatus("recorded 7, sent 3, waiting 0, dropped 4 (TooOld)")
	})
}

// behaviour 347
func TestARefusedRecordIsDroppedAtOnce(t *testing.T) {
	ending := func(r *rig) {
		namespaces := client.For(r.c, client.Type[*meta.Unstructured]{Version: "v1", Kind: "Namespace", Resource: "namespaces", Scope: meta.Cluster})
		ns := &meta.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "other", "finalizers": []any{"example.com/keep"}}}}
		if _, err := namespaces.Create(r.Context(), ns); err != nil {
			r.Fatal(err)
		}
		if err := namespaces.Delete(r.Context(), meta.Key{Name: "other"}, client.DeleteOptions{}); err != nil {
			r.Fatal(err)
		}
	}
	for _, test := range []struct {
		name   string
		before func(r *rig)
		reason apierrors.Reason
	}{
		{"no such namespace", func(*rig) {}, apierrors.NotFound},
		{"a namespace that ends", ending, apierrors.Forbidden},
		{"invalid", func(r *rig) {
			r.answer(func(clienttest.Request) http.HandlerFunc { return failure(422, apierrors.Invalid) })
		}, apierrors.Invalid},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, recorder.Options{}, func(r *rig) {
				test.before(r)
				r.start()
				other := page("a")
				other.Namespace = "other"
				r.pages.Normal(other, "A", "")
				after(time.Minute)
				r.wantStatus("recorded 1, sent 0, waiting 0, dropped 1 (Refused)")
				told := r.told()
				var dropped *recorder.DropError
				if len(told) != 1 || !errors.As(told[0], &dropped) || dropped.Cause != recorder.Refused || !errors.Is(told[0], test.reason) {
					r.Errorf("told %v", told)
				}
				if creates, _ := r.writes(); creates != 1 {
					r.Errorf("%d requests", creates)
				}
				if n := recorder.Known(r.recorder); n != 0 {
					r.Errorf("%d records are remembered", n)
				}
			})
		})
	}
}

// A server that has just started answers 403 until it knows the rights of its users.
func TestAForbiddenRecordIsSentAgainForAWhile(t *testing.T) {
	for _, test := range []struct {
		lasts time.Duration
		want  string
		least int // requests
	}{
		{20 * time.Second, "recorded 1, sent 1, waiting 0", 3},
		{time.Hour, "recorded 1, sent 0, waiting 0, dropped 1 (Refused)", 3},
	} {
		bubble(t, recorder.Options{}, func(r *rig) {
			began := time.Now()
			r.answer(func(clienttest.Request) http.HandlerFunc {
				if time.Since(began) < test.lasts {
					return failure(403, apierrors.Forbidden)
				}
				return nil
			})
			r.start()
			r.pages.Normal(page("a"), "A", "")
			after(time.Second)
			if told := r.told(); len(told) == 0 || !errors.Is(told[0], apierrors.Forbidden) {
				r.Errorf("told %v, want the refusal at once", told)
			}
			after(28 * time.Second)
			if s := r.recorder.Status(); len(s.Dropped) > 0 {
				r.Errorf("dropped too early: %v", s)
			}
			after(2 * time.Minute)
			r.wantStatus(test.want)
			if creates, _ := r.writes(); creates < test.least || creates > 30 {
				r.Errorf("%d requests", creates)
			}
			r.server.Intercept(nil)
			r.pages.Normal(page("b"), "A", "")
			after(time.Minute)
			if got := r.taken(); len(got) == 0 || got[len(got)-1].Regarding["name"] != "b" {
				r.Errorf("the server has %d records", len(got))
			}
		})
	}
}

// behaviour 347
func TestAnExpiredRecordIsMadeAgainWithItsCount(t *testing.T) {
	bubble(t, recorder.Options{}, func(r *rig) {
		r.start()
		record := func() { r.pages.Normal(page("a"), "A", "n") }
		for range 5 {
			record()
			after(time.Minute)
		}
		after(3 * time.Minute)
		r.want("a A x5 n")
		first := r.taken()[0]
		if err := r.events.Delete(r.Context(), meta.KeyOf(first), client.DeleteOptions{}); err != nil {
			r.Fatal(err)
		}
		record()
		after(5 * time.Minute)
		r.want("a A x6 n")
		if again := r.taken()[0]; !again.EventTime.Equal(first.EventTime.Time) {
			r.Errorf("the record is of %v, want %v", again.EventTime, first.EventTime)
		}
		r.wantStatus("recorded 6, sent 6, waiting 0")
		if told := r.told(); len(told) > 0 {
			r.Errorf("told %v", told)
		}
	})
}

// The server has taken the record, and its answer is lost.
func TestALostAnswerMakesNoSecondRecord(t *testing.T) {
	for _, repeated := range []bool{false, true} {
		bubble(t, recorder.Options{}, func(r *rig) {
			var requests atomic.Int32
			r.answer(func(q clienttest.Request) http.HandlerFunc {
				if requests.Add(1) == 1 {
					return r.server.CutBody(10)
				}
				return nil
			})
			r.start()
			r.pages.Normal(page("a"), "A", "")
			want := 1
			if repeated {
				time.Sleep(time.Nanosecond) // while the next attempt waits
				r.pages.Normal(page("a"), "A", "")
				want = 2
			}
			after(time.Minute)
			r.want(fmt.Sprintf("a A x%d", want))
			r.wantStatus(fmt.Sprintf("recorded %d, sent %d, waiting 0", want, want))
			if creates, patches := r.writes(); creates != 2 || patches != want-1 {
				r.Errorf("%d creates and %d patches", creates, patches)
			}
		})
	}
}

// A program that may create records and not patch them keeps its records, without their counts.
func TestARefusedCountIsDropped(t *testing.T) {
	bubble(t, recorder.Options{}, func(r *rig) {
		r.start()
		r.answer(func(q clienttest.Request) http.HandlerFunc {
			if q.Verb == "patch" {
				return failure(403, apierrors.Forbidden)
			}
			return nil
		})
		for range 3 {
			r.pages.Normal(page("a"), "A", "")
			after(time.Minute)
		}
		r.want("a A x1")
		r.wantStatus("recorded 3, sent 1, waiting 0, dropped 2 (Refused)")
		r.server.Intercept(nil)
		r.pages.Normal(page("a"), "A", "")
		after(5 * time.Minute)
		r.want("a A x4")
	})
}

func TestDropErrorsNameTheRecordAndTheCause(t *testing.T) {
	about := recorder.Record{Regarding: recorder.ReferenceTo(Pages, page("a")), Reason: "A"}
	for _, test := range []struct {
		err  error
		want string
	}{
		{&recorder.DropError{Cause: recorder.Spam, Count: 1, Record: about}, `dropped 1 record (too many about one object); the latest is about Page "default/a"`},
		{&recorder.DropError{Cause: recorder.QueueFull, Count: 2, Record: about}, `dropped 2 records (too many waiting for the server); the latest is about Page "default/a"`},
		{&recorder.DropError{Cause: recorder.Refused, Count: 1, Record: about, Err: apierrors.Forbidden}, `dropped 1 record (refused by the server); the latest is about Page "default/a": Forbidden`},
		{&recorder.DropError{Cause: recorder.TooOld, Count: 1, Record: about}, `dropped 1 record (not sent in time); the latest is about Page "default/a"`},
		{&recorder.DropError{Cause: recorder.Stopped, Count: 1, Record: about}, `dropped 1 record (the recorder has stopped); the latest is about Page "default/a"`},
		{&recorder.DropError{Cause: recorder.Invalid, Count: 1, Err: errors.New("why")}, `dropped 1 record (invalid); the latest is about object "": why`},
	} {
		if got := test.err.Error(); got != test.want {
			t.Errorf("the error is\n%s, want\n%s", got, test.want)
		}
	}
	s := recorder.Status{Recorded: 5, Sent: 1, Waiting: 1, Cut: 2, Dropped: map[recorder.Cause]int{recorder.Stopped: 2, recorder.Invalid: 1}, Err: errors.New("why")}
	if got := s.String(); got != "recorded 5, sent 1, waiting 1, dropped 1 (Invalid), dropped 2 (Stopped), cut 2, error: why" || strings.Contains(got, "\n") {
		t.Errorf("the status is %s", got)
	}
}
