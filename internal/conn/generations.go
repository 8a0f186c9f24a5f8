package conn

import (
	"context"
	"crypto/x509"
	"errors"
	"math"
	"net"
	"net/http"
	"strings"
	"sync"

	apierrors "github.com/bowline-go/bowline/errors"
)

// generations sends requests over the connections of the identity in force. Requests read the files: the first request,
// then one every 30 s, and a request whose failure may mean that a certificate has changed. So New does no I/O, and no
// goroutine waits for the next read. If a file is bad, or is not read in time, the identity in force stays, and
// Options.Stale is told why. If none is in force, the request fails, and the next one reads again.
type generations struct {
	o      Options
	holder *holder

	files kept[identity] // the identity in the files, or in Options

	mu  sync.Mutex // guards the field now; taken before the lock of files
	now *generation
}

func newGenerations(o Options) (*generations, error) {
	if err := o.validateData(); err != nil {
		return nil, err
	}
	t := &generations{o: o}
	t.files.load, t.files.same, t.files.age = o.identity, identity.same, fileAge
	if !o.inFiles() {
		t.files.age = math.MaxInt64
	}
	return t, nil
}

// RoundTrip implements http.RoundTripper.
func (t *generations) RoundTrip(r *http.Request) (*http.Response, error) {
	changes := t.files.changes.Load()
	resp, err := t.send(r)
	if err == nil {
		return resp, nil
	}
	refused := aboutCertificates(err)
	if !refused && !t.mayBeRefusal(r.Context(), err) || !t.changedSince(r.Context(), changes) {
		return resp, err
	}
	// The certificates have changed. If the handshake failed, nothing was sent. If the connection only broke, the
	// server may have handled the request, so it is sent again only if it changes nothing.
	if !refused && !readsOnly(r) {
		return resp, err
	}
	again, ok := rewind(r)
	if !ok {
		return resp, err
	}
	return t.send(again)
}

func (t *generations) send(r *http.Request) (*http.Response, error) {
	g, err := t.begin(r.Context())
	if err != nil {
		CloseBody(r)
		return nil, err
	}
	return g.send(r)
}

// rewind returns a request to send again in place of r. It returns false if the body of r cannot be read again.
func rewind(r *http.Request) (*http.Request, bool) {
	if r.Body == nil || r.Body == http.NoBody {
		return r, true
	}
	if r.GetBody == nil {
		return nil, false
	}
	body, err := r.GetBody()
	if err != nil {
		return nil, false
	}
	again := *r
	again.Body = body
	return &again, true
}

// aboutCertificates reports whether a handshake failed because one side does not trust the other's certificate.
func aboutCertificates(err error) bool {
	return errors.As(err, new(x509.UnknownAuthorityError)) || refusesCertificate(err)
}

// refusesCertificate reports whether the server ended a handshake because of the client's certificate. An alert of
// another kind may end a connection after its requests have been handled.
func refusesCertificate(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	if !ok || op.Op != "remote error" {
		return false
	}
	alert := op.Err.Error() // the type of an alert is not exported
	return strings.Contains(alert, "certificate") || alert == "tls: handshake failure" || alert == "tls: access denied"
}

// mayBeRefusal reports whether a connection broke in a way in which a server that refuses the client's certificate may
// break it.
func (t *generations) mayBeRefusal(ctx context.Context, err error) bool {
	return t.o.certificateInFiles() && ctx.Err() == nil && isBroken(err)
}

// isBroken reports whether a connection broke. In TLS 1.3 the client's side of the handshake is over before the server
// has seen the client's certificate (RFC 8446, section 4.4). If the server then refuses the certificate and closes the
// connection, the client may get the error of its next write instead of the alert.
func isBroken(err error) bool {
	n := apierrors.NetworkOf(err)
	return n == apierrors.NetworkReset || n == apierrors.NetworkClosed
}

// readsOnly reports whether a request changes nothing. An upgrade is a GET, but it may start an action.
func readsOnly(r *http.Request) bool { return Reads(r.Method) && r.Header.Get("Upgrade") == "" }

// Reads reports whether a request of a method changes nothing.
func Reads(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

// CloseIdleConnections closes the connections that no request uses, and makes the next request read the files again.
func (t *generations) CloseIdleConnections() {
	t.files.expire()
	t.mu.Lock()
	g := t.now
	t.now = nil
	t.mu.Unlock()
	if g != nil {
		g.retire()
	}
}

// begin returns the generation for a request, and counts the request there.
func (t *generations) begin(ctx context.Context) (*generation, error) {
	var l *lease
	if c := t.o.Credentials; c != nil {
		var err error
		if l, err = c.lease(ctx, t.holder); err != nil {
			return nil, err
		}
	}
	if err := t.look(ctx); err != nil {
		return nil, err
	}
	if cert := t.files.last().cert; cert != nil && l == nil {
		if leaf, err := leafOf(cert); err == nil {
			t.holder.reportEnd(ctx, "the client certificate", leaf.NotAfter)
		}
	}
	g, old, err := t.choose(l)
	if old != nil {
		old.retire()
	}
	return g, err
}

// choose returns the generation for a request with the lease. If the generation is new, old is the one that it
// replaces. The caller has read the files.
func (t *generations) choose(l *lease) (g, old *generation, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	want := t.files.last() // under mu, so that no request brings back an identity that another has replaced
	if l != nil {
		want.cert = l.Certificate
	}
	if t.now == nil || !t.now.same(want) {
		next, err := newGeneration(t.o, want)
		if err != nil {
			return nil, nil, err
		}
		t.now, old = next, t.now
	}
	t.now.begin()
	return t.now, old, nil
}

// look reads the files if they are due. A bad file is an error only if there is no earlier identity to use.
func (t *generations) look(ctx context.Context) error {
	_, stale, err := t.files.get(ctx)
	if stale != nil {
		t.holder.tell(ctx, stale)
	}
	return err
}

// changedSince reads the files again, and reports whether they have changed since the caller read t.files.changes.
// changes is the number that it read.
func (t *generations) changedSince(ctx context.Context, changes int64) bool {
	if !t.o.inFiles() {
		return false
	}
	t.files.expire()
	_ = t.look(ctx) // an error means that no identity was ever read, so none has changed
	return t.files.changes.Load() != changes
}

// CloseBody closes the body of a request that is not sent, as every RoundTripper must.
func CloseBody(r *http.Request) {
	if r.Body != nil {
		_ = r.Body.Close()
	}
}
