package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// readWatch reads a watch to its end and returns its events as text, and the final error.
func readWatch(ctx context.Context, r client.Resource[*Slim], o client.WatchOptions) (events []string, final error) {
	for e, err := range r.Watch(ctx, o) {
		if final != nil {
			return events, fmt.Errorf("an event %+v after the final error %w", e, final)
		}
		switch decode := (*client.DecodeError)(nil); {
		case errors.As(err, &decode):
			if e.Object != nil {
				return events, errors.New("a bad object beside its error")
			}
			events = append(events, fmt.Sprintf("%s %s@%s bad", e.Type, e.Identity.Key(), e.Identity.ResourceVersion))
		case err != nil:
			if e != (client.Event[*Slim]{}) {
				return events, fmt.Errorf("an event %+v beside the final error %w", e, err)
			}
			final = err
		case e.Type == client.Bookmark:
			if e.Object != nil {
				return events, errors.New("a bookmark with an object")
			}
			events = append(events, fmt.Sprintf("%s @%s", e.Type, e.Identity.ResourceVersion))
		default:
			if e.Object.Identity != e.Identity {
				return events, fmt.Errorf("object is %+v, identity %+v", e.Object.Identity, e.Identity)
			}
			events = append(events, fmt.Sprintf("%s %s@%s", e.Type, e.Identity.Key(), e.Identity.ResourceVersion))
		}
	}
	return events, final
}

// behaviours 40, 42, 45 and 48; faults F2, F6, F7, F9, F13, F20, F24, F25 and F28
func TestAWatchDecodesEventsAndClassifiesErrors(t *testing.T) {
	added := event("ADDED", object("a", "1"))
	const got = "ADDED web/a@1"
	reason := func(r apierrors.Reason, code int) func(t *testing.T, err error) {
		return func(t *testing.T, err error) {
			if e := is[*apierrors.StatusError](t, err); !errors.Is(err, r) || e.Status.Code != code {
				t.Errorf("it is %+v, want %s", e.Status, r)
			}
		}
	}
	foreign := func(t *testing.T, err error) { answered(t, err, client.ForeignBody) }
	wrongKind := func(t *testing.T, err error) { answered(t, err, client.WrongKind) }
	unusable := func(kind client.EventType) func(t *testing.T, err error) {
		return func(t *testing.T, err error) {
			if e := is[*client.EventError](t, err); !strings.Contains(e.Error(), strings.TrimSuffix(fmt.Sprintf("an unusable event %q", kind), ` ""`)) &&
				(kind != "ERROR" || !strings.HasPrefix(e.Error(), "within the stream, ")) {
				t.Errorf("it is about another event: %v", e)
			}
		}
	}
	broken := func(t *testing.T, err error) {
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Error("it is not an unexpected end")
		}
		if e := (*client.EventError)(nil); errors.As(err, &e) {
			t.Error("it is an event's error, which would be the server's fault")
		}
	}
	for _, test := range []struct {
		name  string
		a     answer
		want  string // the events
		err   string // in the final error; empty: there is none
		check func(t *testing.T, err error)
	}{
		{
			"every type",
			answer{body: added + event("MODIFIED", object("a", "2")) + event("DELETED", object("a", "3")) + event("BOOKMARK", object("", "4"))},
			got + ", MODIFIED web/a@2, DELETED web/a@3, BOOKMARK @4", "", nil,
		},
		{"nothing", answer{}, "", "", nil},
		{"only white space", answer{body: " \r\n\n"}, "", "", nil},
		{
			"events without a line break",
			answer{body: strings.TrimSpace(added) + strings.TrimSpace(event("DELETED", object("a", "2")))},
			got + ", DELETED web/a@2", "", nil,
		},
		{"events with odd white space", answer{body: "\n" + added + "\r\n \t" + added + "\r\n"}, got + ", " + got, "", nil},
		{"the object before the type", answer{body: `{"object":` + object("a", "1") + `,"type":"ADDED"}`}, got, "", nil},
		{
			"a bookmark with only a version",
			answer{body: event("BOOKMARK", `{"metadata":{"resourceVersion":"9"}}`)},
			"BOOKMARK @9", "", nil,
		},
		{
			"a bookmark of another kind",
			answer{body: event("BOOKMARK", `{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"9"}}`)},
			"", `server sent an unusable event "BOOKMARK": server sent v1 Pod, want v1 ConfigMap`, nil,
		},
		{
			"a cluster-wide object",
			answer{body: event("ADDED", `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"n","resourceVersion":"1"}}`)},
			"ADDED n@1", "", nil,
		},

		{
			"an object that does not decode, and goes on",
			answer{body: event("MODIFIED", strings.Replace(object("b", "7"), `"data":{}`, `"data":7`, 1)) + added},
			"MODIFIED web/b@7 bad, " + got, "", nil,
		},
		{
			"a deleted one that does not decode, and goes on",
			answer{body: event("DELETED", strings.Replace(object("b", "7"), `"data":{}`, `"data":7`, 1)) + added},
			"DELETED web/b@7 bad, " + got, "", nil,
		},

		// What cannot be applied is an error, never passed over.
		{
			"another type",
			answer{body: added + event("SYNC", object("a", "2")) + added},
			got,
			`server sent an unusable event "SYNC" of "web/a": its type must be ADDED, MODIFIED, DELETED, BOOKMARK or ERROR`, unusable("SYNC"),
		},
		{"an unprintable type", answer{body: event("A\\u001b[2J", object("a", "2"))}, "", `unusable event "A"`, nil},
		{"no type", answer{body: `{"object":` + object("a", "1") + `}`}, "", "the watch event has no type", unusable("")},
		{"no object", answer{body: `{"type":"ADDED"}`}, "", "the watch event has no object", unusable("")},
		{"an object that is null", answer{body: event("ADDED", "null")}, "", "not a JSON object", unusable("")},
		{"no version", answer{body: event("ADDED", object("a", ""))}, "", "metadata.resourceVersion must not be empty", unusable("ADDED")},
		{
			"a bookmark without a version",
			answer{body: event("BOOKMARK", `{"kind":"ConfigMap","apiVersion":"v1","metadata":{}}`)},
			"",
			"metadata.resourceVersion must not be empty", unusable("BOOKMARK"),
		},
		{"no name", answer{body: event("ADDED", object("", "1"))}, "", "metadata.name must not be empty", unusable("ADDED")},
		{"another kind", answer{body: event("ADDED", strings.Replace(object("a", "1"), "ConfigMap", "Secret", 1))}, "", "server sent v1 Secret, want v1 ConfigMap", func(t *testing.T, err error) {
			answered(t, err, client.WrongKind)
			unusable("ADDED")(t, err)
		}},
		{
			"a table",
			answer{body: event("ADDED", strings.NewReplacer("ConfigMap", "Table", `"v1"`, `"meta.k8s.io/v1"`).Replace(object("a", "1")))},
			"", "Table", unusable("ADDED"),
		},
		{"not quite JSON", answer{body: added + `{"type" "ADDED"}`}, got, "body at byte", unusable("")},
		{"something between events", answer{body: added + "x"}, got, "body at byte", unusable("")},
		{
			"a version that is a number",
			answer{body: event("ADDED", strings.Replace(object("a", "1"), `"resourceVersion":"1"`, `"resourceVersion":1`, 1))},
			"", `unusable event "ADDED" of "web/a": metadata.resourceVersion must be a string, got a number`, unusable("ADDED"),
		},
		{
			"a name that is an object",
			answer{body: event("ADDED", strings.Replace(object("a", "1"), `"name":"a"`, `"name":{}`, 1))},
			"", `metadata.name must be a string, got an object`, unusable("ADDED"),
		},
		{
			"metadata that is an array",
			answer{body: event("ADDED", `{"kind":"ConfigMap","apiVersion":"v1","metadata":["a"]}`)},
			"", `metadata must be an object, got an array`, unusable("ADDED"),
		},
		{
			"a table as an API server sends it, without a name",
			answer{body: event("ADDED", `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"1"},"rows":[]}`)},
			"", "server sent meta.k8s.io/v1 Table, want v1 ConfigMap", func(t *testing.T, err error) {
				answered(t, err, client.WrongKind)
				unusable("ADDED")(t, err)
			},
		},
		{"a list instead", answer{body: listOf("5", "", object("a", "1"))}, "", "server sent v1 ConfigMapList, want v1 ConfigMap", wrongKind},
		{
			"a long list instead, which is not read",
			answer{body: strings.TrimSuffix(listOf("5", "", object("a", "1")), "]}") + strings.Repeat(",", 9000)},
			"", "the answer is not a watch: server sent v1 ConfigMapList", wrongKind,
		},
		{
			"a Status instead, with the code of a success",
			answer{body: status(410, "Expired", "too old resource version: 1 (9)")},
			"", `watch configmaps in "web": server said Expired (410): too old resource version: 1 (9)`, reason(apierrors.Expired, 410),
		},
		{
			"a Status instead that has only the code",
			answer{body: ` {"code":410,"kind":"Status","apiVersion":"v1"}`},
			"", "(410)", reason(apierrors.Expired, 410),
		},
		{
			"a Status between events",
			answer{body: added + status(410, "Expired", "gone")},
			got, "within the stream, server said Expired (410): gone", func(t *testing.T, err error) {
				unusable("ERROR")(t, err)
				reason(apierrors.Expired, 410)(t, err)
			},
		},
		{
			"an object between events",
			answer{body: added + object("b", "2")},
			got, `unusable event: it is an object, not an event: server sent v1 ConfigMap`, unusable(""),
		},
		{ // guarantee S11
			"an event larger than the bound, which costs no other",
			answer{body: added + event("MODIFIED", object("b", "2", strings.Repeat("x", 5000))) + added},
			got + ", MODIFIED web/b@2 bad, " + got, "", nil,
		},
		{
			"a deleted object larger than the bound",
			answer{body: event("DELETED", object("b", "2", strings.Repeat("x", 5000))) + added},
			"DELETED web/b@2 bad, " + got, "", nil,
		},
		{
			"an object larger than the bound that does not say where to go on",
			answer{body: added + event("ADDED", `{"kind":"ConfigMap","x":"`+strings.Repeat("x", 5000)+`","metadata":{"name":"b"},"apiVersion":"v1"}`)},
			got + ", ADDED b@ bad", "", nil,
		},
		{
			"one that does not say what it is",
			answer{body: event("ADDED", `{"x":"`+strings.Repeat("x", 5000)+`"}`) + added},
			"ADDED @ bad, " + got, "", nil,
		},
		{
			"an object of another kind larger than the bound",
			answer{body: event("ADDED", strings.Replace(object("b", "2", strings.Repeat("x", 5000)), "ConfigMap", "Secret", 1))},
			"", "server sent v1 Secret, want v1 ConfigMap", unusable("ADDED"),
		},
		{"a page that calls itself JSON", answer{body: "<html>"}, "", "server sent something other than the requested object", foreign},
		{
			"a Status of success",
			answer{body: `{"kind":"Status","apiVersion":"v1","status":"Success"}`},
			"",
			"server sent v1 Status, want v1 ConfigMap", wrongKind,
		},

		{"half an event", answer{body: added + added[:50]}, got, "the body is cut at byte", broken},
		{
			"half an event, and a broken connection",
			answer{body: added + added[:50], cut: true},
			got,
			"read body at byte", broken,
		},
		{"a connection that breaks between events", answer{body: added, cut: true}, got, "read body at byte", broken},

		// What the server reports within the stream.
		{
			"too old",
			answer{body: added + event("ERROR", status(410, "Expired", "too old resource version: 1 (9)")) + added},
			got, `watch configmaps in "web": within the stream, server said Expired (410): too old resource version: 1 (9)`,
			reason(apierrors.Expired, 410),
		},
		{"gone", answer{body: event("ERROR", status(410, "Gone", "gone"))}, "", "Gone (410)", reason(apierrors.Expired, 410)},
		{
			"only the code 410",
			answer{body: event("ERROR", `{"kind":"Status","apiVersion":"v1","code":410}`)},
			"",
			"(410)", reason(apierrors.Expired, 410),
		},
		{
			"only the word Expired",
			answer{body: event("ERROR", `{"kind":"Status","apiVersion":"v1","reason":"Expired"}`)},
			"", "Expired",
			reason(apierrors.Expired, 410),
		},
		{"too much", answer{body: event("ERROR", `{"kind":"Status","code":429,"reason":"TooManyRequests","details":{"retryAfterSeconds":7}}`)}, "", "TooManyRequests (429)", func(t *testing.T, err error) {
			if wait, ok := apierrors.RetryAfter(err); !ok || wait != 7*time.Second {
				t.Errorf("the wait is %v", wait)
			}
		}},
		{"a version of the future", answer{body: event("ERROR", `{"kind":"Status","code":504,"reason":"Timeout","details":{"causes":[{"reason":"ResourceVersionTooLarge"}]}}`)}, "", "(504)", func(t *testing.T, err error) {
			if !apierrors.IsTooLargeResourceVersion(err) {
				t.Error("it is not one of the future")
			}
		}},
		{
			"an internal error",
			answer{body: event("ERROR", status(500, "InternalError", "boom"))},
			"",
			"InternalError (500): boom", reason(apierrors.InternalError, 500),
		},
		// behaviour 337
		{
			"an ERROR that is no Status",
			answer{body: event("ERROR", object("a", "1"))},
			"",
			`unusable event "ERROR": its object is not a Status: {"kind":"ConfigMap"`, unusable("ERROR"),
		},
		{
			"an ERROR that is a broken Status",
			answer{body: event("ERROR", `{"kind":"Status","code":"x\u001b"}`)},
			"", "its object is not a Status", unusable("ERROR"),
		},

		// What it says instead of a stream.
		{
			"410",
			answer{code: 410, body: status(410, "Expired", "old")},
			"", "Expired (410): old",
			reason(apierrors.Expired, 410),
		},
		{"410 without a body", answer{code: 410}, "", "(410)", reason(apierrors.Expired, 410)},
		{
			"401",
			answer{code: 401, body: status(401, "Unauthorized", "Unauthorized")},
			"",
			"Unauthorized (401): Unauthorized", reason(apierrors.Unauthorized, 401),
		},
		{
			"403 with text",
			answer{code: 403, header: http.Header{"Content-Type": {"text/plain"}}, body: "not you"},
			"", "not you", reason(apierrors.Forbidden, 403),
		},
		{"429", answer{code: 429, header: http.Header{"Retry-After": {"3"}}}, "", "(429)", func(t *testing.T, err error) {
			if wait, ok := apierrors.RetryAfter(err); !ok || wait != 3*time.Second {
				t.Errorf("the wait is %v", wait)
			}
		}},
		{
			"a portal's page",
			answer{header: http.Header{"Content-Type": {"text/html"}}, body: "<html>"},
			"",
			"something other than the requested object", foreign,
		},
		// behaviour 39: what the server calls the stream is what counts.
		{
			"a media type with parameters",
			answer{header: http.Header{"Content-Type": {"application/json;stream=watch; charset=utf-8"}}, body: added},
			got, "", nil,
		},
		{"no media type", answer{header: http.Header{"Content-Type": nil}, body: added}, got, "", nil},
		// behaviour 38
		{
			"another encoding",
			answer{header: http.Header{"Content-Type": {"application/vnd.kubernetes.protobuf;stream=watch"}}, body: "\x00\x00"},
			"", "something other than the requested object", foreign,
		},
		{"no answer", answer{cut: true}, "", "", broken}, // behaviour 41
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := serve(t, answers(test.a))
				cfg.MaxObject = 4000
				events, err := readWatch(t.Context(), client.For(dial(t, cfg), slims), client.WatchOptions{Namespace: "web"})
				if got := strings.Join(events, ", "); got != test.want {
					t.Errorf("got  %s\nwant %s", got, test.want)
				}
				if (err != nil) != (test.err != "" || test.check != nil) {
					t.Fatalf("error is %v", err)
				}
				if err == nil {
					return
				}
				wantErr(t, err, test.err)
				if strings.ContainsAny(err.Error(), "\x1b\n") {
					t.Errorf("the text is not clean: %q", err)
				}
				if e := is[*client.OpError](t, err); e.Verb != "watch" || e.Key != (meta.Key{Namespace: "web"}) {
					t.Errorf("it is the error of %+v", e)
				}
				if test.check != nil {
					test.check(t, err)
				}
			})
		})
	}
}

// stream is a server whose watches send what the test says, when it says it.
type stream struct {
	send   chan string
	opened chan struct{}
	ended  sync.WaitGroup
}

func newStream() *stream { return &stream{send: make(chan string), opened: make(chan struct{}, 10)} }

func (s *stream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.ended.Add(1)
	defer s.ended.Done()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	flush := http.NewResponseController(w).Flush
	_ = flush()
	s.opened <- struct{}{}
	for {
		select {
		case text, ok := <-s.send:
			if !ok {
				return
			}
			_, _ = io.WriteString(w, text)
			_ = flush()
		case <-r.Context().Done():
			return
		}
	}
}

// An event is there when its last byte is, however it was cut up on the way, and however long nothing follows.
func TestAnEventIsHandedOnAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := newStream()
		r := client.For(connect(t, srv), slims)
		type arrival struct {
			event string
			at    time.Duration
		}
		start := time.Now()
		var got []arrival
		var watching sync.WaitGroup
		watching.Go(func() {
			for e, err := range r.Watch(t.Context(), client.WatchOptions{}) {
				if err != nil {
					t.Error(err)
				}
				got = append(got, arrival{string(e.Type) + " " + e.Identity.ResourceVersion, time.Since(start)})
			}
		})
		<-srv.opened
		text := strings.TrimSpace(event("ADDED", object("a", "1")))
		for _, b := range []byte(text) { // one byte an hour
			time.Sleep(time.Hour)
			srv.send <- string(b)
		}
		time.Sleep(time.Hour)
		srv.send <- strings.TrimSpace(event("MODIFIED", object("a", "2"))) + event("DELETED", object("a", "3"))
		time.Sleep(time.Hour)
		close(srv.send)
		watching.Wait()
		hours := time.Duration(len(text)) * time.Hour
		want := []arrival{{"ADDED 1", hours}, {"MODIFIED 2", hours + time.Hour}, {"DELETED 3", hours + time.Hour}}
		if len(got) != len(want) || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

// behaviours 43, 44 and 71: leaving the loop, or the end of its context, closes the watch; a goroutine that went on would
// fail the bubble.
func TestLeavingAWatchClosesIt(t *testing.T) {
	for _, test := range []struct {
		name string
		do   func(ctx context.Context, cancel func(), r client.Resource[*Slim]) error
		want error
	}{
		{"by break", func(ctx context.Context, _ func(), r client.Resource[*Slim]) error {
			for range r.Watch(ctx, client.WatchOptions{}) {
				break
			}
			return nil
		}, nil},
		{"by a panic", func(ctx context.Context, _ func(), r client.Resource[*Slim]) (err error) {
			defer func() { err, _ = recover().(error) }()
			for range r.Watch(ctx, client.WatchOptions{}) {
				panic(io.EOF)
			}
			return nil
		}, io.EOF},
		{"by the end of its context within the loop", func(ctx context.Context, cancel func(), r client.Resource[*Slim]) (final error) {
			n := 0
			for _, err := range r.Watch(ctx, client.WatchOptions{}) {
				if n++; err != nil {
					final = errors.Unwrap(err)
				}
				cancel()
			}
			if n != 2 {
				return fmt.Errorf("%d iterations, want the event and the error", n)
			}
			return final
		}, context.Canceled},
		{"by the end of its context while nothing comes", func(ctx context.Context, cancel func(), r client.Resource[*Slim]) (final error) {
			for _, err := range r.Watch(ctx, client.WatchOptions{}) {
				time.AfterFunc(time.Minute, cancel)
				if err != nil {
					final = errors.Unwrap(err)
				}
			}
			return final
		}, context.Canceled},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := newStream()
				r := client.For(connect(t, srv), slims)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var feeding sync.WaitGroup
				feeding.Go(func() {
					<-srv.opened
					srv.send <- event("ADDED", object("a", "1")) + event("ADDED", object("b", "2"))
				})
				if err := test.do(ctx, cancel, r); err != test.want {
					t.Errorf("error is %v, want %v", err, test.want)
				}
				feeding.Wait()
				srv.ended.Wait() // the server sees that nobody listens
			})
		})
	}
}

// A watch may be iterated again: it is then a new one.
func TestAWatchMayBeIteratedAgain(t *testing.T) {
	srv := says(event("ADDED", object("a", "1")))
	seq := client.For(connect(t, srv), slims).Watch(t.Context(), client.WatchOptions{})
	if n := len(srv.all()); n != 0 {
		t.Errorf("%d requests before the first iteration", n)
	}
	for range 2 {
		for _, err := range seq {
			if err != nil {
				t.Error(err)
			}
		}
	}
	if n := len(srv.all()); n != 2 {
		t.Errorf("%d requests for two iterations", n)
	}
}
