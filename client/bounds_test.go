package client_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/client"
)

// faults F23, F24 and F25, for one object, a list and a watch, as bytes on the wire: what a broken server, proxy or connection
// makes of an answer is an error of a type that says so. It is never an object or a list that has a part of what was sent.
func TestAnswersThatAreBrokenOnTheWire(t *testing.T) {
	// What each kind of call is answered, whole. Text that repeats itself is what gzip makes small.
	bodies := map[string]string{
		"get":   object("a", "1", strings.Repeat("x", 200)),
		"list":  listOf("5", "", object("a", "1"), object("b", "2", strings.Repeat("x", 200))),
		"watch": event("ADDED", object("a", "1")) + event("ADDED", object("b", "2", strings.Repeat("x", 200))),
	}
	const head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	sized := func(extra string, length int, body string) string {
		return fmt.Sprintf("%s%sConnection: close\r\nContent-Length: %d\r\n\r\n%s", head, extra, length, body)
	}
	chunked := func(extra, body, end string) string {
		half := len(body) / 2
		return fmt.Sprintf("%s%sTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n%x\r\n%s\r\n%s",
			head, extra, half, body[:half], len(body)-half, body[half:], end)
	}
	const end = "0\r\n\r\n"
	zip := func(s string) string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = io.WriteString(z, s)
		_ = z.Close()
		return b.String()
	}
	const zipped = "Content-Encoding: gzip\r\n"

	fine := func(err error) bool { return err == nil }
	failed := func(err error) bool { return err != nil } // net/http has no value for it
	cut := func(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) }
	foreign := func(err error) bool { return errors.Is(err, client.ForeignBody) }
	syntax := func(err error) bool { return errors.Is(err, client.BrokenBody) }
	corrupt := func(err error) bool {
		return cut(err) || syntax(err) || foreign(err) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) ||
			errors.As(err, new(flate.CorruptInputError))
	}
	for _, test := range []struct {
		name string
		wire func(body string) string
		want func(error) bool
		// endless: between two events it looks like the end of a watch that the server closes
		endless bool
	}{
		{"as it is to be", func(b string) string { return sized("", len(b), b) }, fine, false},
		{"in chunks", func(b string) string { return chunked("", b, end) }, fine, false},
		{"compressed", func(b string) string { z := zip(b); return sized(zipped, len(z), z) }, fine, false},
		{"of unknown length", func(b string) string { return head + "Connection: close\r\n\r\n" + b }, fine, false},

		{"half of gzip", func(b string) string { z := zip(b); return sized(zipped, len(z)/2, z[:len(z)/2]) }, cut, false},
		{"gzip without its checksum", func(b string) string { z := zip(b); return sized(zipped, len(z)-8, z[:len(z)-8]) }, cut, false},
		{"half of gzip, and a cut", func(b string) string { z := zip(b); return sized(zipped, len(z), z[:len(z)/2]) }, cut, false},
		{"gzip with another checksum", func(b string) string {
			z := []byte(zip(b))
			z[len(z)-8] ^= 1
			return sized(zipped, len(z), string(z))
		}, corrupt, false},
		{"gzip with a byte changed", func(b string) string {
			z := []byte(zip(b))
			z[20] ^= 0xff
			return sized(zipped, len(z), string(z))
		}, corrupt, false},
		{"no gzip", func(b string) string { return sized(zipped, len(b), b) }, corrupt, false},

		{"longer than it is", func(b string) string { return sized("", len(b)+10, b) }, cut, false},
		{"shorter than it is", func(b string) string { return sized("", len(b)-10, b) }, cut, false},
		{"of no length", func(b string) string { return sized("", 0, b) }, cut, true},
		{"chunks without an end", func(b string) string { return chunked("", b, "") }, cut, false},
		{"chunks with half an end", func(b string) string { return chunked("", b, "0\r\n") }, failed, false},
		{"half a chunk", func(b string) string { return head + "Transfer-Encoding: chunked\r\n\r\nffff\r\n" + b[:len(b)/2] }, cut, false},
		{"chunks of no size", func(b string) string { return chunked("", b, "x\r\n\r\n") }, failed, false},
		{"cut without a length", func(b string) string { return head + "Connection: close\r\n\r\n" + b[:len(b)-10] }, cut, false},

		{"with an x behind it", func(b string) string { return sized("", len(b)+1, b+"x") }, syntax, false},
		{"with a brace behind it", func(b string) string { return sized("", len(b)+1, b+"}") }, syntax, false},
		{"with a zero byte behind it", func(b string) string { return sized("", len(b)+1, b+"\x00") }, syntax, false},
		{"a page of HTML", func(string) string {
			return strings.Replace(sized("", 13, "<html></html>"), "application/json", "text/html", 1)
		}, foreign, false},
		{"a page of HTML that calls itself JSON", func(string) string { return sized("", 13, "<html></html>") }, foreign, false},
		{"a page of HTML, compressed", func(string) string {
			z := zip("<html></html>")
			return sized(zipped, len(z), z)
		}, foreign, false},
	} {
		for call, body := range bodies {
			t.Run(call+" "+test.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					cfg := serveRaw(t, func(conn net.Conn) { _, _ = io.WriteString(conn, test.wire(body)) })
					seen, err := readAs(t, call, client.For(dial(t, cfg), slims))
					if call == "watch" && test.endless {
						if seen != 0 || err != nil {
							t.Errorf("got %d events, and %v", seen, err)
						}
						return
					}
					if !test.want(err) {
						t.Errorf("error is %v", err)
					}
					if err != nil {
						is[*client.OpError](t, err)
					}
					if want := map[string]int{"get": 1, "list": 2, "watch": 2}[call]; err == nil && seen != want {
						t.Errorf("got %d objects, want %d", seen, want)
					}
				})
			})
		}
	}
}

// readAs makes a call, and returns how many objects it brought. A get or a list that fails brings none.
func readAs(t testing.TB, call string, r client.Resource[*Slim]) (seen int, err error) {
	t.Helper()
	switch call {
	case "get":
		obj, err := r.Get(t.Context(), web)
		if err == nil {
			return 1, nil
		}
		if obj != nil {
			t.Errorf("the object %+v beside the error %v", obj, err)
		}
		return 0, err
	case "list":
		list, err := r.List(t.Context(), client.ListOptions{})
		if err != nil && (list.Items != nil || list.ResourceVersion != "") {
			t.Errorf("the list %+v beside the error %v", list, err)
		}
		return len(list.Items), err
	}
	events, err := readWatch(t.Context(), r, client.WatchOptions{})
	return len(events), err
}

// faults F1, F2 and F23: wherever an answer is cut, compressed or not, it is an error; only a watch may end between two events.
func TestAnswersCutAtEveryByte(t *testing.T) {
	for call, body := range map[string]string{
		"get":   object("a", "1"),
		"list":  listOf("5", "", object("a", "1"), object("b", "2")),
		"watch": event("ADDED", object("a", "1")) + event("ADDED", object("b", "2")),
	} {
		for encoding, encode := range map[string]func(string) string{
			"plain": func(s string) string { return s },
			"gzip": func(s string) string {
				var b bytes.Buffer
				z := gzip.NewWriter(&b)
				_, _ = io.WriteString(z, s)
				_ = z.Close()
				return b.String()
			},
		} {
			t.Run(call+" "+encoding, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					whole := encode(body)
					n := 0
					cfg := serveRaw(t, func(conn net.Conn) {
						header := "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
						if encoding == "gzip" {
							header += "Content-Encoding: gzip\r\n"
						}
						_, _ = io.WriteString(conn, header+"\r\n"+whole[:n])
					})
					r := client.For(dial(t, cfg), slims)
					for n = range len(whole) {
						seen, err := readAs(t, call, r)
						between := call == "watch" && (n == 0 || strings.HasSuffix(strings.TrimSpace(whole[:n]), `{}}}`))
						switch {
						case between && encoding == "plain" && err != nil:
							t.Errorf("cut at byte %d between two events, it is %v", n, err)
						case !between && err == nil:
							t.Errorf("cut at byte %d it brings %d objects and no error", n, seen)
						case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
							t.Errorf("cut at byte %d it is %v", n, err)
						}
					}
				})
			})
		}
	}
}

// guarantee S10: no bound on the answer as a whole stands in the way of a list that is large because it is long.
func TestMaxObjectDoesNotBoundALongList(t *testing.T) {
	cfg := serve(t, says(listOf("5", "", strings.Split(strings.TrimSuffix(strings.Repeat(object("a", "1")+";", 2000), ";"), ";")...)))
	cfg.MaxObject = 1000
	n := 0
	for _, err := range client.For(dial(t, cfg), slims).All(context.Background(), client.ListOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 2000 {
		t.Errorf("got %d objects", n)
	}
}
