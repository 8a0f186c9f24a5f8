package definitions

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
)

func (c *checker) conversion() {
	conversion := c.spec.in("conversion")
	if conversion == nil {
		return
	}
	strategy := conversion.text("strategy")
	if strategy != "None" && c.spec.flag("preserveUnknownFields") {
		c.invalid("spec.conversion.strategy", strategy, "must be None if spec.preserveUnknownFields is true")
	}
	switch strategy {
	case "":
		c.required("spec.conversion.strategy", "")
	case "None", "Webhook":
	default:
		c.unsupported("spec.conversion.strategy", strategy, "None", "Webhook")
	}
	const at = "spec.conversion.webhookClientConfig"
	hook := conversion.in("webhook")
	config, reviews := hook.in("clientConfig"), hook.texts("conversionReviewVersions")
	if strategy != "Webhook" {
		if config != nil {
			c.forbidden(at, "should not be set when strategy is not set to Webhook")
		}
		if len(reviews) > 0 {
			c.forbidden("spec.conversion.conversionReviewVersions", "should not be set when strategy is not set to Webhook")
		}
		return
	}
	if config == nil {
		c.required(at, "required when strategy is set to Webhook")
	} else {
		c.clientConfig(config, at)
	}
	c.reviewVersions(reviews, "spec.conversion.conversionReviewVersions")
}

func (c *checker) clientConfig(config view, at string) {
	switch {
	case config.has("url") == config.has("service"):
		c.required(at, "exactly one of url or service is required")
	case config.has("url"):
		c.url(config.text("url"), at+".url")
	default:
		c.service(config.in("service"), at+".service")
	}
	bundle := config.bytes("caBundle")
	if why := wrongBundle(bundle); why != "" && !c.laxBundle {
		c.invalid(at+".caBundle", jsontree.Of(bundle), why)
	}
}

func (c *checker) url(text, at string) {
	const form = "; desired format: https://host[/path]"
	u, err := url.Parse(text)
	if err != nil {
		c.required(at, "url must be a valid URL: "+err.Error()+form)
		return
	}
	if u.Scheme != "https" {
		c.invalid(at, u.Scheme, "'https' is the only allowed URL scheme"+form)
	}
	if u.Host == "" {
		c.invalid(at, u.Host, "host must be specified"+form)
	}
	if u.User != nil {
		c.invalid(at, u.User.String(), "user information is not permitted in the URL")
	}
	if u.Fragment != "" {
		c.invalid(at, u.Fragment, "fragments are not permitted in the URL")
	}
	if u.RawQuery != "" {
		c.invalid(at, u.RawQuery, "query parameters are not permitted in the URL")
	}
}

func (c *checker) service(service view, at string) {
	// The server takes the namespace for the name, and the name for the namespace.
	if service.text("namespace") == "" {
		c.required(at+".name", "")
	}
	if service.text("name") == "" {
		c.required(at+".namespace", "")
	}
	if port := service.number("port"); port < 1 || port > 65535 {
		c.invalid(at+".port", port, "port is not valid: must be between 1 and 65535, inclusive")
	}
	path := service.text("path")
	wrong := func(format string, args ...any) { c.invalid(at+".path", path, fmt.Sprintf(format, args...)) }
	switch path {
	case "", "/":
		return
	case "//":
		wrong("segment[0] may not be empty")
		return
	}
	if !strings.HasPrefix(path, "/") {
		wrong("must start with a '/'")
	}
	for i, segment := range strings.Split(strings.TrimSuffix(path[1:], "/"), "/") {
		if segment == "" {
			wrong("segment[%d] may not be empty", i)
			continue
		}
		for _, why := range wrongSubdomain(segment) {
			wrong("segment[%d]: %s", i, why)
		}
	}
}

func (c *checker) reviewVersions(versions []string, at string) {
	if len(versions) == 0 {
		c.required(at, "")
		return
	}
	for i, v := range versions {
		one := fmt.Sprintf("%s[%d]", at, i)
		if slices.Contains(versions[:i], v) {
			c.invalid(one, v, "duplicate version")
			continue
		}
		for _, why := range wrongLabel(v) {
			c.invalid(one, v, why)
		}
	}
	if !slices.Contains(versions, "v1") && !slices.Contains(versions, "v1beta1") {
		c.invalid(at, jsontree.Of(versions), "must include at least one of v1, v1beta1")
	}
}

// wrongBundle returns what is wrong with certificates in PEM, or "". An empty bundle is valid.
func wrongBundle(bundle []byte) string {
	if len(bundle) == 0 || x509.NewCertPool().AppendCertsFromPEM(bundle) {
		return ""
	}
	for len(bundle) > 0 {
		var block *pem.Block
		if block, bundle = pem.Decode(bundle); block == nil {
			return "unable to load root certificates: unable to parse bytes as PEM block"
		}
		if block.Type != "CERTIFICATE" || len(block.Headers) != 0 {
			continue
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return "unable to load root certificates: failed to parse certificate: " + err.Error()
		}
	}
	return "unable to load root certificates: no valid certificate authority data seen"
}
