package admission

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/status"
)

// Caller calls webhooks over HTTPS.
type Caller struct {
	// Dial connects to the host and port of a service, such as hooks.system.svc:443.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// CA returns the certificate, in PEM, that the certificate of a service, such as hooks.system.svc, is verified with if
	// the configuration has no caBundle. Nil means the roots of the system.
	CA func(host string) []byte
}

// Ask asks a webhook. The error is a *Failed if the call failed, and a *status.Error if the webhook, or the rule of dry
// runs, refuses the write.
func (c *Caller) Ask(ctx context.Context, h *Hook, r *Request, mutating bool) (*Answer, error) {
	if r.DryRun && h.SideEffects != "None" && h.SideEffects != "NoneOnDryRun" {
		return nil, status.BadRequest("admission webhook %q does not support dry run", h.Name)
	}
	body, version, err := h.review(r)
	if err != nil {
		return nil, &Failed{h.Name, fmt.Errorf("could not create admission objects: %w", err)}
	}
	text, err := c.Post(ctx, h.Client, time.Duration(h.TimeoutSeconds)*time.Second, body)
	if err != nil {
		return nil, &Failed{h.Name, fmt.Errorf("failed to call webhook: %w", err)}
	}
	a, err := r.read(text, version, mutating)
	if err == nil && !json.Valid(a.Patch) && len(a.Patch) > 0 {
		err = fmt.Errorf("received undecodable patch in webhook response: %w", json.Unmarshal(a.Patch, &[]any{}))
	}
	if err != nil {
		return nil, &Failed{h.Name, err}
	}
	if !a.Allowed {
		err = h.refusal(a.Status)
	}
	return a, err
}

// Post posts a body to a webhook, and returns the body of the answer.
func (c *Caller) Post(ctx context.Context, to Client, timeout time.Duration, body []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	dial, address := (&net.Dialer{}).DialContext, to.URL
	trusted := to.CABundle
	if s := to.Service; s != nil {
		config.ServerName = s.Name + "." + s.Namespace + ".svc"
		address = (&url.URL{Scheme: "https", Host: net.JoinHostPort(config.ServerName, strconv.Itoa(s.Port)), Path: s.Path}).String()
		if dial = c.Dial; len(trusted) == 0 {
			trusted = c.CA(config.ServerName)
		}
	}
	if len(trusted) > 0 {
		config.RootCAs = x509.NewCertPool()
		config.RootCAs.AppendCertsFromPEM(trusted)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	query := req.URL.Query()
	query.Set("timeout", timeout.String())
	req.URL.RawQuery = query.Encode()
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, */*")
	req.Header.Set("User-Agent", "kube-apiserver-admission")
	transport := &http.Transport{DialContext: dial, TLSClientConfig: config, DisableKeepAlives: true}
	resp, err := (&http.Client{Transport: transport}).Do(req) // follows redirects, as a real server does
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > maxAnswer:
		return nil, fmt.Errorf("the answer is longer than %d bytes", maxAnswer)
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		return nil, answered(resp, text)
	}
	return text, nil
}

// maxAnswer is the maximum size of an answer.
const maxAnswer = 16 << 20

// answered returns the error for an answer with another code than 2xx, in the words of a real server.
func answered(resp *http.Response, body []byte) error {
	said := "unknown"
	if media, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type")); err == nil && strings.HasPrefix(media, "text/") {
		said = strings.TrimSpace(string(body))
	}
	switch code := resp.StatusCode; code {
	case http.StatusBadRequest:
		return errors.New("the server rejected our request for an unknown reason")
	case http.StatusUnauthorized:
		return errors.New("the server has asked for the client to provide credentials")
	case http.StatusForbidden, http.StatusUnsupportedMediaType:
		return errors.New(said)
	case http.StatusNotFound:
		return errors.New("the server could not find the requested resource")
	case http.StatusMethodNotAllowed:
		return errors.New("the server does not allow this method on the requested resource")
	case http.StatusNotAcceptable:
		if said == "" || said == "unknown" {
			said = "the server was unable to respond with a content type that the client supports"
		}
		return errors.New(said)
	case http.StatusConflict:
		return errors.New("the server reported a conflict")
	case http.StatusUnprocessableEntity:
		return errors.New("the server rejected our request due to an error in our request")
	case http.StatusTooManyRequests:
		return errors.New("the server has received too many requests and has asked us to try again later")
	case http.StatusServiceUnavailable:
		return errors.New("the server is currently unable to handle the request")
	case http.StatusGatewayTimeout:
		return errors.New("the server was unable to return a response in the time allotted, but may still be processing the request")
	default:
		if code >= http.StatusInternalServerError {
			return fmt.Errorf("an error on the server (%q) has prevented the request from succeeding", said)
		}
		return fmt.Errorf("the server responded with the status code %d but did not return more information", code)
	}
}
