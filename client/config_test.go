package client_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
)

var someCredentials = client.NewCredentials(func(context.Context) (client.Credential, error) {
	return client.Credential{Token: "t"}, nil
})

func TestEveryReasonWhyAConfigCannotBeUsedIsNamed(t *testing.T) {
	const ok = "https://10.0.0.1:6443"
	for _, test := range []struct {
		name string
		cfg  client.Config
		want []string // empty: it can be used
	}{
		{"an address with a port", client.Config{Server: ok}, nil},
		{"an IPv6 address", client.Config{Server: "https://[::1]:6443"}, nil},
		{"plain http and a path", client.Config{Server: "http://localhost/clusters/a/"}, nil},
		{"an upper-case scheme", client.Config{Server: "HTTPS://localhost"}, nil},
		{
			"everything that may stand together",
			client.Config{
				Server: ok, BearerToken: "t", BearerTokenFile: "/f", UserAgent: "me/1 (a; b)",
				TLS: client.TLS{CAFile: "/ca", CertFile: "/c", KeyFile: "/k", ServerName: "n"},
			},
			nil,
		},

		{"nothing", client.Config{}, []string{"client.Config: Server is empty"}},
		{
			"no scheme",
			client.Config{Server: "10.0.0.1:6443"},
			[]string{`Server must be an absolute http or https URL, got "10.0.0.1:6443"`},
		},
		{"only a scheme and a word", client.Config{Server: "foo:bar"}, []string{`http or https URL, got "foo:bar"`}},
		{"another scheme", client.Config{Server: "ftp://h"}, []string{`got "ftp://h"`}},
		{"no host", client.Config{Server: "https:///a"}, []string{"absolute http or https URL"}},
		{"a port without a host", client.Config{Server: "https://:6443"}, []string{"absolute http or https URL"}},
		{"a query", client.Config{Server: ok + "?a=b"}, []string{"no user, query or fragment"}},
		{"a fragment", client.Config{Server: ok + "#a"}, []string{"no user, query or fragment"}},
		{"a user", client.Config{Server: "https://u@h"}, []string{"no user, query or fragment"}},
		{
			"no check of the server and a CA file",
			client.Config{Server: ok, TLS: client.TLS{Insecure: true, CAFile: "f"}},
			[]string{"TLS.Insecure excludes"},
		},
		{
			"no check of the server and CA data",
			client.Config{Server: ok, TLS: client.TLS{Insecure: true, CAData: "x"}},
			[]string{"TLS.Insecure excludes"},
		},
		{"a certificate without a key", client.Config{Server: ok, TLS: client.TLS{CertFile: "f"}}, []string{"needs TLS.CertFile or TLS.CertData, and TLS.KeyFile or TLS.KeyData"}},
		{
			"a key without a certificate",
			client.Config{Server: ok, TLS: client.TLS{KeyData: "x"}},
			[]string{"needs TLS.CertFile or TLS.CertData, and TLS.KeyFile or TLS.KeyData"},
		},
		{"a negative bound", client.Config{Server: ok, MaxObject: -1}, []string{"MaxObject must not be negative, got -1"}},
		{
			"retries that are never made, a wait and bounds that are none",
			client.Config{
				Server: ok, Retry: client.Retry{Attempts: 1, Wait: 1, MaxWait: 1, Burst: -1}, StallTimeout: -1,
			},
			nil,
		},
		{
			"negative retries", // behaviour 57
			client.Config{Server: ok, Retry: client.Retry{Attempts: -1, Wait: -1, MaxWait: -time.Second}},
			[]string{
				"client.Config: Retry.Attempts must not be negative, got -1\n" +
					"client.Config: Retry.Wait must not be negative, got -1ns\n" +
					"client.Config: Retry.MaxWait must not be negative, got -1s",
			},
		},
		{
			"several reasons at once",
			client.Config{MaxObject: -2, BearerToken: "a b"},
			[]string{"Server is empty", "MaxObject", "BearerToken"},
		},
		{
			"a wrapper that returns nothing",
			client.Config{Server: ok, Wrap: func(http.RoundTripper) http.RoundTripper { return nil }},
			[]string{"Wrap returned nil"},
		},

		{
			"a user name that ends before it does",
			client.Config{Server: ok, Username: "a:b"},
			[]string{"client.Config: Username must have no colon"},
		},
		{
			"a password of nobody",
			client.Config{Server: ok, Password: "s3cr3t"},
			[]string{"client.Config: Password needs a Username"},
		},
		{
			"a password and a token",
			client.Config{Server: ok, Username: "u", BearerToken: "t"},
			[]string{"client.Config: Username and Password exclude BearerToken and BearerTokenFile"},
		},
		{
			"a password and a token file",
			client.Config{Server: ok, Username: "u", BearerTokenFile: "/t"},
			[]string{"client.Config: Username and Password exclude BearerToken and BearerTokenFile"},
		},
		{
			"Credentials and a token",
			client.Config{Server: ok, Credentials: someCredentials, BearerToken: "t"},
			[]string{"client.Config: Credentials excludes BearerToken, BearerTokenFile, Username and Password"},
		},
		{
			"Credentials and a password",
			client.Config{Server: ok, Credentials: someCredentials, Username: "u"},
			[]string{"client.Config: Credentials excludes BearerToken, BearerTokenFile, Username and Password"},
		},
		{
			"Credentials and a certificate",
			client.Config{Server: ok, Credentials: someCredentials, TLS: client.TLS{CertFile: "/c", KeyFile: "/k"}},
			[]string{"client.Config: Credentials excludes TLS.CertFile and TLS.CertData"},
		},
		{
			"Credentials that are not made by NewCredentials",
			client.Config{Server: ok, Credentials: new(client.Credentials)},
			[]string{"client.Config: Credentials must be made by NewCredentials with a function that is not nil"},
		},
		{
			"Credentials of no function",
			client.Config{Server: ok, Credentials: client.NewCredentials(nil)},
			[]string{"client.Config: Credentials must be made by NewCredentials with a function that is not nil"},
		},

		// guarantee S2: the error of a file that cannot be opened has its name in it
		{
			"a key for a path",
			client.Config{Server: ok, TLS: client.TLS{CertFile: "/c", KeyFile: "-----BEGIN PRIVATE KEY-----\nc2VjcmV0"}},
			[]string{"client.Config: TLS.KeyFile must be a path without control characters"},
		},
		{
			"line breaks in paths",
			client.Config{Server: ok, BearerTokenFile: "/t\n", TLS: client.TLS{CAFile: "\n", CertFile: "\n", KeyFile: "\n"}},
			[]string{
				"TLS.CAFile must be a path", "TLS.CertFile must be a path", "TLS.KeyFile must be a path", "BearerTokenFile must be a path",
			},
		},

		// guarantee S9: no header can be injected
		{
			"a token with a line break",
			client.Config{Server: ok, BearerToken: "a\r\nX: y"},
			[]string{"BearerToken must have no spaces or control characters"},
		},
		{
			"a token with a scheme before it",
			client.Config{Server: ok, BearerToken: "Bearer abc"},
			[]string{"BearerToken must have no spaces"},
		},
		{
			"a password with a line break",
			client.Config{Server: ok, Username: "u", Password: "s3cr3t\n"},
			[]string{"client.Config: Password must have no control characters"},
		},
		{
			"a user name with a line break",
			client.Config{Server: ok, Username: "u\n"},
			[]string{"client.Config: Username must have no control characters"},
		},
		{
			"a user agent with a line break",
			client.Config{Server: ok, UserAgent: "a\nX: y"},
			[]string{"UserAgent must have no control characters"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := client.New(test.cfg)
			if len(test.want) == 0 {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if c != nil {
				t.Error("there is a client beside the error")
			}
			for _, part := range test.want {
				wantErr(t, err, part)
			}
			if err != nil && strings.Contains(err.Error(), "s3cr3t") {
				t.Errorf("error shows the secret: %v", err)
			}
		})
	}
}

// behaviour 127
func TestBadCertificateDataIsAnErrorAtConstruction(t *testing.T) {
	one, other := newAuthority(t), newAuthority(t)
	cert, key := one.issue(t, "me")
	_, otherKey := other.issue(t, "me")
	for _, test := range []struct {
		name string
		tls  client.TLS
		want string // empty: it can be used
	}{
		{"a CA that is not PEM", client.TLS{CAData: "nonsense"}, "TLS.CAData: found no PEM certificate"},
		{"a CA that is a key", client.TLS{CAData: client.Secret(key)}, "TLS.CAData: found no PEM certificate"},
		{
			"a certificate and a key that are not PEM",
			client.TLS{CertData: "a", KeyData: "b"},
			"TLS.CertData and TLS.KeyData",
		},
		{"another certificate's key", client.TLS{CertData: client.Secret(cert), KeyData: client.Secret(otherKey)}, "TLS.CertData and TLS.KeyData"},
		{
			"a certificate that is a key, beside a file",
			client.TLS{CertData: client.Secret(key), KeyFile: "/none"},
			"TLS.CertData must have a PEM certificate",
		},
		{
			"a key that is a certificate, beside a file",
			client.TLS{CertFile: "/none", KeyData: client.Secret(cert)},
			"TLS.KeyData must have a PEM private key",
		},
		{"a key after something else", client.TLS{CertFile: "/none", KeyData: client.Secret(cert) + client.Secret(key)}, ""},
		{"a pair", client.TLS{CAData: client.Secret(one.pem), CertData: client.Secret(cert), KeyData: client.Secret(key)}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := client.New(client.Config{Server: "https://h", TLS: test.tls})
			if test.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			wantErr(t, err, "client.Config: "+test.want)
			if strings.Contains(err.Error(), "PRIVATE KEY-----") {
				t.Errorf("error shows the data: %v", err)
			}
		})
	}
}

func TestNewDoesNoIO(t *testing.T) {
	c, err := client.New(client.Config{
		Server: "https://nowhere.invalid", BearerTokenFile: "/does/not/exist",
		TLS: client.TLS{CAFile: "/does/not/exist", CertFile: "/does/not/exist", KeyFile: "/does/not/exist"},
		Dial: func(context.Context, string, string) (net.Conn, error) {
			t.Error("New dials")
			return nil, net.ErrClosed
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	c.Close() // before anything was opened
}

// behaviour 26: what New was given may be changed afterwards.
func TestAClientSharesNoMemoryWithItsConfig(t *testing.T) {
	ca := newAuthority(t)
	cert, key := ca.issue(t, "me")
	srv := startTLS(t, ca, says(object("a", "1")), func(c *tls.Config) { c.ClientAuth = tls.RequireAnyClientCert })
	cfg := client.Config{
		Server: srv.URL, Proxy: noProxy, BearerToken: "t",
		TLS: client.TLS{CAData: client.Secret(ca.pem), CertData: client.Secret(cert), KeyData: client.Secret(key)},
	}
	c := dial(t, cfg)
	cfg.TLS = client.TLS{}
	if _, err := client.For(c, slims).Get(t.Context(), web); err != nil {
		t.Error(err)
	}
}

// pemOf encodes an EC key.
func pemOf(t testing.TB, key *ecdsa.PrivateKey) []byte {
	t.Helper()
	der := must[[]byte](t)(x509.MarshalPKCS8PrivateKey(key))
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	return must[*ecdsa.PrivateKey](t)(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
}
