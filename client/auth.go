package client

import (
	"context"
	"encoding/base64"
	"maps"
	"net/http"
	"net/url"
	"strings"
)

// authorizer puts on each request who the client is and for whom it acts. It does so for the configured server, and for no
// other. A request that is refused (401) is sent once more if there is another credential by then.
type authorizer struct {
	next      http.RoundTripper
	server    *url.URL
	source    source
	act       http.Header // Config.Impersonate
	holder    *holder
	transport *transport // which knows the certificates
}

// source is where the value of the header Authorization comes from.
type source interface {
	// get returns what to send now.
	get(ctx context.Context, h *holder) (issued, error)
	// renew returns what to send after the server has refused what it was sent. The error is why there is nothing new.
	renew(ctx context.Context, h *holder, refused issued) (issued, error)
}

// issued is one credential, as it goes into a request.
type issued struct {
	header string // the value of Authorization; empty sends none
	lease  *lease // what it was taken from; nil for what no Credentials gave
}

// fixed is the source of what never changes.
type fixed string

func (f fixed) get(context.Context, *holder) (issued, error) { return issued{header: string(f)}, nil }

func (f fixed) renew(_ context.Context, _ *holder, refused issued) (issued, error) {
	return refused, nil
}

// newSource returns the source that cfg asks for. cfg is valid.
func newSource(cfg Config) source {
	switch {
	case cfg.Credentials != nil:
		return cfg.Credentials.state
	case cfg.BearerTokenFile != "":
		return newTokenFile(cfg.BearerTokenFile)
	case cfg.BearerToken != "":
		return fixed("Bearer " + cfg.BearerToken)
	case cfg.Username != "":
		return fixed("Basic " + base64.StdEncoding.EncodeToString([]byte(cfg.Username+":"+cfg.Password)))
	}
	return fixed("")
}

// proxied is the key of the context of requests that the server passes on to something else. A 401 may be the answer of
// that, and so says nothing about the client's credential.
type proxied struct{}

// RoundTrip implements http.RoundTripper.
func (a *authorizer) RoundTrip(r *http.Request) (*http.Response, error) {
	if !sameOrigin(r.URL, a.server) {
		return a.next.RoundTrip(withoutImpersonation(r))
	}
	if r.Header.Get("Authorization") != "" { // whoever sends that knows what to do about a refusal
		return a.send(r, "")
	}
	ctx := r.Context()
	used, err := a.source.get(ctx, a.holder)
	if err != nil {
		closeBody(r)
		return nil, err
	}
	changes := a.transport.files.changes.Load()
	resp, err := a.send(r, used.header)
	if err != nil || resp.StatusCode != http.StatusUnauthorized || ctx.Value(proxied{}) != nil {
		return resp, err
	}
	// 401 means that the server has done nothing, so that any verb can be sent again.
	next, err := a.source.renew(ctx, a.holder, used)
	if err != nil {
		next = used
	}
	if changed := a.transport.changedSince(ctx, changes); next == used && !changed || ctx.Err() != nil {
		return resp, nil
	}
	again, ok := rewind(r)
	if !ok {
		return resp, nil
	}
	_ = resp.Body.Close()
	return a.send(again, next.header)
}

// send sends a copy of r. The answer names r as its request, which has no credential in it.
func (a *authorizer) send(r *http.Request, authorization string) (*http.Response, error) {
	act := a.act
	if h, ok := r.Context().Value(acting{}).(http.Header); ok {
		act = h
	}
	out := withoutImpersonation(r)
	if out == r {
		if authorization == "" && len(act) == 0 {
			return a.next.RoundTrip(r)
		}
		out = r.Clone(r.Context())
	}
	maps.Copy(out.Header, act)
	if authorization != "" {
		out.Header.Set("Authorization", authorization)
	}
	resp, err := a.next.RoundTrip(out)
	if resp != nil {
		resp.Request = r
	}
	return resp, err
}

// CloseIdleConnections lets http.Client reach what is below.
func (a *authorizer) CloseIdleConnections() {
	if c, ok := a.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// close ends what runs for this client only.
func (a *authorizer) close() {
	if c, ok := a.source.(*credentials); ok {
		c.leave(a.holder)
	}
}

// hasControl reports whether s has a space or a control character in it, which no token has.
func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f })
}

// breaksHeader reports whether s cannot be a part of a header's value.
func breaksHeader(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}
