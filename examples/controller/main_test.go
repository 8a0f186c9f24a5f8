package main

import (
	"context"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

func TestTheControllerWritesTheStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{Resources: []clienttest.Resource{
			{Group: "example.com", Version: "v1", Kind: "Site", Resource: "sites", Status: true},
		}})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- run(ctx, server.Config()) }()

		c, err := client.New(server.Config())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		sites, key := client.For(c, Sites), meta.Key{Namespace: "default", Name: "a"}
		made := &Site{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a"}}
		made.Spec.Domain = "example.com"
		if _, err := sites.Create(t.Context(), made); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second) // virtual
		got, err := sites.Get(t.Context(), key)
		if err != nil || got.Status.URL != "https://example.com/" {
			t.Errorf("the site is %+v, %v", got, err)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// The README shows this program. It must be the one that compiles.
func TestTheReadmeShowsThisProgram(t *testing.T) {
	source, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, program, _ := strings.Cut(string(source), "// Site names")
	program, _, found := strings.Cut(program, "\nfunc main()")
	if !found || !strings.Contains(string(readme), "// Site names"+program) {
		t.Errorf("README.md lacks this:\n// Site names%s", program)
	}
}
