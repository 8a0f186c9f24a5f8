package client_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// whole returns the numbers of the objects that a list hands on, which must come whole and in order, and its error.
func whole(t *testing.T, h http.Handler) (int, meta.ListMeta, error) {
	t.Helper()
	n := 0
	m, err := client.For(connect(t, h), hardMaps).ListEach(t.Context(), client.ListOptions{}, nil, func(item client.Item[*hardMap]) error {
		if item.Err != nil || item.Identity.Name != fmt.Sprint(n) || item.Object.Identity != item.Identity {
			t.Errorf("number %d is %+v", n, item)
		}
		n++
		return nil
	})
	return n, m, err
}

// wantPage says that err is about a page of a list.
func wantPage(t *testing.T, err error, number int) {
	t.Helper()
	if op := is[*client.OpError](t, err); op.Page != number {
		t.Errorf("error is %v, want an OpError of page %d", err, number)
	}
}

// A connection that is reset after k bytes of page 2, for a sample of k that has the first and the last: an error that says
// on which page, the objects that were whole before, no metadata, and nothing left over. fault F1, behaviour 82
func TestAResetInPage2(t *testing.T) {
	for _, objects := range []int{5, 60} { // decoded by the caller, and by the pool
		pages := hardPages(2, objects, 4000, func(int) int { return 0 })
		step := max(1, len(pages[1])/40)
		for k := 0; k <= len(pages[1]); k += step {
			if k+step > len(pages[1]) {
				k = len(pages[1]) // the body is there, and its end is not
			}
			synctest.Test(t, func(t *testing.T) {
				n, m, err := whole(t, answers(answer{body: pages[0]}, answer{body: pages[1][:k], cut: true}))
				if err == nil || errors.Is(err, io.EOF) || m != (meta.ListMeta{}) {
					t.Fatalf("cut at %d: metadata is %+v, error %v", k, m, err)
				}
				wantPage(t, err, 2)
				if !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Errorf("cut at %d: %v", k, err)
				}
				if complete := objects + strings.Count(pages[1][:k], `}}`); k < len(pages[1]) && n != complete && n != complete-1 {
					t.Errorf("cut at %d: %d objects were handed on, %d had arrived", k, n, complete)
				}
			})
		}
	}
}

// The continue token expires on a later page: the error says so, and the token in it, which leads to another version of the
// collection, is not used. fault F10; behaviours 81, 82, 172 and 173
func TestAnExpiredContinueToken(t *testing.T) {
	expired := `{"kind":"Status","apiVersion":"v1","metadata":{"continue":"inconsistent","resourceVersion":"9"},` +
		`"status":"Failure","message":"The provided continue parameter is too old","reason":"Expired","code":410}`
	pages := hardPages(4, 40, 4000, func(int) int { return 0 })
	for page := 1; page <= 4; page++ {
		t.Run(fmt.Sprint("page ", page), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var all []answer
				for _, body := range pages[:page-1] {
					all = append(all, answer{body: body})
				}
				srv := answers(append(all, answer{code: 410, body: expired})...)
				n, m, err := whole(t, srv)
				if !errors.Is(err, apierrors.Expired) || n != 40*(page-1) || m != (meta.ListMeta{}) {
					t.Errorf("%d objects, %+v, %v", n, m, err)
				}
				if page > 1 {
					wantPage(t, err, page)
					wantErr(t, err, fmt.Sprintf("list configmaps: page %d: server said Expired (410): ", page))
				} else if is[*client.OpError](t, err).Page != 0 {
					t.Errorf("the first page's error is %v", err)
				}
				if calls := srv.all(); len(calls) != page || strings.Contains(fmt.Sprint(calls), "inconsistent") {
					t.Errorf("requests are %v", calls)
				}
			})
		})
	}
}

// Whatever is wrong with the end of a body, long lists included, a list that is not complete is never taken for one.
// faults F23 and F24
func TestABodyThatDoesNotEndWell(t *testing.T) {
	body := hardPages(1, 60, 4000, func(int) int { return 0 })[0]
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = io.WriteString(z, body)
	_ = z.Close()
	gz := http.Header{"Content-Encoding": {"gzip"}}
	length := func(n int) http.Header { return http.Header{"Content-Length": {fmt.Sprint(n)}} }
	for _, test := range []struct {
		name string
		a    answer
		want string
	}{
		{"as it should be", answer{body: body}, ""},
		{"zipped", answer{header: gz, body: zipped.String()}, ""},
		{"half a gzip stream", answer{header: gz, body: zipped.String()[:zipped.Len()/2]}, "unexpected EOF"},
		{"a gzip stream without its checksum", answer{header: gz, body: zipped.String()[:zipped.Len()-8]}, "unexpected EOF"},
		{"a gzip stream with a wrong checksum", answer{header: gz, body: zipped.String()[:zipped.Len()-8] + "01234567"}, "checksum"},
		{"a length that is too large", answer{header: length(len(body) + 1), body: body, cut: true}, "unexpected EOF"},
		{"a chunk that is cut", answer{body: body[:len(body)-1], cut: true}, "unexpected EOF"},
		{"no last chunk", answer{body: body, cut: true}, "unexpected EOF"},
		{"something behind it", answer{body: body + "{}"}, "where the end of the body should be"},
		{"less than a list", answer{body: body[:len(body)-1]}, "the body is cut"},
		{"a length that is too small", answer{header: length(len(body) - 1), body: body}, "unexpected EOF"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, m, err := whole(t, answers(test.a))
				if (err == nil) != (test.want == "") || err != nil && m != (meta.ListMeta{}) {
					t.Fatalf("got %+v, %v", m, err)
				}
				if err != nil {
					wantErr(t, err, test.want)
				}
			})
		})
	}
}

// The pages of a long list overlap: the second is on its way while the objects of the first are being decoded, and may have
// been framed before the last of them is handed on; and the page after it is not asked for yet. behaviour 83
func TestPagesOverlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pages := hardPages(3, 50, 4000, func(n int) int { return 10 })
		srv := says(pages...)
		var asked atomic.Int32
		h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked.Add(1)
			srv.ServeHTTP(w, r)
		})
		overlapped := false
		n, err := numbers(t.Context(), client.For(connect(t, h), hardMaps), func(n int) error {
			synctest.Wait()
			if got := int(asked.Load()); n < 50 {
				overlapped = overlapped || got == 3 // the second has been framed as far as its token
				if got < 2 {
					t.Errorf("at object %d, %d pages were asked for", n, got)
				}
			}
			return nil
		})
		if n != 150 || err != nil {
			t.Errorf("%d objects, %v", n, err)
		}
		if !overlapped {
			t.Error("no object of the first page was on its way when the second was framed")
		}
	})
}
