package informer_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
)

// What objects are like must not matter: how they are called, how their JSON is written, how large and how many they are.

// typed begins the JSON of an object of a kind.
func typed(version, kind string) string {
	return fmt.Sprintf(`{"apiVersion":%q,"kind":%q,`, version, kind)
}

// configMap begins the JSON of a config map.
const configMap = `{"apiVersion":"v1","kind":"ConfigMap",`

// scripted answers for the collection: a list of either kind has these objects of a kind, and whatever is sent on the channel
// that it returns comes in the watch that follows.
func (r *rig) scripted(version, kind string, objects ...string) chan<- string {
	events := make(chan string)
	follow := func(w http.ResponseWriter, q *http.Request, begin string) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, begin)
		_ = http.NewResponseController(w).Flush()
		for {
			select {
			case line := <-events:
				_, _ = io.WriteString(w, line)
				_ = http.NewResponseController(w).Flush()
			case <-q.Context().Done():
				return
			}
		}
	}
	r.server.Intercept(func(q *http.Request) http.HandlerFunc {
		switch asks(q) {
		case "list":
			return frames(false, typed(version, kind+"List")+`"metadata":{"resourceVersion":"10"},"items":[`+strings.Join(objects, ",")+`]}`)
		case "stream":
			return func(w http.ResponseWriter, q *http.Request) {
				end := `{"metadata":{"resourceVersion":"10","annotations":{"k8s.io/initial-events-end":"true"}}}`
				follow(w, q, eventsOf("ADDED", objects...)+eventsOf("BOOKMARK", end))
			}
		case "watch":
			return func(w http.ResponseWriter, q *http.Request) { follow(w, q, "") }
		}
		return nil
	})
	return events
}

// eventsOf are the lines of a watch about these objects.
func eventsOf(event string, objects ...string) string {
	var b strings.Builder
	for _, object := range objects {
		fmt.Fprintf(&b, `{"type":%q,"object":%s}`+"\n", event, object)
	}
	return b.String()
}

// fault F38: whatever an object is called, it is found by that name, and the events about it are about it.
func TestOddNames(t *testing.T) {
	names := []string{
		strings.Repeat("n", 253), "system:node:a.b", "with space", "a%2Fb", `a"b\c`, "日本語", "שלום", "🚢", "a\u2028b", "e\u0301", "é", "A", "a",
	}
	object := func(name string, version int, rest string) string {
		quoted, err := json.Marshal(name)
		if err != nil {
			t.Fatal(err)
		}
		return configMap + fmt.Sprintf(`"metadata":{"namespace":"default","name":%s,"uid":%s,"resourceVersion":"%d"%s}}`,
			quoted, quoted, version, rest)
	}
	modes(t, func(t *testing.T, mode informer.Mode) {
		bubble(t, func(r *rig) {
			var initial, changed, gone, adds, updates, deletes []string
			for n, name := range names {
				initial = append(initial, object(name, 1, ""))
				changed = append(changed, object(name, 11+n, `,"labels":{},"annotations":{"🙂":"\ud83d\u2028é\u0000","":""}`))
				gone = append(gone, object(name, 50+n, ""))
				adds, updates, deletes = append(adds, "add "+name), append(updates, "update "+name), append(deletes, "delete "+name)
			}
			events := r.scripted("v1", "ConfigMap", initial...)
			i := r.start(informer.Options{Mode: mode})
			i.tells(slices.Sorted(slices.Values(adds))...)
			byName := cache.NewIndex(i.Reader(), func(obj *Thing) []string { return []string{obj.Name} })
			for _, name := range names {
				if obj, ok := i.Reader().Get(key(name)); !ok || obj.Name != name || byName.Len(name) != 1 {
					r.Errorf("%q is cached as %+v", name, obj)
				}
			}
			events <- eventsOf("MODIFIED", changed...)
			i.tells(slices.Sorted(slices.Values(updates))...)
			for _, name := range names {
				obj, _ := i.Reader().Get(key(name))
				if got := obj.Annotations["🙂"]; got != "\ufffd\u2028é\u0000" || len(obj.Annotations) != 2 || len(obj.Labels) != 0 {
					r.Errorf("%q has the annotations %q and the labels %q", name, obj.Annotations, obj.Labels)
				}
			}
			events <- eventsOf("DELETED", gone...)
			i.tells(slices.Sorted(slices.Values(deletes))...)
			if i.Reader().Len() != 0 || byName.Len("a") != 0 || len(i.reported()) != 0 {
				r.Errorf("the cache holds %v, and reported was %v", i.held(), i.reported())
			}
		})
	})
}

// fault F39: of members with the same name the last one counts, and one in other letters is another; for every kind of
// source, in lists and in watches, and for what the cache knows as for what it holds.
func TestMembersWithTheSameName(t *testing.T) {
	object := func(version, data string) string {
		return fmt.Sprintf(`"metadata":{"namespace":"no","name":"no","uid":"no","resourceVersion":"7"},`+
			`"metadata":{"namespace":"default","name":"no","name":"x","uid":"no","uid":"u","resourceVersion":"8","resourceVersion":%q,`+
			`"Name":"no","NAMESPACE":"no","resourceversion":"9"},"Metadata":{"name":"no"},"data":{"v":"no"},"data":{"v":"no","v":%q},"DATA":{"v":"no"}}`,
			version, data)
	}
	modes(t, func(t *testing.T, mode informer.Mode) {
		bubble(t, func(r *rig) {
			o := informer.Options{Mode: mode}
			lastCounts(r, o, r.things, "v1", "ConfigMap", object, func(obj *Thing) string { return obj.Data["v"] })
			lastCounts(r, o, r.raw, "v1", "ConfigMap", object, func(obj *meta.Unstructured) string {
				v, _, _ := meta.Nested[string](obj.Object, "data", "v")
				return v
			})
			lastCounts(r, o, client.Metadata(r.things), "meta.k8s.io/v1", "PartialObjectMetadata", object, nil)
		})
	})
}

func lastCounts[T meta.Object](
	r *rig, o informer.Options, src informer.Source[T], version, kind string, rest func(version, data string) string, data func(T) string,
) {
	r.Helper()
	object := func(at, data string) string { return typed(version, kind) + rest(at, data) }
	events := r.scripted(version, kind, object("5", "first"))
	i := informer.New(src, o)
	run := r.running(i)
	defer run.stop()
	holds := func(version, want string) {
		r.Helper()
		synctest.Wait()
		obj, ok := i.Reader().Get(key("x"))
		if !ok || i.Reader().Len() != 1 || meta.KeyOf(obj) != key("x") || obj.GetResourceVersion() != version {
			r.Fatalf("%T: the cache holds %d objects, x as %+v; want x alone, at %s", src, i.Reader().Len(), obj, version)
		}
		if data != nil && data(obj) != want {
			r.Errorf("%T: x has %q, want %q", src, data(obj), want)
		}
	}
	holds("5", "first")
	events <- eventsOf("MODIFIED", object("11", "second"))
	holds("11", "second")
	if v := i.Status().ResourceVersion; v != "11" {
		r.Errorf("%T: the cache is at %s, want 11", src, v)
	}
	events <- eventsOf("DELETED", object("12", ""))
	synctest.Wait()
	if s := i.Status(); s.Objects != 0 || s.ResourceVersion != "12" || s.Err != nil {
		r.Errorf("%T: afterwards the status is %v", src, s)
	}
}

// fault F37: of 60,000 objects, 50,000 go, all at once: while watched, and while nobody watched. Everybody is told of each.
func TestAWaveOfDeletions(t *testing.T) {
	const total, wave = 60_000, 50_000
	object := func(n int) string {
		return configMap + fmt.Sprintf(`"metadata":{"namespace":"default","name":"a%d","uid":"u%d","resourceVersion":"%d"}}`, n, n, n+1)
	}
	var all []string
	for n := range total {
		all = append(all, object(n))
	}
	for _, watched := range []bool{true, false} {
		t.Run(fmt.Sprint("watched: ", watched), func(t *testing.T) {
			bubble(t, func(r *rig) {
				events := r.scripted("v1", "ConfigMap", all...)
				i := r.start(informer.Options{Mode: informer.Paged})
				if n := len(i.told()); n != total || i.Reader().Len() != total {
					r.Fatalf("told of %d objects, and %d are in the cache; want %d", n, i.Reader().Len(), total)
				}
				if watched {
					events <- eventsOf("DELETED", all[:wave]...)
				} else {
					events <- errorEvent(410, "Expired", "") + "\n"
					r.scripted("v1", "ConfigMap", all[wave:]...)
				}
				r.within(5*time.Second, "the wave is over", func() bool { return i.Reader().Len() == total-wave })
				told := i.told()
				if len(told) != wave || told[0] != "delete a0" || told[wave-1] != "delete a9999" {
					r.Errorf("told %d times, want each of %d deletions", len(told), wave)
				}
				if d := i.witness.difference(i.held()); d != "" {
					r.Error(d)
				}
				if n := i.Status().Relists[informer.Expired]; watched != (n == 0) {
					r.Errorf("%d relists", n)
				}
			})
		})
	}
}

// fault F37: an object of 1 MB is one like any other. One that is larger than the client's bound used to end each list and each
// watch that it came in, so that its collection never synced. It is an object that does not decode, and costs no other: it is
// reported once for each change, stays as it was last good, and is there again when it is smaller.
func TestObjectsThatAreTooLarge(t *testing.T) {
	modes(t, func(t *testing.T, mode informer.Mode) {
		bubble(t, func(r *rig) {
			const bound = 64 << 10
			huge := strings.Repeat("x", 1<<20)
			bounded := r.bounded(bound)
			r.put("a", "v", huge)
			r.put("b", "v", "1")
			i := r.start(informer.Options{Mode: mode})
			r.put("b", "v", huge)
			i.tells("add a", "add b", "update b")
			i.current()

			r.put("b", "v", "1")
			j := bounded.start(informer.Options{Mode: mode}) // which it would not be with a in the way
			j.tells("add b")
			j.tooLarge(1, "a")
			lists, watches := j.Status().Lists, j.Status().Watches

			r.put("b", "v", huge)
			r.put("c")
			synctest.Wait()
			j.tells("add c")
			j.holds("b", "1")
			j.tooLarge(2, "a", "b")
			r.remove("a")
			r.put("d")
			synctest.Wait()
			j.tells("add d")
			j.tooLarge(3, "b")
			if s := j.Status(); s.Lists != lists || s.Watches != watches {
				r.Errorf("status is %v, want the watch that there was", s)
			}

			j.relist()
			j.holds("b", "1")
			j.tooLarge(3, "b")
			r.put("b", "v", "2")
			synctest.Wait()
			j.tells("update b")
			j.holds("b", "2")
			j.tooLarge(3)
			r.put("b", "v", huge)
			synctest.Wait()
			r.remove("b")
			synctest.Wait()
			j.tells("delete b")
			j.tooLarge(5)
		})
	})
}

// tooLarge fails unless these objects are listed in Status as too large, and so many errors were reported.
func (i *informed) tooLarge(reports int, names ...string) {
	i.r.Helper()
	s := i.Status()
	if s.Err != nil || !s.Synced || len(s.Undecodable) != len(names) {
		i.r.Fatalf("status is %v, and lists %v, want %q", s, s.Undecodable, names)
	}
	for n, u := range s.Undecodable {
		limit := (*client.AnswerError)(nil)
		if u.Identity.Key() != key(names[n]) || !errors.As(u.Err, &limit) || limit.Reason != client.TooLarge {
			i.r.Errorf("status lists %v (%v), want %s", u.Identity, u.Err, names[n])
		}
	}
	n := 0
	for _, err := range i.reported() {
		if errors.As(err, new(*client.DecodeError)) {
			n++
		}
	}
	if n != reports {
		i.r.Errorf("%d objects were reported, want %d: %v", n, reports, i.reported())
	}
}

// An object that is too large and does not say what it is called, or at which version it is, is reported without a name each
// time that it comes, and costs no other.
func TestObjectsThatAreTooLargeAndHaveNoName(t *testing.T) {
	for _, o := range []informer.Options{
		{Mode: informer.Paged}, {Mode: informer.Streaming},
	} {
		bubble(t, func(r *rig) {
			const bound = 64 << 10
			huge := strings.Repeat("x", bound)
			nameless := `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"` + huge + `","resourceVersion":"` + huge + `"}}`
			r.put("a", "v", "1")
			r.server.Intercept(func(q *http.Request) http.HandlerFunc {
				return func(w http.ResponseWriter, q *http.Request) {
					w.Header().Set("Content-Type", "application/json")
					switch asks(q) {
					case "list":
						q.Header.Del("Accept-Encoding")
						record := httptest.NewRecorder()
						r.server.ServeHTTP(record, q)
						_, _ = io.WriteString(w, strings.Replace(record.Body.String(), `"items":[`, `"items":[`+nameless+`,`, 1))
						return
					case "stream":
						_, _ = io.WriteString(w, `{"type":"ADDED","object":`+nameless+`}`)
					case "watch":
						_, _ = io.WriteString(w, `{"type":"MODIFIED","object":`+nameless+`}`)
						_, _ = io.WriteString(w, `{"type":"DELETED","object":`+nameless+`}`)
					}
					r.server.ServeHTTP(w, q)
				}
			})
			i := r.bounded(bound).informer(o)
			i.run()
			r.Cleanup(i.stop)
			r.pass(time.Minute)
			i.tells("add a")
			r.put("a", "v", "2")
			synctest.Wait()
			i.tells("update a")
			r.server.DropWatches()
			r.put("a", "v", "3")
			r.pass(5 * time.Second)
			i.tells("update a")
			s := i.Status()
			if len(s.Undecodable) > 1 || !s.Synced || s.ResourceVersion == "" || s.Relists != nil {
				r.Errorf("status is %v, and lists %v", s, s.Undecodable)
			}
			limit := (*client.AnswerError)(nil)
			if all := i.reported(); !errors.As(all[0], &limit) || limit.Reason != client.TooLarge || len(all) < 4 || len(all) > 6 {
				r.Errorf("reported %d: %v", len(all), all)
			}
		})
	}
}

// bounded is the rig with a client that takes no objects larger than that.
func (r *rig) bounded(bytes int) *rig {
	r.Helper()
	cfg := r.server.Config()
	cfg.MaxObject = bytes
	return r.with(cfg)
}
