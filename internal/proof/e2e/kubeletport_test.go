package e2e

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"k8s.io/cri-streaming/pkg/streaming/portforward"
)

// servePort answers /portForward/NAMESPACE/POD. A port of a pod is the port of this machine's loopback address.
func (k *kubelet) servePort(w http.ResponseWriter, r *http.Request, pod string) {
	o, err := portforward.NewV4Options(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	portforward.ServePortForward(w, r, k, pod, "", o, time.Hour, 30*time.Second, portforward.SupportedProtocols)
}

// PortForward carries a connection as a container runtime does: once one direction has ended, the other one has a second.
func (k *kubelet) PortForward(ctx context.Context, _, _ string, port int32, stream io.ReadWriteCloser) error {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port))))
	if err != nil {
		return fmt.Errorf("failed to connect to localhost:%d inside namespace: %w", port, err)
	}
	defer c.Close()
	ended := make(chan error, 2)
	go func() {
		_, err := io.Copy(stream, c)
		ended <- err
	}()
	go func() {
		_, err := io.Copy(c, stream)
		ended <- err
	}()
	err = <-ended
	select {
	case <-ended:
	case <-time.After(time.Second):
	}
	return err
}
