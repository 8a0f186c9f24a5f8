package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// timeouts returns the values of the parameter timeout in the requests so far.
func timeouts(t *testing.T, o *outcomes) (all []string) {
	t.Helper()
	for _, c := range o.calls {
		u, err := url.Parse(c.uri)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, u.Query().Get("timeout"))
	}
	return all
}

func TestADeadlineReachesTheServer(t *testing.T) {
	obj := &ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: "web", Name: "a"}}
	one, list := object("a", "1"), listOf("1", "")
	for _, test := range []struct {
		name, answer string
		do           func(context.Context, client.Resource[*ConfigMap], *client.Client) error
		sent         bool
	}{
		{"get", one, func(ctx context.Context, r client.Resource[*ConfigMap], _ *client.Client) error {
			_, err := r.Get(ctx, web)
			return err
		}, true},
		{"list", list, func(ctx context.Context, r client.Resource[*ConfigMap], _ *client.Client) error {
			_, err := r.List(ctx, client.ListOptions{})
			return err
		}, true},
		{"table", list, func(ctx context.Context, r client.Resource[*ConfigMap], _ *client.Client) error {
			_, err := r.Table(ctx, client.ListOptions{}, client.TableOptions{})
			return err
		}, true},
		{"create", one, func(ctx context.Context, r client.Resource[*ConfigMap], _ *client.Client) error {
			_, err := r.Create(ctx, obj)
			return err
		}, true},
		{"update of a subresource", one, func(ctx context.Context, r client.Resource[*ConfigMap], _ *client.Client) error {
			_, err := r.Status().Update(ctx, obj)
			return err
		}, true},
		{"patch", one, func(ctx context.Context, r client.Resource[*ConfigMap], _ *client.Client) error {
			_, err := r.Patch(ctx, web, noChange)
			return err
		}, true},
		{"delete", one, func(ctx context.Context, r client.Resource[*ConfigMap], _ *client.Client) error {
			return r.Delete(ctx, web, client.DeleteOptions{})
		}, true},
		{"deletecollection", list, func(ctx context.Context, r client.Resource[*ConfigMap], _ *client.Client) error {
			return r.DeleteCollection(ctx, client.Selection{Namespace: "web", LabelSelector: "a=b"}, client.DeleteOptions{})
		}, true},
		{"watch", "", func(ctx context.Context, r client.Resource[*ConfigMap], _ *client.Client) error {
			for _, err := range r.Watch(ctx, client.WatchOptions{}) {
				return err
			}
			return nil
		}, false},
		{"raw, which may be a proxy's path", one, func(ctx context.Context, _ client.Resource[*ConfigMap], c *client.Client) error {
			resp, err := c.Raw(ctx, client.RawRequest{Path: "/api/v1/namespaces/web/services/a/proxy/x"})
			if err == nil {
				_ = resp.Body.Close()
			}
			return err
		}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for _, wait := range []struct {
					left time.Duration
					want string
				}{{5 * time.Second, "5s"}, {90*time.Second + 1, "1m30.001s"}, {time.Nanosecond, "1ms"}, {0, ""}} {
					want := wait.want
					if !test.sent {
						want = ""
					}
					ctx := t.Context()
					if wait.left > 0 {
						var cancel context.CancelFunc
						ctx, cancel = context.WithTimeout(ctx, wait.left)
						defer cancel()
					}
					cfg, o := through(outcome{answer: answer{body: test.answer}})
					c := dial(t, cfg)
					if err := test.do(ctx, client.For(c, configMaps), c); err != nil {
						t.Fatal(err)
					}
					if got := timeouts(t, o); len(got) != 1 || got[0] != want {
						t.Errorf("with %v left the requests have the timeouts %q, want %q", wait.left, got, want)
					}
				}
			})
		})
	}
}

// Each attempt, and each page, has the time that is left.
func TestTheTimeoutShrinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		cfg, o := through(busy(429, "4"), outcome{answer: answer{body: object("a", "1")}})
		must[*ConfigMap](t)(client.For(dial(t, cfg), configMaps).Get(ctx, web))
		got := timeouts(t, o)
		second, err := time.ParseDuration(got[1])
		if got[0] != "10s" || err != nil || second > 6*time.Second || second < 5600*time.Millisecond {
			t.Errorf("the attempts have the timeouts %q", got)
		}
	})
}

const allotted = `{"metadata":{},"status":"Failure","message":"Timeout: request did not complete within the allotted timeout","reason":"Timeout","details":{},"code":504}`

func TestTheDeadlineIsTheErrorWhicheverSideIsFirst(t *testing.T) {
	plain := http.Header{"Content-Type": {"text/plain; charset=utf-8"}}
	for _, test := range []struct {
		name  string
		code  int
		body  string
		left  time.Duration // when the server answers
		after time.Duration // the whole time
		is    bool
	}{
		{"the server, in its own words", 504, allotted, 20 * time.Millisecond, time.Minute, true},
		{"the server, with a Status", 504, status(504, "Timeout", "request did not complete within requested timeout"), time.Millisecond, time.Minute, true},
		{"the client", 504, allotted, -time.Second, time.Minute, true},
		{"the server's own limit, which is shorter", 504, allotted, 30 * time.Second, time.Minute, false},
		{"a version that the server does not have", 504, `{"kind":"Status","status":"Failure","reason":"Timeout","code":504,"details":{"causes":[{"reason":"ResourceVersionTooLarge"}]}}`, time.Millisecond, time.Minute, false},
		{"another error", 500, status(500, "InternalError", "no"), time.Millisecond, time.Minute, false},
		{"a store that does not answer", 500, status(500, "ServerTimeout", "no"), time.Millisecond, time.Minute, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), test.after)
				defer cancel()
				server := clienttest.Start(t, clienttest.Options{})
				server.Intercept(func(r *http.Request) http.HandlerFunc {
					return func(w http.ResponseWriter, r *http.Request) {
						select {
						case <-r.Context().Done():
						case <-time.After(test.after - test.left):
						}
						answer{code: test.code, header: plain, body: test.body}.write(w)
					}
				})
				_, err := client.For(dial(t, server.Config()), configMaps).Get(ctx, web)
				if errors.Is(err, context.DeadlineExceeded) != test.is {
					t.Errorf("the error is %v", err)
				}
				if e := (*apierrors.StatusError)(nil); test.left > 0 && (!errors.As(err, &e) || e.Status.Code != test.code) {
					t.Errorf("the error lacks the answer: %v", err)
				}
			})
		})
	}
}

// A real server answers in these words when the time of a request is over.
func TestClienttestKeepsTheTimeoutOfARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := clienttest.Start(t, clienttest.Options{}).Config()
		cfg.Retry.Attempts = 1
		c := dial(t, cfg)
		get := func(path string, query url.Values) (time.Duration, error) {
			start := time.Now()
			resp, err := c.Raw(t.Context(), client.RawRequest{Path: path, Query: query})
			if err == nil {
				_ = resp.Body.Close()
			}
			return time.Since(start), err
		}
		const path = "/api/v1/configmaps"
		for _, path := range []string{path, "/version"} {
			if _, err := get(path, url.Values{"timeout": {"x"}}); !errors.Is(err, apierrors.BadRequest) {
				t.Errorf("%s with an invalid timeout: %v", path, err)
			}
			for _, fine := range []string{"", "0s", "-1s", "100h", "5s"} {
				if _, err := get(path, url.Values{"timeout": {fine}}); err != nil {
					t.Errorf("%s with timeout %s: %v", path, fine, err)
				}
			}
		}
		later := url.Values{"resourceVersion": {"99999"}, "timeout": {"1s"}} // a server waits 3 s for a version that it does not have
		took, err := get(path, later)
		if !errors.Is(err, apierrors.Timeout) || apierrors.IsTooLargeResourceVersion(err) || took != time.Second {
			t.Errorf("after %v: %v", took, err)
		}
		later.Set("timeout", "10s")
		if took, err = get(path, later); !apierrors.IsTooLargeResourceVersion(err) || took != 3*time.Second {
			t.Errorf("after %v: %v", took, err)
		}
		resp, err := c.Raw(t.Context(), client.RawRequest{Path: path, Query: url.Values{"watch": {"1"}, "timeout": {"x"}, "timeoutSeconds": {"1"}}})
		if err != nil {
			t.Fatal(fmt.Errorf("a watch has no such parameter: %w", err))
		}
		_ = resp.Body.Close()
	})
}
