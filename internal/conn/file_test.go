package conn

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
	load := func(load func(read) error) error {
		k := kept[int]{load: func(r read) (int, error) { return 0, load(r) }}
		_, _, err := k.get(t.Context())
		return err
	}
	token := load(func(r read) error { _, err := bearer(r, endless); return err })
	ca := load(func(r read) error { _, err := Options{CA: PEM{File: endless}}.ca(r); return err })
	cert := load(func(r read) error {
		_, err := Options{Cert: PEM{File: endless}, Key: PEM{Data: "k"}}.certificate(r)
		return err
	})
	key := load(func(r read) error {
		_, err := Options{Cert: PEM{Data: "c"}, Key: PEM{File: endless}}.certificate(r)
		return err
	})
	for want, err := range map[string]error{
		"read Config.BearerTokenFile": token, "read TLS.CAFile": ca, "read TLS.CertFile": cert, "read TLS.KeyFile": key,
	} {
		if err == nil || err.Error() != want+why {
			t.Errorf("error is %v, want %s", err, want+why)
		}
	}
}
