package recorder

import (
	"container/heap"
	"errors"
	"net/http"
	"time"

	"github.com/bowline-go/bowline/client"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/retry"
)

const (
	// senders bounds the number of simultaneous requests.
	senders = 4
	// requestTimeout bounds one request.
	requestTimeout = 30 * time.Second
	// forbidden is how long a record is retried after a 403. A server that has just started may not know the rights of
	// its users yet.
	forbidden = 30 * time.Second
	// maxFloor bounds the wait that a server can request (Retry-After).
	maxFloor = 5 * time.Minute
)

// task is one request: to create the record of a series, or to update its count.
type task struct {
	s           *series
	create      bool
	count       int
	first, last time.Time
	since       time.Time
}

// take returns the next request. If there is none now, it returns the time until there may be one. A negative time
// means that take must be called again after the next record or the end of a request.
func (b *book) take(now time.Time) (t task, wait time.Duration, ok bool) {
	for b.flying < senders && len(b.due) > 0 {
		s := b.due[0]
		switch {
		case s.when.After(now):
			return t, s.when.Sub(now), false
		case !b.ending && now.Sub(s.due()) >= b.maxAge:
			heap.Pop(&b.due)
			b.giveUp(s, TooOld, b.err)
			continue
		case b.failing && b.flying > 0:
			return t, -1, false
		case b.failing && b.resume.After(now):
			return t, b.resume.Sub(now), false
		}
		heap.Pop(&b.due)
		s.flying = true
		b.flying++
		return task{s: s, create: !s.created, count: s.count, first: s.first, last: s.last, since: s.since}, 0, true
	}
	return t, -1, false
}

// outcome is the outcome of a request.
type outcome int

const (
	done    outcome = iota
	exists          // an earlier attempt, whose answer was lost, has created the record
	gone            // the record to update no longer exists
	failed          // another attempt may succeed
	denied          // 403: the server may not know the rights of the program yet, or the program has none
	refused         // no attempt will succeed
)

// outcomeOf returns the outcome of a request that ended with err.
func outcomeOf(create bool, err error) outcome {
	status, answered := errors.AsType[*apierrors.StatusError](err)
	switch {
	case err == nil:
		return done
	case errors.As(err, new(*client.UsageError)):
		return refused
	case !answered:
		return failed // the network, the credentials, or an invalid answer
	case create && errors.Is(err, apierrors.AlreadyExists):
		return exists
	}
	switch code := status.Status.Code; {
	case code == http.StatusNotFound && !status.FromStatus: // a proxy, or a server that does not serve events now
		return failed
	case code == http.StatusNotFound && !create:
		return gone
	case code == http.StatusUnauthorized, code == http.StatusRequestTimeout, code == http.StatusConflict, code == http.StatusTooManyRequests:
		return failed
	case code == http.StatusForbidden:
		if _, ends := apierrors.Cause(err, apierrors.CauseNamespaceTerminating); !ends {
			return denied
		}
		return refused
	case code >= 400 && code < 500:
		return refused
	}
	return failed
}

// settle records the outcome of a request, and reports whether the server has accepted the occurrences of the task.
func (b *book) settle(now time.Time, t task, o outcome, err error) (taken bool) {
	s := t.s
	s.flying = false
	b.flying--
	b.err = err
	switch o {
	case done, exists:
		taken = b.sentOne(now, t, o)
	case gone:
		b.err = nil
		s.created, s.earliest = false, now
		b.fresh++
	case denied:
		if s.denied.IsZero() {
			s.denied = now
		}
		if now.Sub(s.denied) >= forbidden {
			b.giveUp(s, Refused, err)
			return false
		}
		b.retry(now, s, err)
		return false
	case failed:
		b.retry(now, s, err)
		return false
	case refused:
		b.giveUp(s, Refused, err)
		return false
	}
	b.failing = false
	b.backoff.Reset()
	if s.unsent() == 0 {
		b.rest(s)
	} else {
		b.schedule(now, s)
	}
	return taken
}

// sentOne records that the server has the record, and reports whether the server certainly has the count of the task.
func (b *book) sentOne(now time.Time, t task, o outcome) bool {
	s := t.s
	b.err = nil
	if t.create {
		s.created = true
		b.fresh--
	}
	s.attempts, s.backoff, s.denied = 0, nil, time.Time{}
	if o == exists && t.count > 1 {
		s.earliest = now // the server may have an earlier count
		return false
	}
	if t.count > s.settled {
		b.sent += t.count - s.settled
		s.settled = t.count
	}
	if t.count > 1 && !t.create {
		s.updated(now)
	}
	s.since = now // approximately when the oldest unsent occurrence was made
	return true
}

// retry makes a series due again after a failure. Until a request succeeds, requests are sent one at a time and with
// growing waits: most failures concern all records.
func (b *book) retry(now time.Time, s *series, err error) {
	floor, _ := apierrors.RetryAfter(err)
	floor = min(floor, maxFloor)
	if s.backoff == nil {
		s.backoff = retry.New(retry.Policy{Max: time.Minute})
	}
	s.attempts++
	pause := b.backoff.Next(floor)
	b.push(s, now.Add(max(s.backoff.Next(floor), pause+1))) // after newer series, whose requests may succeed
	b.failing, b.resume = true, now.Add(pause)
}

// giveUp drops the unsent occurrences of a series.
func (b *book) giveUp(s *series, cause Cause, err error) {
	b.drop(DropError{Cause: cause, Count: s.unsent(), Record: s.record, Err: err})
	s.settled, s.attempts, s.backoff, s.denied = s.count, 0, nil, time.Time{}
	if s.created {
		b.rest(s) // a later occurrence updates it
		return
	}
	if b.active[s.digest] == s {
		delete(b.active, s.digest)
	}
	b.fresh--
	b.total--
}
