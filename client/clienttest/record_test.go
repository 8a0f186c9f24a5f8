package clienttest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

// things returns a handle of whole objects.
func things(c *client.Client, gvr meta.GVR, kind string) client.Resource[*meta.Unstructured] {
	return client.For(c, client.Type[*meta.Unstructured]{Group: gvr.Group, Version: gvr.Version, Resource: gvr.Resource, Kind: kind})
}

func coreV1(resource string) meta.GVR { return meta.GVR{Version: "v1", Resource: resource} }

// thing returns an object with members beside metadata.
func thing(apiVersion, kind, name string, more map[string]any) *meta.Unstructured {
	o := map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"namespace": "default", "name": name}}
	for k, v := range more {
		o[k] = v
	}
	return &meta.Unstructured{Object: o}
}

func newClient(t *testing.T, server *clienttest.Server) *client.Client {
	t.Helper()
	c, err := client.New(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// startRecord records until end is called, which returns Record's error.
func startRecord(t *testing.T, server *clienttest.Server, o clienttest.RecordOptions) (end func() error) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	config := server.Config()
	config.UserAgent = "recorder"
	c, err := client.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	go func() { done <- clienttest.Record(ctx, c, o) }()
	return func() error {
		stop()
		return <-done
	}
}

// recordingLine is a line of a file.
type recordingLine struct {
	At              float64
	Type            string
	Resource        string
	Gap             bool
	ResourceVersion string
	Message         string
	Object          *meta.Unstructured
}

// linesOf returns the lines of a file after the first.
func linesOf(t *testing.T, file string) (all []recordingLine) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")[1:] {
		var l recordingLine
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		all = append(all, l)
	}
	return all
}

func TestARecordingHasTheListsAndThenTheEventsWithTheirTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "bug.jsonl")
		server := clienttest.Start(t, clienttest.Options{})
		maps := things(newClient(t, server), coreV1("configmaps"), "ConfigMap")
		if _, err := maps.Create(t.Context(), thing("v1", "ConfigMap", "before", nil)); err != nil {
			t.Fatal(err)
		}
		end := startRecord(t, server, clienttest.RecordOptions{File: file, Resources: []meta.GVR{coreV1("configmaps"), coreV1("namespaces")}})
		time.Sleep(1500 * time.Millisecond)
		if _, err := maps.Create(t.Context(), thing("v1", "ConfigMap", "after", nil)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		if err := maps.Delete(t.Context(), meta.Key{Namespace: "default", Name: "before"}, client.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if err := end(); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range linesOf(t, file) {
			name := ""
			if l.Object != nil {
				name = l.Object.GetName()
			}
			got = append(got, fmt.Sprintf("%v %s %s %s", l.At, l.Type, l.Resource, name))
		}
		want := []string{
			"0 LISTED configmaps before", "0 SYNCED configmaps ",
			"0 LISTED namespaces default", "0 LISTED namespaces kube-node-lease", "0 LISTED namespaces kube-public", "0 LISTED namespaces kube-system",
			"0 SYNCED namespaces ", "1.5 ADDED configmaps after", "3.5 DELETED configmaps before", "3.5 END  ",
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("the file has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}
