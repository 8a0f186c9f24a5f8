package kubeconfig

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

type configMap struct {
	meta.Identity `json:"metadata"`
}

// guarantee S18, guarantee S2: the password of a proxy is the proxy's alone.
func TestAProxyThatFailsDoesNotShowItsPassword(t *testing.T) {
	var asked string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.Method + " " + r.Host + " " + r.Header.Get("Proxy-Authorization") + r.Header.Get("Authorization")
		w.WriteHeader(http.StatusProxyAuthRequired)
	}))
	defer proxy.Close()
	url := strings.Replace(proxy.URL, "://", "://anna:s3cr3t@", 1)
	l, err := Parse([]byte(one(`server: "https://api.example:6443", proxy-url: "`+url+`"`, `token: t0k3n`)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var seen string
	l.Config.Hooks.Request = func(_ context.Context, r client.RequestInfo) { seen += fmt.Sprintf("%+v", r) }
	c, err := client.New(l.Config)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	configMaps := client.For(c, client.Type[*configMap]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	_, err = configMaps.Get(ctx, meta.Key{Namespace: "web", Name: "a"})
	if err == nil {
		t.Fatal("no error")
	}
	if want := "CONNECT api.example:6443 Basic " + base([]byte("anna:s3cr3t")); asked != want {
		t.Errorf("the proxy was asked %q, want %q", asked, want)
	}
	for _, text := range []string{fmt.Sprintf("%v %+v %#v", err, err, err), fmt.Sprintf("%v %+v %#v", l, l, l), seen} {
		if strings.Contains(text, "s3cr3t") || strings.Contains(text, base([]byte("anna:s3cr3t"))) || strings.Contains(text, "t0k3n") {
			t.Errorf("it shows a secret: %s", text)
		}
	}
}

// behaviour 99: tls-server-name is what the server is asked for and what its certificate must say.
func TestAClientUsesWhatWasLoaded(t *testing.T) {
	serverCert, serverKey := keyPair(t, "api.example")
	adminCert, adminKey := keyPair(t, "admin")
	otherCert, _ := keyPair(t, "api.example")
	pair, err := tls.X509KeyPair(serverCert, serverKey)
	if err != nil {
		t.Fatal(err)
	}
	admins := x509.NewCertPool()
	admins.AppendCertsFromPEM(adminCert)
	var seen string
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = fmt.Sprintf("%q to %q", r.Header.Get("Authorization"), r.TLS.ServerName)
		if certs := r.TLS.PeerCertificates; len(certs) > 0 {
			seen += " as " + certs[0].Subject.CommonName
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"kind":"ConfigMap","apiVersion":"v1","metadata":`+
			`{"namespace":"web","name":"a","uid":"1","resourceVersion":"1"}}`)
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: admins, ClientAuth: tls.VerifyClientCertIfGiven}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()

	dir := t.TempDir()
	for name, content := range map[string]string{
		"ca": string(serverCert), "other-ca": string(otherCert), "cert": string(adminCert), "key": string(adminKey),
		"token": "from-file\n",
	} {
		write(t, filepath.Join(dir, name), content)
	}
	for _, test := range []struct{ name, cluster, user, want, fails string }{
		{
			"files", `certificate-authority: ca, tls-server-name: api.example`,
			`client-certificate: cert, client-key: key, tokenFile: token, token: abc`,
			`"Bearer from-file" to "api.example" as admin`, ``,
		},
		{
			"data",
			`certificate-authority: other-ca, certificate-authority-data: ` + base(serverCert) + `, tls-server-name: api.example`,
			`client-certificate-data: ` + base(adminCert) + `, client-key-data: ` + base(adminKey),
			`"" to "api.example" as admin`, ``,
		},
		{"no verification", `insecure-skip-tls-verify: true`, `token: abc`, `"Bearer abc" to ""`, ``},
		{"the wrong CA", `certificate-authority: other-ca, tls-server-name: api.example`, ``, ``, `x509: `},
		{"a CA alone does not make another name right", `certificate-authority: ca`, `token: abc`, ``, `x509: `},
		{
			"the wrong name", `certificate-authority: ca, tls-server-name: other.example`, ``, ``,
			`x509: certificate is valid for api.example, not other.example`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			seen = ""
			file := write(t, filepath.Join(dir, "config"), one(`server: "`+server.URL+`", `+test.cluster, test.user))
			l, err := Load(Options{Path: file})
			if err != nil {
				t.Fatal(err)
			}
			c, err := client.New(l.Config)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			configMaps := client.For(c, client.Type[*configMap]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"})
			_, err = configMaps.Get(t.Context(), meta.Key{Namespace: "web", Name: "a"})
			switch {
			case test.fails == "" && err != nil:
				t.Error(err)
			case test.fails != "" && (err == nil || !strings.Contains(err.Error(), test.fails)):
				t.Errorf("error is %v, want %s", err, test.fails)
			}
			if seen != test.want {
				t.Errorf("server saw %s, want %s", seen, test.want)
			}
		})
	}
}
