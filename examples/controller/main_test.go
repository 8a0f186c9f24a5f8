package main

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

func TestTheControllerWritesTheStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- run(ctx, server.Config()) }()

		c, err := client.New(server.Config())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		sites, key := client.For(c, Sites), meta.Key{Namespace: "default", Name: "a"}
		synctest.Wait() // the program has installed the definition
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

// The program said nothing of a server that is gone, and of a 403.
func TestTheProgramSaysWhyItDoesNothing(t *testing.T) {
	forbid := func(path string) func(s *clienttest.Server) {
		return func(s *clienttest.Server) {
			s.Intercept(func(r *http.Request) http.HandlerFunc {
				if !strings.HasPrefix(r.URL.Path, path) {
					return nil
				}
				return clienttest.Answer(meta.Status{Code: 403, Reason: "Forbidden", Message: "not you"})
			})
		}
	}
	for _, test := range []struct {
		name  string
		fault func(s *clienttest.Server)
		err   string // of a program that ends
		log   []string
	}{
		{"a dead server", func(s *clienttest.Server) { s.Refuse(syscall.ECONNREFUSED) }, "connection refused", nil},
		{"no permission to install", forbid("/apis/apiextensions.k8s.io/"), "Forbidden (403): not you", nil},
		{"no permission to list", forbid("/apis/example.com/"), "", []string{
			"Forbidden (403): not you", "sites.example.com/v1: list fails", `workers wait for sources, nothing is reconciled`,
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var said bytes.Buffer
				before := slog.Default()
				defer slog.SetDefault(before)
				slog.SetDefault(slog.New(slog.NewTextHandler(&said, nil)))
				server := clienttest.Start(t, clienttest.Options{})
				test.fault(server)
				ctx, stop := context.WithTimeout(t.Context(), 10*time.Minute)
				defer stop()
				if err := run(ctx, server.Config()); (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
					t.Errorf("the program ends with %v, want %q", err, test.err)
				}
				text := said.String()
				for _, want := range test.log {
					if !strings.Contains(text, want) {
						t.Errorf("the log lacks %q:\n%s", want, text)
					}
				}
				if n := strings.Count(text, "\n"); n > 20 {
					t.Errorf("%d lines in ten minutes:\n%s", n, text)
				}
			})
		})
	}
}

// A reader pastes the program from the README.
func TestTheReadmeShowsTheProgram(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), "```go\n"+string(text)+"```\n") {
		t.Errorf("README.md lacks this:\n%s", text)
	}
}
