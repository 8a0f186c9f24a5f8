package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	internalconn "github.com/bowline-go/bowline/internal/conn"
)

// Target is a destination of connections: a port of a pod, or of the pods that a Service or a label selector selects.
// Make it with [ToPod], [ToService] or [ToSelector]. Each dial chooses one pod: the pod of the previous connection if
// it is still ready, or else the newest ready pod. Existing connections stay with their pod.
//
// A Target reads the pods from the server at most once a second, and all dials within that second use the result, even
// an error. If a dial fails because of its pod, which may just have gone, the Target reads the pods again and tries
// other pods. A dial tries at most three pods.
//
// DialContext fits wherever a dial function is expected:
//
//	transport := &http.Transport{DialContext: remote.ToService(pods, services, key, "http").DialContext}
//
// A Target may be used by several goroutines at once. It holds no connection and no goroutine.
type Target struct {
	name   string // for errors and logs
	dialer portDialer
	pods   client.Resource[*meta.Raw]
	refuse error // why it cannot be used
	// look returns the usable pods, the best one first. It returns at least one pod or an error.
	look func(ctx context.Context) ([]addr, error)
	none func(err error) error // wraps the reason why there is no pod to dial

	turn   chan struct{} // a semaphore for one goroutine, which may call look and use the fields below
	known  []addr        // the result of the last look
	failed error         // of the last look
	until  time.Time     // when the result expires; zero if it has expired
	last   meta.Key      // the pod that was chosen last
}

const (
	// targetKnows is how long a Target uses the result of a look.
	targetKnows = time.Second
	// maxDials bounds how many pods a dial tries.
	maxDials = 3
)

// ToPod returns a Target for a port of one pod, ready or not. pods is a handle on core v1 pods, of any T. port is a
// number, or the name of a port of one of the pod's containers.
//
// The client needs the permissions get and create on pods/portforward (servers before Kubernetes 1.35 require only
// get), and get on pods if port is a name.
func ToPod[T meta.Object](pods client.Resource[T], key meta.Key, port string) *Target {
	t := newTarget(pods, fmt.Sprintf("pod %s, port %s", key, port))
	number, named := t.port("remote.ToPod", port)
	t.none = func(err error) error { return t.dialer.fail(key, err) }
	t.look = func(ctx context.Context) ([]addr, error) {
		if !named {
			return []addr{{key, number}}, nil
		}
		obj, err := t.pods.Get(ctx, key)
		if err != nil {
			return nil, err
		}
		var p podWithPorts
		if err := readRaw(obj, &p); err != nil {
			return nil, err
		}
		found, ok := p.portNamed(port)
		if !ok {
			return nil, fmt.Errorf("the pod has no TCP port named %q; its TCP ports: %s", port, listPorts(p.tcpPorts()))
		}
		return []addr{{key, found}}, nil
	}
	return t
}

// ToSelector returns a Target for a port of the ready pods that a label selector, such as "app=web", selects in a
// namespace. pods is a handle on core v1 pods, of any T. port is a number, or the name of a port of one of the pod's
// containers.
//
// The client needs the permissions list on pods, and get and create on pods/portforward (servers before Kubernetes 1.35
// require only get).
func ToSelector[T meta.Object](pods client.Resource[T], namespace, selector, port string) *Target {
	t := newTarget(pods, fmt.Sprintf("pods %q in %s, port %s", selector, namespace, port))
	number, named := t.port("remote.ToSelector", port)
	switch {
	case t.refuse != nil:
	case namespace == "":
		t.refuse = errors.New("remote.ToSelector: namespace must not be empty")
	case strings.TrimSpace(selector) == "":
		t.refuse = errors.New("remote.ToSelector: selector must not be empty")
	}
	t.none = func(err error) error { return t.dialer.fail(meta.Key{Namespace: namespace}, err) }
	t.look = func(ctx context.Context) ([]addr, error) {
		return t.list(ctx, portChoice{namespace: namespace, selector: selector, number: number, named: named, port: port})
	}
	return t
}

// ToService returns a Target for a port of a Service, on the ready pods that the Service selects. Connections go
// directly to a pod and not through the Service's address or the cluster's proxy. pods and services are handles on core
// v1 pods and services, of any T. port is the number or the name of a port of the Service; the connection goes to its
// targetPort. If the Service has publishNotReadyAddresses, its pods need not be ready. A Service without a selector,
// such as one of type ExternalName, is an error, because it selects no pods.
//
// The client needs the permissions get on services, list on pods, and get and create on pods/portforward (servers
// before Kubernetes 1.35 require only get).
func ToService[P, S meta.Object](pods client.Resource[P], services client.Resource[S], key meta.Key, port string) *Target {
	t := newTarget(pods, fmt.Sprintf("service %s, port %s", key, port))
	if t.refuse == nil {
		t.refuse = checkHandle(services, "services")
	}
	t.port("remote.ToService", port)
	t.none = func(err error) error { return failed("connect", services.GVR(), "", key, err) }
	t.look = func(ctx context.Context) ([]addr, error) {
		obj, err := client.Retype[*meta.Raw](services).Get(ctx, key)
		if err != nil {
			return nil, err
		}
		c, err := chosenBy(obj, port)
		if err != nil {
			return nil, err
		}
		c.namespace = cmp.Or(key.Namespace, obj.GetNamespace())
		return t.list(ctx, c)
	}
	return t
}

func newTarget[T meta.Object](pods client.Resource[T], name string) *Target {
	t := &Target{name: name, dialer: dialerOf(pods), pods: client.Retype[*meta.Raw](pods), turn: make(chan struct{}, 1)}
	t.refuse = t.dialer.refuse
	return t
}

// port parses a port number, or reports that text is a name. An invalid text sets t.refuse.
func (t *Target) port(caller, text string) (number int, named bool) {
	number, err := strconv.Atoi(text)
	switch {
	case t.refuse != nil:
	case err != nil && text != "" && !strings.ContainsAny(text, " /:+"):
		return 0, true
	case err != nil || number < 1 || number > 65535:
		t.refuse = fmt.Errorf("%s: port must be a number from 1 to 65535 or the name of a port, got %q", caller, text)
	}
	return number, false
}

// String names the target, as in "service default/web, port http".
func (t *Target) String() string { return t.name }

// Dial connects to a port of a pod. The process must listen on the pod's loopback address or on all addresses. If there
// is no usable pod, the error says why. As with a net.Dialer, the end of ctx does not affect an established connection.
//
// Dial returns once the pod's node has accepted the request, which is before the node connects to the port. So if the
// port refuses connections, the first Read or Write returns a [*PortError]. Read returns io.EOF after a clean end of
// the pod's side. Errors of the server and the network are *client.OpErrors; a PortError is wrapped in one. Errors of
// this end, such as os.ErrDeadlineExceeded and net.ErrClosed, are wrapped in a *net.OpError, as in package net.
//
// A passed deadline does not break the connection: after a new deadline is set, the call can be repeated. Write returns
// when its bytes are in the send buffer; the connection buffers up to 256 KiB in each direction. Close waits up to 5 s
// until the buffered bytes have been sent and the server has ended the connection, but does not wait if the write
// deadline has passed. If written bytes were not sent, Close returns an error: os.ErrDeadlineExceeded if the 5 s or the
// write deadline were too short, or else the reason why the connection ended. As with TCP, bytes that were sent may
// still be lost on their way to the pod. After Close, calls fail with net.ErrClosed, including a second Close.
//
// The protocol cannot close one direction alone, so the connection has no CloseWrite, and Close ends both directions.
// Its addresses name the pod and the port, as in "default/web:8080". A kubelet with the default
// streamingConnectionIdleTimeout closes a connection after four idle hours.
func (t *Target) Dial(ctx context.Context) (net.Conn, error) {
	c, err := t.dial(ctx)
	if err != nil {
		return nil, err // not a nil *portConn in a non-nil net.Conn
	}
	return c, nil
}

// DialContext is [Target.Dial] with the parameters of net.Dialer.DialContext. network must be tcp, tcp4 or tcp6. The
// address is ignored.
func (t *Target) DialContext(ctx context.Context, network, _ string) (net.Conn, error) {
	switch network {
	case "tcp", "tcp4", "tcp6":
		return t.Dial(ctx)
	}
	return nil, usage(fmt.Errorf("remote.Target.DialContext: network must be tcp, tcp4 or tcp6, got %q", network))
}

func (t *Target) dial(ctx context.Context) (*portConn, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	var tried []meta.Key
	var failed error // the error of the last try
	for {
		to, err := t.choose(ctx, tried)
		switch {
		case failed != nil && (err != nil || slices.Contains(tried, to.Pod)):
			return nil, failed
		case err != nil:
			return nil, t.none(err)
		}
		c, err := t.dialer.dial(ctx, to)
		if err == nil || !mayBeThePod(err) || len(tried)+1 == maxDials {
			return c, err
		}
		tried, failed = append(tried, to.Pod), err
	}
}

// usable returns why the target can never be used.
func (t *Target) usable() error {
	if t == nil || t.look == nil {
		return usage(errors.New("remote.Target: make it with ToPod, ToService or ToSelector"))
	}
	if t.refuse != nil {
		return t.none(usage(t.refuse))
	}
	return nil
}

// choose returns the pod to connect to. It returns a pod that was already tried only if there is no other. After a
// failed try, it calls look again.
func (t *Target) choose(ctx context.Context, tried []meta.Key) (addr, error) {
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-ctx.Done():
		return addr{}, internalconn.ContextError(ctx)
	}
	if len(tried) > 0 && slices.Contains(tried, t.last) {
		t.until = time.Time{}
	}
	if !time.Now().Before(t.until) {
		known, err := t.look(ctx)
		if ctx.Err() != nil {
			return addr{}, internalconn.ContextError(ctx)
		}
		t.known, t.failed, t.until = known, err, time.Now().Add(targetKnows)
	}
	if t.failed != nil {
		return addr{}, t.failed
	}
	best := t.known[0]
	for _, a := range t.known {
		switch {
		case slices.Contains(tried, a.Pod):
		case a.Pod == t.last || slices.Contains(tried, best.Pod):
			best = a
		}
	}
	t.last = best.Pod
	return best, nil
}

// mayBeThePod reports whether a dial to another pod may succeed.
func mayBeThePod(err error) bool {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok {
		return false
	}
	switch code := status.Status.Code; code {
	case http.StatusNotFound, http.StatusBadRequest, http.StatusConflict, http.StatusGone:
		return true
	default:
		return code >= http.StatusInternalServerError
	}
}

// list returns the usable pods of a portChoice, the newest first.
func (t *Target) list(ctx context.Context, c portChoice) ([]addr, error) {
	var found []portCandidate
	var seen podCount
	for obj, err := range t.pods.All(ctx, client.ListOptions{Namespace: c.namespace, LabelSelector: c.selector}) {
		if err != nil {
			return nil, err
		}
		var p podWithPorts
		if err := readRaw(obj, &p); err != nil {
			return nil, err
		}
		if a, ok := c.take(&p, &seen); ok {
			found = append(found, a)
		}
	}
	if len(found) == 0 {
		return nil, c.none(seen)
	}
	slices.SortFunc(found, portCandidate.compare)
	addrs := make([]addr, len(found))
	for i, f := range found {
		addrs[i] = f.addr
	}
	return addrs, nil
}
