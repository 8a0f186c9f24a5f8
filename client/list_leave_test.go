package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
)

// paged is a server whose pages wait for the test: page n is finished when hold[n] is closed.
type paged struct {
	asked chan int // the number of each page that is asked for, from 0
	hold  []chan struct{}
	ended sync.WaitGroup // handlers
}

func newPaged(pages int) *paged {
	p := &paged{asked: make(chan int, 100)}
	for range pages {
		p.hold = append(p.hold, make(chan struct{}))
	}
	return p
}

// finish lets the pages from n on be finished.
func (p *paged) finish(n int) {
	for _, hold := range p.hold[n:] {
		close(hold)
	}
}

func (p *paged) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.ended.Add(1)
	defer p.ended.Done()
	n := 0
	_, _ = fmt.Sscan(r.URL.Query().Get("continue"), &n)
	p.asked <- n
	next := ""
	if n+1 < len(p.hold) {
		next = fmt.Sprint(n + 1)
	}
	first, last := fmt.Sprintf("a%d", n), fmt.Sprintf("b%d", n)
	page := listOf("5", next, object(first, "1"), object(last, "2"))
	at := strings.Index(page, object(last, "2"))
	answer{body: page[:at]}.write(w)
	_ = http.NewResponseController(w).Flush()
	select {
	case <-p.hold[n]:
		_, _ = io.WriteString(w, page[at:])
	case <-r.Context().Done():
	}
}

// The next page is asked for as soon as its token is known, while the objects of this one are still under way and in the
// caller's hands; the one after it is not. behaviour 83: prefetch is bounded.
func TestTheNextPageIsOnItsWayBeforeThisOneIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := newPaged(3)
		r := client.For(connect(t, srv), slims)
		var asked []int
		for obj, err := range r.All(t.Context(), client.ListOptions{}) {
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			for len(srv.asked) > 0 {
				asked = append(asked, <-srv.asked)
			}
			switch obj.Name {
			case "a0": // the rest of its page has not been sent yet
				if !slices.Equal(asked, []int{0, 1}) {
					t.Errorf("with the first object in hand, pages %v were asked for, want 0 and 1", asked)
				}
				srv.finish(0)
			case "b0":
				if len(asked) != 2 {
					t.Errorf("within the first page, pages %v were asked for", asked)
				}
			}
		}
		if !slices.Equal(asked, []int{0, 1, 2}) {
			t.Errorf("pages %v were asked for, each once and in order", asked)
		}
	})
}

// However a loop is left, nothing of the list goes on: a goroutine that did would fail the bubble. behaviour 83
func TestLeavingAListEndsItsRequests(t *testing.T) {
	errMine := errors.New("mine")
	list := func(f func(name string) error) func(ctx context.Context, r client.Resource[*Slim]) error {
		return func(ctx context.Context, r client.Resource[*Slim]) error {
			_, err := r.ListEach(ctx, client.ListOptions{}, nil, func(item client.Item[*Slim]) error { return f(item.Identity.Name) })
			return err
		}
	}
	for _, test := range []struct {
		name string
		do   func(ctx context.Context, cancel func(), r client.Resource[*Slim]) error
		want error
	}{
		{"by break, in the middle of the first page", func(ctx context.Context, _ func(), r client.Resource[*Slim]) error {
			for range r.All(ctx, client.ListOptions{}) {
				break
			}
			return nil
		}, nil},
		{"by break, when the next page is there already", func(ctx context.Context, _ func(), r client.Resource[*Slim]) error {
			for range r.All(ctx, client.ListOptions{}) {
				synctest.Wait()
				break
			}
			return nil
		}, nil},
		{"by an error of the function, which comes back as it is", func(ctx context.Context, _ func(), r client.Resource[*Slim]) error {
			return list(func(string) error { return errMine })(ctx, r)
		}, errMine},
		{"by a panic", func(ctx context.Context, _ func(), r client.Resource[*Slim]) (err error) {
			defer func() { err, _ = recover().(error) }()
			return list(func(string) error { panic(errMine) })(ctx, r)
		}, errMine},
		{"by runtime.Goexit", func(ctx context.Context, _ func(), r client.Resource[*Slim]) error {
			var gone sync.WaitGroup
			gone.Go(func() { _ = list(func(string) error { runtime.Goexit(); return nil })(ctx, r) })
			gone.Wait()
			return nil
		}, nil},
		{"by its context", func(ctx context.Context, cancel func(), r client.Resource[*Slim]) error {
			n := 0
			err := list(func(string) error { n++; cancel(); return nil })(ctx, r)
			if n != 1 {
				return fmt.Errorf("%d objects were handed on after the context had ended", n-1)
			}
			if !errors.Is(err, context.Canceled) {
				return err
			}
			return nil
		}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := newPaged(3)
				r := client.For(connect(t, srv), slims)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				start := time.Now()
				if err := test.do(ctx, cancel, r); err != test.want {
					t.Errorf("error is %v, want %v", err, test.want)
				}
				if took := time.Since(start); took != 0 {
					t.Errorf("it took %v", took)
				}
				srv.ended.Wait() // the server sees that nobody waits
			})
		})
	}
}

// A next page that does not come holds nobody up who has left.
func TestLeavingAListDoesNotWaitForTheNextPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := client.For(connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Get("continue") != "" {
				<-r.Context().Done()
				return
			}
			answer{body: listOf("5", "c1", object("a", "1"))}.write(w)
		})), slims)
		for range r.All(t.Context(), client.ListOptions{}) {
			synctest.Wait()
			break
		}
	})
}

// What has been read already is not handed on after the context has ended.
func TestAListStopsWithItsContext(t *testing.T) {
	r := client.For(connect(t, says(listOf("5", "", object("a", "1"), object("b", "1"), object("c", "1")))), slims)
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	_, err := r.ListEach(ctx, client.ListOptions{}, nil, func(client.Item[*Slim]) error {
		n++
		cancel()
		return nil
	})
	if n != 1 || !errors.Is(err, context.Canceled) {
		t.Errorf("%d objects were handed on, and the error is %v", n, err)
	}
}
