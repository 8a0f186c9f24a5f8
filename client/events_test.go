package client_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/handle"
)

const initialEnd = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"5","annotations":{"k8s.io/initial-events-end":"true"}}}`

// describe returns an event as text.
func describe(e client.Event[*Slim]) string {
	text := fmt.Sprintf("%s %s@%s", e.Type, e.Identity.Name, e.Identity.ResourceVersion)
	if e.Reused {
		text += " reused"
	}
	if e.InitialEventsEnd {
		text += " end"
	}
	if e.Err != nil {
		text += " bad"
	}
	return text
}

// What is asked of reuse: the initial events of a streaming list, before they are decoded, and nothing else.
func TestEachEvent(t *testing.T) {
	bad := func(name, version string) string {
		return strings.Replace(object(name, version), `"data":{}`, `"data":7`, 1)
	}
	stream := event("ADDED", bad("a", "1")) + event("ADDED", object("b", "2")) + event("ADDED", bad("c", "3")) +
		event("MODIFIED", bad("a", "4")) + event("BOOKMARK", object("", "4")) + event("BOOKMARK", initialEnd) +
		event("ADDED", bad("a", "6")) + event("DELETED", object("b", "7"))
	for _, test := range []struct {
		name   string
		o      client.WatchOptions
		known  string // the names that reuse knows; empty: there is no reuse
		asked  string
		want   string
		stopAt string
	}{
		{
			"a streaming list",
			client.WatchOptions{InitialEvents: true},
			"ab", "a@1 b@2 c@3",
			"ADDED a@1 reused, ADDED b@2 reused, ADDED c@3 bad, MODIFIED a@4 bad, BOOKMARK @4, BOOKMARK @5 end, ADDED a@6 bad, DELETED b@7", "",
		},
		{
			"without reuse",
			client.WatchOptions{InitialEvents: true},
			"", "",
			"ADDED a@1 bad, ADDED b@2, ADDED c@3 bad, MODIFIED a@4 bad, BOOKMARK @4, BOOKMARK @5 end, ADDED a@6 bad, DELETED b@7", "",
		},
		{
			"a plain watch",
			client.WatchOptions{},
			"ab", "",
			"ADDED a@1 bad, ADDED b@2, ADDED c@3 bad, MODIFIED a@4 bad, BOOKMARK @4, BOOKMARK @5 end, ADDED a@6 bad, DELETED b@7", "",
		},
		{"an error of fn", client.WatchOptions{InitialEvents: true}, "a", "a@1 b@2", "ADDED a@1 reused, ADDED b@2", "b"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := client.For(connect(t, says(stream)), slims)
				var asked []string
				reuse := func(id meta.Identity) (*Slim, bool) {
					asked = append(asked, id.Name+"@"+id.ResourceVersion)
					return &Slim{Identity: id}, strings.Contains(test.known, id.Name)
				}
				if test.known == "" {
					reuse = nil
				}
				var got []string
				left := errors.New("left")
				err := r.WatchEach(t.Context(), test.o, reuse, func(e client.Event[*Slim]) error {
					got = append(got, describe(e))
					if decode := (*client.DecodeError)(nil); e.Err != nil && (!errors.As(e.Err, &decode) || decode.Identity != e.Identity) {
						t.Errorf("%s comes with %v", describe(e), e.Err)
					}
					if has := e.Object != nil; has == (e.Err != nil || e.Type == client.Bookmark) {
						t.Errorf("%s has the object %+v", describe(e), e.Object)
					}
					if test.stopAt != "" && e.Identity.Name == test.stopAt {
						return left
					}
					return nil
				})
				if (test.stopAt != "") != (err == left) || test.stopAt == "" && err != nil {
					t.Errorf("error is %v", err)
				}
				if got := strings.Join(got, ", "); got != test.want {
					t.Errorf("got  %s\nwant %s", got, test.want)
				}
				if got := strings.Join(asked, " "); got != test.asked {
					t.Errorf("reuse was asked about %s, want %s", got, test.asked)
				}
			})
		})
	}
}

// A bookmark above MaxObject lost what it says: that a streaming list is complete. It was reported as an object that does not decode.
func TestATooLargeBookmarkIsStillABookmark(t *testing.T) {
	long := `,"x":"` + strings.Repeat("x", 10_000) + `"`
	mark := func(metadata string) string {
		return event("BOOKMARK", `{"kind":"ConfigMap","apiVersion":"v1","metadata":{`+metadata+`}`+long+`}`)
	}
	cfg := serve(t, says(event("ADDED", object("a", "1"))+mark(`"resourceVersion":"2"`)+
		mark(`"resourceVersion":"5","annotations":{"k8s.io/initial-events-end":"true"}`)+mark(`"name":"none"`)))
	cfg.MaxObject = 4000
	var got []string
	err := client.For(dial(t, cfg), slims).WatchEach(t.Context(), client.WatchOptions{InitialEvents: true}, nil, func(e client.Event[*Slim]) error {
		got = append(got, describe(e))
		return nil
	})
	if text := strings.Join(got, ", "); text != "ADDED a@1, BOOKMARK @2, BOOKMARK @5 end" {
		t.Errorf("got %s", text)
	}
	if e := is[*client.EventError](t, err); !strings.HasPrefix(e.Error(), `server sent an unusable event "BOOKMARK"`) { // nobody can go on from it
		t.Errorf("it is about another event: %v", e)
	}
	wantErr(t, err, "MaxObject")
}

// What a server says within the stream can be told from what it says instead of one.
func TestARefusalWithinTheStream(t *testing.T) {
	expired := status(410, "Expired", "too old")
	within := client.For(connect(t, says(event("ERROR", expired))), slims)
	instead := client.For(connect(t, answers(answer{code: 410, body: expired})), slims)
	err := within.WatchEach(t.Context(), client.WatchOptions{}, nil, func(client.Event[*Slim]) error { return nil })
	if e := is[*client.EventError](t, err); !strings.HasPrefix(e.Error(), "within the stream, ") || !errors.Is(e, apierrors.Expired) {
		t.Errorf("within the stream it is %+v", e)
	}
	err = instead.WatchEach(t.Context(), client.WatchOptions{}, nil, func(client.Event[*Slim]) error { return nil })
	if e := (*client.EventError)(nil); errors.As(err, &e) || !errors.Is(err, apierrors.Expired) {
		t.Errorf("instead of it, it is %v", err)
	}
}

// behaviour 50: what the server encodes is decoded, for each type of event.
func TestEveryTypeOfEventFromARealServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.Start(t, clienttest.Options{})
		r := client.For(dial(t, srv.Config()), configMaps)
		key := meta.Key{Namespace: "default", Name: "a"}
		made := must[*ConfigMap](t)(r.Create(t.Context(), &ConfigMap{
			ObjectMeta: meta.ObjectMeta{Namespace: key.Namespace, Name: key.Name}, Data: map[string]string{"k": "1"},
		}))
		changed := must[*ConfigMap](t)(r.Modify(t.Context(), key, func(c *ConfigMap) error { c.Data["k"] = "é\u2028<"; return nil }))
		if err := r.Delete(t.Context(), key, client.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		var got []string
		for e, err := range r.Watch(t.Context(), client.WatchOptions{ResourceVersion: before(t, made.ResourceVersion), Bookmarks: true, Timeout: time.Minute}) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Type == client.Bookmark {
				break
			}
			got = append(got, fmt.Sprintf("%s %s", e.Type, e.Object.Data["k"]))
			if e.Type == client.Modified && e.Identity != changed.Identity() {
				t.Errorf("got %+v, want %+v", e.Identity, changed.Identity())
			}
		}
		if got := strings.Join(got, ", "); got != "ADDED 1, MODIFIED é\u2028<, DELETED é\u2028<" {
			t.Errorf("got %s", got)
		}
	})
}

// before returns the version before one of clienttest's, which are numbers.
func before(t testing.TB, version string) string {
	t.Helper()
	var n int
	if _, err := fmt.Sscan(version, &n); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(n - 1)
}

func TestTheClientRemembersStreamingListsForAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, http.NotFoundHandler())
		r := client.For(c, slims)
		known := func(what string, f *handle.Feature, wantHas, wantKnown bool) {
			t.Helper()
			if has, known := f.Known(); has != wantHas || known != wantKnown {
				t.Errorf("%s: got %v, %v", what, has, known)
			}
		}
		f := handle.Of(r).StreamingLists
		known("at first", f, false, false)
		f.Set(true)
		known("once it is set", f, true, true)
		known("in another handle on the resource", handle.Of(client.For(c, configMaps)).StreamingLists, true, true)
		known("in a handle on the metadata", handle.Of(client.Metadata(r)).StreamingLists, true, true)
		known("of another resource", handle.Of(client.For(c, nodes)).StreamingLists, false, false)
		known("of another client", handle.Of(client.For(connect(t, http.NotFoundHandler()), slims)).StreamingLists, false, false)
		time.Sleep(time.Hour - time.Nanosecond)
		known("after less than an hour", f, true, true)
		time.Sleep(time.Nanosecond)
		known("after an hour", f, false, false)
		f.Set(false)
		known("set again", f, false, true)

		var zero client.Resource[*Slim]
		handle.Of(zero).StreamingLists.Set(true)
		known("of the zero Resource", handle.Of(zero).StreamingLists, false, false)
	})
}
