package main

import (
	"bytes"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/clienttest"
)

const file = `{apiVersion: v1, kind: Config, current-context: one,
contexts: [{name: one, context: {cluster: a, user: a}}, {name: two, context: {cluster: a, user: a, namespace: web}}],
clusters: [{name: a, cluster: {server: %q}}], users: [{name: a, user: {}}]}`

func TestTheFlagsChooseTheContextTheNamespaceAndTheLog(t *testing.T) {
	server := clienttest.Start(t, clienttest.Options{})
	web := httptest.NewServer(server)
	defer web.Close()
	path := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(path, fmt.Appendf(nil, file, web.URL), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		flags, want string
		requests    bool
	}{
		{"", "admin in the namespace default of " + web.URL + "\n", false},
		{"-context=two", "admin in the namespace web of " + web.URL + "\n", false},
		{"-context=two -namespace=other -v=6", "admin in the namespace other of " + web.URL + "\n", true},
		{"-v=5", "admin in the namespace default of " + web.URL + "\n", false},
	} {
		var out, log bytes.Buffer
		s, err := parse(append(strings.Fields(test.flags), "-kubeconfig", path), &log)
		if err != nil {
			t.Fatal(err)
		}
		if err := run(t.Context(), s, &out, &log); err != nil {
			t.Fatal(err)
		}
		if out.String() != test.want || strings.Contains(log.String(), "selfsubjectreviews") != test.requests {
			t.Errorf("%s: it prints %q, and logs %q", test.flags, out.String(), log.String())
		}
	}
}

func TestWrongFlagsAreRefused(t *testing.T) {
	var out bytes.Buffer
	if _, err := parse([]string{"-v", "much"}, &out); err == nil || !strings.Contains(out.String(), "-context") {
		t.Errorf("the error is %v, and the usage %q", err, &out)
	}
	s, err := parse([]string{"-kubeconfig", filepath.Join(t.TempDir(), "none")}, &out)
	if err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), s, &out, &out); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("without a file the error is %v", err)
	}
}
