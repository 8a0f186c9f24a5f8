package client

import "slices"

// Anonymous returns a configuration for the same server, by the same way, that says nothing of who the client is: without
// tokens, password, client certificate, Credentials, Impersonate, and Wrap, which might add any of them. Whom to trust, the
// proxy and its password, Dial, limits, hooks and the logger stay. It is for asking what anybody may ask, and for requests
// with credentials of their own, such as a token to be checked.
func (c Config) Anonymous() Config {
	c.BearerToken, c.BearerTokenFile = "", ""
	c.Username, c.Password = "", ""
	c.Credentials = nil
	c.Impersonate = nil
	c.Wrap = nil
	c.TLS.CertFile, c.TLS.CertData = "", nil
	c.TLS.KeyFile, c.TLS.KeyData = "", nil
	c.TLS.CAData = slices.Clone(c.TLS.CAData)
	return c
}
