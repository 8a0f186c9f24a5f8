package client_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

// jwt is a JSON Web Token that ends at a time.
func jwt(end time.Time) string {
	claims := base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"sub":"a","exp":%d}`, end.Unix()))
	return "e30." + claims + ".c2lnbmF0dXJl"
}

func TestTheStatusOfACredential(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		file := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(file, []byte(jwt(start.Add(time.Hour))), 0o600); err != nil {
			t.Fatal(err)
		}
		errBroken := errors.New("the plugin is broken")
		fetch := func(context.Context) (client.Credential, error) {
			return client.Credential{Token: "secret", Expires: start.Add(2 * time.Hour)}, nil
		}
		for _, test := range []struct {
			name   string
			config func(*client.Config)
			before string // From, Obtained and Expires since the start, and Err, before the first request
			after  string // the same after a request
		}{
			{"nothing", func(*client.Config) {}, "[] - - <nil>", "[] - - <nil>"},
			{"a token", func(c *client.Config) { c.BearerToken = "secret" }, "[a token] - - <nil>", "[a token] - - <nil>"},
			{"a token with an end", func(c *client.Config) { c.BearerToken = client.Secret(jwt(start.Add(time.Minute))) }, "[a token] - 1m0s <nil>", "[a token] - 1m0s <nil>"},
			{"what only looks like such a token", func(c *client.Config) { c.BearerToken = "a.b.c" }, "[a token] - - <nil>", "[a token] - - <nil>"},
			{"a password", func(c *client.Config) { c.Username, c.Password = "a", "secret" }, "[a password] - - <nil>", "[a password] - - <nil>"},
			{"a token file", func(c *client.Config) { c.BearerTokenFile = file }, "[a token file] - - <nil>", "[a token file] 0s 1h0m0s <nil>"},
			{"a function", func(c *client.Config) { c.Credentials = client.NewCredentials(fetch) }, "[a function] - - <nil>", "[a function] 0s 2h0m0s <nil>"},
			{"a function with a name", func(c *client.Config) { c.Credentials = client.NewCredentials(fetch).Named("the plugin") }, "[the plugin] - - <nil>", "[the plugin] 0s 2h0m0s <nil>"},
			{"a function that fails", func(c *client.Config) {
				c.Credentials = client.NewCredentials(func(context.Context) (client.Credential, error) { return client.Credential{}, errBroken })
			}, "[a function] - - <nil>", "[a function] - - the plugin is broken"},
		} {
			config := clienttest.Start(t, clienttest.Options{}).Config()
			config.BearerToken = ""
			test.config(&config)
			c, err := client.New(config)
			if err != nil {
				t.Fatal(err)
			}
			text := func() string {
				s := c.CredentialStatus()
				since := func(at time.Time) string {
					if at.IsZero() {
						return "-"
					}
					return at.Sub(start).String()
				}
				got := fmt.Sprintf("[%s] %s %s %v", s.From, since(s.Obtained), since(s.Expires), s.Err)
				if strings.Contains(fmt.Sprintf("%+v %#v", s, s), "secret") {
					t.Errorf("%s: the status shows the credential: %+v", test.name, s)
				}
				return got
			}
			if got := text(); got != test.before {
				t.Errorf("%s: before a request: %s, want %s", test.name, got, test.before)
			}
			_, _ = client.For(c, configMaps).Get(t.Context(), meta.Key{Namespace: "default", Name: "none"})
			if got := text(); got != test.after {
				t.Errorf("%s: after a request: %s, want %s", test.name, got, test.after)
			}
			c.Close()
		}
	})
}

// A renewal that fails is in the status while the old credential stays in use.
func TestTheStatusSaysThatARenewalFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start, fetches := time.Now(), 0
		config := clienttest.Start(t, clienttest.Options{}).Config()
		config.Credentials = client.NewCredentials(func(context.Context) (client.Credential, error) {
			if fetches++; fetches > 1 {
				return client.Credential{}, errors.New("signed out")
			}
			return client.Credential{Token: "secret", Expires: start.Add(time.Hour)}, nil
		})
		c, err := client.New(config)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		for range 2 {
			_, _ = client.For(c, configMaps).Get(t.Context(), meta.Key{Namespace: "default", Name: "none"})
			time.Sleep(55 * time.Minute)
		}
		if s := c.CredentialStatus(); s.Err == nil || s.Err.Error() != "signed out" || !s.Obtained.Equal(start) {
			t.Errorf("the status is %+v", s)
		}
	})
}

// The certificate of a client has an end, too.
func TestTheStatusOfAClientCertificate(t *testing.T) {
	server := clienttest.Start(t, clienttest.Options{TLS: true})
	config := server.Config()
	config.BearerToken = ""
	cert, key := server.ClientCertificate("alice")
	config.TLS.CertData, config.TLS.KeyData = client.Secret(cert), client.Secret(key)
	c, err := client.New(config)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := client.For(c, configMaps).List(t.Context(), client.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	if s := c.CredentialStatus(); s.From != "a client certificate" || !s.Expires.After(time.Now()) || !s.Obtained.IsZero() {
		t.Errorf("the status is %+v", s)
	}
}
