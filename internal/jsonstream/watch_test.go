package jsonstream_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/jsonstream"
)

// readWatch reads everything and returns what there was before the error, which is nil for a clean end.
func readWatch(r io.Reader, o jsonstream.Options) ([]jsonstream.Frame, error) {
	w := jsonstream.NewWatch(r, o)
	var frames []jsonstream.Frame
	for {
		f, err := w.Next()
		if err != nil {
			if _, again := w.Next(); again != err {
				return frames, fmt.Errorf("the error changes from %v to %v", err, again)
			}
			if err == io.EOF {
				err = nil
			}
			return frames, err
		}
		f.Raw = bytes.Clone(f.Raw)
		frames = append(frames, f)
	}
}

func sameFrame(a, b jsonstream.Frame) bool { return a.Type == b.Type && sameItem(a.Item, b.Item) }

func frameOf(kind, raw string, item jsonstream.Item) jsonstream.Frame {
	item.Raw = []byte(raw)
	return jsonstream.Frame{Type: kind, Item: item}
}

func TestWatch(t *testing.T) {
	pod := `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"5"}}`
	podItem := jsonstream.Item{Kind: "Pod", APIVersion: "v1", Identity: meta.Identity{Name: "a", ResourceVersion: "5"}}
	status := `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","reason":"Expired","code":410}`
	statusItem := jsonstream.Item{Kind: "Status", APIVersion: "v1"}
	synced := `{"metadata":{"resourceVersion":"9","annotations":{"a":"b","k8s.io/initial-events-end":"true"}}}`
	at9 := jsonstream.Item{Identity: meta.Identity{ResourceVersion: "9"}}
	end := at9
	end.InitialEventsEnd = true
	for _, test := range []struct {
		name, body string
		want       []jsonstream.Frame
	}{
		{"that ends at once", "", nil},
		{"with white space alone, such as a proxy sends to keep it alive", strings.Repeat(" \r\n", 40000), nil},
		{
			"with a line for each event", `{"type":"ADDED","object":` + pod + "}\n" + `{"type":"DELETED","object":` + pod + "}\n",
			[]jsonstream.Frame{frameOf("ADDED", pod, podItem), frameOf("DELETED", pod, podItem)},
		},
		{
			"without anything between events (behaviour 48)",
			`{"type":"ADDED","object":` + pod + `}{"type":"MODIFIED","object":` + pod + "}",
			[]jsonstream.Frame{frameOf("ADDED", pod, podItem), frameOf("MODIFIED", pod, podItem)},
		},
		{
			"with CRLF and spaces (behaviour 48)",
			"\r\n" + ` { "type" : "ADDED" , "object" : ` + pod + " }\r\n\r\n\t" + `{"type":"MODIFIED","object":` + pod + "}  ",
			[]jsonstream.Frame{frameOf("ADDED", pod, podItem), frameOf("MODIFIED", pod, podItem)},
		},
		{
			"with the type behind the object",
			`{"object":` + pod + `,"type":"ADDED"}{"object" : ` + pod + ` , "x":[{}], "type":"ADDED"}`,
			[]jsonstream.Frame{frameOf("ADDED", pod, podItem), frameOf("ADDED", pod, podItem)},
		},
		{
			"with members that nobody knows",
			`{"a":{"type":"no","object":{}},"type":"ADDED","b":["object"],"object":` + pod + `,"c":null,"Type":1}`,
			[]jsonstream.Frame{frameOf("ADDED", pod, podItem)},
		},
		{
			"with escaped names and types", `{"\u0074ype":"\u0041DDED","o\u0062ject":` + pod + `}`,
			[]jsonstream.Frame{frameOf("ADDED", pod, podItem)},
		},
		{
			"with duplicates, of which the last counts (fault F39)",
			`{"type":"ADDED","type":"DELETED","object":{"kind":"A","metadata":{"name":"no","uid":"no"},"x":1},` +
				`"object":` + pod + `}`,
			[]jsonstream.Frame{frameOf("DELETED", pod, podItem)},
		},
		{
			"with duplicates of other types, of which the last counts (fault F39)",
			`{"type":1,"object":null,"type":"ADDED","object":[{}],"object":` + pod + `}`,
			[]jsonstream.Frame{frameOf("ADDED", pod, podItem)},
		},
		{
			"with an error, whose object is a Status (fault F6)", `{"type":"ERROR","object":` + status + `}`,
			[]jsonstream.Frame{frameOf("ERROR", status, statusItem)},
		},
		{
			"with a bookmark that has only a version (fault F13)",
			`{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9"}}}`,
			[]jsonstream.Frame{frameOf("BOOKMARK", `{"metadata":{"resourceVersion":"9"}}`, at9)},
		},
		{
			"with the bookmark that ends the initial events",
			`{"type":"BOOKMARK","object":` + synced + `}{"object":` + synced + `,"type":"BOOKMARK"}`,
			[]jsonstream.Frame{frameOf("BOOKMARK", synced, end), frameOf("BOOKMARK", synced, end)},
		},
		{
			"with that annotation on another event", `{"type":"ADDED","object":` + synced + `}`,
			[]jsonstream.Frame{frameOf("ADDED", synced, at9)},
		},
		{
			"with a type that nobody knows (fault F20)", `{"type":"Weird\n","object":{}}`,
			[]jsonstream.Frame{frameOf("Weird\n", "{}", jsonstream.Item{})},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, r := range readers {
				got, err := readWatch(r.wrap(strings.NewReader(test.body)), jsonstream.Options{})
				if err != nil || !slices.EqualFunc(got, test.want, sameFrame) {
					t.Errorf("%s: got %+v, %v; want %+v", r.name, got, err, test.want)
				}
			}
		})
	}
}

func TestWatchReadsTheAnnotationThatEndsInitialEvents(t *testing.T) {
	for _, test := range []struct {
		metadata string
		want     bool
	}{
		{`{"annotations":{"k8s.io/initial-events-end":"true"}}`, true},
		{`{"annotations":{"k8s.io\/initial-events-end":"tru\u0065"}}`, true},
		{`{"annotations":{"k8s.io/initial-events-end":"false","k8s.io/initial-events-end":"true"}}`, true},
		{`{"annotations":{"k8s.io/initial-events-end":"true","k8s.io/initial-events-end":"false"}}`, false},
		{`{"annotations":{"k8s.io/initial-events-end":true}}`, false},
		{`{"annotations":{"k8s.io/initial-events-end":"True"}}`, false},
		{`{"annotations":{"k8s.io/Initial-Events-End":"true"}}`, false},
		{`{"labels":{"k8s.io/initial-events-end":"true"}}`, false},
		{`{"annotations":{"k8s.io/initial-events-end":"true"},"annotations":{"a":"b"}}`, false},
		{`{"annotations":{"k8s.io/initial-events-end":"true"},"annotations":null}`, false},
		{`{"annotations":{"k8s.io/initial-events-end":"true"}},"metadata":{}`, false},
		{`{"annotations":["k8s.io/initial-events-end","true"]}`, false},
	} {
		body := `{"type":"BOOKMARK","object":{"metadata":` + test.metadata + `}}`
		frames, err := readWatch(strings.NewReader(body), jsonstream.Options{})
		if err != nil || len(frames) != 1 || frames[0].InitialEventsEnd != test.want {
			t.Errorf("%s: got %+v, %v; want %v", test.metadata, frames, err, test.want)
		}
		// That of an object which is skipped was lost.
		long := strings.Repeat("x", 200)
		for _, body := range []string{
			`{"type":"BOOKMARK","object":{"x":"` + long + `","metadata":` + test.metadata + `}}`,
			`{"type":"BOOKMARK","object":{"metadata":` + test.metadata + `,"x":{"annotations":{"k8s.io/initial-events-end":"` + long + `"}}}}`,
		} {
			frames, err := readWatch(strings.NewReader(body), jsonstream.Options{MaxObject: 100})
			if err != nil || len(frames) != 1 || frames[0].Limit == nil || frames[0].InitialEventsEnd != test.want {
				t.Errorf("%s: got %+v, %v; want %v", body, frames, err, test.want)
			}
		}
	}
}

func TestWatchRefuses(t *testing.T) {
	good := `{"type":"ADDED","object":{}}`
	for _, test := range []struct{ name, body, want string }{
		{"an HTML page (fault F25)", "<html>", `the body is not a watch but begins with: "<html>"`},
		{"an event that is no object", good + "\n[]", "body at byte 29: found '[' where a watch event should be"},
		{"an event that is a string", good + `"x"`, `body at byte 28: found '"' where a watch event should be`},
		{"an event without type", good + `{"object":{}}`, "body at byte 28: the watch event has no type"},
		{"an event without object", good + "\n" + `{"type":"ADDED"}`, "body at byte 29: the watch event has no object"},
		{"an event without anything", good + `{}`, "body at byte 28: the watch event has no type"},
		{
			"a Status", `{"kind":"Status","code":500}`,
			`the body has an object of kind "Status" where a watch event should be`,
		},
		{
			"a Status between events", good + ` {"kind":"Status","code":500}`,
			`the body has an object of kind "Status" where a watch event should be`,
		},
		{
			"a list", `{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[`,
			`the body has an object of kind "PodList" where a watch event should be`,
		},
		{"a byte order mark between events", good + "\ufeff", "body at byte 28: found byte 0xef where a watch event should be"},
		{
			"a type that is no string", `{"type":null,"object":{}}`,
			"body at byte 0: the watch event has a type that is not a string",
		},
		{
			"an object that is null", `{"type":"ADDED","object":null}`,
			"body at byte 0: the watch event has an object that is not a JSON object",
		},
		{
			"an object that is a string", `{"type":"ADDED","object":"{}"}`,
			"body at byte 0: the watch event has an object that is not a JSON object",
		},
		{
			"an object and then a string", `{"type":"ADDED","object":{"a":1},"object":"x"}`,
			"body at byte 0: the watch event has an object that is not a JSON object",
		},
		{"a broken object", `{"type":"ADDED","object":{"a":[}}}`, "body at byte 31: found '}' where a value should be"},
		{"a comma between events", good + "," + good, "body at byte 28: found ',' where a watch event should be"},
		{"a brace too many", good + "}", "body at byte 28: found '}' where a watch event should be"},
		{
			"a comma before the brace", `{"type":"ADDED","object":{},}`,
			"body at byte 28: found '}' where a value after the comma should be",
		},
		{"a cut event", good + `{"type":"ADDED","object":{}`, "the body is cut at byte 55: unexpected EOF"},
		{"a NUL between events", good + "\x00" + good, `body at byte 28: found '\x00' where a watch event should be`},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, r := range readers {
				_, err := readWatch(r.wrap(strings.NewReader(test.body)), jsonstream.Options{})
				if err == nil || err.Error() != test.want {
					// How much of a foreign body is quoted depends on what has arrived.
					if errors.As(err, new(*jsonstream.BodyError)) {
						continue
					}
					t.Errorf("%s: got %v, want %s", r.name, err, test.want)
				}
			}
		})
	}
}

// A watch that is cut in an event gives the events before it and io.ErrUnexpectedEOF; between two events it ends cleanly
// (behaviour 42, behaviour 46, fault F2).
func TestWatchCutAtEveryByte(t *testing.T) {
	events := []string{
		`{"type":"ADDED","object":{"metadata":{"name":"a","managedFields":[1]},"x":"\"\\"}}`,
		"\n" + `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7"}}}`,
		`{"object":{"metadata":{"name":"b"}},"type":"DELETED","z":-1.5}` + "\r\n",
	}
	body := strings.Join(events, "")
	all, err := readWatch(strings.NewReader(body), jsonstream.Options{})
	if err != nil || len(all) != 3 {
		t.Fatalf("the whole watch: %d events, %v", len(all), err)
	}
	between := map[int]int{ // how many events are complete at the places where a cut is a clean end
		0: 0, len(events[0]): 1, len(events[0]) + 1: 1, len(events[0] + events[1]): 2, len(body) - 2: 3, len(body) - 1: 3,
	}
	for n := range len(body) {
		for _, r := range readers {
			got, err := readWatch(r.wrap(strings.NewReader(body[:n])), jsonstream.Options{})
			if count, clean := between[n]; clean {
				if err != nil || len(got) != count {
					t.Fatalf("cut at %d, %s: got %d events, %v; want %d and a clean end", n, r.name, len(got), err, count)
				}
			} else if !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("cut at %d, %s: got %v, want io.ErrUnexpectedEOF", n, r.name, err)
			}
			if !slices.EqualFunc(got, all[:len(got)], sameFrame) {
				t.Fatalf("cut at %d, %s: got %+v", n, r.name, got)
			}
		}
	}
}

// script hands out one chunk per read, and fails the test when it is asked for more: on a real connection that read would
// wait for the next event, perhaps for minutes.
type script struct {
	t      *testing.T
	chunks []string
}

func (s *script) Read(p []byte) (int, error) {
	s.t.Helper()
	if len(s.chunks) == 0 {
		s.t.Fatal("reads on although the event has arrived")
	}
	n := copy(p, s.chunks[0])
	if s.chunks[0] = s.chunks[0][n:]; s.chunks[0] == "" {
		s.chunks = s.chunks[1:]
	}
	return n, nil
}

func TestWatchNeverWaitsForMoreThanTheEvent(t *testing.T) {
	event := `{"type":"ADDED","object":{"metadata":{"name":"a"},"n":1}}`
	extra := strings.Replace(event, `"object"`, `"extra":[1],"object"`, 1)
	for _, body := range []string{event, event + "\n", " " + event, extra} {
		for cut := range len(body) + 1 {
			chunks := slices.DeleteFunc([]string{body[:cut], body[cut:]}, func(s string) bool { return s == "" })
			w := jsonstream.NewWatch(&script{t, chunks}, jsonstream.Options{})
			if f, err := w.Next(); err != nil || f.Name != "a" {
				t.Fatalf("%q: got %+v, %v", chunks, f, err)
			}
		}
	}
	// Several events in one read are handed out without another.
	w := jsonstream.NewWatch(&script{t, []string{event + event + "\n" + event + "\n"}}, jsonstream.Options{})
	for range 3 {
		if _, err := w.Next(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestListNeverWaitsForMoreThanTheItem(t *testing.T) {
	head, item := `{"metadata":{"resourceVersion":"5"},"items":[`, `{"metadata":{"name":"a"},"n":[1]}`
	l := jsonstream.NewList(&script{t, []string{head, item, "," + item}}, jsonstream.Options{})
	if err := l.Open(); err != nil {
		t.Fatal(err)
	}
	if h, known := l.Header(); !known || h.ResourceVersion != "5" {
		t.Fatalf("got %+v, %v", h, known)
	}
	for range 2 {
		if f, err := l.Next(); err != nil || f.Name != "a" {
			t.Fatalf("got %+v, %v", f, err)
		}
	}
}

func TestWatchReturnsTheReadersError(t *testing.T) {
	broken := errors.New("connection reset")
	body := `{"type":"ADDED","object":{"a":1}}` + "\n"
	for n := range len(body) + 1 {
		frames, err := readWatch(io.MultiReader(strings.NewReader(body[:n]), iotest.ErrReader(broken)), jsonstream.Options{})
		if !errors.Is(err, broken) || len(frames) != n/(len(body)-1) {
			t.Errorf("after %d bytes: got %d events, %v", n, len(frames), err)
		}
	}
}

func TestWatchAllocatesNothingForRepeatedStrings(t *testing.T) {
	const events = 100
	body := strings.Repeat(`{"type":"MODIFIED","object":{"kind":"Pod","apiVersion":"v1",`+
		`"metadata":{"namespace":"shop","managedFields":[]},"a":[{"b":"c"}]}}`+"\n", events)
	r := strings.NewReader(body)
	w := jsonstream.NewWatch(endless{r}, jsonstream.Options{Buffers: new(jsonstream.Buffers)})
	if n := testing.AllocsPerRun(10, func() {
		for range events {
			if _, err := w.Next(); err != nil {
				t.Fatal(err)
			}
		}
	}); n > 0 {
		t.Errorf("%v allocations for %d events", n, events)
	}
}

// endless starts again at the end.
type endless struct{ r io.ReadSeeker }

func (e endless) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	if err == io.EOF {
		if _, err = e.r.Seek(0, io.SeekStart); err == nil {
			n, err = e.r.Read(p)
		}
	}
	return n, err
}
