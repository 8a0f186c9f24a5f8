package clienttest_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

// harness is a server, and a plain HTTP client of it.
type harness struct {
	server *clienttest.Server
	client *http.Client
	base   string
	token  string
}

func newHarness(tb testing.TB, o clienttest.Options) *harness {
	tb.Helper()
	s := clienttest.Start(tb, o)
	config := s.Config()
	transport := newTransport(config)
	tb.Cleanup(transport.CloseIdleConnections)
	return &harness{server: s, client: &http.Client{Transport: transport}, base: config.Server, token: string(o.Token)}
}

// newTransport returns one that trusts what config trusts.
func newTransport(config client.Config) *http.Transport {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(config.TLS.CAData))
	return &http.Transport{DialContext: config.Dial, TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}
}

// servers runs a test against a server in memory, in a bubble, and against one on a socket; over HTTP/1.1, TLS and HTTP/2.
func servers(t *testing.T, o clienttest.Options, test func(t *testing.T, h *harness)) {
	t.Helper()
	for _, protocol := range []struct {
		name       string
		tls, http2 bool
	}{{"HTTP/1.1", false, false}, {"HTTP/1.1 over TLS", true, false}, {"HTTP/2", false, true}} {
		o := o
		o.TLS, o.HTTP2 = protocol.tls, protocol.http2
		t.Run(protocol.name+" in memory", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, newHarness(t, o)) })
		})
		t.Run(protocol.name+" on a socket", func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			o.Listener = l
			test(t, newHarness(t, o))
		})
	}
}

// answer is what came back.
type answer struct {
	code   int
	header http.Header
	body   string
}

// status decodes the body as a Status.
func (a answer) status(tb testing.TB) meta.Status {
	tb.Helper()
	var s meta.Status
	if err := json.Unmarshal([]byte(a.body), &s); err != nil || s.Kind != "Status" {
		tb.Fatalf("body is no Status: %s", a.body)
	}
	return s
}

// at returns the value at a path of member names in the body, as JSON without the quotes, "" where there is none.
func at(body string, path ...string) string {
	raw := json.RawMessage(body)
	for _, name := range path {
		var m map[string]json.RawMessage
		if json.Unmarshal(raw, &m) != nil {
			return ""
		}
		raw = m[name]
	}
	return strings.Trim(string(raw), `"`)
}

// open sends a request and returns the response with its body open until the end of the test.
func (h *harness) open(tb testing.TB, method, path, body string, header ...string) *http.Response {
	tb.Helper()
	resp := h.send(tb, context.Background(), method, path, body, header...)
	tb.Cleanup(func() { resp.Body.Close() })
	return resp
}

// send sends a request and returns the response, whose body the caller closes. header is pairs of names and values.
func (h *harness) send(
	tb testing.TB, ctx context.Context, method, path, body string, header ...string,
) *http.Response {
	tb.Helper()
	req, err := http.NewRequestWithContext(ctx, method, h.base+path, strings.NewReader(body))
	if err != nil {
		tb.Fatal(err)
	}
	req.Header.Set("User-Agent", "harness/1.0")
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
		if method == http.MethodPatch {
			req.Header.Set("Content-Type", "application/merge-patch+json")
		}
	}
	if h.token != "" {
		req.Header.Set("Authorization", "Bearer "+h.token)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := h.client.Do(req)
	if err != nil {
		tb.Fatalf("%s %s: %v", method, path, err)
	}
	return resp
}

// do sends a request and reads the whole answer.
func (h *harness) do(tb testing.TB, method, path, body string, header ...string) answer {
	tb.Helper()
	resp := h.send(tb, context.Background(), method, path, body, header...)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		tb.Fatalf("%s %s: read the body: %v", method, path, err)
	}
	return answer{resp.StatusCode, resp.Header, string(b)}
}

// must sends a request that has to succeed, and returns the body.
func (h *harness) must(tb testing.TB, method, path, body string, header ...string) string {
	tb.Helper()
	a := h.do(tb, method, path, body, header...)
	if a.code >= 300 {
		tb.Fatalf("%s %s %s: %d %s", method, path, body, a.code, a.body)
	}
	return a.body
}

// version returns the present resource version.
func (h *harness) version(tb testing.TB) string {
	tb.Helper()
	return at(h.must(tb, http.MethodGet, "/api/v1/nodes?limit=1", ""), "metadata", "resourceVersion")
}

const configMaps = "/api/v1/namespaces/default/configmaps"

// create makes a config map with the given metadata besides its name, and returns it.
func (h *harness) create(tb testing.TB, name string, metadata ...string) string {
	tb.Helper()
	m := strings.Join(append([]string{`"name":"` + name + `"`}, metadata...), ",")
	return h.must(tb, http.MethodPost, configMaps, `{"metadata":{`+m+`},"data":{"k":"v"}}`)
}

// names returns the names of the items of a list, in order.
func names(tb testing.TB, list string) []string {
	tb.Helper()
	var l struct {
		Items []struct{ Metadata meta.ObjectMeta }
	}
	if err := json.Unmarshal([]byte(list), &l); err != nil {
		tb.Fatalf("decode the list: %v: %s", err, list)
	}
	out := []string{}
	for _, item := range l.Items {
		out = append(out, item.Metadata.Name)
	}
	return out
}

// stream reads the events of a watch.
type stream struct {
	resp *http.Response
	d    *json.Decoder
}

func (h *harness) watch(tb testing.TB, path string, header ...string) *stream {
	tb.Helper()
	separator := "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	resp := h.open(tb, http.MethodGet, path+separator+"watch=true", "", header...)
	if resp.StatusCode != http.StatusOK {
		b, _ := io.ReadAll(resp.Body)
		tb.Fatalf("watch %s: %d %s", path, resp.StatusCode, b)
	}
	return &stream{resp, json.NewDecoder(resp.Body)}
}

// event is one event of a watch.
type event struct {
	Type   string
	Object json.RawMessage
}

// brief is the event in a form to compare: type, name, resource version or data as asked for.
func (e event) brief() string {
	return strings.TrimSpace(e.Type + " " + at(string(e.Object), "metadata", "name"))
}

func (s *stream) next(tb testing.TB) event {
	tb.Helper()
	e, err := s.tryNext()
	if err != nil {
		tb.Fatalf("read an event: %v", err)
	}
	return e
}

func (s *stream) tryNext() (event, error) {
	var e event
	err := s.d.Decode(&e)
	return e, err
}

// rest reads the events until the stream ends, and returns them with the error that it ends with, nil for a clean end.
func (s *stream) rest() ([]event, error) {
	var events []event
	for {
		e, err := s.tryNext()
		if err == io.EOF {
			return events, nil
		}
		if err != nil {
			return events, err
		}
		events = append(events, e)
	}
}

func briefs(events []event) []string {
	out := []string{}
	for _, e := range events {
		out = append(out, e.brief())
	}
	return out
}

func newDecoder(r io.Reader) *json.Decoder { return json.NewDecoder(r) }
