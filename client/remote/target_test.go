package remote_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/containers"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/remote"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/memnet"
	"github.com/bowline-go/bowline/patch"
)

var (
	anyPods     = client.Type[*meta.Unstructured]{Version: "v1", Kind: "Pod", Resource: "pods"}
	anyServices = client.Type[*meta.Unstructured]{Version: "v1", Kind: "Service", Resource: "services"}
)

// targetRig is a server on whose pods every port says the pod's name and the port's number, and then echoes.
type targetRig struct {
	*rig
	pods     client.Resource[*meta.Unstructured]
	services client.Resource[*meta.Unstructured]
}

func newTargetRig(t testing.TB, o clienttest.Options) *targetRig {
	t.Helper()
	var serving sync.WaitGroup
	t.Cleanup(serving.Wait)
	r := newRig(t, &containers.Server{Dial: func(ctx context.Context, pod meta.Key, port int) (net.Conn, error) {
		listener := memnet.Listen() // for a pair of connections
		defer listener.Close()
		c, err := listener.DialContext(ctx, "tcp", listener.Addr().String())
		if err != nil {
			return nil, err
		}
		other, err := listener.Accept()
		if err != nil {
			return nil, err
		}
		serving.Go(func() {
			defer other.Close()
			fmt.Fprintf(other, "%s:%d\n", pod.Name, port)
			_, _ = io.Copy(other, other)
		})
		return c, nil
	}}, o)
	return &targetRig{r, client.For(r.client, anyPods), client.For(r.client, anyServices)}
}

// add makes a pod with the label app=web and the ports http (8080) and dns (53, UDP). A pod whose name begins with "un" is not ready.
func (r *targetRig) add(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		r.create(t, r.pods, name, `{"containers": [{"name": "app", "image": "none", "ports": [{"name": "dns", "containerPort": 53, "protocol": "UDP"},
			{"name": "http", "containerPort": 8080}]}], "initContainers": [{"name": "once", "image": "none", "ports": [{"name": "setup", "containerPort": 1}]},
			{"name": "side", "image": "none", "restartPolicy": "Always", "ports": [{"name": "metrics", "containerPort": 9090, "protocol": "TCP"}]}]}`)
		r.setReady(t, name, !strings.HasPrefix(name, "un"))
	}
}

func (r *targetRig) create(t testing.TB, in client.Resource[*meta.Unstructured], name, spec string) {
	t.Helper()
	obj := new(meta.Unstructured)
	text := fmt.Sprintf(`{"metadata": {"namespace": "default", "name": %q, "labels": {"app": "web"}}, "spec": %s}`, name, spec)
	if err := obj.UnmarshalJSON([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Create(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
}

func (r *targetRig) setReady(t testing.TB, name string, ready bool) {
	t.Helper()
	status := map[bool]string{true: "True", false: "False"}[ready]
	_, err := r.pods.Status().Patch(t.Context(), meta.Key{Namespace: "default", Name: name}, patch.Merge(map[string]any{"status": map[string]any{
		"phase": "Running", "conditions": []any{map[string]any{"type": "Initialized", "status": "True"}, map[string]any{"type": "Ready", "status": status}},
	}}))
	if err != nil {
		t.Fatal(err)
	}
}

func (r *targetRig) delete(t testing.TB, name string) {
	t.Helper()
	if err := r.pods.Delete(t.Context(), meta.Key{Namespace: "default", Name: name}, client.DeleteOptions{GracePeriod: client.NoGracePeriod}); err != nil {
		t.Fatal(err)
	}
}

// reached returns which pod and port a dial reaches.
func reached(t testing.TB, to *remote.Target) string {
	t.Helper()
	c, err := to.Dial(t.Context())
	if err != nil {
		return err.Error()
	}
	defer c.Close()
	part := make([]byte, 100)
	n, err := c.Read(part)
	if err != nil {
		return err.Error()
	}
	said := strings.TrimSpace(string(part[:n]))
	if want := "default/" + said; c.RemoteAddr().String() != want {
		t.Errorf("the address is %s, want %s", c.RemoteAddr(), want)
	}
	return said
}

var service = meta.Key{Namespace: "default", Name: "web"}

func TestTheTargetsOfServices(t *testing.T) {
	for _, tc := range []struct{ name, spec, port, want string }{
		{"a number", `{"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": 8000}]}`, "80", "a:8000"},
		{"a name for a number", `{"selector": {"app": "web"}, "ports": [{"name": "x", "port": 1}, {"name": "y", "port": 80, "targetPort": 8000}]}`, "y", "a:8000"},
		{"the name of a container's port", `{"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": "http"}]}`, "80", "a:8080"},
		{"of a container that runs beside", `{"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": "metrics"}]}`, "80", "a:9090"},
		{"no targetPort", `{"selector": {"app": "web"}, "ports": [{"port": 80}]}`, "80", "a:80"},
		{"headless", `{"clusterIP": "None", "selector": {"app": "web"}, "ports": [{"port": 80}]}`, "80", "a:80"},
		{"not ready", `{"publishNotReadyAddresses": true, "selector": {"app": "web"}, "ports": [{"port": 80}]}`, "80", "unready:80"},
		{"the same number twice", `{"selector": {"app": "web"}, "ports": [{"name": "u", "port": 53, "protocol": "UDP"}, {"name": "t", "port": 53, "targetPort": 5353}]}`, "53", "a:5353"},

		{"another port", `{"selector": {"app": "web"}, "ports": [{"name": "http", "port": 80}, {"name": "alt", "port": 81}]}`, "82", `connect services "default/web": it has no port 82; its ports: http (80), alt (81)`},
		{"another port than the only one", `{"selector": {"app": "web"}, "ports": [{"port": 81}]}`, "82", `it has no port 82; its ports: 81`},
		{"no ports", `{"clusterIP": "None", "selector": {"app": "web"}}`, "82", "it has no port 82; its ports: none"},
		{"UDP", `{"selector": {"app": "web"}, "ports": [{"port": 53, "protocol": "UDP"}]}`, "53", "its port 53 is of protocol UDP; only TCP can be forwarded"},
		{"an external name", `{"type": "ExternalName", "externalName": "example.com"}`, "80", `connect services "default/web": it is of type ExternalName (example.com), which picks no pods`},
		{"no selector", `{"ports": [{"port": 80}]}`, "80", `connect services "default/web": it has no selector`},
		{"no pods", `{"selector": {"app": "none"}, "ports": [{"port": 80}]}`, "80", `the selector "app=none" picks no pods`},
		{"a name that no container has", `{"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": "nope"}]}`, "80", `the selector "app=web" picks 2 pods, of which 1 are not ready, and the others have no TCP port named "nope"`},
		{"a name of UDP", `{"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": "dns"}]}`, "80", `no TCP port named "dns"`},
		{"a name of a container that has ended", `{"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": "setup"}]}`, "80", `no TCP port named "setup"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newTargetRig(t, clienttest.Options{})
				r.add(t, "a")
				time.Sleep(time.Minute)
				r.add(t, "unready") // the newer one
				r.create(t, r.services, "web", tc.spec)
				if got := reached(t, remote.ToService(r.pods, r.services, service, tc.port)); got != tc.want && (len(tc.want) < 15 || !strings.Contains(got, tc.want)) {
					t.Errorf("got %s, want %s", got, tc.want)
				}
			})
		})
	}
}

func TestTheTargetsOfSelectorsAndPods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTargetRig(t, clienttest.Options{})
		r.add(t, "unready", "old")
		time.Sleep(time.Minute)
		r.add(t, "new", "newer")
		for _, tc := range []struct {
			to   *remote.Target
			want string
		}{
			{remote.ToSelector(r.pods, "default", "app=web", "http"), "new:8080"},
			{remote.ToSelector(r.pods, "default", "app in (web),app!=x", "81"), "new:81"},
			{remote.ToPod(r.pods, meta.Key{Namespace: "default", Name: "unready"}, "82"), "unready:82"},
			{remote.ToPod(r.pods, meta.Key{Namespace: "default", Name: "unready"}, "metrics"), "unready:9090"},
			{remote.ToPod(r.pods, meta.Key{Namespace: "default", Name: "unready"}, "nope"), `connect pods/portforward "default/unready": the pod has no TCP port named "nope"; its TCP ports: http (8080), metrics (9090)`},
			{remote.ToPod(r.pods, meta.Key{Namespace: "default", Name: "none"}, "http"), `get pods "default/none": server said NotFound (404): pods "none" not found`},
			{remote.ToPod(r.pods, meta.Key{Namespace: "default", Name: "none"}, "80"), `connect pods/portforward "default/none": server said NotFound (404): pods "none" not found`},
			{remote.ToSelector(r.pods, "default", "app=none", "80"), `connect pods/portforward in "default": the selector "app=none" picks no pods`},
			{remote.ToService(r.pods, r.services, service, "80"), `get services "default/web": server said NotFound (404): services "web" not found`},
		} {
			if got := reached(t, tc.to); got != tc.want {
				t.Errorf("%s: got %s, want %s", tc.to, got, tc.want)
			}
		}
		for _, name := range []string{"old", "new", "newer"} {
			r.setReady(t, name, false)
		}
		want := `connect pods/portforward in "default": none of the 4 pods that the selector "app=web" picks is ready`
		if got := reached(t, remote.ToSelector(r.pods, "default", "app=web", "80")); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

func TestTargetsThatCannotBeUsed(t *testing.T) {
	r := newTargetRig(t, clienttest.Options{})
	key := meta.Key{Namespace: "default", Name: "web"}
	for _, tc := range []struct {
		to   *remote.Target
		want string
	}{
		{remote.ToPod(r.pods, key, ""), `remote.ToPod: port must be a number from 1 to 65535 or the name of a port, got ""`},
		{remote.ToPod(r.pods, key, "0"), `got "0"`},
		{remote.ToPod(r.pods, key, "65536"), `got "65536"`},
		{remote.ToPod(r.pods, key, "-1"), `got "-1"`},
		{remote.ToPod(r.pods, key, "80:80"), `got "80:80"`},
		{remote.ToPod(r.services, key, "80"), "the handle must be for core v1 pods"},
		{remote.ToPod(client.Resource[*pod]{}, key, "80"), "the handle on pods is the zero Resource"},
		{remote.ToSelector(r.pods, "", "app=web", "80"), "remote.ToSelector: namespace must not be empty"},
		{remote.ToSelector(r.pods, "default", " ", "80"), "remote.ToSelector: selector must not be empty"},
		{remote.ToSelector(r.pods, "default", "app=web", "99999"), "remote.ToSelector: port must be"},
		{remote.ToSelector(r.pods, "default", "app in (", "80"), "app in ("},
		{remote.ToService(r.pods, r.services, key, "99999"), "remote.ToService: port must be"},
		{remote.ToService(r.pods, r.pods, key, "80"), "the handle must be for core v1 services"},
		{remote.ToService(r.services, r.services, key, "80"), "the handle must be for core v1 pods"},
		{remote.ToService(r.pods, client.Resource[*pod]{}, key, "80"), "the handle on services is the zero Resource"},
		{new(remote.Target), "make it with ToPod, ToService or ToSelector"},
		{nil, "make it with ToPod, ToService or ToSelector"},
	} {
		c, err := tc.to.Dial(t.Context())
		if c != nil || err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("Dial: %v, %v, want %q", c, err, tc.want)
		}
		if tc.want != "app in (" && !errors.As(err, new(*client.UsageError)) {
			t.Errorf("the error is no UsageError: %v", err)
		}
	}
	to := remote.ToPod(r.pods, key, "80")
	if c, err := to.DialContext(t.Context(), "udp", "web:80"); c != nil || err == nil || !strings.Contains(err.Error(), `network must be tcp, tcp4 or tcp6, got "udp"`) {
		t.Errorf("DialContext: %v, %v", c, err)
	}
}

func TestAMissingPermissionIsNamed(t *testing.T) {
	for _, tc := range []struct{ verb, resource, want string }{
		{"get", "services", `cannot get resource "services"`},
		{"list", "pods", `cannot list resource "pods"`},
		{"create", "portforward", " create "},
	} {
		t.Run(tc.verb+" "+tc.resource, func(t *testing.T) {
			refusing := false
			r := newTargetRig(t, clienttest.Options{Authorize: func(a clienttest.Access) (bool, string) {
				hit := a.Verb == tc.verb && (a.Subresource == tc.resource || a.Subresource == "" && a.Resource.Resource == tc.resource)
				return !refusing || !hit, "no"
			}})
			r.add(t, "a", "b")
			r.create(t, r.services, "web", `{"selector": {"app": "web"}, "ports": [{"port": 80}]}`)
			refusing = true
			_, err := remote.ToService(r.pods, r.services, service, "80").Dial(t.Context())
			if !errors.Is(err, apierrors.Forbidden) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Dial: %v, want %s", err, tc.want)
			}
		})
	}
}

// requests counts the requests of a kind, such as "list pods".
func (r *targetRig) requests(answer func(q clienttest.Request) http.HandlerFunc) func() []string {
	var mu sync.Mutex
	var all []string
	r.Intercept(func(hr *http.Request) http.HandlerFunc {
		q := clienttest.RequestOf(hr)
		mu.Lock()
		defer mu.Unlock()
		name := q.Verb + " " + q.Resource.Resource
		if q.Subresource != "" {
			name = q.Subresource + " " + q.Key.Name
		}
		all = append(all, name)
		if answer != nil {
			return answer(q)
		}
		return nil
	})
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		defer func() { all = nil }()
		return all
	}
}

func TestATargetStaysAtAPodWhileItIsReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTargetRig(t, clienttest.Options{})
		r.add(t, "a")
		r.create(t, r.services, "web", `{"selector": {"app": "web"}, "ports": [{"port": 80}]}`)
		to := remote.ToService(r.pods, r.services, service, "80")
		is := func(want string) {
			t.Helper()
			if got := reached(t, to); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
		is("a:80")
		time.Sleep(time.Minute)
		r.add(t, "b", "c") // newer ones
		is("a:80")
		time.Sleep(time.Minute)
		is("a:80")
		r.setReady(t, "a", false)
		time.Sleep(2 * time.Second) // the target looks again
		is("b:80")
		r.setReady(t, "a", true)
		time.Sleep(2 * time.Second)
		is("b:80")
		r.delete(t, "b") // and nobody has looked
		is("c:80")
		r.delete(t, "c")
		r.delete(t, "a")
		if got := reached(t, to); !strings.Contains(got, `pods "c" not found`) && !strings.Contains(got, "picks no pods") {
			t.Errorf("got %s", got)
		}
		time.Sleep(2 * time.Second)
		r.add(t, "d")
		is("d:80")
	})
}

func TestATargetLooksAtMostOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTargetRig(t, clienttest.Options{})
		r.add(t, "a")
		to := remote.ToSelector(r.pods, "default", "app=web", "80")
		asked := r.requests(nil)
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() { reached(t, to) })
		}
		all.Wait()
		lists := 0
		for _, q := range asked() {
			if q == "list pods" {
				lists++
			}
		}
		if lists != 1 {
			t.Errorf("there were %d lists", lists)
		}
		time.Sleep(time.Second)
		reached(t, to)
		if got := asked(); !slices.Equal(got, []string{"list pods", "portforward a"}) {
			t.Errorf("a second later it asked for %q", got)
		}
	})
}

func TestAFailedDialTriesOtherPods(t *testing.T) {
	for _, tc := range []struct {
		name   string
		answer int // of the pods a, b and c
		want   []string
		ok     bool
	}{
		{"the node says that it is not there", http.StatusNotFound, []string{"list pods", "portforward a", "list pods", "portforward b", "list pods", "portforward c"}, false},
		{"the node cannot be reached", http.StatusInternalServerError, []string{"list pods", "portforward a", "list pods", "portforward b", "list pods", "portforward c"}, false},
		{"it is forbidden", http.StatusForbidden, []string{"list pods", "portforward a"}, false},
		{"it may come later", http.StatusTooManyRequests, []string{"list pods", "portforward a"}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newTargetRig(t, clienttest.Options{})
				r.add(t, "a", "b", "c", "d")
				failing := []string{"a", "b", "c"}
				asked := r.requests(func(q clienttest.Request) http.HandlerFunc {
					if !slices.Contains(failing, q.Key.Name) {
						return nil
					}
					return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", tc.answer) }
				})
				to := remote.ToSelector(r.pods, "default", "app=web", "80")
				got := reached(t, to)
				if !strings.Contains(got, "connect pods/portforward") || !strings.Contains(got, fmt.Sprint(tc.answer)) {
					t.Errorf("got %s", got)
				}
				all := asked()
				if tc.answer == http.StatusTooManyRequests {
					all = slices.Compact(all) // it is asked again
				}
				if !slices.Equal(all, tc.want) {
					t.Errorf("it asked for %q, want %q", all, tc.want)
				}
				failing = failing[:1]
				time.Sleep(2 * time.Second)
				if got := reached(t, to); got[1:] != ":80" || got[0] == 'a' {
					if tc.answer == http.StatusNotFound || tc.answer == http.StatusInternalServerError {
						t.Errorf("then got %s", got)
					}
				}
			})
		})
	}
}

func TestADialThatWaitsForAnotherOneHeedsItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTargetRig(t, clienttest.Options{})
		r.Intercept(func(*http.Request) http.HandlerFunc {
			return func(_ http.ResponseWriter, hr *http.Request) { <-hr.Context().Done() }
		})
		to := remote.ToSelector(r.pods, "default", "app=web", "80")
		first, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := to.Dial(first)
			ended <- err
		}()
		synctest.Wait()
		second, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if _, err := to.Dial(second); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Dial: %v", err)
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Dial: %v", err)
		}
	})
}

// An http.Client through a Service, whose address is nowhere looked up.
func TestHTTPThroughATarget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := memnet.Listen()
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, hr *http.Request) {
			body, _ := io.ReadAll(hr.Body)
			fmt.Fprintf(w, "%s %s %d", hr.Host, hr.URL.Path, len(body))
		})}
		served := make(chan error, 1)
		go func() { served <- server.Serve(listener) }()
		rig := newRig(t, &containers.Server{Dial: func(ctx context.Context, _ meta.Key, _ int) (net.Conn, error) {
			return listener.DialContext(ctx, "tcp", listener.Addr().String())
		}}, clienttest.Options{})
		r := &targetRig{rig, client.For(rig.client, anyPods), client.For(rig.client, anyServices)}
		r.add(t, "a")
		r.create(t, r.services, "web", `{"selector": {"app": "web"}, "ports": [{"port": 80}]}`)
		transport := &http.Transport{DialContext: remote.ToService(r.pods, r.services, service, "80").DialContext}
		hc := &http.Client{Transport: transport}
		for i := range 3 {
			resp, err := hc.Post("http://web.example/path", "text/plain", strings.NewReader(strings.Repeat("x", i*100_000)))
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if want := fmt.Sprintf("web.example /path %d", i*100_000); err != nil || string(body) != want {
				t.Errorf("got %q, %v, want %q", body, err, want)
			}
		}
		transport.CloseIdleConnections()
		_ = server.Close()
		<-served
	})
}
