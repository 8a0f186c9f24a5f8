package debug

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
)

// This file decides who may see the page, and what a browser may do with it.

// secure sets the headers of every answer. The page may load only its own style sheet and script, and only its own
// script may read it. Caches must not keep it.
func secure(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; "+
		"form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	h.Set("Vary", "Accept")
}

// admits returns nil if the request may be answered, and otherwise why not.
func (p *Page) admits(r *http.Request) error {
	if err := p.admitsHost(r); err != nil {
		return err
	}
	// A browser says where a request comes from. Other sites may only link to the page. They could not read an answer,
	// but a stream would occupy a place.
	site, mode := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Sec-Fetch-Mode")
	if (site == "cross-site" || site == "same-site") && mode != "navigate" {
		return fmt.Errorf("the request comes from another site (Sec-Fetch-Site: %s)", site)
	}
	if p.o.Allow == nil {
		return nil
	}
	return p.o.Allow(r)
}

func (p *Page) admitsHost(r *http.Request) error {
	host := hostOf(r.Host)
	if len(p.o.Hosts) > 0 {
		if slices.Contains(p.o.Hosts, host) {
			return nil
		}
		return fmt.Errorf("the host %q is not in debug.Options.Hosts", host)
	}
	if !isLoopback(r) || host == "localhost" || strings.HasSuffix(host, ".localhost") || net.ParseIP(host) != nil {
		return nil
	}
	return fmt.Errorf("the host %q is not localhost, and not in debug.Options.Hosts", host)
}

// hostOf returns a host without its port, in lower case.
func hostOf(s string) string {
	if host, _, err := net.SplitHostPort(s); err == nil {
		s = host
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(s, "[]"), "."))
}

// isLoopback reports whether the server got the request over the loopback interface.
func isLoopback(r *http.Request) bool {
	address, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	host, _, err := net.SplitHostPort(address.String())
	return err == nil && net.ParseIP(host).IsLoopback()
}
