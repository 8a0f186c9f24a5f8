package informer_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/informer"
)

// Lists whose pages fail, and answers that are spoiled on their way.

// behaviours 81, 173, fault F10: a list whose token expires starts again, then comes in one page, and the token that would
// lead to an inconsistent rest is never used.
func TestTokensThatExpireInTheMiddleOfPaging(t *testing.T) {
	for _, test := range []struct {
		name   string
		expire int32 // how many lists lose their token
		asked  []string
	}{
		{"once", 1, []string{"2", "2+", "2", "2+", "2+"}},
		{"twice", 2, []string{"2", "2+", "2", "2+", ""}},
		{"each time", 1000, []string{"2", "2+", "2", "2+", ""}},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(r *rig) {
				for n := range 5 {
					r.put(fmt.Sprint("a", n))
				}
				var asked journal[string]
				var lost atomic.Int32
				other := r.another()
				r.server.Intercept(func(q *http.Request) http.HandlerFunc {
					if asks(q) != "list" {
						return nil
					}
					page := q.URL.Query().Get("limit")
					if q.URL.Query().Get("continue") != "" {
						page += "+"
						if lost.Add(1) <= test.expire {
							other.put("a0", "n", fmt.Sprint(lost.Load())) // the present version never expires
							r.server.Compact()
						}
					}
					asked.add(page)
					return nil
				})
				i := r.start(informer.Options{Mode: informer.Paged, PageSize: 2})
				if got := asked.list(); !slices.Equal(got, test.asked) {
					r.Errorf("asked for pages %q, want %q", got, test.asked)
				}
				r.heal()
				i.current()
				i.relisted(nil)
				i.tells("add a0", "add a1", "add a2", "add a3", "add a4")
			})
		})
	}
}

// truncatedGzip gives the usual answer, compressed and without its last bytes.
func truncatedGzip(s *clienttest.Server, missing int) http.HandlerFunc {
	return s.Rewrite(func(h http.Header, body []byte) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write(body)
		_ = z.Close()
		h.Set("Content-Encoding", "gzip")
		return b.Bytes()[:max(0, b.Len()-missing)]
	})
}

// wrongLength gives the usual answer, with a length that differs by so many bytes.
func wrongLength(s *clienttest.Server, by int) http.HandlerFunc {
	return s.Rewrite(func(h http.Header, body []byte) []byte {
		length := max(0, len(body)+by)
		h.Set("Content-Length", strconv.Itoa(length))
		return body[:min(len(body), length)]
	})
}

// trailing gives the usual answer, and more after it.
func trailing(s *clienttest.Server, more string) http.HandlerFunc {
	return s.Rewrite(func(_ http.Header, body []byte) []byte { return append(body, more...) })
}

// faults F1, F23, F24: an answer that is spoiled is never a short list, in the first list and in a relist; and F25, F43, F31:
// nor is none at all.
func TestABrokenListIsNotUsed(t *testing.T) {
	for _, test := range []struct {
		name  string
		spoil func(s *clienttest.Server) http.HandlerFunc
		err   string
	}{
		{"truncated gzip (fault F23)", func(s *clienttest.Server) http.HandlerFunc { return truncatedGzip(s, 20) }, "configmaps"},
		{"a longer Content-Length (fault F24)", func(s *clienttest.Server) http.HandlerFunc { return wrongLength(s, 10) }, "configmaps"},
		{"a shorter Content-Length (fault F24)", func(s *clienttest.Server) http.HandlerFunc { return wrongLength(s, -10) }, "configmaps"},
		{"garbage after the list (fault F24)", func(s *clienttest.Server) http.HandlerFunc { return trailing(s, "garbage") }, "configmaps"},
		{"a reset in the middle (fault F1)", func(s *clienttest.Server) http.HandlerFunc { return s.ResetBody(300) }, "configmaps"},
		{"silence in the middle (fault F26)", func(s *clienttest.Server) http.HandlerFunc { return s.Stall(300) }, "server stalled: "},
		{"a byte in ten seconds (fault F26)", func(s *clienttest.Server) http.HandlerFunc { return s.Drip(1, 10*time.Second) }, "configmaps"},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(r *rig) {
				for n := range 4 {
					r.put(fmt.Sprint("a", n), "n", strings.Repeat("x", 50))
				}
				i := r.informer(informer.Options{Mode: informer.Paged})
				r.on("list", test.spoil(r.server))
				i.run()
				r.Cleanup(i.stop)
				r.pass(5 * time.Minute)
				if s := i.Status(); s.Synced || s.Objects != 0 || s.Err == nil || !strings.Contains(s.Err.Error(), test.err) {
					r.Errorf("status is %v", s)
				}
				i.tells()
				r.heal()
				r.within(3*time.Minute, "synced", func() bool { return i.Status().Synced })
				i.current()
				i.told()

				r.on("list", test.spoil(r.server))
				r.server.DropWatches()
				r.put("b")
				r.remove("a0")
				r.server.Compact()
				r.pass(5 * time.Minute)
				if i.tells(); i.Reader().Len() != 4 {
					r.Errorf("the cache holds %d objects", i.Reader().Len())
				}
				r.heal()
				r.within(3*time.Minute, "current", func() bool { return i.difference() == "" })
				i.tells("add b", "delete a0")
			})
		})
	}
}

// A paged list that goes on is not given up, however long it takes in all. Objects that nobody wants are a sign of life too.
func TestASlowPagedListIsWaitedFor(t *testing.T) {
	for _, test := range []struct {
		name string
		o    informer.Options
		keep bool
		want int
	}{
		{"all are wanted", informer.Options{}, true, 5},
		{"none is, by a Filter", informer.Options{}, false, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(r *rig) {
				for n := range 5 {
					r.put(fmt.Sprint("a", n))
				}
				r.on("list", func(w http.ResponseWriter, q *http.Request) {
					<-time.After(50 * time.Second)
					r.server.ServeHTTP(w, q)
				})
				var errs journal[error]
				test.o.Mode, test.o.PageSize, test.o.OnError = informer.Paged, 1, func(err error) { errs.add(err) }
				i := informer.New(informer.Filter(r.things, func(*Thing) bool { return test.keep }), test.o)
				run := r.running(i)
				r.within(5*time.Minute, "synced", func() bool { return i.Status().Synced })
				if s := i.Status(); s.Objects != test.want || s.Lists != 1 || len(errs.list()) != 0 {
					r.Errorf("status is %v, reported %v", s, errs.list())
				}
				run.stop()
			})
		})
	}
}

// The same for a streaming list and for a watch: what is cut or slow is no end.
func TestABrokenStreamLosesNoEvent(t *testing.T) {
	for _, test := range []struct {
		name  string
		spoil func(s *clienttest.Server) http.HandlerFunc
	}{
		{"a reset in the middle (faults F1, F2)", func(s *clienttest.Server) http.HandlerFunc { return s.ResetBody(300) }},
		{"silence in the middle (fault F26)", func(s *clienttest.Server) http.HandlerFunc { return s.Stall(300) }},
		{"a byte in ten seconds (fault F26)", func(s *clienttest.Server) http.HandlerFunc { return s.Drip(1, 10*time.Second) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(r *rig) {
				for n := range 4 {
					r.put(fmt.Sprint("a", n), "n", strings.Repeat("x", 50))
				}
				i := r.informer(informer.Options{Mode: informer.Streaming})
				spoil := test.spoil(r.server)
				r.server.Intercept(func(q *http.Request) http.HandlerFunc {
					if asks(q) == "stream" || asks(q) == "watch" {
						return spoil
					}
					return nil
				})
				i.run()
				r.Cleanup(i.stop)
				r.pass(5 * time.Minute)
				if s := i.Status(); s.Synced || s.Objects != 0 || s.Err == nil {
					r.Errorf("status is %v", s)
				}
				i.tells()
				r.heal()
				r.within(3*time.Minute, "synced", func() bool { return i.Status().Synced })
				i.current()
				i.told()
				before := i.Status().Events
				r.on("watch", spoil)
				r.server.DropWatches()
				for n := range 8 {
					r.put("b", "n", fmt.Sprint(n))
				}
				r.pass(5 * time.Minute)
				r.heal()
				r.slowly(11*time.Minute, "current", func() bool { return i.difference() == "" })
				i.relisted(nil)
				if n := i.Status().Events - before; n != 8 {
					r.Errorf("%d events were applied, want each of 8 once", n)
				}
			})
		})
	}
}

// behaviour 176, faults F31, F43: while there is no way to the server it is asked again after a backoff, and nothing is listed for it.
func TestAServerThatCannotBeReached(t *testing.T) {
	for _, err := range []error{syscall.ECONNREFUSED, syscall.EMFILE, syscall.EADDRNOTAVAIL} {
		t.Run(err.Error(), func(t *testing.T) {
			modes(t, func(t *testing.T, mode informer.Mode) {
				bubble(t, func(r *rig) {
					r.put("a")
					i := r.start(informer.Options{Mode: mode})
					before := i.Status()
					r.put("b")
					r.pass(time.Second)
					r.server.Refuse(err)
					r.on("watch", clienttest.Reset()) // of the connections that are there already
					r.server.DropWatches()
					r.pass(10 * time.Minute)
					s := i.Status()
					if s.Err == nil || !strings.Contains(s.Err.Error(), err.Error()) || s.Watches-before.Watches > 100 || s.Objects != 2 ||
						time.Since(s.Since) > 31*time.Second { // a wait, and the attempt
						r.Errorf("status is %v", s)
					}
					r.server.Refuse(nil)
					r.heal()
					r.put("c")
					r.within(35*time.Second, "current", func() bool { return i.difference() == "" })
					i.relisted(nil)
				})
			})
		})
	}
}

// The progress of a list: how many objects have come, and how many follow the page.
func TestTheProgressOfAList(t *testing.T) {
	bubble(t, func(r *rig) {
		for n := range 5 {
			r.put(fmt.Sprint("a", n))
		}
		var seen journal[[2]int]
		var i *informed
		r.server.Intercept(func(q *http.Request) http.HandlerFunc {
			if asks(q) != "list" || q.URL.Query().Get("continue") == "" {
				return nil
			}
			return func(w http.ResponseWriter, q *http.Request) {
				<-time.After(time.Second) // in which the page before is read
				s := i.Status()
				seen.add([2]int{s.Listed, s.Remaining})
				r.server.ServeHTTP(w, q)
			}
		})
		i = r.informer(informer.Options{Mode: informer.Paged, PageSize: 2})
		i.run()
		r.Cleanup(i.stop)
		r.within(time.Minute, "synced", func() bool { return i.Status().Synced })
		s := i.Status()
		if got := fmt.Sprint(seen.list(), s.Listed, s.Remaining); got != "[[2 3] [4 1]] 5 0" {
			r.Errorf("progress %s, want 2 of 5, 4 of 5 and all", got)
		}
	})
}
