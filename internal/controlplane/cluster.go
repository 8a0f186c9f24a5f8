package controlplane

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
)

// cluster stands for the network of pods, services and nodes. The API server reaches it through a proxy, as in a
// cluster whose control plane is in another network (KEP-1281). The proxy is this process, and the addresses behind it
// are listeners of the test. So a test may use any address, and only one socket is opened.
type cluster struct {
	dir     string // the directory of the socket
	server  *http.Server
	served  sync.WaitGroup
	stopped chan struct{}

	mu     sync.Mutex // guards listen
	listen map[string]*listener
}

const egress = `{
  "apiVersion": "apiserver.k8s.io/v1beta1",
  "kind": "EgressSelectorConfiguration",
  "egressSelections": [{
    "name": "cluster",
    "connection": {"proxyProtocol": "HTTPConnect", "transport": {"uds": {"udsName": %s}}}
  }]
}
`

const socketName = "cluster.sock"

// socketDir makes a directory for the socket: within dir, or in /tmp where its path would be longer than macOS allows.
func socketDir(dir string) (string, error) {
	const longest = 103 // without the zero at its end; Linux allows 107
	made, err := os.MkdirTemp(dir, "")
	if err != nil || len(filepath.Join(made, socketName)) <= longest {
		return made, err
	}
	return os.MkdirTemp("/tmp", "bowline-")
}

// startCluster starts the proxy, and returns the path of the file that tells the API server of it.
func (p *ControlPlane) startCluster() (string, error) {
	dir, err := socketDir(p.dir)
	if err != nil {
		return "", fmt.Errorf("start the cluster's network: %w", err)
	}
	socket, config := filepath.Join(dir, socketName), filepath.Join(p.dir, "egress.json")
	l, err := net.Listen("unix", socket)
	if err != nil {
		return "", errors.Join(fmt.Errorf("start the cluster's network: %w", err), os.RemoveAll(dir))
	}
	c := &cluster{dir: dir, stopped: make(chan struct{}), listen: map[string]*listener{}}
	c.server = &http.Server{Handler: http.HandlerFunc(c.connect)}
	c.served.Go(func() { _ = c.server.Serve(l) }) // ends with Close
	p.cluster = c
	quoted, err := json.Marshal(socket)
	if err != nil {
		return "", fmt.Errorf("start the cluster's network: %w", err)
	}
	if err := os.WriteFile(config, fmt.Appendf(nil, egress, quoted), 0o600); err != nil {
		return "", fmt.Errorf("start the cluster's network: %w", err)
	}
	return config, nil
}

// connect hands the connection of a CONNECT request to the listener of its address.
func (c *cluster) connect(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	l := c.listen[r.Host]
	c.mu.Unlock()
	if r.Method != http.MethodConnect || l == nil {
		http.Error(w, "nobody listens at "+r.Host, http.StatusBadGateway)
		return
	}
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if _, err := conn.Write([]byte("HTTP/1.1 200 OK\r\n\r\n")); err != nil {
		_ = conn.Close()
		return
	}
	select {
	case l.conns <- conn:
	case <-l.closed:
		_ = conn.Close()
	case <-c.stopped:
		_ = conn.Close()
	}
}

func (c *cluster) stop() error {
	close(c.stopped)
	err := c.server.Close()
	c.served.Wait()
	return errors.Join(err, os.RemoveAll(c.dir))
}

// Listen listens at an address of the cluster's network, such as "10.1.2.3:8080": the API server's connections to it
// arrive here. A proxied pod, service or node has such an address, and so has a webhook. The API server must be allowed
// to connect to the address, so it cannot be a loopback address. The API server cannot connect to an address that has
// no listener.
func (p *ControlPlane) Listen(address string) (net.Listener, error) {
	c := p.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.listen[address] != nil {
		return nil, fmt.Errorf("listen at %s: %w", address, errors.New("another listener has the address"))
	}
	l := &listener{cluster: c, address: address, conns: make(chan net.Conn), closed: make(chan struct{})}
	c.listen[address] = l
	return l, nil
}

// listener accepts the API server's connections to an address.
type listener struct {
	cluster *cluster
	address string
	conns   chan net.Conn
	once    sync.Once
	closed  chan struct{}
}

// Accept waits for a connection.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, &net.OpError{Op: "accept", Net: "tcp", Addr: l.Addr(), Err: net.ErrClosed}
	}
}

// Close ends Accept. Connections that were accepted stay.
func (l *listener) Close() error {
	l.once.Do(func() {
		close(l.closed)
		l.cluster.mu.Lock()
		delete(l.cluster.listen, l.address)
		l.cluster.mu.Unlock()
	})
	return nil
}

// Addr returns the address in the cluster.
func (l *listener) Addr() net.Addr { return address(l.address) }

type address string

func (address) Network() string  { return "tcp" }
func (a address) String() string { return string(a) }
