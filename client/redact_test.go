package client_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/kubeconfig"
)

// guarantee S2; behaviours 104 and 136
func TestNoWayOfPrintingAConfigShowsACredential(t *testing.T) {
	const token = "t0k3n-secret"
	key := []byte("-----BEGIN PRIVATE KEY----- k3y-secret")
	cfg := client.Config{
		Server: "https://admin:p4ss-secret@10.0.0.1:6443?token=q-secret#f-secret", BearerToken: token,
		BearerTokenFile: "/run/token", UserAgent: "me",
		TLS: client.TLS{KeyData: client.Secret(key), CertData: "c3rt", KeyFile: "/run/key"},
	}
	type outer struct{ Inner client.Config }
	type outerTLS struct{ Inner *client.TLS }
	values := map[string]any{
		"a Config":               cfg,
		"a pointer to one":       &cfg,
		"one in a struct":        outer{cfg},
		"one in a slice":         []client.Config{cfg},
		"one in a map":           map[string]any{"a": cfg},
		"one that is embedded":   struct{ client.Config }{cfg},
		"its TLS":                cfg.TLS,
		"a pointer to its TLS":   &cfg.TLS,
		"a pointer in a struct":  outerTLS{&cfg.TLS},
		"one in an error's text": fmt.Errorf("start with %v", cfg),
	}
	// What fmt makes of bytes and strings where it does not know what they are.
	hidden := []string{
		token, "p4ss", "secret", "PRIVATE KEY", fmt.Sprintf("%x", token), fmt.Sprintf("%X", token), fmt.Sprintf("% x", key[:8]),
		strings.Trim(fmt.Sprint(key[:16]), "[]"), "LS0tLS1CRUdJTi", "c3rt", "YzNydA",
	}
	for name, value := range values {
		t.Run(name, func(t *testing.T) {
			for _, s := range append(printed(t, value), logged(value)) {
				for _, secret := range hidden {
					if strings.Contains(s, secret) {
						t.Errorf("%q is in %s", secret, s)
					}
				}
			}
		})
	}
	for _, s := range []string{cfg.String(), fmt.Sprintf("%#v", cfg), string(must[[]byte](t)(json.Marshal(cfg)))} {
		for _, part := range []string{"10.0.0.1:6443", "[redacted]", "/run/token", "/run/key"} {
			if !strings.Contains(s, part) {
				t.Errorf("%q is not in %s", part, s)
			}
		}
	}
	if s := fmt.Sprint(client.Config{}, client.TLS{}, client.Credential{}, client.RawRequest{}); strings.Contains(s, "redacted") {
		t.Errorf("an empty Config has something to hide: %s", s)
	}
}

// guarantee S2: a key in the place of a path.
func TestAKeyInThePlaceOfAPathIsNotShown(t *testing.T) {
	const key = "-----BEGIN PRIVATE KEY-----\ns3cr3t\n-----END PRIVATE KEY-----"
	tls := client.TLS{CAFile: key, CertFile: key, KeyFile: key}
	cfg := client.Config{Server: "https://h", BearerTokenFile: key, TLS: tls}
	shown := slices.Concat(printed(t, tls), printed(t, &tls), printed(t, struct{ Inner client.TLS }{tls}))
	for _, v := range []any{cfg, &cfg, []any{cfg}, struct{ Inner client.Config }{cfg}, kubeconfig.Loaded{Config: cfg}} {
		shown = append(append(shown, printed(t, v)...), logged(v))
	}
	for _, text := range shown {
		if strings.Contains(text, "s3cr3t") || strings.Contains(strings.ToLower(text), hex.EncodeToString([]byte("s3cr3t"))) {
			t.Fatalf("the key is in %s", text)
		}
	}
}

// guarantee S2: an address that is refused is shown without what may be a secret, also where it is not a URL.
func TestARefusedServerShowsNoSecret(t *testing.T) {
	// This one is a URL with the path /s3cr3t@h.
	if shown := (client.Config{Server: "https://user:/s3cr3t@h"}).String(); strings.Contains(shown, "s3cr3t") {
		t.Errorf("String shows the secret: %s", shown)
	}
	for _, server := range []string{
		"https://user:s3cr3t@h", "https://s3cr3t@h", "https://user:s3%cr3t@h", "https://user:p#s3cr3t@h", "https://user:p?s3cr3t@h",
		"user:s3cr3t@h", "s3cr3t@h", "https:user:s3cr3t@h", "ftp://user:s3cr3t@h", "//user:s3cr3t@h",
		"https://h?token=s3cr3t", "https://h#s3cr3t", "h:6443?token=s3cr3t", "://s3cr3t@h",
	} {
		t.Run(server, func(t *testing.T) {
			_, err := client.New(client.Config{Server: server})
			if err == nil {
				t.Fatal("no error")
			}
			if strings.Contains(err.Error(), "s3cr3t") || strings.Contains(err.Error(), "cr3t") {
				t.Errorf("error shows the secret: %v", err)
			}
			if shown := (client.Config{Server: server}).String(); strings.Contains(shown, "cr3t") {
				t.Errorf("String shows the secret: %s", shown)
			}
		})
	}
}

// guarantee S2
func TestAClientAndItsErrorsShowNoToken(t *testing.T) {
	cfg := serve(t, answers(answer{code: 401, body: status(401, "Unauthorized", "no")}))
	cfg.BearerToken = "t0k3n-secret"
	c := dial(t, cfg)
	r := client.For(c, slims)
	_, err := r.Get(t.Context(), web)
	unreachable := dial(t, client.Config{Server: "http://nobody.invalid:1", Dial: cfg.Dial, Proxy: noProxy, BearerToken: "t0k3n-secret"})
	_, err2 := client.For(unreachable, slims).Get(t.Context(), web)
	for _, v := range []any{c, r, r.Status(), struct{ C *client.Client }{c}, err, err2} {
		for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			if s := fmt.Sprintf(format, v); strings.Contains(s, "t0k3n") || strings.Contains(s, fmt.Sprintf("%x", "t0k3n")) {
				t.Errorf("%s shows the token: %s", format, s)
			}
		}
	}
	if got, want := fmt.Sprint(c), "client of "+cfg.Server; got != want || fmt.Sprintf("%#v", c) != want {
		t.Errorf("the client prints as %q and %#v, want %q", got, c, want)
	}
}

// A query may have a token in it. It is worth knowing what was asked for.
func TestARequestShowsTheNamesOfItsQuery(t *testing.T) {
	r := client.RawRequest{Path: "/logs", Query: url.Values{"token": {"s3cret"}, "tail": {"5"}}, Header: http.Header{"Cookie": {"s3cret"}}}
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		text := fmt.Sprintf(format, r)
		for _, shown := range []string{"/logs", "token", "tail", "Cookie"} {
			if !strings.Contains(text, shown) {
				t.Errorf("%s does not show %q: %s", format, shown, text)
			}
		}
		if strings.Contains(text, "s3cret") {
			t.Errorf("%s shows a secret: %s", format, text)
		}
	}
}
