package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
)

func TestTheKindsOfTheFlagsAreRecordedUntilTheTimeIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{})
		c, err := client.New(server.Config())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		file := filepath.Join(t.TempDir(), "bug.jsonl")
		var out bytes.Buffer
		s, err := parse([]string{"-kinds", "svc,deploy", "-kinds=ns", "-namespace", "default", "-o", file, "-for", "90s", "-secrets", "omitted"}, &out)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if err := record(t.Context(), c, s, &out); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took != 90*time.Second {
			t.Errorf("it took %v", took)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`"secrets":"omitted"`, `"namespaces":["default"]`, `"kind":"Deployment"`, `"name":"kubernetes"`, `"name":"kube-system"`, `"END"`} {
			if !strings.Contains(string(text), want) {
				t.Errorf("the file is without %s", want)
			}
		}
		if want := "record: [services.v1 deployments.apps/v1 namespaces.v1] into " + file + "\n"; out.String() != want {
			t.Errorf("it says %q, want %q", out.String(), want)
		}
	})
}

func TestWrongFlagsAreErrorsThatNameThem(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-o", "f"}, "-kinds must name at least one kind"},
		{[]string{"-kinds", "pods,", "-o", "f"}, "each must have a name"},
		{[]string{"-kinds", "pods"}, "-o must name a file"},
		{[]string{"-kinds", "pods", "-o", "f", "-for", "-1s"}, "-for must not be negative, got -1s"},
		{[]string{"-kinds", "pods", "-o", "f", "-secrets", "shown"}, "it must be hashed, omitted or kept"},
		{[]string{"-kinds", "pods", "-o", "f", "now"}, `there must be no arguments besides flags, got ["now"]`},
		{[]string{"-kinds", "pods", "-o", "f", "-kubeconfig", filepath.Join(t.TempDir(), "none")}, "none"},
	} {
		if err := run(t.Context(), c.args, new(bytes.Buffer)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: the error is %v, want %q", c.args, err, c.want)
		}
	}
}

func TestHelpIsNotAnError(t *testing.T) {
	var out bytes.Buffer
	if err := run(context.Background(), []string{"-h"}, &out); err != nil || !strings.Contains(out.String(), "-secrets") || !strings.Contains(out.String(), "before you give the file away") {
		t.Errorf("%v: %s", err, out.String())
	}
}
