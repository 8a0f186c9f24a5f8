package client_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// closer is a RoundTripper in the place of the client's own.
type closer struct {
	http.RoundTripper
	closed int
}

func (c *closer) CloseIdleConnections() { c.closed++ }

// Close did not reach a RoundTripper that Config.Wrap had put in the place of the client's own.
func TestCloseReachesWhatWrapReturns(t *testing.T) {
	own := &closer{RoundTripper: http.DefaultTransport}
	c, err := client.New(client.Config{
		Server: "http://127.0.0.1:1",
		Wrap:   func(http.RoundTripper) http.RoundTripper { return own },
	})
	if err != nil {
		t.Fatal(err)
	}
	if c.Close(); own.closed != 1 {
		t.Errorf("it was closed %d times, want 1", own.closed)
	}
}

// A bookmark of another kind moved the version to resume from, which is of another resource then.
func TestABookmarkOfAnotherKindIsAnError(t *testing.T) {
	for _, tc := range []struct {
		name, kind string
		bad        bool
	}{
		{"the resource's kind", `"kind":"ConfigMap","apiVersion":"v1",`, false},
		{"without a kind (fault F13)", ``, false},
		{"another kind", `"kind":"Secret","apiVersion":"v1",`, true},
		{"another group", `"kind":"ConfigMap","apiVersion":"example.com/v1",`, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(`{"type":"BOOKMARK","object":{` + tc.kind + `"metadata":{"resourceVersion":"7"}}}`))
			}))
			defer server.Close()
			c, err := client.New(client.Config{Server: server.URL})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			maps := client.For(c, client.Type[*meta.Unstructured]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"})
			versions := 0
			err = maps.WatchEach(t.Context(), client.WatchOptions{ResourceVersion: "1", Bookmarks: true}, nil,
				func(e client.Event[*meta.Unstructured]) error {
					versions++
					return nil
				})
			if (err != nil) != tc.bad || (versions == 1) == tc.bad {
				t.Errorf("%d bookmarks, %v", versions, err)
			}
		})
	}
}
