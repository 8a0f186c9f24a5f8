package client_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

func TestGetDecodesWhatTheTypeNames(t *testing.T) {
	const body = ` {"apiVersion":"v1","kind":"ConfigMap","extra":[{"deep":{}}],"DATA":{"no":"no"},"data":{"k":"v"},
		"metadata":{"name":"a","namespace":"web","uid":"u","resourceVersion":"1","labels":{"l":"1"},"managedFields":[{"manager":"m"}]}}` + "\r\n"
	c := connect(t, says(body))
	full := must[*ConfigMap](t)(client.For(c, configMaps).Get(t.Context(), web))
	if full.Kind != "ConfigMap" || full.UID != "u" || full.Labels["l"] != "1" || full.Data["k"] != "v" {
		t.Errorf("got %+v", full)
	}
	if len(full.ManagedFields) != 1 {
		t.Error("a get has lost its managedFields")
	}
	// behaviour 30: DATA is another member than data
	slim := must[*Slim](t)(client.For(c, slims).Get(t.Context(), web))
	if want := (meta.Identity{Namespace: "web", Name: "a", UID: "u", ResourceVersion: "1"}); slim.Identity != want || len(slim.Data) != 1 {
		t.Errorf("got %+v", slim)
	}
	unstructured := client.Type[*meta.Unstructured]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}
	if u := must[*meta.Unstructured](t)(client.For(c, unstructured).Get(t.Context(), web)); u.GetName() != "a" {
		t.Errorf("got %v", u)
	}
}

// fault F39: of members with the same name the last one counts, for the identity and for the decoded object alike.
func TestTheLastOfDuplicateMembersCounts(t *testing.T) {
	c := connect(t, says(`{"kind":"Pod","kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"x"},"metadata":{"name":"a","name":"b"},"data":{"k":"1","k":"2"}}`))
	got := must[*Slim](t)(client.For(c, slims).Get(t.Context(), web))
	if got.Name != "b" || got.Data["k"] != "2" {
		t.Errorf("got %+v", got)
	}
}

// behaviours 27, 29, 37 and 49; fault F25; guarantees S10, S12, S13
func TestAnswersThatAreNotTheObject(t *testing.T) {
	html := http.Header{"Content-Type": {"text/html; charset=utf-8"}}
	const page = "<!DOCTYPE html>\n<title>Sign\x1b[2J in</title>"
	foreign := func(excerpt, contentType string) func(t *testing.T, err error) {
		return func(t *testing.T, err error) {
			if e := answered(t, err, client.ForeignBody); e.Got != excerpt || !strings.Contains(e.Error(), fmt.Sprintf("requested object, as %q", contentType)) {
				t.Errorf("excerpt is %q of %v", e.Got, e)
			}
		}
	}
	code := func(code int, fromStatus bool) func(t *testing.T, err error) {
		return func(t *testing.T, err error) {
			if e := is[*apierrors.StatusError](t, err); e.Status.Code != code || e.FromStatus != fromStatus {
				t.Errorf("got code %d, as a Status: %v", e.Status.Code, e.FromStatus)
			}
		}
	}
	kind := func(apiVersion, name string) func(t *testing.T, err error) {
		return func(t *testing.T, err error) {
			e := answered(t, err, client.WrongKind)
			if want := (client.AnswerError{Reason: client.WrongKind, Got: strings.TrimSpace(apiVersion + " " + name), Want: "v1 ConfigMap"}); *e != want {
				t.Errorf("got %+v", e)
			}
		}
	}
	cut := func(t *testing.T, err error) {
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Error("it is not an unexpected end")
		}
	}
	short := func(t *testing.T, err error) { answered(t, err, client.BrokenBody) }
	limit := func(t *testing.T, err error) {
		if !errors.Is(err, client.TooLarge) && !errors.Is(err, client.TooDeep) {
			t.Errorf("error is %v", err)
		}
	}
	zip := func(s string) string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = io.WriteString(z, s)
		_ = z.Close()
		return b.String()
	}
	zipped := http.Header{"Content-Encoding": {"gzip"}}
	for _, test := range []struct {
		name  string
		a     answer
		want  string // in the error's text
		check func(t *testing.T, err error)
	}{
		{
			"a portal's page",
			answer{header: html, body: page},
			"server sent something other than the requested object",
			foreign("<!DOCTYPE html> <title>Sign in</title>", html.Get("Content-Type")),
		},
		{
			"a page that calls itself JSON",
			answer{body: page},
			"server sent something other than the requested object",
			foreign("<!DOCTYPE html> <title>Sign in</title>", "application/json"),
		},
		{
			"a page that calls itself nothing",
			answer{header: http.Header{"Content-Type": nil}, body: page},
			"server sent something other than the requested object", nil,
		},
		{
			"a long page",
			answer{header: html, body: strings.Repeat("x", 5000)},
			"",
			foreign(strings.Repeat("x", 256), html.Get("Content-Type")),
		},
		{"a list of JSON", answer{body: "[1]"}, "server sent something other than the requested object", foreign("[1]", "application/json")},
		{
			"protobuf",
			answer{header: http.Header{"Content-Type": {"application/vnd.kubernetes.protobuf"}}, body: "k8s\x00\x01"},
			"protobuf", nil,
		},
		{
			"an object that calls itself text",
			answer{header: http.Header{"Content-Type": {"text/plain"}}, body: "{}"},
			"", foreign("{}", "text/plain"),
		},
		{
			"YAML",
			answer{header: http.Header{"Content-Type": {"application/yaml"}}, body: "kind: ConfigMap"},
			"",
			foreign("kind: ConfigMap", "application/yaml"),
		},

		// behaviour 190
		{
			"a table",
			answer{body: `{"kind":"Table","apiVersion":"meta.k8s.io/v1"}`},
			"server sent meta.k8s.io/v1 Table, want v1 ConfigMap", kind("meta.k8s.io/v1", "Table"),
		},
		{
			"a Status of success",
			answer{body: `{"kind":"Status","apiVersion":"v1","status":"Success"}`},
			"server sent v1 Status", kind("v1", "Status"),
		},
		{
			"another version",
			answer{body: `{"kind":"ConfigMap","apiVersion":"v2"}`},
			"server sent v2 ConfigMap, want v1 ConfigMap", kind("v2", "ConfigMap"),
		},
		{
			"an object without a kind",
			answer{body: `{}`},
			"server sent an object without a kind, want v1 ConfigMap",
			kind("", ""),
		},
		{
			"a kind with an escape sequence",
			answer{body: `{"kind":"A\u001b[2J","apiVersion":"\u202ev1"}`},
			"server sent v1 A, want", nil,
		},

		{"nothing", answer{}, "the body is empty: unexpected EOF", short},
		{"no content", answer{code: 204}, "the body is empty", short},
		{
			"half an object",
			answer{body: `{"kind":"ConfigMap","apiVersion":"v1","data":{"k":"v`},
			"the body is cut at byte", short,
		},
		// fault F24
		{
			"half an object, and a broken connection",
			answer{body: `{"kind":"ConfigMap","apiVersion":"v1","data":{"k":"v`, cut: true},
			"read body at byte", cut,
		},
		{"an object without its last brace", answer{body: strings.TrimSuffix(object("a", "1"), "}")}, "the body is cut at byte", short}, // fault F24
		{"something after the object", answer{body: object("a", "1") + "{}"}, "body at byte", nil},                                      // fault F24
		{"half a gzip stream", answer{header: zipped, body: zip(object("a", "1", strings.Repeat("xyz", 99)))[:90]}, "", cut},            // fault F23
		{"what calls itself gzip", answer{header: zipped, body: object("a", "1")}, "gzip: invalid header", nil},
		{"not quite JSON", answer{body: `{"kind" "ConfigMap"}`}, "body at byte", nil},
		{
			"a value of another type",
			answer{body: `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"web","resourceVersion":"9"},"data":{"k":7}}`},
			`decode "web/a" (resource version "9"): `, func(t *testing.T, err error) {
				if e := is[*client.DecodeError](t, err); e.Identity.Key() != web {
					t.Errorf("identity is %+v", e.Identity)
				}
			},
		},
		{
			"an object larger than the bound",
			answer{body: object("a", "1", strings.Repeat("x", 3000))},
			"larger than MaxObject", limit,
		},
		// guarantee S24
		{
			"a small gzip stream of one",
			answer{header: zipped, body: zip(object("a", "1", strings.Repeat("x", 1<<20)))},
			"larger than MaxObject",
			limit,
		},
		{
			"one that nests too deep",
			answer{body: `{"kind":"ConfigMap","apiVersion":"v1","x":` + strings.Repeat("[", 1200) + strings.Repeat("]", 1200) + "}"},
			"nests deeper than MaxDepth", limit,
		},

		{
			"a Status",
			answer{code: 404, body: status(404, "NotFound", `configmaps \"a\" not found`)},
			`get configmaps "web/a": server said NotFound (404): configmaps "a" not found`, code(404, true),
		},
		{"an error without a body", answer{code: 503}, "server said ServiceUnavailable (503)", code(503, false)},
		{"an error with a page", answer{code: 502, header: html, body: page}, "(502)", code(502, false)},
		{"an error whose body breaks", answer{code: 500, body: "half", cut: true}, "(500)", code(500, false)},
		{"an error whose body never comes", answer{code: 429, cut: true}, "(its body: unexpected EOF)", func(t *testing.T, err error) {
			code(429, false)(t, err)
			if !apierrors.SafeToRetry(err) {
				t.Error("it is not safe to retry, although the server has refused the request")
			}
		}},
		{"a redirect without a place", answer{code: 304}, "(304)", code(304, false)},
		{"an endless error", answer{code: 500, body: strings.Repeat("x", 3<<20)}, "(500)", func(t *testing.T, err error) {
			if len(err.Error()) > 4096 {
				t.Errorf("its text has %d bytes", len(err.Error()))
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg := serve(t, answers(test.a))
			cfg.MaxObject, cfg.Retry.Attempts = 2000, 1
			got, err := client.For(dial(t, cfg), slims).Get(t.Context(), web)
			if err == nil {
				t.Fatalf("no error, but %+v", got)
			}
			if got != nil {
				t.Errorf("beside the error there is %+v", got)
			}
			wantErr(t, err, test.want)
			if strings.ContainsAny(err.Error(), "\x1b\n\u202e") {
				t.Errorf("the text is not clean: %q", err.Error())
			}
			if e := is[*client.OpError](t, err); e.Verb != "get" || e.Key != web || e.Resource != slims.GVR() {
				t.Errorf("it is the error of %+v", e)
			}
			if test.check != nil {
				test.check(t, err)
			}
		})
	}
}

func TestUnusualContentTypesAndCodesAreAccepted(t *testing.T) {
	for _, contentType := range [][]string{
		nil, {"application/json"}, {"application/json; charset=utf-8"}, {"APPLICATION/JSON"}, {"application/json;"}, {"application/json; broken"},
	} {
		for _, code := range []int{200, 201, 202} {
			r := client.For(connect(t, answers(answer{code: code, header: http.Header{"Content-Type": contentType}, body: object("a", "1")})), slims)
			if _, err := r.Get(t.Context(), web); err != nil {
				t.Errorf("%d as %q: %v", code, contentType, err)
			}
		}
	}
}

// A transport of the caller's need not fill in what net/http's does.
func TestAWrappedTransportMayAnswerByItself(t *testing.T) {
	c := without(t, func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 409, Body: io.NopCloser(strings.NewReader("taken"))}, nil
	})
	r := client.For(c, slims)
	if _, err := r.Create(t.Context(), &Slim{Identity: at(web)}); !errors.Is(err, apierrors.AlreadyExists) {
		t.Errorf("error is %v", err)
	}
	if _, err := r.Update(t.Context(), &Slim{Identity: at(web)}); !errors.Is(err, apierrors.Conflict) {
		t.Errorf("error is %v", err)
	}
}

func TestAWrapperSeesEachRequestWithItsCredentials(t *testing.T) {
	cfg := serve(t, says(object("a", "1")))
	cfg.BearerToken = "t0k3n"
	var seen string
	cfg.Wrap = func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			seen = r.Header.Get("Authorization")
			return next.RoundTrip(r)
		})
	}
	must[*Slim](t)(client.For(dial(t, cfg), slims).Get(t.Context(), web))
	if seen != "Bearer t0k3n" {
		t.Errorf("it saw %q", seen)
	}
}

// behaviour 68: one handle is for everybody.
func TestAHandleIsForManyGoroutines(t *testing.T) {
	r := client.For(connect(t, says(object("a", "1"))), slims)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			for range 20 {
				if _, err := r.With(client.WriteOptions{FieldManager: "m"}).Status().Get(t.Context(), web); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// A client that was closed opens connections again.
func TestAClosedClientStaysUsable(t *testing.T) {
	c := connect(t, says(object("a", "1")))
	for range 3 {
		must[*Slim](t)(client.For(c, slims).Get(t.Context(), web))
		c.Close()
	}
}
