package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/patch"
)

// outcome is what becomes of one request: an answer, or the error of a network.
type outcome struct {
	answer
	err error
}

// outcomes is a network that has them one after the other, the last again and again, and remembers the requests.
type outcomes struct {
	list []outcome

	mu    sync.Mutex // guards the rest
	calls []call
	at    []time.Time
}

func (o *outcomes) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
		_ = r.Body.Close()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.calls = append(o.calls, call{r.Method, r.URL.RequestURI(), string(body), r.Header})
	o.at = append(o.at, time.Now())
	now := o.list[min(len(o.calls), len(o.list))-1]
	if now.err != nil {
		return nil, now.err
	}
	header := now.header.Clone()
	if header == nil {
		header = http.Header{}
	}
	if header.Get("Content-Type") == "" {
		header.Set("Content-Type", "application/json")
	}
	code := now.code
	if code == 0 {
		code = 200
	}
	var answered io.Reader = strings.NewReader(now.body)
	if now.cut {
		answered = io.MultiReader(answered, broken{})
	}
	return &http.Response{StatusCode: code, Header: header, Body: io.NopCloser(answered), Request: r}, nil
}

// broken is the rest of a body whose connection broke.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, reset }

// count returns how many requests there were, and forgets them.
func (o *outcomes) count() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := len(o.calls)
	o.calls, o.at = nil, nil
	return n
}

var (
	reset       = &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	refused     = &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	errGoneAway = errors.New(`http2: server sent GOAWAY and closed the connection; LastStreamID=1, ErrCode=NO_ERROR, debug=""`)
)

// busy is an answer that asks to come again.
func busy(code int, after string) outcome {
	return outcome{answer: answer{code: code, header: http.Header{"Retry-After": {after}}, body: "later"}}
}

// through returns a configuration whose requests have these outcomes.
func through(list ...outcome) (client.Config, *outcomes) {
	o := &outcomes{list: list}
	return client.Config{Server: "http://127.0.0.1:1", Wrap: func(http.RoundTripper) http.RoundTripper { return o }}, o
}

// style is one way to make a request.
type style struct {
	name string
	good string // the answer that it needs
	do   func(ctx context.Context, c *client.Client) error
}

// styles are all of them. What they say about a group decides what may be sent again.
func styles() (reads, safe, unsafe, once []style) {
	r := func(c *client.Client) client.Resource[*Slim] { return client.For(c, slims) }
	pinned := func() *Slim { obj := &Slim{Identity: at(web)}; obj.ResourceVersion = "7"; return obj }
	merge := func(m map[string]any) patch.Patch { return patch.Merge(map[string]any{"metadata": m}) }
	raw := func(method string) func(context.Context, *client.Client) error {
		return func(ctx context.Context, c *client.Client) error {
			resp, err := c.Raw(ctx, client.RawRequest{Method: method, Path: "/x", Body: []byte("{}")})
			if err == nil {
				_ = resp.Body.Close()
			}
			return err
		}
	}
	one := object("a", "1")
	reads = []style{
		{"get", one, func(ctx context.Context, c *client.Client) error { return drop(r(c).Get(ctx, web)) }},
		{"get status", one, func(ctx context.Context, c *client.Client) error { return drop(r(c).Status().Get(ctx, web)) }},
		{"list", listOf("1", ""), func(ctx context.Context, c *client.Client) error { return drop(r(c).List(ctx, client.ListOptions{})) }},
		{"all", listOf("1", ""), func(ctx context.Context, c *client.Client) error {
			_, _, err := collect(ctx, r(c), client.ListOptions{})
			return err
		}},
		{"watch", "", func(ctx context.Context, c *client.Client) error { return watch(ctx, r(c), client.WatchOptions{}) }},
		{"modify", one, func(ctx context.Context, c *client.Client) error {
			return drop(r(c).Modify(ctx, web, func(*Slim) error { return nil }))
		}},
		{"raw GET", one, raw("")},
	}
	safe = []style{
		{"update of a version", one, func(ctx context.Context, c *client.Client) error { return drop(r(c).Update(ctx, pinned())) }},
		{"patch of a version", one, func(ctx context.Context, c *client.Client) error {
			return drop(r(c).Patch(ctx, web, merge(map[string]any{"resourceVersion": "7"})))
		}},
		{"delete of a uid", one, func(ctx context.Context, c *client.Client) error {
			return r(c).Delete(ctx, web, client.DeleteOptions{UID: "u"})
		}},
		{"delete of a version", one, func(ctx context.Context, c *client.Client) error {
			return r(c).Delete(ctx, web, client.DeleteOptions{ResourceVersion: "7"})
		}},
		{"dry create", one, func(ctx context.Context, c *client.Client) error {
			return drop(r(c).With(client.WriteOptions{DryRun: true}).Create(ctx, &Slim{Identity: at(web)}))
		}},
		{"dry delete", one, func(ctx context.Context, c *client.Client) error {
			return r(c).With(client.WriteOptions{DryRun: true}).Delete(ctx, web, client.DeleteOptions{})
		}},
	}
	unsafe = []style{
		{"create", one, func(ctx context.Context, c *client.Client) error {
			return drop(r(c).Create(ctx, &Slim{Identity: at(web)}))
		}},
		{"update", one, func(ctx context.Context, c *client.Client) error {
			return drop(r(c).Update(ctx, &Slim{Identity: at(web)}))
		}},
		{"patch", one, func(ctx context.Context, c *client.Client) error {
			return drop(r(c).Patch(ctx, web, merge(map[string]any{"labels": nil})))
		}},
		{"delete", one, func(ctx context.Context, c *client.Client) error {
			return r(c).Delete(ctx, web, client.DeleteOptions{})
		}},
		{"raw POST", one, raw("POST")},
	}
	once = []style{
		{"each", listOf("1", ""), func(ctx context.Context, c *client.Client) error {
			return drop(r(c).ListEach(ctx, client.ListOptions{}, nil, func(client.Item[*Slim]) error { return nil }))
		}},
		{"each event", "", func(ctx context.Context, c *client.Client) error {
			return r(c).WatchEach(ctx, client.WatchOptions{}, nil, func(client.Event[*Slim]) error { return nil })
		}},
	}
	return reads, safe, unsafe, once
}

// behaviours 41, 51 to 56, 59 and 77; faults F7 and F43: what is sent again, and that it is the same.
func TestRequestsAreSentAgainOnlyIfThatIsSafe(t *testing.T) {
	reads, safe, unsafe, once := styles()
	date := time.Date(2000, 1, 1, 0, 0, 5, 0, time.UTC).Format(http.TimeFormat) // a bubble begins five seconds before
	disrupted := `{"kind":"Status","code":429,"details":{"causes":[{"reason":"DisruptionBudget"}]}}`
	dialing := func(err error) *net.OpError { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	const none, reading, careful, every = 0, 1, 2, 3 // which groups are sent again
	for _, test := range []struct {
		name  string
		o     outcome
		again int
	}{
		{"429 with Retry-After", busy(429, "2"), every},
		{"500 with Retry-After", busy(500, "0"), every},
		{"502 with Retry-After", busy(502, "1"), every},
		{"503 with a date", busy(503, date), every},
		{"504 with a time in its body", outcome{answer: answer{code: 504, body: `{"kind":"Status","code":504,"details":{"retryAfterSeconds":3}}`}}, every},
		{"429", outcome{answer: answer{code: 429}}, none},
		{"500", outcome{answer: answer{code: 500}}, none},
		{"503 with nonsense", busy(503, "soon"), none},
		{"404 with Retry-After", busy(404, "1"), none},
		{"409 with Retry-After", busy(409, "1"), none},
		{"304 with Retry-After", busy(304, "1"), none},
		{"429 of a disruption budget", outcome{answer: answer{code: 429, header: http.Header{"Retry-After": {"1"}}, body: disrupted}}, none},

		{"a reset", outcome{err: reset}, careful},
		{"EOF", outcome{err: io.EOF}, careful},
		{"unexpected EOF", outcome{err: io.ErrUnexpectedEOF}, careful},
		{"a broken pipe", outcome{err: &net.OpError{Op: "write", Err: syscall.EPIPE}}, careful},
		{"a closed connection", outcome{err: net.ErrClosed}, careful},
		{"GOAWAY", outcome{err: errGoneAway}, careful},
		{"a stream error", outcome{err: errors.New("stream error: stream ID 5; INTERNAL_ERROR; received from peer")}, careful},
		{"a lost HTTP/2 connection", outcome{err: errors.New("http2: client connection lost")}, careful},

		{"a refused connection", outcome{err: refused}, none},
		{"no such host", outcome{err: dialing(&net.DNSError{Err: "no such host", Name: "x", IsNotFound: true})}, none},
		{"a lookup that failed in passing", outcome{err: dialing(&net.DNSError{Err: "server misbehaving", Name: "x", IsTemporary: true})}, every},
		{"no route", outcome{err: dialing(os.NewSyscallError("connect", syscall.EHOSTUNREACH))}, every},
		{"no port left", outcome{err: dialing(os.NewSyscallError("connect", syscall.EADDRNOTAVAIL))}, every},
		{"no file descriptor left", outcome{err: dialing(os.NewSyscallError("socket", syscall.EMFILE))}, every},
		{"a certificate that is not trusted", outcome{err: errors.New("tls: failed to verify certificate")}, none},
	} {
		for group, styles := range map[int][]style{reading: reads, careful: safe, every: unsafe, every + 1: once} {
			for _, s := range styles {
				t.Run(test.name+" "+s.name, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						cfg, o := through(test.o, outcome{answer: answer{body: s.good}})
						want := 1
						if test.again >= group {
							want = 2
						}
						err := s.do(t.Context(), dial(t, cfg))
						if (err == nil) != (want == 2) {
							t.Errorf("error is %v", err)
						}
						if err != nil && is[*client.OpError](t, err).Before != nil {
							t.Errorf("the error of one attempt is %v", err)
						}
						if len(o.calls) != want {
							t.Fatalf("%d requests were sent, want %d", len(o.calls), want)
						}
						if want == 2 && (o.calls[0].String() != o.calls[1].String() || o.calls[0].body != o.calls[1].body) {
							t.Errorf("the second request is %v %s, the first was %v %s", o.calls[1], o.calls[1].body, o.calls[0], o.calls[0].body)
						}
					})
				})
			}
		}
	}
}

// behaviour 55: a timeout of the network is passed over while a watch is opened, and nowhere else.
func TestOnlyAWatchIsOpenedAgainAfterATimeout(t *testing.T) {
	reads, safe, unsafe, once := styles()
	for _, timeout := range []error{
		os.ErrDeadlineExceeded, &net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}, client.Stall(),
	} {
		for _, s := range slices.Concat(reads, safe, unsafe, once) {
			t.Run(s.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					cfg, o := through(outcome{err: timeout}, outcome{answer: answer{body: s.good}})
					err := s.do(t.Context(), dial(t, cfg))
					if n := o.count(); (n == 2) != (s.name == "watch") || (err == nil) != (n == 2) {
						t.Errorf("%d requests were sent, and the error is %v", n, err)
					}
				})
			})
		}
	}
}

// behaviour 56: a success whose body is cut is asked for again where that is the object that was read; a write that has been
// answered is done.
func TestAnAnswerThatIsCutIsAskedForAgain(t *testing.T) {
	reads, safe, unsafe, once := styles()
	again := []string{"get", "get status", "modify", "dry create"}
	for _, s := range slices.Concat(reads, safe, unsafe, once) {
		t.Run(s.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if s.name == "raw GET" || s.name == "raw POST" || strings.Contains(s.name, "delete") {
					return // nothing reads it
				}
				cut := outcome{answer: answer{body: `{"kind":"ConfigMap`, header: http.Header{"Retry-After": {"1"}}, cut: true}}
				cfg, o := through(cut, outcome{answer: answer{body: s.good}})
				err := s.do(t.Context(), dial(t, cfg))
				if n, want := o.count(), slices.Contains(again, s.name); (n == 2) != want || (err == nil) != want {
					t.Errorf("%d requests were sent, and the error is %v", n, err)
				}
			})
		})
	}
}

// Later pages are asked for again as the first.
func TestEachPageIsAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, o := through(
			outcome{err: reset}, outcome{answer: answer{body: listOf("5", "c1", object("a", "1"))}},
			outcome{err: errGoneAway}, busy(503, "1"), outcome{answer: answer{body: listOf("5", "", object("b", "1"))}},
		)
		list := must[meta.List[*Slim]](t)(client.For(dial(t, cfg), slims).List(t.Context(), client.ListOptions{}))
		if len(list.Items) != 2 || o.count() != 5 {
			t.Errorf("got %d objects", len(list.Items))
		}

		cfg, _ = through(outcome{answer: answer{body: listOf("5", "c1", object("a", "1"))}}, outcome{err: reset})
		_, err := client.For(dial(t, cfg), slims).List(t.Context(), client.ListOptions{})
		wantErr(t, err, "list configmaps: page 2: read tcp: read: connection reset by peer (attempt 5)")
	})
}

// behaviours 57 and 64: how often, and what the error says.
func TestErrorsNameTheAttemptsAndTheErrorsBefore(t *testing.T) {
	gone := outcome{answer: answer{code: 404, body: status(404, "NotFound", "gone")}}
	for _, test := range []struct {
		name     string
		attempts int
		o        []outcome
		want     string
	}{
		{"one attempt only", 1, []outcome{busy(503, "1")}, `get configmaps "web/a": server said ServiceUnavailable (503): the answer is not a Status but application/json: later`},
		{"another after it", 2, []outcome{{err: reset}, gone}, `get configmaps "web/a": server said NotFound (404): gone (attempt 2; attempt 1: read tcp: read: connection reset by peer)`},
		{"the same error is not repeated", 3, []outcome{{err: reset}}, `get configmaps "web/a": read tcp: read: connection reset by peer (attempt 3)`},
		{"nor one of the same kind", 2, []outcome{{err: &net.OpError{Op: "write", Net: "tcp", Err: syscall.ECONNRESET}}, {err: reset}}, `get configmaps "web/a": read tcp: read: connection reset by peer (attempt 2)`},
		{
			"each of several", 9,
			[]outcome{{err: reset}, {err: reset}, {err: errGoneAway}, {err: reset}, gone},
			`get configmaps "web/a": server said NotFound (404): gone (attempt 5; attempts 1 to 2: read tcp: read: connection reset by peer; attempt 3: ` +
				errGoneAway.Error() + `; attempt 4: read tcp: read: connection reset by peer)`,
		},
		{
			"no error of net/http twice", 2, // which repeats the method and the URL
			[]outcome{{err: &url.Error{Op: "Get", URL: "http://x", Err: &url.Error{Op: "Get", URL: "http://x", Err: reset}}}, gone},
			`get configmaps "web/a": server said NotFound (404): gone (attempt 2; attempt 1: read tcp: read: connection reset by peer)`,
		},
		{"the default is five", 0, []outcome{{err: reset}}, `get configmaps "web/a": read tcp: read: connection reset by peer (attempt 5)`},
		{
			"a wait that is too long", 0,
			[]outcome{busy(429, "31")},
			`get configmaps "web/a": server said TooManyRequests (429): the answer is not a Status but application/json: later ` +
				`(attempt 1; not sent again: the server asks to wait 31s, longer than Config.Retry.MaxWait, 30s)`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg, o := through(test.o...)
				cfg.Retry.Attempts = test.attempts
				_, err := client.For(dial(t, cfg), slims).Get(t.Context(), web)
				if err == nil || err.Error() != test.want {
					t.Errorf("error is %v\nwant     %s", err, test.want)
				}
				if e := is[*client.OpError](t, err); len(e.Before) != len(o.calls)-1 {
					t.Errorf("%d requests were sent, and the error has %d before the last", len(o.calls), len(e.Before))
				}
			})
		})
	}
	t.Run("the newest counts", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			cfg, _ := through(busy(503, "1"), gone)
			_, err := client.For(dial(t, cfg), slims).Get(t.Context(), web)
			if !errors.Is(err, apierrors.NotFound) || errors.Is(err, apierrors.ServiceUnavailable) {
				t.Errorf("error is %v", err)
			}
			cfg, _ = through(busy(429, "120"))
			_, err = client.For(dial(t, cfg), slims).Get(t.Context(), web)
			if wait, _ := apierrors.RetryAfter(err); wait != 2*time.Minute || !apierrors.SafeToRetry(err) {
				t.Errorf("the server asks to wait %v", wait)
			}
		})
	})
}

// behaviour 58, fault F7: a wait is as long as the server asks, and grows by itself.
func TestRetriesWaitAsTheServerAsksAndThenLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, o := through(busy(429, "7"), busy(503, "0"), outcome{err: reset}, outcome{err: reset}, outcome{answer: answer{body: object("a", "1")}})
		cfg.Retry.Wait = time.Second
		var waits []time.Duration
		var told []string
		cfg.Hooks.Retry = func(_ context.Context, r client.RequestInfo) {
			waits = append(waits, r.Wait)
			told = append(told, fmt.Sprintf("%s %d %d %t", r.Verb, r.Attempt, r.Code, r.Err != nil))
		}
		attempts := []int{}
		cfg.Hooks.Request = func(_ context.Context, r client.RequestInfo) { attempts = append(attempts, r.Attempt) }
		must[*Slim](t)(client.For(dial(t, cfg), slims).Get(t.Context(), web))
		if got := strings.Join(told, ", "); got != "get 1 429 true, get 2 503 true, get 3 0 true, get 4 0 true" {
			t.Errorf("the hook was told %s", got)
		}
		if !slices.Equal(attempts, []int{1, 2, 3, 4, 5}) {
			t.Errorf("saw the attempts %v", attempts)
		}
		for i, wait := range waits {
			if took := o.at[i+1].Sub(o.at[i]); took != wait {
				t.Errorf("wait %d took %v, and was told as %v", i+1, took, wait)
			}
			low, high := time.Duration(0), time.Second<<i
			if i == 0 {
				low, high = 7*time.Second, 7700*time.Millisecond
			}
			if wait < low || wait > high {
				t.Errorf("wait %d is %v, want %v to %v", i+1, wait, low, high)
			}
		}
	})
}

// behaviour 62: a wait ends with its context, and does not begin where it would end after it.
func TestAWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, o := through(busy(429, "10"))
		r := client.For(dial(t, cfg), slims)
		cause := errors.New("shutting down")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(3*time.Second, func() { cancel(cause) })
		start := time.Now()
		_, err := r.Get(ctx, web)
		if took := time.Since(start); took != 3*time.Second || !errors.Is(err, cause) || !errors.Is(err, apierrors.TooManyRequests) {
			t.Errorf("it took %v, with the error %v", took, err)
		}
		wantErr(t, err, `get configmaps "web/a": wait before attempt 2: context canceled: shutting down; before that: server said TooManyRequests (429)`)
		if n := o.count(); n != 1 || apierrors.SafeToRetry(err) || apierrors.NetworkOf(err) != apierrors.NetworkContext {
			t.Errorf("%d requests were sent, and the error is one of the network of the kind %q", n, apierrors.NetworkOf(err))
		}

		short, cancelShort := context.WithTimeout(t.Context(), 9*time.Second)
		defer cancelShort()
		start = time.Now()
		_, err = r.Get(short, web)
		if took := time.Since(start); took != 0 || !errors.Is(err, apierrors.TooManyRequests) || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("it took %v, with the error %v", took, err)
		}
		wantErr(t, err, "(attempt 1; not sent again: the context would end during a wait of 1")
	})
}

// behaviour 61: each attempt waits for the limiter, and none for opening a watch does.
func TestTheLimiterGatesEachAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, o := through(busy(503, "0"))
		cfg.Limiter = rate.NewLimiter(rate.Every(time.Minute), 1)
		cfg.Retry = client.Retry{Attempts: 3, Wait: time.Nanosecond}
		r := client.For(dial(t, cfg), slims)
		start := time.Now()
		_ = drop(r.Get(t.Context(), web))
		if took := time.Since(start).Round(time.Second); took != 2*time.Minute || o.count() != 3 {
			t.Errorf("three attempts took %v", took)
		}
		start = time.Now()
		_ = watch(t.Context(), r, client.WatchOptions{})
		if took := time.Since(start).Round(time.Second); took != 0 || o.count() != 3 {
			t.Errorf("three attempts to open a watch took %v", took)
		}
	})
}

// behaviour 68: attempts are counted for each call.
func TestAttemptsAreCountedForEachCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, o := through(outcome{err: reset})
		cfg.Retry.Attempts = 3
		r := client.For(dial(t, cfg), slims)
		var calls sync.WaitGroup
		for range 20 {
			calls.Go(func() {
				_, err := r.Get(t.Context(), web)
				if e := is[*client.OpError](t, err); len(e.Before) != 2 {
					t.Errorf("a call had %d attempts before the last", len(e.Before))
				}
			})
		}
		calls.Wait()
		if n := o.count(); n != 60 {
			t.Errorf("%d requests were sent, want 60", n)
		}
	})
}

// A server that is down gets a tenth more requests than there are calls, once the store is empty.
func TestTheRetryBudgetBoundsTheRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, o := through(outcome{err: reset})
		cfg.Retry = client.Retry{Burst: 20, Wait: time.Nanosecond}
		r := client.For(dial(t, cfg), slims)
		const calls = 1000
		var last error
		for range calls {
			_, last = r.Get(t.Context(), web)
		}
		if n := o.count(); n < calls+20+calls/10-1 || n > calls+20+calls/10 { // the store was full at the first call
			t.Errorf("%d requests were sent for %d calls, want a tenth and 20 more", n, calls)
		}
		wantErr(t, last, "connection reset by peer (attempt ")

		time.Sleep(time.Minute)
		for range 5 {
			_, last = r.Get(t.Context(), web)
		}
		if n := o.count(); n < 5+6 || n > 5+7 { // a part of one was left
			t.Errorf("after a minute %d requests were sent for 5 calls, want 6 or 7 more", n)
		}
		wantErr(t, last, "not sent again: the budget for retries is used up; see Config.Retry.Burst)")

		time.Sleep(time.Hour)
		cfg.Retry.Burst = -1
		r = client.For(dial(t, cfg), slims)
		for range 100 {
			_, _ = r.Get(t.Context(), web)
		}
		if n := o.count(); n != 500 {
			t.Errorf("without a bound %d requests were sent for 100 calls, want 500", n)
		}
	})
}

// A write whose connection breaks may have taken effect: what a later attempt says may be about that.
func TestALaterAttemptMayConflictWithAnEarlierOne(t *testing.T) {
	conflict := outcome{answer: answer{code: 409, body: status(409, "Conflict", "the object has been modified")}}
	synctest.Test(t, func(t *testing.T) {
		cfg, _ := through(outcome{err: reset}, outcome{answer: answer{code: 404, body: status(404, "NotFound", "not found")}})
		err := client.For(dial(t, cfg), slims).Delete(t.Context(), web, client.DeleteOptions{UID: "u"})
		if !errors.Is(err, apierrors.NotFound) {
			t.Errorf("error is %v", err)
		}
		wantErr(t, err, "(attempt 2; attempt 1: read tcp: read: connection reset by peer)")
	})
	// Modify counts on once only: it does not go on after a Conflict that may be with itself.
	for _, test := range []struct {
		name  string
		first outcome
		calls int
	}{
		{"a reset", outcome{err: reset}, 1},
		{"a refusal", busy(429, "1"), 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				live := outcome{answer: answer{body: object("a", "1")}}
				cfg, _ := through(live, test.first, conflict, live, live)
				calls := 0
				_, err := client.For(dial(t, cfg), slims).Modify(t.Context(), web, func(obj *Slim) error {
					calls++
					obj.Data = map[string]string{"n": "1"}
					return nil
				})
				if calls != test.calls || errors.Is(err, apierrors.Conflict) != (calls == 1) {
					t.Errorf("mutate was called %d times, and the error is %v", calls, err)
				}
			})
		})
	}
}

// The transport's own replay and the client's are not in each other's way: a large body arrives whole each time.
func TestALargeBodyIsSentAgainWhole(t *testing.T) {
	overBoth(t, func(t *testing.T, p protocol) {
		var bodies [][]byte
		cfg, _ := serveOver(t, p, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			if bodies = append(bodies, body); len(bodies) < 3 {
				busy(503, "1").write(w)
				return
			}
			answer{code: 201, body: object("a", "1")}.write(w)
		}), nil)
		obj := &Slim{Identity: at(web), Data: map[string]string{"k": strings.Repeat("x", 1<<20)}}
		must[*Slim](t)(client.For(dial(t, cfg), slims).Create(t.Context(), obj))
		if len(bodies) != 3 || len(bodies[0]) < 1<<20 || !bytes.Equal(bodies[0], bodies[1]) || !bytes.Equal(bodies[1], bodies[2]) {
			t.Errorf("%d bodies came, of %d bytes at first", len(bodies), len(bodies[0]))
		}
	})
}
