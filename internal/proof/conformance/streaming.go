package conformance

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// behaviours 198, 199 and 202: a streaming list has the present objects, a bookmark that ends them, and then the
// events.
func testStreamingList(t *testing.T, s suite) {
	ns := s.namespace(t)
	s.configMap(t, ns, "a", map[string]string{"app": "web"})
	b := s.configMap(t, ns, "b", nil)
	for _, test := range []struct {
		name string
		o    client.WatchOptions
		want []string
	}{
		{"of the present", client.WatchOptions{InitialEvents: true}, []string{"ADDED a", "ADDED b"}},
		{
			"not older than a version",
			client.WatchOptions{InitialEvents: true, ResourceVersion: b.ResourceVersion},
			[]string{"ADDED a", "ADDED b"},
		},
		{"with a selector", client.WatchOptions{InitialEvents: true, LabelSelector: "app=web"}, []string{"ADDED a"}},
		{"of nothing", client.WatchOptions{InitialEvents: true, LabelSelector: "app=db"}, nil},
		{"that a watch without a version is, if it allows bookmarks", client.WatchOptions{Bookmarks: true}, []string{"ADDED a", "ADDED b"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.o.Namespace = ns
			initial := collect(t, s, test.o, len(test.want)+1)
			end := initial[len(test.want)]
			got := describe(initial[:len(test.want)])
			slices.Sort(got)
			if !slices.Equal(got, test.want) {
				t.Errorf("the initial events are %v, want %v", got, test.want)
			}
			if end.Type != client.Bookmark || !end.InitialEventsEnd || end.Identity.ResourceVersion == "" {
				t.Errorf("then comes %s %s, which ends them: %v; want a bookmark that does", end.Type, end.Identity.Name, end.InitialEventsEnd)
			}
			for _, e := range initial[:len(test.want)] {
				if e.InitialEventsEnd {
					t.Errorf("%s %s ends the initial events", e.Type, e.Identity.Name)
				}
			}
			// A watch from the bookmark on repeats nothing.
			for e, err := range s.configMaps.Watch(t.Context(), client.WatchOptions{
				Namespace: ns, ResourceVersion: end.Identity.ResourceVersion, Timeout: time.Second,
			}) {
				t.Errorf("a watch from the bookmark brings %s %s, %v", e.Type, e.Identity.Name, err)
			}
		})
	}
	t.Run("goes on", func(t *testing.T) {
		t.Parallel()
		testStreamGoesOn(t, s)
	})
}

// The same stream goes on after the bookmark, and later bookmarks do not end anything.
func testStreamGoesOn(t *testing.T, s suite) {
	ns := s.namespace(t)
	b := s.configMap(t, ns, "b", nil)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var got []string
	ends := 0
	for e, err := range s.configMaps.Watch(ctx, client.WatchOptions{Namespace: ns, InitialEvents: true, Timeout: 4 * time.Second}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.InitialEventsEnd {
			ends++
			s.configMap(t, ns, "c", nil)
			if err := s.configMaps.Delete(t.Context(), meta.KeyOf(b), client.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		if e.Type != client.Bookmark && ends > 0 {
			got = append(got, describe([]client.Event[*ConfigMap]{e})...)
		}
	}
	if want := []string{"ADDED c", "DELETED b"}; !slices.Equal(got, want) || ends != 1 {
		t.Errorf("after the bookmark come %v, and %d bookmarks end the initial events; want %v and one", got, ends, want)
	}
}

// behaviour 204, fault F9: the server waits for a version that it does not know yet, and then says that it is too
// large.
func testTooLargeVersion(t *testing.T, s suite) {
	const future = "99999999999"
	ns := s.namespace(t)
	check := func(t *testing.T, err error) {
		t.Helper()
		wantReason(t, err, apierrors.Timeout, 504)
		status := new(apierrors.StatusError)
		errors.As(err, &status)
		const prefix = "Timeout: Too large resource version: " + future + ", current: "
		if m := status.Status.Message; !strings.HasPrefix(m, prefix) {
			t.Errorf("message is %q, want it to start with %q", m, prefix)
		}
		d := status.Status.Details
		if d == nil || d.RetryAfterSeconds != 1 || len(d.Causes) != 1 ||
			d.Causes[0] != (meta.StatusCause{Reason: "ResourceVersionTooLarge", Message: "Too large resource version"}) {
			t.Errorf("details are %+v, want one cause, and to try again after a second", d)
		}
	}
	cfg := s.cfg
	cfg.Retry.Attempts = 1 // otherwise the client tries again, as the error asks
	c := must[*client.Client](t)(client.New(cfg))
	t.Cleanup(c.Close)
	maps := client.For(c, ConfigMaps)
	t.Run("for a list", func(t *testing.T) {
		t.Parallel()
		_, err := maps.List(t.Context(), client.ListOptions{
			Namespace: ns, ResourceVersion: future, ResourceVersionMatch: client.NotOlderThan,
		})
		check(t, err)
	})
	t.Run("for a list at exactly that version", func(t *testing.T) {
		t.Parallel()
		_, err := maps.List(t.Context(), client.ListOptions{
			Namespace: ns, ResourceVersion: future, ResourceVersionMatch: client.Exact,
		})
		check(t, err)
	})
	t.Run("for a streaming list, as an event", func(t *testing.T) {
		t.Parallel()
		var last error
		for e, err := range s.configMaps.Watch(t.Context(), client.WatchOptions{Namespace: ns, InitialEvents: true, ResourceVersion: future}) {
			if last = err; err == nil {
				t.Errorf("it brings %s %s", e.Type, e.Identity.Name)
			}
		}
		check(t, last)
		if event := new(client.EventError); !errors.As(last, &event) {
			t.Errorf("error is %v, want one that came as an event", last)
		}
	})
	t.Run("for a watch it is where to start, whenever that comes", func(t *testing.T) {
		t.Parallel()
		for e, err := range s.configMaps.Watch(t.Context(), client.WatchOptions{
			Namespace: ns, ResourceVersion: future, Bookmarks: true, Timeout: 4 * time.Second,
		}) {
			t.Errorf("it brings %s %s, %v", e.Type, e.Identity.ResourceVersion, err)
		}
	})
}

// A bookmark is an object of the watch's kind in which only the version is set, and the annotation if it ends the
// initial events. Clients that decode strictly see the members that the type always writes.
func testBookmarkShape(t *testing.T, s suite) {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(s.cfg.TLS.CAData))
	transport := &http.Transport{DialContext: s.cfg.Dial, TLSClientConfig: &tls.Config{RootCAs: pool}}
	defer transport.CloseIdleConnections()
	const (
		query = "?watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=10" +
			"&labelSelector=no%3Done"
		annotation = `"annotations":{"k8s.io/initial-events-end":"true"}`
	)
	for path, want := range map[string]string{
		"/api/v1/configmaps": `{"kind":"ConfigMap","apiVersion":"v1","metadata":{*}}`,
		"/api/v1/secrets":    `{"kind":"Secret","apiVersion":"v1","metadata":{*}}`,
		"/api/v1/namespaces": `{"kind":"Namespace","apiVersion":"v1","metadata":{*},"spec":{},"status":{}}`,
		"/api/v1/pods":       `{"kind":"Pod","apiVersion":"v1","metadata":{*},"spec":{"containers":null},"status":{}}`,
		"/api/v1/services":   `{"kind":"Service","apiVersion":"v1","metadata":{*},"spec":{},"status":{"loadBalancer":{}}}`,
		"/api/v1/events": `{"kind":"Event","apiVersion":"v1","metadata":{*},"involvedObject":{},"source":{},"firstTimestamp":null,` +
			`"lastTimestamp":null,"eventTime":null,"reportingComponent":"","reportingInstance":""}`,
		"/api/v1/nodes": `{"kind":"Node","apiVersion":"v1","metadata":{*},"spec":{},"status":{"daemonEndpoints":{"kubeletEndpoint":{` +
			`"Port":0}},"nodeInfo":{"machineID":"","systemUUID":"","bootID":"","kernelVersion":"","osImage":"","containerRuntimeVersion":"",` +
			`"kubeletVersion":"","kubeProxyVersion":"","operatingSystem":"","architecture":""}}}`,
		"/apis/apps/v1/deployments": `{"kind":"Deployment","apiVersion":"apps/v1","metadata":{*},"spec":{"replicas":0,"selector":null,` +
			`"template":{"metadata":{},"spec":{"containers":null}},"strategy":{}},"status":{}}`,
		"/apis/coordination.k8s.io/v1/leases": `{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{*},"spec":{}}`,
	} {
		req := must[*http.Request](t)(http.NewRequestWithContext(t.Context(), http.MethodGet, s.cfg.Server+path+query, nil))
		if s.cfg.BearerToken != "" {
			req.Header.Set("Authorization", "Bearer "+string(s.cfg.BearerToken))
		}
		resp, err := transport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(resp.Body).ReadString('\n')
		resp.Body.Close()
		if err != nil {
			t.Fatalf("%s: after %q: %v", path, line, err)
		}
		metadata := regexp.MustCompile(`"resourceVersion":"[0-9]+",` + regexp.QuoteMeta(annotation))
		got := metadata.ReplaceAllString(strings.TrimSpace(line), "*")
		equal(t, "the bookmark of "+path, got, `{"type":"BOOKMARK","object":`+want+`}`)
	}
}
