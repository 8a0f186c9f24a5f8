package conn

import (
	"context"
	"encoding/base64"
	"errors"
	"maps"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

// Transport adds to each request the client's credential and the user that the client acts for. It does so only for
// the configured server. A request that is refused (401) is sent once more if there is another credential by then.
type Transport struct {
	next        http.RoundTripper // what Options.Wrap returned, or generations
	server      *url.URL
	source      source
	act         http.Header // Options.Impersonate
	holder      *holder
	generations *generations // below Options.Wrap; knows the certificates
}

// New returns a transport. It does no I/O. It returns an error if the certificates or keys in o cannot be used, or if
// Options.Wrap returns nil.
func New(o Options) (*Transport, error) {
	g, err := newGenerations(o)
	if err != nil {
		return nil, err
	}
	t := &Transport{
		next: g, server: o.Server, source: newSource(o), act: o.Impersonate, holder: &holder{stale: o.Stale}, generations: g,
	}
	g.holder = t.holder
	if o.Wrap != nil {
		if t.next = o.Wrap(g); t.next == nil {
			return nil, errors.New("client.Config: Wrap returned nil")
		}
	}
	return t, nil
}

// holder represents one client.
type holder struct {
	stale func(context.Context, error)

	mu   sync.Mutex           // guards told
	told map[string]time.Time // when reportEnd last reported the end of a credential, by its name
}

// tell reports why a file or a credential could not be renewed.
func (h *holder) tell(ctx context.Context, err error) {
	if h != nil && h.stale != nil {
		h.stale(ctx, err)
	}
}

// reportEnd reports, at most once in two minutes, that a credential in use has expired by the clock of this machine.
// what names the credential. A zero end means that the time is not known.
func (h *holder) reportEnd(ctx context.Context, what string, end time.Time) {
	now := time.Now()
	if h == nil || end.IsZero() || now.Before(end) {
		return
	}
	h.mu.Lock()
	told := fresh(h.told[what], now, maxRefreshPause)
	if !told {
		if h.told == nil {
			h.told = make(map[string]time.Time)
		}
		h.told[what] = now
	}
	h.mu.Unlock()
	if !told {
		h.tell(ctx, &endedError{what, end, now})
	}
}

// source provides the value of the header Authorization.
type source interface {
	// get returns the credential to send now.
	get(ctx context.Context, h *holder) (issued, error)
	// renew returns the credential to send after the server has refused one. The error says why there is no new one.
	renew(ctx context.Context, h *holder, refused issued) (issued, error)
	// state describes the credential that is sent now.
	state() State
}

// issued is one credential, as it goes into a request.
type issued struct {
	header string // the value of Authorization; empty sends none
	lease  *lease // the lease that has the credential; nil if the source is not Credentials
}

// fixed is the source of a credential that never changes.
type fixed struct {
	header string
	end    time.Time // when the credential ends; see tokenEnd
}

func (f fixed) get(ctx context.Context, h *holder) (issued, error) {
	h.reportEnd(ctx, "the token", f.end)
	return issued{header: f.header}, nil
}

func (f fixed) renew(_ context.Context, _ *holder, refused issued) (issued, error) {
	return refused, nil
}

// newSource returns the source that o asks for.
func newSource(o Options) source {
	switch {
	case o.Credentials != nil:
		return o.Credentials
	case o.TokenFile != "":
		return newTokenFile(o.TokenFile)
	case o.Token != "":
		return fixed{"Bearer " + string(o.Token), tokenEnd(string(o.Token))}
	case o.Username != "":
		return fixed{header: "Basic " + base64.StdEncoding.EncodeToString([]byte(o.Username+":"+string(o.Password)))}
	}
	return fixed{}
}

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if !sameOrigin(r.URL, t.server) {
		return t.next.RoundTrip(withoutImpersonation(r))
	}
	if r.Header.Get("Authorization") != "" { // the sender of r handles a refusal
		return t.send(r, "")
	}
	ctx := r.Context()
	used, err := t.source.get(ctx, t.holder)
	if err != nil {
		CloseBody(r)
		return nil, err
	}
	changes := t.generations.files.changes.Load()
	sent, isNew := r, (*atomic.Bool)(nil)
	if used.lease != nil && used.lease.Certificate != nil {
		isNew = new(atomic.Bool)
		sent = r.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
			GotConn: func(i httptrace.GotConnInfo) { isNew.Store(!i.Reused) },
		}))
	}
	resp, err := t.send(sent, used.header)
	if resp != nil {
		resp.Request = r
	}
	certain := false // the server has done nothing, so any verb can be sent again
	switch {
	case err == nil && (resp.StatusCode != http.StatusUnauthorized || CallOf(ctx).Proxied):
		return resp, nil
	case err == nil:
		certain = true
	case isNew == nil || ctx.Err() != nil:
		return resp, err
	case refusesCertificate(err):
		certain = true
	case !isNew.Load() || !isBroken(err): // otherwise the server may have refused the certificate: see isBroken
		return resp, err
	}
	next, gone := t.source.renew(ctx, t.holder, used)
	if gone != nil {
		next = used
	}
	changed := t.generations.changedSince(ctx, changes)
	switch {
	case ctx.Err() != nil || !certain && !readsOnly(r):
		return resp, err
	case gone != nil && certain && !changed:
		if resp != nil {
			_ = resp.Body.Close()
		}
		return nil, gone
	case next == used && !changed:
		return resp, err
	}
	again, ok := rewind(r)
	if !ok {
		return resp, err
	}
	if resp != nil {
		_ = resp.Body.Close()
	}
	return t.send(again, next.header)
}

// send sends a copy of r. The request in the answer is r itself, which has no credential in it.
func (t *Transport) send(r *http.Request, authorization string) (*http.Response, error) {
	act := t.act
	if h := CallOf(r.Context()).Impersonate; h != nil {
		act = h
	}
	out := withoutImpersonation(r)
	if out == r {
		if authorization == "" && len(act) == 0 {
			return t.next.RoundTrip(r)
		}
		out = r.Clone(r.Context())
	}
	maps.Copy(out.Header, act)
	if authorization != "" {
		out.Header.Set("Authorization", authorization)
	}
	resp, err := t.next.RoundTrip(out)
	if resp != nil {
		resp.Request = r
	}
	return resp, err
}

// CloseIdleConnections closes the idle connections, including those of a RoundTripper from Options.Wrap, and makes the
// next request read the files again.
func (t *Transport) CloseIdleConnections() {
	if c, ok := t.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
	t.generations.CloseIdleConnections() // the RoundTripper of Options.Wrap may not pass the call on
}

// Close ends a fetch that runs for this transport only, and then closes idle connections as CloseIdleConnections does.
// The transport stays usable.
func (t *Transport) Close() {
	if c, ok := t.source.(*Credentials); ok {
		c.leave(t.holder)
	}
	t.CloseIdleConnections()
}

// Authorities returns the PEM certificates of the authorities that vouch for the server; nil means the system's. It
// reads the files if they are due. The error says why they cannot be used.
func (t *Transport) Authorities(ctx context.Context) ([]byte, error) {
	if err := t.generations.look(ctx); err != nil {
		return nil, err
	}
	return t.generations.files.last().ca, nil
}

// OpenWith makes t open its files with a function. A test passes one that behaves like a file system that does not
// answer. Call OpenWith before t is used.
func (t *Transport) OpenWith(open func(name string) ([]byte, error)) {
	t.generations.files.open = open
	if f, ok := t.source.(*tokenFile); ok {
		f.header.open = open
	}
}
