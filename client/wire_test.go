package client_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/proof/conformance/calls"
)

var update = flag.Bool("update", false, "write testdata/wire anew")

// behaviours 1, 4, 10, 11, 12, 14, 16, 22, 24, 208 and 327: what is on the wire for every verb, subresource, scope and option.
// internal/proof/e2e makes the same calls to a real server.
func TestTheRequestOfEveryCall(t *testing.T) {
	dir := filepath.Join("testdata", "wire")
	files := map[string]bool{}
	for _, call := range calls.All() {
		file := filepath.Join(dir, call.Name+".http")
		if files[file] {
			t.Fatalf("two calls are named %s", call.Name)
		}
		files[file] = true
		t.Run(call.Name, func(t *testing.T) {
			srv := answers(answer{code: 403, body: status(403, "Forbidden", "no")})
			if err := call.Do(t.Context(), connect(t, srv)); !errors.Is(err, apierrors.Forbidden) {
				t.Fatalf("error is %v, want the server's", err)
			}
			got := recorded(srv.one(t))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("the request is\n%s\n\nwant\n%s", got, want)
			}
		})
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if file := filepath.Join(dir, e.Name()); !files[file] {
			t.Errorf("%s is the request of no call", file)
		}
	}
}

// recorded returns a request as it is kept. What depends on the connection or the machine is left out.
func recorded(c call) string {
	var b strings.Builder
	fmt.Fprintln(&b, c)
	for _, name := range slices.Sorted(maps.Keys(c.header)) {
		switch name {
		case "Accept-Encoding", "Content-Length", "User-Agent":
			continue
		}
		for _, value := range c.header[name] {
			fmt.Fprintf(&b, "%s: %s\n", name, value)
		}
	}
	return b.String() + "\n" + c.body
}
