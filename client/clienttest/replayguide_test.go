package clienttest_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
)

// What GUIDE.md shows. The controller counts the config maps of a shop, and the file has the day on which it lost count.
func TestABugReportIsATest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		ended, counts := make(chan error, 1), make(chan int, 1)
		runController := func(ctx context.Context, config client.Config) {
			c, err := client.New(config)
			if err != nil {
				ended <- err
				return
			}
			defer c.Close()
			maps := informer.New(things(c, coreV1("configmaps"), "ConfigMap"), informer.Options{Namespace: "shop"})
			err = maps.Run(ctx)
			counts <- maps.Reader().Len()
			ended <- err
		}
		start := time.Now()

		server := clienttest.Start(t, clienttest.Options{Replay: "testdata/bug.jsonl"})
		go runController(ctx, server.Config())
		if err := server.WaitReplayed(ctx); err != nil {
			t.Fatal(err)
		}

		synctest.Wait()
		stop()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if n := <-counts; n != 2 {
			t.Errorf("the controller counts %d config maps, want 2", n)
		}
		if took := time.Since(start); took != 90500*time.Millisecond {
			t.Errorf("the replay took %v, want the 1m30.5s of the recording", took)
		}
	})
}

// The file is in the form that Record writes today, so a file of a user stays readable.
func TestARecordingOfAnEarlierDayIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{Replay: "testdata/bug.jsonl"})
		if err := server.WaitReplayed(t.Context()); err != nil {
			t.Fatal(err)
		}
		got, err := things(newClient(t, server), coreV1("configmaps"), "ConfigMap").Get(t.Context(), meta.Key{Namespace: "shop", Name: "prices"})
		if err != nil || got.GetResourceVersion() != "2231" {
			t.Errorf("%v, %v", got, err)
		}
	})
}

// A recording of two seconds, and a server that plays it.
func ExampleRecord() {
	server := clienttest.New(clienttest.Options{})
	running, end := context.WithCancel(context.Background())
	defer end()
	ended := make(chan error)
	go func() { ended <- server.Run(running) }()
	c, err := client.New(server.Config())
	if err != nil {
		fmt.Println(err)
		return
	}
	folder, err := os.MkdirTemp("", "recording")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(folder) }()

	file := filepath.Join(folder, "bug.jsonl")
	ctx, stop := context.WithTimeout(running, 2*time.Second) // minutes, for a cluster
	defer stop()
	err = clienttest.Record(ctx, c, clienttest.RecordOptions{
		File:      file,
		Resources: []meta.GVR{{Version: "v1", Resource: "services"}},
		Change: func(o *meta.Unstructured) {
			if metadata, ok := o.Object["metadata"].(map[string]any); ok {
				delete(metadata, "annotations") // what may be private
			}
		},
	})
	fmt.Println("recorded:", err)

	copied := clienttest.New(clienttest.Options{Replay: file})
	go func() { ended <- copied.Run(running) }()
	fmt.Println("replayed:", copied.WaitReplayed(running))
	c.Close()
	end()
	fmt.Println(<-ended, <-ended)
	// Output:
	// recorded: <nil>
	// replayed: <nil>
	// <nil> <nil>
}
