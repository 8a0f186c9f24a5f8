package remote_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/containers"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/remote"
	apierrors "github.com/bowline-go/bowline/errors"
)

// noon is the time of the first line of the tests.
var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// at returns the time of noon and some seconds.
func at(seconds float64) time.Time { return noon.Add(time.Duration(seconds * float64(time.Second))) }

// entry is a line that is written at noon and some seconds.
func entry(seconds float64, text string) containers.Entry {
	return containers.Entry{Time: at(seconds), Text: text}
}

func read(r io.ReadCloser, err error) (string, error) {
	if err != nil {
		return "", err
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	return string(text), err
}

func TestLogs(t *testing.T) {
	logs := new(containers.Logs)
	r := newRig(t, &containers.Server{Logs: logs.Serve}, clienttest.Options{})
	log := logs.Of(web, "app")
	log.Add(entry(0, "before"))
	log.Start()
	log.Add(entry(10.5, "a"), containers.Entry{Time: at(11.25), Text: "b", Stderr: true}, entry(12, ""), entry(13, "d"))
	var query url.Values
	r.Intercept(func(hr *http.Request) http.HandlerFunc {
		query = hr.URL.Query()
		return nil
	})
	for name, tc := range map[string]struct {
		o     remote.LogOptions
		query url.Values
		want  string
	}{
		"whole":           {remote.LogOptions{}, url.Values{}, "a\nb\n\nd\n"},
		"a container":     {remote.LogOptions{Container: "app"}, url.Values{"container": {"app"}}, "a\nb\n\nd\n"},
		"previous":        {remote.LogOptions{Previous: true}, url.Values{"previous": {"true"}}, "before\n"},
		"tail":            {remote.LogOptions{Tail: 2}, url.Values{"tailLines": {"2"}}, "\nd\n"},
		"tail of nothing": {remote.LogOptions{Tail: -1}, url.Values{"tailLines": {"0"}}, ""},
		"limit":           {remote.LogOptions{Limit: 3}, url.Values{"limitBytes": {"3"}}, "a\nb"},
		"since a time": {
			remote.LogOptions{Since: at(11.5).In(time.FixedZone("", 3600))},
			url.Values{"sinceTime": {"2026-05-01T12:00:11Z"}},
			"b\n\nd\n",
		},
		"timestamps": {
			remote.LogOptions{Timestamps: true, Tail: 1},
			url.Values{"timestamps": {"true"}, "tailLines": {"1"}},
			"2026-05-01T12:00:13.000000000Z d\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := read(remote.Logs(t.Context(), r.pods, web, tc.o))
			if err != nil || text != tc.want || !reflect.DeepEqual(query, tc.query) {
				t.Errorf("got %q, %v for %v, want %q for %v", text, err, query, tc.want, tc.query)
			}
		})
	}
}

func TestLogsSince(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logs := new(containers.Logs)
		r := newRig(t, &containers.Server{Logs: logs.Serve}, clienttest.Options{})
		for range 10 {
			logs.Of(web, "app").Print(int(time.Since(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)).Seconds()))
			time.Sleep(time.Second)
		}
		for since, want := range map[time.Duration]string{time.Second: "9\n", 2500 * time.Millisecond: "7\n8\n9\n", time.Hour: "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n"} {
			if text, err := read(remote.Logs(t.Context(), r.pods, web, remote.LogOptions{Since: time.Now().Add(-since)})); err != nil || text != want {
				t.Errorf("since %v: got %q, %v, want %q", since, text, err, want)
			}
		}
	})
}

func TestLogsAreRefused(t *testing.T) {
	logs := new(containers.Logs)
	r := newRig(t, &containers.Server{Logs: logs.Serve}, clienttest.Options{Authorize: func(a clienttest.Access) (bool, string) {
		return a.User.Name != "nobody" || a.Request.Subresource != "log", ""
	}})
	logs.Of(many, "app").Add(entry(0, "a"))
	none := meta.Key{Namespace: "default", Name: "none"}
	for name, tc := range map[string]struct {
		pods client.Resource[*pod]
		key  meta.Key
		o    remote.LogOptions
		is   error
		want string
	}{
		"zero handle":   {client.Resource[*pod]{}, web, remote.LogOptions{}, nil, "the handle on pods is the zero Resource; make it with client.For"},
		"other objects": {client.For(r.client, client.Type[*pod]{Version: "v1", Kind: "Node", Resource: "nodes"}), web, remote.LogOptions{}, nil, "must be for core v1 pods, got"},
		"no name":       {r.pods, meta.Key{Namespace: "default"}, remote.LogOptions{}, nil, "name"},
		"a far year":    {r.pods, web, remote.LogOptions{Since: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}, nil, "Since must be in a year from 1 to 9999, got 10000"},
		"tail":          {r.pods, web, remote.LogOptions{Tail: -2}, nil, "Tail must be a number of lines, 0 for all or -1 for none, got -2"},
		"limit":         {r.pods, web, remote.LogOptions{Limit: -1}, nil, "Limit must be 0 or more, got -1"},
		"no pod":        {r.pods, none, remote.LogOptions{}, apierrors.NotFound, `pods "none" not found`},
		"not started":   {r.pods, web, remote.LogOptions{}, apierrors.BadRequest, `container "app" in pod "web" is waiting to start`},
		"which one":     {r.pods, many, remote.LogOptions{}, apierrors.BadRequest, "choose one of: [app sidecar]"},
		"not one":       {r.pods, many, remote.LogOptions{Container: "x"}, apierrors.BadRequest, "container x is not valid for pod many"},
		"no previous":   {r.pods, many, remote.LogOptions{Container: "app", Previous: true}, apierrors.BadRequest, `previous terminated container "app" in pod "many" not found`},
		"forbidden":     {r.pods.As(client.Subject{User: "nobody"}), web, remote.LogOptions{}, apierrors.Forbidden, `cannot get resource "pods/log"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := remote.Logs(t.Context(), tc.pods, tc.key, tc.o)
			op, wrong := (*client.OpError)(nil), (*client.UsageError)(nil)
			if !errors.As(err, &op) || op.Subresource != "log" || op.Key != tc.key || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got %v, want an OpError on the log with %q", err, tc.want)
			}
			if tc.is == nil && !errors.As(err, &wrong) || tc.is != nil && !errors.Is(err, tc.is) {
				t.Errorf("got %#v, want %v", err, tc.is)
			}
			n := 0
			for _, lineErr := range remote.Lines(t.Context(), tc.pods, tc.key, tc.o) {
				if n++; lineErr == nil || n > 1 || lineErr.Error() != err.Error() {
					t.Errorf("Lines: error %d is %v, want %v", n, lineErr, err)
				}
			}
			if n == 0 {
				t.Error("Lines hands on no error")
			}
		})
	}
}

func TestAFollowedLogWaitsForAnyTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logs := new(containers.Logs)
		r := newRig(t, &containers.Server{Logs: logs.Serve}, clienttest.Options{})
		log := logs.Of(web, "app")
		log.Print("first")
		body, err := remote.Logs(t.Context(), r.pods, web, remote.LogOptions{Follow: true})
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			time.Sleep(24 * time.Hour)
			log.Print("late")
			log.End()
		}()
		if text, err := read(body, nil); err != nil || text != "first\nlate\n" {
			t.Errorf("got %q, %v", text, err)
		}
	})
}

func TestAReadOfALogThatIsBlockedEnds(t *testing.T) {
	for _, by := range []string{"ctx", "Close"} {
		t.Run(by, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				logs := new(containers.Logs)
				r := newRig(t, &containers.Server{Logs: logs.Serve}, clienttest.Options{})
				logs.Of(web, "app").Start()
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				body, err := remote.Logs(ctx, r.pods, web, remote.LogOptions{Follow: true})
				if err != nil {
					t.Fatal(err)
				}
				defer body.Close()
				cause := errors.New("enough")
				time.AfterFunc(time.Minute, func() {
					if by == "ctx" {
						cancel(cause)
					} else {
						_ = body.Close()
					}
				})
				n, err := body.Read(make([]byte, 10))
				op := (*client.OpError)(nil)
				if n != 0 || !errors.As(err, &op) || op.Subresource != "log" || by == "ctx" && !errors.Is(err, cause) {
					t.Errorf("Read: %d, %v", n, err)
				}
			})
		})
	}
}

// behaviour 49
func TestAForeignBodyIsNotALog(t *testing.T) {
	r := newRig(t, &containers.Server{}, clienttest.Options{})
	page := func(code int, contentType, text string) func(*http.Request) http.HandlerFunc {
		return func(*http.Request) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", contentType)
				w.WriteHeader(code)
				_, _ = io.WriteString(w, text)
			}
		}
	}
	r.Intercept(page(200, "text/html", "<html>log in</html>"))
	body, err := remote.Logs(t.Context(), r.pods, web, remote.LogOptions{})
	foreign := (*client.AnswerError)(nil)
	if body != nil || !errors.As(err, &foreign) || foreign.Reason != client.ForeignBody || !strings.Contains(err.Error(), "log in") {
		t.Errorf("a page: %v, %v", body, err)
	}
	r.Intercept(page(502, "text/html", "<html>bad gateway</html>"))
	if body, err := remote.Logs(t.Context(), r.pods, web, remote.LogOptions{}); body != nil || err == nil || !strings.Contains(err.Error(), "502") {
		t.Errorf("a page of a proxy: %v, %v", body, err)
	}
	r.Intercept(func(*http.Request) http.HandlerFunc { // a pod without a node
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }
	})
	if text, err := read(remote.Logs(t.Context(), r.pods, web, remote.LogOptions{})); text != "" || err != nil {
		t.Errorf("no content: %q, %v", text, err)
	}
	r.Intercept(nil)
	if _, err := remote.Logs(t.Context(), r.pods, web, remote.LogOptions{}); err == nil {
		t.Error("a server without logs has one")
	}
}

func TestALogThatIsCut(t *testing.T) {
	logs := new(containers.Logs)
	r := newRig(t, &containers.Server{Logs: logs.Serve}, clienttest.Options{})
	r.Intercept(func(*http.Request) http.HandlerFunc { return r.CutBody(40) })
	logs.Of(web, "app").Add(entry(0, "first"), entry(1, "second"))
	text, err := read(remote.Logs(t.Context(), r.pods, web, remote.LogOptions{Timestamps: true}))
	op := (*client.OpError)(nil)
	if len(text) != 40 || !errors.As(err, &op) || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %q, %v", text, err)
	}
	var got []string
	for l, err := range remote.Lines(t.Context(), r.pods, web, remote.LogOptions{}) {
		got = append(got, fmt.Sprint(l.Text, err != nil))
	}
	if want := []string{"firstfalse", "202false", "true"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAThousandLogsLeaveNothingBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the test ends only if all goroutines have
		logs := new(containers.Logs)
		r := newRig(t, &containers.Server{Logs: logs.Serve}, clienttest.Options{})
		logs.Of(web, "app").Print("line")
		for i := range 1000 {
			if i%2 == 0 {
				body, err := remote.Logs(t.Context(), r.pods, web, remote.LogOptions{Follow: true})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := io.ReadFull(body, make([]byte, 5)); err != nil {
					t.Fatal(err)
				}
				_ = body.Close()
				continue
			}
			for l, err := range remote.Lines(t.Context(), r.pods, web, remote.LogOptions{Follow: true}) {
				if err != nil || l.Text != "line" {
					t.Fatal(l, err)
				}
				break
			}
		}
		r.client.Close()
		synctest.Wait()
		if n := r.Connections(); n != 0 {
			t.Errorf("%d connections are open", n)
		}
	})
}
