package client_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/client"
)

// endless is a server whose list has a further page behind each: a token that has not been there before, and the objects that
// page returns, until last.
type endless struct {
	page  func(number int) []string
	last  int
	asked int
}

func (e *endless) RoundTrip(*http.Request) (*http.Response, error) {
	e.asked++
	token := fmt.Sprint("token ", e.asked)
	if e.asked == e.last {
		token = ""
	}
	body := listOf("5", token, e.page(e.asked)...)
	header := http.Header{"Content-Type": {"application/json"}}
	return &http.Response{StatusCode: 200, Header: header, Body: io.NopCloser(strings.NewReader(body))}, nil
}

// A server that always has a further page used to be asked for the next one for ever.
func TestAListWithoutProgressEnds(t *testing.T) {
	one := func(name string) []string { return []string{object(name, "1")} }
	for _, test := range []struct {
		name  string
		page  func(n int) []string
		last  int
		names int
		pages int // that are asked for at most: the last one may have been given up before it was sent
		err   string
	}{
		{"empty pages", func(int) []string { return nil }, 0, 0, 101, "server sent 100 pages in a row without a new object"},
		{"the same objects under new tokens", func(int) []string { return one("a") }, 0, 101, 102, "page 101: server sent 100 pages in a row"},
		{"a few pages over and over", func(n int) []string { return one(fmt.Sprint(n % 7)) }, 0, 107, 108, "page 107: server sent 100 pages"},
		{"an end after empty pages", func(n int) []string {
			if n == 100 {
				return one("a")
			}
			return nil
		}, 100, 1, 100, ""},
		{"now and then an object", func(n int) []string {
			if n%90 == 0 {
				return one(fmt.Sprint(n))
			}
			return nil
		}, 1000, 11, 1000, ""},
		{"many pages", func(n int) []string { return one(fmt.Sprint(n)) }, 1000, 1000, 1000, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &endless{page: test.page, last: test.last}
				r := client.For(without(t, server.RoundTrip), slims)
				n := 0
				_, err := r.ListEach(t.Context(), client.ListOptions{}, nil, func(client.Item[*Slim]) error { n++; return nil })
				if n != test.names || server.asked > test.pages {
					t.Errorf("%d objects of %d pages, want %d of %d", n, server.asked, test.names, test.pages)
				}
				if (err == nil) != (test.err == "") {
					t.Fatalf("error is %v", err)
				}
				if err != nil {
					wantErr(t, err, test.err)
					if is[*client.OpError](t, err).Page < 2 {
						t.Errorf("error is %v, want one of a later page", err)
					}
				}
			})
		})
	}
}

func TestATableWithoutProgressEnds(t *testing.T) {
	for _, row := range []string{"", tableRow("a", `"x"`)} {
		asked := 0
		r := client.For(without(t, func(*http.Request) (*http.Response, error) {
			asked++
			body := tableOf("7", fmt.Sprint("token ", asked), tableColumns, row)
			header := http.Header{"Content-Type": {"application/json"}}
			return &http.Response{StatusCode: 200, Header: header, Body: io.NopCloser(strings.NewReader(body))}, nil
		}), slims)
		_, err := r.Table(t.Context(), client.ListOptions{}, client.TableOptions{})
		wantErr(t, err, "server sent 100 pages in a row without a new object")
		if asked > 101 {
			t.Errorf("%d pages were asked for", asked)
		}
	}
}
