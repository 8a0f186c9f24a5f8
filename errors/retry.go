package errors

import (
	"context"
	stderrors "errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// MaxRetryAfter is the longest time to wait that this package returns. It shortens a longer one to this.
const MaxRetryAfter = time.Hour

// RetryAfter returns how long the server asks to wait before a retry, and whether it named a time, which may be 0. If
// err joins several answers it returns the longest. The fields RetryAfter and HasRetryAfter of an answer have priority
// over its Status's retryAfterSeconds, as the Retry-After header has. [SafeToRetry] reports whether a retry is safe at
// all.
func RetryAfter(err error) (wait time.Duration, ok bool) {
	for e := range all(err) {
		if e.HasRetryAfter || e.RetryAfter > 0 {
			wait, ok = max(wait, min(e.RetryAfter, MaxRetryAfter)), true
		} else if d := e.Status.Details; d != nil && d.RetryAfterSeconds > 0 {
			wait, ok = max(wait, seconds(d.RetryAfterSeconds)), true
		}
	}
	return wait, ok
}

func seconds(n int) time.Duration {
	return time.Duration(min(max(n, 0), int(MaxRetryAfter/time.Second))) * time.Second
}

// retryAfterHeader reads the Retry-After header. If it has several values, the longest counts. A date that has passed
// means 0; a value that is neither a date nor a whole number of seconds from 0 counts as absent.
func retryAfterHeader(header http.Header, now time.Time) (wait time.Duration, ok bool) {
	for _, value := range header.Values("Retry-After") {
		if d, valid := parseRetryAfter(strings.TrimSpace(value), header, now); valid {
			wait, ok = max(wait, d), true
		}
	}
	return wait, ok
}

func parseRetryAfter(value string, header http.Header, now time.Time) (time.Duration, bool) {
	if value != "" && strings.Trim(value, "0123456789") == "" {
		n, err := strconv.Atoi(value)
		if err != nil { // the number does not fit an int
			return MaxRetryAfter, true
		}
		return seconds(n), true
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0, false
	}
	if date, err := http.ParseTime(header.Get("Date")); err == nil {
		now = date
	}
	return min(max(at.Sub(now), 0), MaxRetryAfter), true
}

// SafeToRetry reports whether the same request, of any verb, can be sent again without the risk that it takes effect
// twice, and may then succeed. It returns true if
//
//   - the server refused to handle it now: TooManyRequests, or ServiceUnavailable with a time to wait;
//   - it was never sent: the server's name could not be resolved, the connection was refused or could not be made, or
//     the TLS handshake timed out.
//
// It returns false for every other answer:
//
//   - answers that would be the same again, such as NotFound, Invalid and Forbidden;
//   - Conflict, which needs another request;
//   - InternalError, ServerTimeout and Timeout, which do not say whether the request took effect.
//
// It also returns false if a connection broke or timed out once the request may have been sent, and if the caller's
// context has ended. (A dial that ran into the deadline of the context counts as a dial that timed out.) A caller that
// knows that its request is a GET can repeat it after these too.
//
// If err joins several errors, at least one must be safe and none unsafe.
func SafeToRetry(err error) bool { return judge(err) == safe }

type verdict int

const (
	silent verdict = iota // the error decides nothing
	safe
	unsafe
)

func judge(err error) verdict {
	switch e := err.(type) {
	case nil:
		return silent
	case *StatusError:
		switch {
		case e == nil:
			return silent
		case e.Is(TooManyRequests):
			return safe
		case e.Is(ServiceUnavailable):
			if _, ok := RetryAfter(e); ok {
				return safe
			}
		}
		return unsafe
	case Reason:
		if e == TooManyRequests {
			return safe
		}
		return unsafe
	case *net.OpError:
		if isDial(e) && !stderrors.Is(e.Err, context.Canceled) {
			return safe
		}
		return unsafe
	case *net.DNSError:
		return safe
	case syscall.Errno:
		if NetworkOf(e) == NetworkRefused {
			return safe
		}
		return unsafe
	}
	children := unwrap(err)
	out := silent
	for _, child := range children {
		out = max(out, judge(child))
	}
	if len(children) > 0 {
		return out
	}
	if err.Error() == "net/http: TLS handshake timeout" { // the type of this error is not exported
		return safe
	}
	if NetworkOf(err) != NetworkFine {
		return unsafe
	}
	return silent
}
