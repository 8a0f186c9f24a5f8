package client_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/internal/shown"
)

// guarantee S13: what a server or a proxy wrote comes cleaned and cut into an error, by whatever way. A proxy's words came as
// they were, and net/http quoted whole headers.
func TestErrorsSanitizeTextsOfServersAndProxies(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	for name, said := range map[string]string{
		"a header that is none":     "HTTP/1.1 200 OK\r\nbad\x1b[31mline\r\n\r\n",
		"a long header":             "HTTP/1.1 200 OK\r\nbad" + long + "\r\n\r\n",
		"a code that is none":       "HTTP/1.1 2x\x1b[31m OK\r\n\r\n",
		"no HTTP":                   "\x1b[31mfoo\r\n\r\n",
		"a location that is no URL": "HTTP/1.1 302 Found\r\nLocation: http://x%1b" + long + "/\r\n\r\n",
		"a trailer that is none": "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n" +
			"1\r\n{\r\n0\r\nbad\x1b[31m" + long[:3000] + "\r\n\r\n",
		"an error with such a trailer": "HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nbad\x1b[31m\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			cfg := serveRaw(t, func(c net.Conn) { _, _ = io.WriteString(c, said) })
			_, err := client.For(dial(t, cfg), slims).Get(t.Context(), web)
			fit(t, err)
		})
	}
	t.Run("a proxy's refusal", func(t *testing.T) {
		proxy := serveRaw(t, func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 407 who\x1b[31m are you "+long+"\r\n\r\n") })
		cfg := client.Config{Server: "https://server.invalid", Dial: proxy.Dial, Proxy: func(*http.Request) (*url.URL, error) {
			return &url.URL{Scheme: "http", Host: strings.TrimPrefix(proxy.Server, "http://"), User: url.UserPassword("u", "s3cr3t")}, nil
		}}
		_, err := client.For(dial(t, cfg), slims).Get(t.Context(), web)
		fit(t, err)
		wantErr(t, err, `get configmaps "web/a": who are you xxx`)
	})
}

// fit checks that an error is one line that does nothing to a terminal.
func fit(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		t.Fatal("there is no error")
	}
	if text := err.Error(); text != shown.Clean(text, len(text)) || len(text) > 5000 {
		t.Errorf("the text is of %d bytes: %.300q", len(text), text)
	}
	for e := err; e != nil; e = errors.Unwrap(e) {
		if strings.Contains(fmt.Sprintf("%v %+v", e, e), "s3cr3t") {
			t.Errorf("%T shows the password", e)
		}
	}
}

// guarantee S2: url.Parse puts what it was given into its errors, and a function for Config.Proxy is likely to return that.
func TestAProxyThatCannotBeParsedShowsNoPassword(t *testing.T) {
	for proxy, want := range map[string]string{
		"http://user:s3cr3t@host:port":     `choose a proxy: invalid port ":port" after host`,
		"http://user:s3cr3t@host\x01":      "choose a proxy: net/url: invalid control character in URL",
		"https://user:s3cr3t@höst:1":       `the host of an https proxy must be ASCII, got "höst"`,
		"socks5://user:s3cr3t@127.0.0.1:1": "connection refused",
		"http://user:s3cr3t@127.0.0.1:1":   "connection refused",
	} {
		cfg := serve(t, says())
		cfg.Proxy = func(*http.Request) (*url.URL, error) {
			u, err := url.Parse(proxy)
			if err != nil {
				return nil, fmt.Errorf("read PROXY: %w", err)
			}
			return u, nil
		}
		cfg.Server = "https://server.invalid"
		_, err := client.For(dial(t, cfg), slims).Get(t.Context(), web)
		fit(t, err)
		wantErr(t, err, want)
		if wrong := (*url.Error)(nil); errors.As(err, &wrong) {
			t.Errorf("%v can be found in the error", wrong)
		}
	}
}
