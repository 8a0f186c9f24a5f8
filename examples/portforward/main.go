// Portforward reads a page from a Service that has an address only inside the cluster, or forwards a local port to it.
//
//	go run ./examples/portforward  # with nothing but Go: the API server is in the process, and so is the pod
//	go run ./examples/portforward -kubeconfig FILE -service NAME -port http -path /healthz
//	go run ./examples/portforward -kubeconfig FILE -service NAME -port http -listen 127.0.0.1:8080
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest/containers"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/remote"
	"github.com/bowline-go/bowline/examples/internal/cluster"
	"github.com/bowline-go/bowline/patch"
)

var (
	pods     = client.Type[*meta.Unstructured]{Version: "v1", Kind: "Pod", Resource: "pods"}
	services = client.Type[*meta.Unstructured]{Version: "v1", Kind: "Service", Resource: "services"}
)

// get writes a page of the Service to out. The transport dials a pod and ignores the host in the URL.
func get(ctx context.Context, c *client.Client, service meta.Key, port, path string, out io.Writer) error {
	to := remote.ToService(client.For(c, pods), client.For(c, services), service, port)
	transport := &http.Transport{DialContext: to.DialContext}
	defer transport.CloseIdleConnections()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+service.Name+path, nil)
	if err != nil {
		return err
	}
	resp, err := (&http.Client{Transport: transport}).Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	fmt.Fprintln(out, resp.Status)
	_, err = io.Copy(out, resp.Body)
	return err
}

// forward lets any program of this machine use the Service, until ctx ends.
func forward(ctx context.Context, c *client.Client, service meta.Key, port, listen string) error {
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	fmt.Println("forwarding from", listener.Addr())
	to := remote.ToService(client.For(c, pods), client.For(c, services), service, port)
	return remote.Forward(ctx, listener, to, remote.ForwardOptions{})
}

// demo makes a Service and its only pod, in which serve answers.
func demo(ctx context.Context, c *client.Client, out io.Writer) error {
	web := meta.Key{Namespace: "default", Name: "web"}
	metadata := map[string]any{"namespace": web.Namespace, "name": web.Name, "labels": map[string]any{"app": "web"}}
	pod := &meta.Unstructured{Object: map[string]any{"metadata": metadata, "spec": map[string]any{"containers": []any{
		map[string]any{"name": "app", "image": "none", "ports": []any{map[string]any{"name": "http", "containerPort": 8080}}},
	}}}}
	if _, err := client.For(c, pods).Create(ctx, pod); err != nil {
		return err
	}
	ready := []any{map[string]any{"type": "Ready", "status": "True"}}
	status := patch.Merge(map[string]any{"status": map[string]any{"phase": "Running", "conditions": ready}})
	if _, err := client.For(c, pods).Status().Patch(ctx, web, status); err != nil {
		return err
	}
	service := &meta.Unstructured{Object: map[string]any{"metadata": metadata, "spec": map[string]any{
		"selector": map[string]any{"app": "web"}, "ports": []any{map[string]any{"port": 80, "targetPort": "http"}},
	}}}
	if _, err := client.For(c, services).Create(ctx, service); err != nil {
		return err
	}
	return get(ctx, c, web, "80", "/hello", out)
}

// serve connects to a port of a pod of the demo: an HTTP server answers on every port, over a pipe.
func serve(_ context.Context, pod meta.Key, port int) (net.Conn, error) {
	ours, theirs := net.Pipe()
	go func() {
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, "%s of pod %s, port %d\n", r.URL.Path, pod, port)
		})}
		_ = server.Serve(&once{conn: ours})
	}()
	return theirs, nil
}

// once is a listener with one connection.
type once struct{ conn net.Conn }

func (o *once) Accept() (net.Conn, error) {
	if o.conn == nil {
		return nil, net.ErrClosed
	}
	defer func() { o.conn = nil }()
	return o.conn, nil
}

func (o *once) Close() error   { return nil }
func (o *once) Addr() net.Addr { return &net.TCPAddr{} }

func main() {
	namespace := flag.String("namespace", "default", "the Service's namespace")
	name := flag.String("service", "", "the Service's name")
	port := flag.String("port", "http", "the number or the name of the Service's port")
	path := flag.String("path", "/", "what to read")
	listen := flag.String("listen", "", "forward from this `address`, such as 127.0.0.1:0, and read nothing")
	cluster.Example{
		Containers: &containers.Server{Dial: serve},
		Demo:       func(ctx context.Context, c *client.Client) error { return demo(ctx, c, os.Stdout) },
		Work: func(ctx context.Context, c *client.Client) error {
			service := meta.Key{Namespace: *namespace, Name: *name}
			if *listen != "" {
				return forward(ctx, c, service, *port, *listen)
			}
			return get(ctx, c, service, *port, *path, os.Stdout)
		},
	}.Main()
}
