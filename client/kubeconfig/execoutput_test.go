package kubeconfig

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// printed is what a plugin prints, with the given status.
func printed(version string, status any) []byte {
	b, err := json.Marshal(map[string]any{"apiVersion": version, "kind": "ExecCredential", "status": status})
	if err != nil {
		panic(err)
	}
	return b
}

type status map[string]any

// behaviour 116
func TestACredentialIsReadFromWhatAPluginPrints(t *testing.T) {
	cert, key := keyPair(t, "admin") // which ends in an hour
	later := time.Now().Add(24 * time.Hour).UTC().Truncate(time.Second)
	sooner := time.Now().Add(time.Minute).UTC().Truncate(time.Second)
	pair := func(more status) status {
		s := status{"clientCertificateData": string(cert), "clientKeyData": string(key)}
		for k, v := range more {
			s[k] = v
		}
		return s
	}
	for _, test := range []struct {
		name    string
		version string
		printed []byte
		token   string
		cert    bool
		expires string // "" never, "cert" with the certificate, or a time
	}{
		{"a token", v1, printed(v1, status{"token": "abc"}), "abc", false, ""},
		{"a token of v1beta1", v1beta1, printed(v1beta1, status{"token": "abc"}), "abc", false, ""},
		{
			"a token that expires", v1, printed(v1, status{"token": "abc", "expirationTimestamp": later}),
			"abc", false, later.String(),
		},
		{
			"a time with a fraction and a zone", v1,
			printed(v1, status{"token": "abc", "expirationTimestamp": "2026-01-02T03:04:05.5+02:00"}),
			"abc", false, "2026-01-02 01:04:05.5 +0000 UTC",
		},
		{
			"null is not set", v1,
			printed(v1, status{"token": "abc", "expirationTimestamp": nil, "clientKeyData": nil}), "abc", false, "",
		},
		{"a certificate", v1, printed(v1, pair(nil)), "", true, "cert"},
		{"both", v1, printed(v1, pair(status{"token": "abc"})), "abc", true, "cert"},
		{
			"a certificate that ends before the credential", v1, printed(v1, pair(status{"expirationTimestamp": later})),
			"", true, "cert",
		},
		{
			"a certificate that ends after the credential", v1, printed(v1, pair(status{"expirationTimestamp": sooner})),
			"", true, sooner.String(),
		},
		{
			"unknown fields, a spec and white space", v1,
			[]byte("\n" + `{"spec":{"interactive":false},"x":1,` + string(printed(v1, status{"token": "abc", "y": 1}))[1:] + "\n\n"),
			"abc", false, "",
		},
		{
			"YAML", v1, []byte("apiVersion: " + v1 + "\nkind: ExecCredential\nstatus:\n  token: abc\n" +
				"  expirationTimestamp: 2026-01-02T03:04:05Z\n"), "abc", false, "2026-01-02 03:04:05 +0000 UTC",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := credential(test.version, test.printed)
			if err != nil {
				t.Fatal(err)
			}
			want := test.expires
			if want == "cert" {
				want = c.Certificate.Leaf.NotAfter.String()
			}
			got := ""
			if !c.Expires.IsZero() {
				got = c.Expires.UTC().String()
			}
			if string(c.Token) != test.token || (c.Certificate != nil) != test.cert || got != want {
				t.Errorf("read %v until %q, want %q, %t until %q", c, got, test.token, test.cert, want)
			}
			if test.cert && (c.Certificate.Leaf == nil || c.Certificate.Leaf.Subject.CommonName != "admin") {
				t.Errorf("the certificate is %v", c.Certificate.Leaf)
			}
		})
	}
}

// behaviour 116, behaviour 117, behaviour 124
func TestInvalidPluginOutputIsRefusedAndNotShown(t *testing.T) {
	const secret = "s3cr3t"
	cert, key := keyPair(t, "admin")
	_, other := keyPair(t, "other")
	const unfit = "printed an ExecCredential that cannot be used: "
	const noDocument = "printed something other than one ExecCredential in JSON"
	for _, test := range []struct {
		name    string
		printed []byte
		want    string
	}{
		{"nothing", nil, "printed nothing"},
		{"white space", []byte(" \n\t"), "printed nothing"},
		{"a bare token", []byte(secret), noDocument},
		{"a list", []byte(`["` + secret + `"]`), noDocument},
		{"a merge key with text", []byte("<<: " + secret), unfit + "must have mappings only under the merge key (<<)"},
		{"text and then a document", append([]byte("Signed in: "+secret+"\n"), printed(v1, status{"token": secret})...), noDocument},
		{
			"two documents", append(append(printed(v1, status{"token": secret}), "\n---\n"...), printed(v1, status{"token": secret})...),
			noDocument,
		},
		{"half a document", printed(v1, status{"token": secret})[:60], noDocument},
		{"an alias without an anchor", []byte("token: *" + secret), noDocument},
		{"too many values", []byte(strings.Repeat("[", maxMarks+1)), noDocument},
		{"a bomb", []byte(bomb(9)), noDocument},
		{
			"many tag directives", []byte(tagDirectives(1 << 15)),
			"printed a document that cannot be read: line 1 has a YAML directive other than %YAML, which is not allowed",
		},
		{
			"no version", []byte(`{"kind":"ExecCredential","status":{"token":"` + secret + `"}}`),
			unfit + "apiVersion is not set; it must be client.authentication.k8s.io/v1",
		},
		{
			"another version", printed(v1beta1, status{"token": secret}),
			unfit + "apiVersion must be client.authentication.k8s.io/v1, as in the kubeconfig, got client.authentication.k8s.io/v1beta1",
		},
		{
			"something else as version", printed(secret, status{"token": secret}),
			unfit + "apiVersion must be client.authentication.k8s.io/v1",
		},
		{
			"another kind", []byte(`{"apiVersion":"` + v1 + `","kind":"` + secret + `","status":{"token":"x"}}`),
			unfit + "kind must be ExecCredential",
		},
		{"no status", []byte(`{"apiVersion":"` + v1 + `","kind":"ExecCredential"}`), unfit + "status is not set"},
		{"a null status", printed(v1, nil), unfit + "status is not set"},
		{"a status that is text", printed(v1, secret), unfit + "status must be a mapping"},
		{
			"an empty status", printed(v1, status{}),
			unfit + "status has no token and no clientCertificateData with clientKeyData",
		},
		{"a token that is none", printed(v1, status{"token": []string{secret}}), unfit + "status.token must be a string"},
		{
			"names in other letters", printed(v1, status{"Token": secret}),
			unfit + "status has no token and no clientCertificateData with clientKeyData",
		},
		{
			"a token twice", []byte(`{"apiVersion":"` + v1 + `","kind":"ExecCredential","status":{"token":"s3cr3t","token":"b"}}`),
			unfit + "status.token is set twice",
		},
		{
			"a token with a line in it", printed(v1, status{"token": secret + "\r\nX-Other: a"}),
			unfit + "status.token must have no spaces or control characters",
		},
		{
			"a token with a line at its end", printed(v1, status{"token": secret + "\n"}),
			unfit + "status.token must have no spaces or control characters",
		},
		{
			"a token with NUL in it", printed(v1, status{"token": secret + "\x00"}),
			unfit + "status.token must have no spaces or control characters",
		},
		{
			"a certificate without a key", printed(v1, status{"token": secret, "clientCertificateData": string(cert)}),
			unfit + "status.clientCertificateData needs clientKeyData",
		},
		{
			"a key without a certificate", printed(v1, status{"token": secret, "clientKeyData": string(key)}),
			unfit + "status.clientKeyData needs clientCertificateData",
		},
		{
			"the key of another", printed(v1, status{"clientCertificateData": string(cert), "clientKeyData": string(other)}),
			unfit + "status.clientKeyData is not the private key of clientCertificateData, or one of them is not PEM",
		},
		{
			"something else than PEM", printed(v1, status{"clientCertificateData": secret, "clientKeyData": secret}),
			unfit + "status.clientKeyData is not the private key of clientCertificateData, or one of them is not PEM",
		},
		{
			"a time that is none", printed(v1, status{"token": secret, "expirationTimestamp": "s3cr3t"}),
			unfit + "status.expirationTimestamp must be an RFC 3339 time",
		},
		{
			"a time as a number", printed(v1, status{"token": secret, "expirationTimestamp": 1767323045}),
			unfit + "status.expirationTimestamp must be an RFC 3339 time",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := credential(v1, test.printed)
			if err == nil || err.Error() != test.want {
				t.Fatalf("error is\n%v, want\n%v", err, test.want)
			}
			if text := fmt.Sprintf("%v %+v %#v", err, err, err); strings.Contains(text, secret) || strings.Contains(text, "PRIVATE") {
				t.Errorf("error shows a secret: %s", text)
			}
			if c.Token != "" || c.Certificate != nil || !c.Expires.IsZero() {
				t.Errorf("%v comes with the error", c)
			}
		})
	}
}

// Whatever a plugin prints, there is a credential that can be sent, or an error; no panic, and no secret in the error.
func FuzzExecCredential(f *testing.F) {
	cert, key := keyPair(f, "admin")
	for _, seed := range [][]byte{
		nil, []byte("{}"), []byte("abc"), printed(v1, status{"token": "abc"}), printed(v1beta1, status{"token": "abc"}),
		printed(v1, status{"clientCertificateData": string(cert), "clientKeyData": string(key), "expirationTimestamp": time.Now()}),
		printed(v1, status{"token": "a\nb"}), printed(v1, nil), []byte(bomb(3)), []byte(mergeBomb(5)),
		[]byte("apiVersion: " + v1 + "\nkind: ExecCredential\nstatus: {token: abc}\n"),
		[]byte("apiVersion: " + v1 + "\nkind: ExecCredential\nstatus: &a {token: abc, <<: *a}\n"),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := credential(v1, data)
		if err != nil {
			if c.Token != "" || c.Certificate != nil {
				t.Errorf("%v comes with the error %v", c, err)
			}
			if len(err.Error()) > 300 {
				t.Errorf("error is %v", err)
			}
			return
		}
		if c.Token == "" && c.Certificate == nil {
			t.Errorf("read %v", c)
		}
		if strings.ContainsAny(string(c.Token), "\r\n\x00 ") {
			t.Errorf("read the token %q", string(c.Token))
		}
		if c.Certificate != nil && (c.Certificate.Leaf == nil || c.Expires.IsZero()) {
			t.Errorf("read %v", c)
		}
	})
}
