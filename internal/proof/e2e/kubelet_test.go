package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	translator "k8s.io/apiserver/pkg/util/proxy"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	"k8s.io/streaming/pkg/httpstream/wsstream"
	utilexec "k8s.io/utils/exec"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/patch"
)

// kubelet serves exec, attach and portForward as a kubelet does, by the same code, and containerLogs. A Go function takes the place of
// the programs in containers.
type kubelet struct {
	run  func(ctx context.Context, p *process) int
	logs containerLogs // nil has none

	// runtime, if it is set, has the same for requests that a kubelet translates from WebSockets, as those of 1.36 and later do
	// (KEP 4006). An earlier kubelet gets requests that the API server has translated.
	runtime    *httptest.Server
	translated atomic.Int64
}

type process struct {
	container   string
	args        []string
	in          io.Reader
	out, errors io.WriteCloser
	sizes       <-chan remotecommand.TerminalSize
}

// newKubelet makes a node, and a pod on it with two containers.
func newKubelet(t testing.TB, address string, run func(ctx context.Context, p *process) int) (client.Resource[object], meta.Key) {
	t.Helper()
	return startKubelet(t, address, &kubelet{run: run})
}

// startKubelet is newKubelet of a kubelet that the caller has made.
func startKubelet(t testing.TB, address string, k *kubelet) (client.Resource[object], meta.Key) {
	t.Helper()
	r, node := newNode(t, address, k)
	pod := create(t, r, "default", fmt.Sprintf(`{"metadata": {"generateName": "e2e-"}, "spec": {"nodeName": %q, "automountServiceAccountToken": false,
		"containers": [{"name": "app", "image": "none"}, {"name": "sidecar", "image": "none"}]}}`, node))
	return r, meta.KeyOf(pod)
}

// newNode makes a node with a kubelet, and returns a handle on pods and the node's name.
func newNode(t testing.TB, address string, k *kubelet) (client.Resource[object], string) {
	t.Helper()
	features := []any{}
	if k.runtime != nil {
		features = append(features, "ExtendWebSocketsToKubelet")
	}
	server := httptest.NewUnstartedServer(k)
	_ = server.Listener.Close()
	server.Listener = must(plane.Listen(address + ":10250"))(t)
	server.StartTLS()
	t.Cleanup(server.Close)
	c := must(client.New(adminConfig()))(t)
	t.Cleanup(c.Close)
	node := create(t, client.For(c, nodes), "", `{"metadata": {"generateName": "e2e-"}}`)
	must(client.For(c, nodes).Status().Patch(t.Context(), meta.KeyOf(node), patch.Merge(map[string]any{"status": map[string]any{
		"addresses":        []any{map[string]any{"type": "InternalIP", "address": address}},
		"daemonEndpoints":  map[string]any{"kubeletEndpoint": map[string]any{"Port": 10250}},
		"declaredFeatures": features,
	}})))(t)
	return client.For(c, pods), node.GetName()
}

var protocols = []string{"v4.channel.k8s.io", "v3.channel.k8s.io", "v2.channel.k8s.io", "channel.k8s.io"}

// ServeHTTP answers /exec/NAMESPACE/POD/CONTAINER and the same for attach and containerLogs.
func (k *kubelet) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if len(parts) == 3 && parts[0] == "portForward" {
		k.servePort(w, r, parts[2])
		return
	}
	if len(parts) < 4 {
		http.NotFound(w, r)
		return
	}
	if parts[0] == "containerLogs" && k.logs != nil {
		k.logs(w, r, meta.Key{Namespace: parts[1], Name: parts[2]}, parts[3])
		return
	}
	if parts[3] == "sidecar" && parts[0] == "exec" { // runs no longer
		http.Error(w, `container not found ("sidecar")`, http.StatusInternalServerError)
		return
	}
	o, err := remotecommand.NewOptions(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if k.runtime != nil && wsstream.IsWebSocketRequestWithStreamCloseProtocol(r) {
		k.translated.Add(1)
		to, err := url.Parse(k.runtime.URL + r.URL.RequestURI())
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		translator.NewStreamTranslatorHandler(to, nil, 0, translator.Options{Stdin: o.Stdin, Stdout: o.Stdout, Stderr: o.Stderr, Tty: o.TTY}).ServeHTTP(w, r)
		return
	}
	switch parts[0] {
	case "exec":
		remotecommand.ServeExec(w, r, k, parts[2], "", parts[3], r.URL.Query()["command"], o, time.Hour, 30*time.Second, protocols)
	case "attach":
		remotecommand.ServeAttach(w, r, k, parts[2], "", parts[3], o, time.Hour, 30*time.Second, protocols)
	}
}

func (k *kubelet) ExecInContainer(
	ctx context.Context, _, _, container string, args []string, in io.Reader, out, errors io.WriteCloser, _ bool,
	sizes <-chan remotecommand.TerminalSize, _ time.Duration,
) error {
	if in == nil {
		in = strings.NewReader("")
	}
	if code := k.run(ctx, &process{container, args, in, out, errors, sizes}); code != 0 {
		return utilexec.CodeExitError{Err: fmt.Errorf("exit status %d", code), Code: code}
	}
	return nil
}

func (k *kubelet) AttachContainer(
	ctx context.Context, name, id, container string, in io.Reader, out, errors io.WriteCloser, tty bool,
	sizes <-chan remotecommand.TerminalSize,
) error {
	return k.ExecInContainer(ctx, name, id, container, nil, in, out, errors, tty, sizes, 0)
}
