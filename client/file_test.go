package client

import (
	"os"
	"path/filepath"
	"testing"
)

// guarantee S7, guarantee S19: a kubeconfig may name /dev/zero as anything.
func TestAFileWithoutAnEndIsAnError(t *testing.T) {
	endless := filepath.Join(t.TempDir(), "endless")
	if err := os.WriteFile(endless, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(endless, 1<<40); err != nil {
		t.Fatal(err)
	}
	why := ": read " + endless + ": it is larger than 16 MiB"
	_, token := readToken(endless)
	_, ca := TLS{CAFile: endless}.ca()
	_, cert := TLS{CertFile: endless, KeyData: []byte("k")}.certificate()
	_, key := TLS{CertData: []byte("c"), KeyFile: endless}.certificate()
	for want, err := range map[string]error{
		"read Config.BearerTokenFile": token, "read TLS.CAFile": ca, "read TLS.CertFile": cert, "read TLS.KeyFile": key,
	} {
		if err == nil || err.Error() != want+why {
			t.Errorf("error is %v, want %s", err, want+why)
		}
	}
}
