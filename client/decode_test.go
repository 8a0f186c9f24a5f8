package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/proof/histories"
)

// effort is a value that takes as many milliseconds to decode as its JSON says, or panics (-1).
type effort struct{}

// atWork counts the decodings of the test that runs.
var atWork struct {
	now, most, inCaller, total atomic.Int32
}

func resetWork() {
	atWork.most.Store(0)
	atWork.inCaller.Store(0)
	atWork.total.Store(0)
}

func (effort) UnmarshalJSON(b []byte) error {
	atWork.total.Add(1)
	n := atWork.now.Add(1)
	defer atWork.now.Add(-1)
	for most := atWork.most.Load(); n > most && !atWork.most.CompareAndSwap(most, n); most = atWork.most.Load() {
	}
	stack := make([]byte, 16<<10)
	if strings.Contains(string(stack[:runtime.Stack(stack, false)]), "client_test.") {
		atWork.inCaller.Add(1) // only the caller's stack begins in a test
	}
	ms, err := strconv.Atoi(string(b))
	if ms < 0 {
		panic("s3cret")
	}
	time.Sleep(time.Duration(ms) * time.Millisecond)
	return err
}

type hardMap struct {
	meta.Identity `json:"metadata"`
	Data          struct {
		Effort effort `json:"effort"`
	} `json:"data"`
}

var hardMaps = client.Type[*hardMap]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}

// hard returns an object that has about size bytes and takes ms milliseconds to decode.
func hard(n, size, ms int) string {
	return fmt.Sprintf(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"namespace":"web","name":"%d","resourceVersion":"%d"},`+
		`"data":{"fill":"%s","effort":%d}}`, n, n+1, strings.Repeat("x", size), ms)
}

// hardPages returns pages of objects that are numbered through.
func hardPages(pages, objects, size int, ms func(n int) int) []string {
	var all []string
	for p := range pages {
		var items []string
		for i := range objects {
			n := p*objects + i
			items = append(items, hard(n, size, ms(n)))
		}
		next := ""
		if p < pages-1 {
			next = fmt.Sprint("c", p)
		}
		all = append(all, listOf("5", next, items...))
	}
	return all
}

// numbers reads a list and checks that its objects come in order and are what they should be.
func numbers(ctx context.Context, r client.Resource[*hardMap], fn func(n int) error) (int, error) {
	n := 0
	_, err := r.ListEach(ctx, client.ListOptions{}, nil, func(item client.Item[*hardMap]) error {
		if item.Identity.Name != fmt.Sprint(n) || item.Err == nil && item.Object.Identity != item.Identity {
			return fmt.Errorf("number %d is %+v, %v", n, item, item.Err)
		}
		n++
		return fn(n - 1)
	})
	return n, err
}

// Long lists are decoded by several goroutines, few in all, and arrive in order. behaviours 79 and 83
func TestLongListsAreDecodedInParallel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		resetWork()
		rnd := rand.New(rand.NewPCG(1, 2))
		r := client.For(connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			pages := hardPages(3, 100, 4000, func(n int) int { return n * 7 % 20 })
			page := 0
			_, _ = fmt.Sscanf(r.URL.Query().Get("continue"), "c%d", &page)
			if r.URL.Query().Get("continue") != "" {
				page++
			}
			answer{body: pages[page]}.write(w)
		})), hardMaps)
		start := time.Now()
		if n, err := numbers(t.Context(), r, func(int) error { return nil }); n != 300 || err != nil {
			t.Fatalf("%d objects, and %v", n, err)
		}
		one := time.Since(start)
		const work = 15 * 190 * time.Millisecond // 300 objects, 0 to 19 ms
		if decoders := min(runtime.GOMAXPROCS(0), 4); one > work*2/3 && decoders > 1 {
			t.Errorf("%d decoders and the caller took %v for what takes one %v", decoders, one, work)
		}
		resetWork()
		const lists = 10
		var reading sync.WaitGroup
		for range lists {
			wait := time.Duration(rnd.IntN(1000)) * time.Millisecond
			reading.Go(func() {
				time.Sleep(wait)
				if n, err := numbers(t.Context(), r, func(int) error { return nil }); n != 300 || err != nil {
					t.Errorf("%d objects, and %v", n, err)
				}
			})
		}
		reading.Wait()
		if most := atWork.most.Load(); most > lists+4 {
			t.Errorf("%d goroutines were decoding at once, want %d callers and at most 4", most, lists)
		}
	})
}

// However a long list is left, and wherever: when ListEach returns, nothing of it goes on, and nothing comes twice or out of
// order. A goroutine that stayed would fail the bubble.
func TestLeavingALongListStopsItsDecoders(t *testing.T) {
	errMine := errors.New("mine")
	for seed := range histories.Seeds(8) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		at := rnd.IntN(200)
		size := 100 << rnd.IntN(8)
		pages := hardPages(2, 100, size, func(n int) int { return rnd.IntN(30) })
		for _, test := range []struct {
			name string
			do   func(ctx context.Context, cancel func(), r client.Resource[*hardMap]) error
			want error
		}{
			{"by an error", func(ctx context.Context, _ func(), r client.Resource[*hardMap]) error {
				_, err := numbers(ctx, r, func(n int) error {
					if n == at {
						return errMine
					}
					return nil
				})
				return err
			}, errMine},
			{"by a panic", func(ctx context.Context, _ func(), r client.Resource[*hardMap]) (err error) {
				defer func() { err, _ = recover().(error) }()
				_, _ = numbers(ctx, r, func(n int) error {
					if n == at {
						panic(errMine)
					}
					return nil
				})
				return nil
			}, errMine},
			{"by break", func(ctx context.Context, _ func(), r client.Resource[*hardMap]) error {
				n := 0
				for range r.All(ctx, client.ListOptions{}) {
					if n++; n > at {
						break
					}
				}
				return nil
			}, nil},
			{"by its context", func(ctx context.Context, cancel func(), r client.Resource[*hardMap]) error {
				n, err := numbers(ctx, r, func(n int) error {
					if n == at {
						cancel()
					}
					return nil
				})
				if n != at+1 && errors.Is(err, context.Canceled) {
					return fmt.Errorf("%d objects were handed on, want %d", n, at+1)
				}
				if at == 199 { // it was the last
					return context.Canceled
				}
				return errors.Unwrap(err)
			}, context.Canceled},
			{"by its context at some time", func(ctx context.Context, cancel func(), r client.Resource[*hardMap]) error {
				time.AfterFunc(time.Duration(at)*time.Millisecond, cancel)
				_, err := numbers(ctx, r, func(int) error { return nil })
				if err == nil || errors.Is(err, context.Canceled) {
					return nil
				}
				return err
			}, nil},
		} {
			t.Run(fmt.Sprint(test.name, ", seed ", seed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := client.For(connect(t, says(pages...)), hardMaps)
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					if err := test.do(ctx, cancel, r); err != test.want {
						t.Errorf("error is %v, want %v", err, test.want)
					}
					if n := atWork.now.Load(); n != 0 {
						t.Errorf("%d objects are still being decoded", n)
					}
				})
			})
		}
	}
}

// A panic in the decoding of one object costs that object, wherever it is decoded.
func TestAPanicInDecodingIsTheObjectsError(t *testing.T) {
	const want = "decoding panicked at github.com/bowline-go/bowline/client_test.effort.UnmarshalJSON (decode_test.go:"
	for _, test := range []struct {
		name    string
		objects int
	}{
		{"of a few", 5},
		{"of many", 200},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				last := test.objects - 30 // far from the end, where the caller decodes
				if test.objects < 30 {
					last = 3
				}
				var items, events []string
				for n := range test.objects {
					ms := 1
					if n == last || n == last-1 {
						ms = -1
					}
					items = append(items, hard(n, 4000, ms))
					events = append(events, event("ADDED", hard(n, 4000, ms)))
				}
				check := func(where string, n int, obj *hardMap, err error) {
					if n != last && n != last-1 {
						if err != nil || obj == nil {
							t.Errorf("%s, object %d: %v", where, n, err)
						}
						return
					}
					wantErr(t, err, want)
					if bad := is[*client.DecodeError](t, err); bad.Identity.Name != fmt.Sprint(n) || obj != nil {
						t.Errorf("%s: it is about %+v, %v", where, bad.Identity, obj)
					}
					if strings.Contains(err.Error(), "s3cret") {
						t.Errorf("%s: the text has the value: %v", where, err)
					}
				}
				n := 0
				_, err := client.For(connect(t, says(listOf("5", "", items...))), hardMaps).ListEach(
					t.Context(), client.ListOptions{}, nil, func(item client.Item[*hardMap]) error {
						check("list", n, item.Object, item.Err)
						n++
						return nil
					})
				if n != test.objects || err != nil {
					t.Errorf("%d objects, and %v", n, err)
				}
				n = 0
				err = client.For(connect(t, says(strings.Join(events, ""))), hardMaps).WatchEach(
					t.Context(), client.WatchOptions{}, nil, func(e client.Event[*hardMap]) error {
						check("watch", n, e.Object, e.Err)
						n++
						return nil
					})
				if n != test.objects || err != nil {
					t.Errorf("%d events, and %v", n, err)
				}
			})
		})
	}
}

// An event that arrives alone is decoded by the caller's goroutine, and so is a short list.
func TestTheCallerDecodesShortListsAndSingleEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		resetWork()
		srv := newStream()
		var feeding sync.WaitGroup
		feeding.Go(func() {
			<-srv.opened
			for n := range 50 {
				time.Sleep(time.Second)
				srv.send <- event("MODIFIED", hard(n, 20000, 1))
			}
			close(srv.send)
		})
		if err := client.For(connect(t, srv), hardMaps).WatchEach(t.Context(), client.WatchOptions{}, nil,
			func(e client.Event[*hardMap]) error { return e.Err }); err != nil {
			t.Error(err)
		}
		feeding.Wait()
		short := hardPages(1, 10, 4000, func(int) int { return 1 })
		if n, err := numbers(t.Context(), client.For(connect(t, says(short...)), hardMaps), func(int) error { return nil }); n != 10 || err != nil {
			t.Errorf("%d objects, and %v", n, err)
		}
		if n, all := atWork.inCaller.Load(), atWork.total.Load(); n != all || all != 60 {
			t.Errorf("%d of %d were decoded by the caller", n, all)
		}
	})
}

// A burst is decoded by several goroutines, arrives in order and as it arrived, and is there before more is waited for.
// Wherever it is left, nothing goes on.
func TestABurstOfEventsKeepsItsOrder(t *testing.T) {
	errMine := errors.New("mine")
	for seed := range histories.Seeds(6) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				resetWork()
				rnd := rand.New(rand.NewPCG(seed, 2))
				const count = 400
				failAt := rnd.IntN(2 * count) // often never
				srv := newStream()
				sent := make([]time.Time, count)
				var feeding sync.WaitGroup
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				feeding.Go(func() {
					<-srv.opened
					for n := 0; n < count; {
						var burst strings.Builder
						for range 1 + rnd.IntN(150) {
							if n < count {
								sent[n] = time.Now()
								if n%10 == 9 {
									burst.WriteString(event("BOOKMARK", fmt.Sprintf(`{"metadata":{"resourceVersion":"%d"}}`, n+1)))
								} else {
									burst.WriteString(event("MODIFIED", hard(n, rnd.IntN(9000), 0)))
								}
								n++
							}
						}
						select {
						case srv.send <- burst.String():
						case <-ctx.Done():
							return
						}
						time.Sleep(time.Second)
					}
					close(srv.send)
				})
				n := 0
				err := client.For(connect(t, srv), hardMaps).WatchEach(ctx, client.WatchOptions{}, nil,
					func(e client.Event[*hardMap]) error {
						if e.Identity.ResourceVersion != fmt.Sprint(n+1) || (e.Type == client.Bookmark) != (n%10 == 9) ||
							e.Type == client.Modified && (e.Err != nil || e.Object.Identity != e.Identity) {
							t.Errorf("event %d is %+v", n, e)
						}
						if wait := time.Since(sent[n]); wait != 0 {
							t.Errorf("event %d came %v late", n, wait)
						}
						if n == failAt {
							return errMine
						}
						n++
						return nil
					})
				if failAt < count && (err != errMine || n != failAt) || failAt >= count && (err != nil || n != count) {
					t.Errorf("%d events, and %v; want to leave at %d", n, err, failAt)
				}
				if n := atWork.now.Load(); n != 0 {
					t.Errorf("%d objects are still being decoded", n)
				}
				cancel()
				feeding.Wait()
			})
		})
	}
}

// What comes before an error within the stream is handed on first.
func TestABurstBeforeAnErrorIsHandedOn(t *testing.T) {
	var burst strings.Builder
	for n := range 300 {
		burst.WriteString(event("MODIFIED", hard(n, 1000, 0)))
	}
	for _, test := range []struct{ name, end, want string }{
		{"an ERROR", event("ERROR", status(410, "Expired", "old")), "Expired (410)"},
		{"broken JSON", "{]", "body at byte"},
		{"half an event", `{"type":"ADDED"`, "the body is cut"},
		{"its end", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := 0
			err := client.For(connect(t, says(burst.String()+test.end)), hardMaps).WatchEach(t.Context(), client.WatchOptions{}, nil,
				func(e client.Event[*hardMap]) error {
					if n++; e.Identity.ResourceVersion != fmt.Sprint(n) {
						t.Errorf("event %d has version %s", n, e.Identity.ResourceVersion)
					}
					return e.Err
				})
			if n != 300 || (err == nil) != (test.want == "") {
				t.Errorf("%d events, and %v", n, err)
			}
			if test.want != "" {
				wantErr(t, err, test.want)
			}
		})
	}
}

// generated is the body of a list of many objects of one size, which is made as it is read.
type generated struct {
	objects, size int // how many, and how long the member of each is
	buf           []byte
	next          int
	read          atomic.Int64 // bytes
}

func (g *generated) object(n int) []byte {
	b := fmt.Appendf(nil, `{"metadata":{"namespace":"web","name":"%06d","resourceVersion":"1"},"data":{"x":"`, n)
	return append(append(b, strings.Repeat("x", g.size)...), `"}},`...)
}

func (g *generated) Read(p []byte) (int, error) {
	for len(g.buf) == 0 {
		switch {
		case g.next == 0:
			g.buf = append([]byte(`{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[`), g.object(0)...)
		case g.next < g.objects:
			g.buf = g.object(g.next)
		case g.next == g.objects:
			g.buf = []byte(`{"metadata":{"name":"last"}}]}`)
		default:
			return 0, io.EOF
		}
		g.next++
	}
	n := copy(p, g.buf)
	g.buf = g.buf[n:]
	g.read.Add(int64(n))
	return n, nil
}

// What is held of a list is bounded in bytes, however large the page that a server sends, and however slow the caller is.
// fault F37; behaviour 83
func TestAListBuffersABoundedNumberOfBytes(t *testing.T) {
	for _, test := range []struct {
		name          string
		objects, size int
		most          int // bytes that are held
	}{
		{"30000 small objects in one page", 30_000, 20, 1 << 20},
		{"objects as large as pods", 1000, 7000, 1 << 20},
		{"larger ones", 100, 300_000, 3 << 20},
		{"objects of 3 MB", 10, 3 << 20, 8 << 20},
	} {
		t.Run(test.name, func(t *testing.T) {
			body := &generated{objects: test.objects, size: test.size}
			c := without(t, func(r *http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: 200, Body: io.NopCloser(body), Request: r}, nil
			})
			n, most := 0, 0
			_, err := client.For(c, slims).ListEach(t.Context(), client.ListOptions{PageSize: 500}, nil, func(item client.Item[*Slim]) error {
				if n < test.objects && item.Identity.Name != fmt.Sprintf("%06d", n) {
					return fmt.Errorf("number %d is %+v", n, item.Identity)
				}
				if n++; n%20 == 0 {
					runtime.Gosched() // so that what may run ahead does
				}
				most = max(most, int(body.read.Load())-n*len(body.object(0)))
				return item.Err
			})
			if err != nil || n != test.objects+1 {
				t.Fatalf("%d objects, and %v", n, err)
			}
			if most > test.most {
				t.Errorf("up to %d bytes were held, want %d", most, test.most)
			}
		})
	}
}

// An object that is larger than the bound ended the list, each time that it was read. It is one that does not decode, and the
// others come.
// fault F37, guarantee S11
func TestAnObjectLargerThanTheBoundCostsNoOther(t *testing.T) {
	const limit = 1 << 20
	small := object("a", "1", strings.Repeat("x", 1000))
	for _, extra := range []int{0, 1} {
		big := object("big", "2", "")
		big = strings.Replace(big, `"":""`, `"":"`+strings.Repeat("x", limit+extra-len(big))+`"`, 1)
		cfg := serve(t, says(listOf("5", "", append(slices.Repeat([]string{small}, 300), big, small)...)))
		cfg.MaxObject = limit
		names, bad, err := collect(t.Context(), client.For(dial(t, cfg), slims), client.ListOptions{})
		if extra == 0 {
			if len(names) != 302 || len(bad) > 0 || err != nil {
				t.Errorf("at the limit: %d objects, %v, %v", len(names), bad, err)
			}
			continue
		}
		if err != nil || len(names) != 301 || len(bad) != 1 {
			t.Fatalf("over the limit: %d objects, %d bad ones, %v", len(names), len(bad), err)
		}
		decode := is[*client.DecodeError](t, bad[0])
		if answered(t, bad[0], client.TooLarge); decode.Identity.Name != "big" || decode.Identity.ResourceVersion != "2" {
			t.Errorf("over the limit: %v", bad[0])
		}
	}
}
