package e2e

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/remote"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/patch"
)

// inPod serves something at a port of this machine, which is what the kubelet of the tests takes for the pod's, and returns it.
func inPod(t testing.TB, serve func(net.Listener) error, stop func()) string {
	t.Helper()
	listener := must(net.Listen("tcp", "127.0.0.1:0"))(t)
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = serve(listener)
	}()
	t.Cleanup(func() {
		stop()
		_ = listener.Close()
		<-served
	})
	return strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
}

// setReady makes the pod one that runs, and that is ready or not, which no kubelet does here.
func setReady(t *testing.T, r client.Resource[object], key meta.Key, ready bool) {
	t.Helper()
	status := map[bool]string{true: "True", false: "False"}[ready]
	must(r.Status().Patch(t.Context(), key, patch.Strategic(map[string]any{"status": map[string]any{
		"phase": "Running", "conditions": []any{map[string]any{"type": "Ready", "status": status}},
	}})))(t)
}

func TestPortForward(t *testing.T) {
	r, key := newKubelet(t, "10.1.0.13", func(context.Context, *process) int { return 0 })
	setReady(t, r, key, true)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, hr *http.Request) {
		body, _ := io.ReadAll(hr.Body)
		fmt.Fprintf(w, "%s %d", hr.URL.Path, len(body))
	}))
	_ = server.Listener.Close()
	httpPort := inPod(t, server.Config.Serve, func() { _ = server.Config.Close() })
	echoing := new(sync.WaitGroup)
	echoPort := inPod(t, func(l net.Listener) error {
		for {
			c, err := l.Accept()
			if err != nil {
				return err
			}
			echoing.Go(func() {
				_, _ = io.Copy(c, c)
				_ = c.Close()
			})
		}
	}, func() {})
	t.Cleanup(echoing.Wait)

	t.Run("http.Transport", func(t *testing.T) {
		transport := &http.Transport{DialContext: remote.ToPod(r, key, httpPort).DialContext}
		defer transport.CloseIdleConnections()
		for i := range 5 {
			resp := must((&http.Client{Transport: transport}).Post("http://web/path", "text/plain", strings.NewReader(strings.Repeat("x", i*100_000))))(t)
			body, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if want := fmt.Sprintf("/path %d", i*100_000); err != nil || string(body) != want {
				t.Errorf("got %q, %v, want %q", body, err, want)
			}
		}
	})
	t.Run("gRPC", func(t *testing.T) {
		gs := grpc.NewServer()
		grpc_health_v1.RegisterHealthServer(gs, health.NewServer())
		port := inPod(t, gs.Serve, gs.Stop)
		to := remote.ToPod(r, key, port)
		conn := must(grpc.NewClient("passthrough:///web", grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
				return to.DialContext(ctx, "tcp", address)
			})))(t)
		defer conn.Close()
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				resp, err := grpc_health_v1.NewHealthClient(conn).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{})
				if err != nil || resp.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
					t.Errorf("Check: %v, %v", resp, err)
				}
			})
		}
		all.Wait()
	})
	t.Run("256 MB both ways", func(t *testing.T) {
		const size = 256 << 20
		c := must(remote.ToPod(r, key, echoPort).Dial(t.Context()))(t)
		defer c.Close()
		seed := [32]byte{1, 2, 3}
		start := time.Now()
		var writer sync.WaitGroup
		writer.Go(func() {
			if n, err := io.Copy(c, io.LimitReader(rand.NewChaCha8(seed), size)); err != nil || n != size {
				t.Errorf("Copy: %d, %v", n, err)
			}
		})
		want := rand.NewChaCha8(seed)
		part, expected := make([]byte, 64<<10), make([]byte, 64<<10)
		for range size / len(part) {
			if _, err := io.ReadFull(c, part); err != nil {
				t.Fatal(err)
			}
			if _, _ = want.Read(expected); !bytes.Equal(part, expected) {
				t.Fatal("the bytes that came back are others")
			}
		}
		writer.Wait()
		t.Logf("%d MB each way in %v", size>>20, time.Since(start))
	})
	t.Run("1,000 connections through one Forward", func(t *testing.T) {
		listener := must(net.Listen("tcp", "127.0.0.1:0"))(t)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		ended := make(chan error, 1)
		go func() {
			ended <- remote.Forward(ctx, listener, remote.ToPod(r, key, httpPort), remote.ForwardOptions{OnError: func(err error) { t.Error(err) }})
		}()
		transport := &http.Transport{MaxIdleConnsPerHost: 1000}
		hc := &http.Client{Transport: transport}
		dialling := make(chan struct{}, 50)
		arrived := new(sync.WaitGroup)
		arrived.Add(1000)
		var all sync.WaitGroup
		for i := range 1000 {
			all.Go(func() {
				dialling <- struct{}{}
				c, err := net.Dial("tcp", listener.Addr().String())
				if err == nil {
					defer c.Close()
					var resp *http.Response
					hr := must(http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("http://web/%d", i), nil))(t)
					if err = hr.Write(c); err == nil {
						resp, err = http.ReadResponse(bufio.NewReader(c), hr)
					}
					if err == nil {
						var body []byte
						if body, err = io.ReadAll(resp.Body); string(body) != fmt.Sprintf("/%d 0", i) {
							err = fmt.Errorf("the answer is %q, %w", body, err)
						}
					}
				}
				if err != nil {
					t.Errorf("connection %d: %v", i, err)
				}
				<-dialling
				arrived.Done()
				arrived.Wait() // so that all are open at once
			})
		}
		all.Wait()
		for i := range 20 { // and it goes on
			resp, err := hc.Get(fmt.Sprintf("http://%s/%d", listener.Addr(), i))
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
		}
		transport.CloseIdleConnections()
		stop()
		if err := <-ended; err != nil {
			t.Errorf("Forward: %v", err)
		}
	})
	t.Run("a port that refuses", func(t *testing.T) {
		closed := must(net.Listen("tcp", "127.0.0.1:0"))(t)
		port := closed.Addr().(*net.TCPAddr).Port
		_ = closed.Close()
		c := must(remote.ToPod(r, key, strconv.Itoa(port)).Dial(t.Context()))(t)
		defer c.Close()
		_, err := c.Read(make([]byte, 1))
		refused, op := (*remote.PortError)(nil), (*client.OpError)(nil)
		if !errors.As(err, &refused) || refused.Port != port || !strings.Contains(refused.Message, "connection refused") || !errors.As(err, &op) || op.Key != key {
			t.Errorf("Read: %v", err)
		}
	})
	t.Run("a connection that the pod ends", func(t *testing.T) {
		port := inPod(t, func(l net.Listener) error {
			c, err := l.Accept()
			if err == nil {
				_, _ = io.WriteString(c, "goodbye")
				_ = c.Close()
			}
			return err
		}, func() {})
		c := must(remote.ToPod(r, key, port).Dial(t.Context()))(t)
		defer c.Close()
		if got, err := io.ReadAll(c); err != nil || string(got) != "goodbye" {
			t.Errorf("ReadAll: %q, %v", got, err)
		}
	})
	t.Run("what was written before Close arrives", func(t *testing.T) {
		got := make(chan int, 1)
		port := inPod(t, func(l net.Listener) error {
			c, err := l.Accept()
			if err == nil {
				all, _ := io.ReadAll(c)
				got <- len(all)
				_ = c.Close()
			}
			return err
		}, func() {})
		c := must(remote.ToPod(r, key, port).Dial(t.Context()))(t)
		if _, err := c.Write(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if n := <-got; n != 1<<20 {
			t.Errorf("%d bytes have arrived", n)
		}
	})
	t.Run("a Service", func(t *testing.T) {
		c := must(client.New(adminConfig()))(t)
		defer c.Close()
		pod := must(r.Get(t.Context(), key))(t)
		label := "e2e-" + key.Name
		must(r.Patch(t.Context(), key, patch.Merge(map[string]any{"metadata": map[string]any{"labels": map[string]any{"app": label}}})))(t)
		services := client.For(c, client.Type[object]{Version: "v1", Kind: "Service", Resource: "services"})
		service := create(t, services, pod.GetNamespace(), fmt.Sprintf(
			`{"metadata": {"generateName": "e2e-"}, "spec": {"selector": {"app": %q}, "ports": [{"name": "http", "port": 80, "targetPort": %s}]}}`, label, httpPort))
		transport := &http.Transport{DialContext: remote.ToService(r, services, meta.KeyOf(service), "http").DialContext}
		defer transport.CloseIdleConnections()
		resp := must((&http.Client{Transport: transport}).Get("http://web/x"))(t)
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || string(body) != "/x 0" {
			t.Errorf("got %q, %v", body, err)
		}
		setReady(t, r, key, false)
		defer setReady(t, r, key, true)
		if c, err := remote.ToService(r, services, meta.KeyOf(service), "80").Dial(t.Context()); c != nil || err == nil || !strings.Contains(err.Error(), "none of the 1 pods") {
			t.Errorf("Dial: %v, %v", c, err)
		}
	})
	t.Run("refusals", func(t *testing.T) {
		if c, err := remote.ToPod(r, meta.Key{Namespace: "default", Name: "none"}, "80").Dial(t.Context()); c != nil || !errors.Is(err, apierrors.NotFound) {
			t.Errorf("Dial: %v, %v", c, err)
		}
		c := must(client.New(adminConfig()))(t)
		defer c.Close()
		for verb, want := range map[string]string{"list": `cannot get resource "pods/portforward"`, "get": "permission create on pods/portforward"} {
			user := "portforward-" + verb
			create(t, client.For(c, clusterRoles), "", `{"metadata": {"name": "`+user+`"},
				"rules": [{"apiGroups": [""], "resources": ["pods/portforward"], "verbs": ["`+verb+`"]}]}`)
			create(t, client.For(c, clusterRoleBindings), "", `{"metadata": {"name": "`+user+`"},
				"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "`+user+`"},
				"subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "`+user+`"}]}`)
			u := must(client.New(userConfig(t, user)))(t)
			defer u.Close()
			eventually(t, func() error { // the authorizer learns of it by a watch
				_, err := remote.ToPod(client.For(u, pods), key, "80").Dial(t.Context())
				if !errors.Is(err, apierrors.Forbidden) || !strings.Contains(err.Error(), want) {
					return fmt.Errorf("with %s: %w, want %s", verb, err, want)
				}
				return nil
			})
		}
	})
	// Kubectl speaks SPDY within a WebSocket: a check of the kubelet that these tests have.
	t.Run("kubectl", func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		cmd := exec.CommandContext(ctx, plane.KubectlPath(), "port-forward", "--namespace="+key.Namespace, "pod/"+key.Name, ":"+httpPort)
		cmd.Env = append(os.Environ(), "KUBECONFIG="+plane.Kubeconfig, "HOME="+t.TempDir())
		out := must(cmd.StdoutPipe())(t)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() {
			stop()
			_ = cmd.Wait() // it was killed
		}()
		line, err := bufio.NewReader(out).ReadString('\n')
		from := regexp.MustCompile(`127\.0\.0\.1:\d+`).FindString(line)
		if from == "" {
			t.Fatalf("kubectl printed %q, %v; %s", line, err, errs.String())
		}
		resp := must(http.Get("http://" + from + "/x"))(t)
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || string(body) != "/x 0" {
			t.Errorf("got %q, %v", body, err)
		}
	})
}
