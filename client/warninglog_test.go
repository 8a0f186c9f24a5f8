package client_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// logLines are the lines of a logger.
type logLines struct {
	mu  sync.Mutex
	all []string
}

func (l *logLines) logger() logr.Logger {
	return funcr.New(func(_, args string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.all = append(l.all, args)
	}, funcr.Options{})
}

// take returns the lines since the last call.
func (l *logLines) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.all
	l.all = nil
	return all
}

// want checks that each of the lines since the last call has the text in its place.
func (l *logLines) want(t *testing.T, texts ...string) {
	t.Helper()
	got := l.take()
	if len(got) != len(texts) {
		t.Fatalf("%d lines, want %d:\n%s", len(got), len(texts), strings.Join(got, "\n"))
	}
	for i, text := range texts {
		if !strings.Contains(got[i], text) {
			t.Errorf("line %d is %s, want %s", i, got[i], text)
		}
	}
}

// warning returns the configuration of a client whose server answers each request with the warning that text returns.
func warning(text func(*http.Request) string) client.Config {
	return client.Config{
		Server: "http://127.0.0.1:1",
		Wrap: func(http.RoundTripper) http.RoundTripper {
			return roundTripper(func(r *http.Request) (*http.Response, error) {
				h := http.Header{"Warning": {fmt.Sprintf("299 - %q", text(r))}}
				return &http.Response{StatusCode: 200, Header: h, Body: io.NopCloser(strings.NewReader(object("a", "1")))}, nil
			})
		},
	}
}

func siteKey(n int) meta.Key {
	return meta.Key{Namespace: "web", Name: fmt.Sprintf("site-%c", 'a'+n%26) + strings.Repeat("x", n/26)}
}

// A program that sets no hook never heard that its API version was deprecated.
func TestAWarningThatNoHookTakesIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		given, carried, global := &logLines{}, &logLines{}, &logLines{}
		before := slog.Default()
		slog.SetDefault(slog.New(logr.ToSlogHandler(global.logger())))
		defer slog.SetDefault(before)
		cfg := warning(func(*http.Request) string { return "v1 is old" })
		in := logr.NewContext(t.Context(), carried.logger())
		hooked := client.WithHooks(t.Context(), client.Hooks{Warning: func(context.Context, client.Warning) {}})

		get := func(ctx context.Context, change func(*client.Config)) {
			c := cfg
			change(&c)
			must[*Slim](t)(client.For(dial(t, c), slims).Get(ctx, web))
		}
		get(t.Context(), func(c *client.Config) { c.Logger = given.logger() })
		given.want(t, `"the server warns" "warning"="v1 is old" "verb"="get" "resource"="configmaps.v1" "object"="web/a"`)
		get(in, func(c *client.Config) { c.Logger = given.logger() })
		given.want(t, "v1 is old")
		carried.want(t)
		get(in, func(*client.Config) {})
		carried.want(t, "v1 is old")
		get(t.Context(), func(*client.Config) {})
		global.want(t, "v1 is old")
		get(logr.NewContext(t.Context(), logr.Discard()), func(*client.Config) {})
		get(hooked, func(c *client.Config) { c.Logger = given.logger() })
		get(t.Context(), func(c *client.Config) {
			c.Logger, c.Hooks.Warning = given.logger(), func(context.Context, client.Warning) {}
		})
		given.want(t)
		global.want(t)
	})
}

// Each object of a deprecated version brings a warning.
func TestWarningsThatAreAlikeMakeOneLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lines := &logLines{}
		cfg := warning(func(r *http.Request) string {
			at := strings.Split(r.URL.Path, "/")
			return fmt.Sprintf(`configmap %q in web. has pod web-7f8d9-x%d: field "spec.a" at [%d]`, at[len(at)-1], time.Now().Nanosecond(), len(at))
		})
		cfg.Logger = lines.logger()
		c := dial(t, cfg)
		r := client.For(c, slims)
		for n := range 1000 {
			must[*Slim](t)(r.Get(t.Context(), siteKey(n)))
			time.Sleep(time.Millisecond) // of the bubble
		}
		lines.want(t, `"object"="web/site-a"`)
		must[*Slim](t)(r.Patch(t.Context(), siteKey(0), noChange))
		lines.want(t, `"verb"="patch"`)
		must[*Slim](t)(r.Status().Patch(t.Context(), siteKey(0), noChange))
		lines.want(t, `"subresource"="status"`)

		time.Sleep(time.Minute)
		must[*Slim](t)(r.Get(t.Context(), siteKey(7)))
		lines.want(t, `"object"="web/site-h" "repeated"=999 "in"="1m1s"`)
		for range 7 * 24 * 12 {
			time.Sleep(5 * time.Minute)
			must[*Slim](t)(r.Get(t.Context(), siteKey(7)))
		}
		if all := lines.take(); len(all) < 10 || len(all) > 15 {
			t.Errorf("%d lines in a week, want one for each day at last", len(all))
		}
	})
}

// A difference that is not a name is another warning: two unknown fields are two mistakes.
func TestWarningsThatDifferAreLoggedEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lines := &logLines{}
		texts := []string{`unknown field "spec.a"`, `unknown field "spec.b"`, `unknown field "spec.ipv4"`, `unknown field "spec.ipv6"`, "use é", "use ü"}
		n := 0
		cfg := warning(func(*http.Request) string { n++; return texts[(n-1)%len(texts)] })
		cfg.Logger = lines.logger()
		r := client.For(dial(t, cfg), slims)
		for range 2 * len(texts) {
			must[*Slim](t)(r.Get(t.Context(), web))
		}
		lines.want(t, `spec.a`, `spec.b`, `spec.ipv4`, `spec.ipv6`, "é", "ü")
	})
}

func TestAServerThatMakesUpWarningsFillsNoLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lines := &logLines{}
		text := "w"
		cfg := warning(func(*http.Request) string { text += "w"; return text })
		cfg.Logger = lines.logger()
		r := client.For(dial(t, cfg), slims)
		for range 100 {
			must[*Slim](t)(r.Get(t.Context(), web))
		}
		if all := lines.take(); len(all) != 11 || !strings.Contains(all[10], "more warnings are not logged in this minute") {
			t.Fatalf("%d lines, and the last is %s", len(all), all[len(all)-1])
		}
		time.Sleep(time.Minute)
		must[*Slim](t)(r.Get(t.Context(), web))
		must[*Slim](t)(r.Get(t.Context(), web))
		if all := lines.take(); len(all) != 2 || !strings.Contains(all[0], `"leftOut"=90`) || strings.Contains(all[1], "leftOut") {
			t.Errorf("a minute later: %s", strings.Join(all, "\n"))
		}
	})
}

// A warning that got no line for lack of room has one when it comes again.
func TestAWarningThatWasLeftOutIsLoggedLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lines := &logLines{}
		n := 0
		cfg := warning(func(*http.Request) string { n++; return fmt.Sprintf("w%c", 'a'+n%11) })
		cfg.Logger = lines.logger()
		r := client.For(dial(t, cfg), slims)
		for range 11 {
			must[*Slim](t)(r.Get(t.Context(), web))
		}
		lines.take()
		time.Sleep(time.Minute - time.Second)
		n--
		must[*Slim](t)(r.Get(t.Context(), web))
		lines.want(t)
		time.Sleep(time.Second)
		n--
		must[*Slim](t)(r.Get(t.Context(), web))
		lines.want(t, `"warning"="wa"`)
	})
}

// A logger may call the client.
func TestALoggerOfWarningsMayUseTheClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := warning(func(*http.Request) string { return "v1 is old" })
		var c *client.Client
		calls := 0
		cfg.Logger = funcr.New(func(string, string) {
			calls++
			must[*Slim](t)(client.For(c, slims).Get(t.Context(), web))
		}, funcr.Options{})
		c = dial(t, cfg)
		must[*Slim](t)(client.For(c, slims).Get(t.Context(), web))
		if calls != 1 {
			t.Errorf("%d lines", calls)
		}
	})
}

func TestTheWarningsOfOtherPathsAreLogged(t *testing.T) {
	lines := &logLines{}
	cfg := warning(func(*http.Request) string { return "old" })
	cfg.Logger = lines.logger()
	c := dial(t, cfg)
	for _, path := range []string{"/version", "/version", "/healthz"} {
		must[*http.Response](t)(c.Raw(t.Context(), client.RawRequest{Path: path}))
	}
	lines.want(t, `"resource"="/version"`, `"resource"="/healthz"`)
}
