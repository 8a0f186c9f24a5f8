package remote_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/containers"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/remote"
	"github.com/bowline-go/bowline/internal/memnet"
)

// within calls f with the pods of a server whose pod default/web has one container, "app".
func within(s *containers.Server, f func(ctx context.Context, pods client.Resource[*meta.Raw], web meta.Key)) {
	server := clienttest.New(clienttest.Options{Containers: s})
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- server.Run(ctx) }()
	defer func() {
		stop()
		if err := <-done; err != nil {
			log.Print(err)
		}
	}()
	c, err := client.New(server.Config())
	if err != nil {
		log.Print(err)
		return
	}
	defer c.Close()
	pods := client.For(c, client.Type[*meta.Raw]{Version: "v1", Kind: "Pod", Resource: "pods"})
	web := &meta.Raw{}
	err = json.Unmarshal([]byte(`{"metadata": {"namespace": "default", "name": "web"},
		"spec": {"containers": [{"name": "app", "image": "app"}]}}`), web)
	if err == nil {
		_, err = pods.Create(ctx, web)
	}
	if err != nil {
		log.Print(err)
		return
	}
	f(ctx, pods, meta.KeyOf(web))
}

// A command that reads its input and fails. The error has the exit code.
func ExampleCommand() {
	count := func(_ context.Context, p *containers.Process) int {
		text, err := io.ReadAll(p.Stdin)
		if err != nil {
			return 1
		}
		fmt.Fprintf(p.Stdout, "%d words\n", len(strings.Fields(string(text))))
		return 3
	}
	within(&containers.Server{Run: count}, func(ctx context.Context, pods client.Resource[*meta.Raw], web meta.Key) {
		cmd := remote.Command(pods, web, "wc", "-w")
		cmd.Stdin = strings.NewReader("one two three")
		out, err := cmd.Output(ctx)
		fmt.Print(string(out))
		if exit := (*remote.ExitError)(nil); errors.As(err, &exit) {
			fmt.Println("exit code", exit.Code)
		}
	})
	// Output:
	// 3 words
	// exit code 3
}

// A command that answers line by line, over pipes.
func ExampleCmd_StdinPipe() {
	echo := func(_ context.Context, p *containers.Process) int {
		_, _ = io.Copy(p.Stdout, p.Stdin)
		return 0
	}
	within(&containers.Server{Run: echo}, func(ctx context.Context, pods client.Resource[*meta.Raw], web meta.Key) {
		cmd := remote.Command(pods, web, "cat")
		in, err := cmd.StdinPipe()
		if err != nil {
			log.Print(err)
			return
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			log.Print(err)
			return
		}
		if err := cmd.Start(ctx); err != nil {
			log.Print(err)
			return
		}
		fmt.Fprint(in, "hello")
		_ = in.Close() // the end of the input ends the command
		text, err := io.ReadAll(out)
		fmt.Println(string(text), err, cmd.Wait())
	})
	// Output:
	// hello <nil> <nil>
}

// An http.Client that reaches a server in a pod.
func ExampleTarget_DialContext() {
	listener := memnet.Listen() // what listens on the pod's port
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "hello from ", r.URL.Path) })}
	served := make(chan error)
	go func() { served <- server.Serve(listener) }()
	defer func() {
		_ = server.Close()
		<-served
	}()
	dial := func(ctx context.Context, _ meta.Key, _ int) (net.Conn, error) {
		return listener.DialContext(ctx, "tcp", listener.Addr().String())
	}
	within(&containers.Server{Dial: dial}, func(ctx context.Context, pods client.Resource[*meta.Raw], web meta.Key) {
		transport := &http.Transport{DialContext: remote.ToPod(pods, web, "8080").DialContext}
		defer transport.CloseIdleConnections()
		resp, err := (&http.Client{Transport: transport}).Get("http://web/page")
		if err != nil {
			log.Print(err)
			return
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		fmt.Println(resp.StatusCode, string(text), err)
	})
	// Output:
	// 200 hello from /page <nil>
}

// The last two lines of a log.
func ExampleLines() {
	logs := new(containers.Logs)
	within(&containers.Server{Logs: logs.Serve}, func(ctx context.Context, pods client.Resource[*meta.Raw], web meta.Key) {
		noon := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
		for i, text := range []string{"starting", "ready", "stopped"} {
			logs.Of(web, "app").Add(containers.Entry{Time: noon.Add(time.Duration(i) * time.Second), Text: text})
		}
		for line, err := range remote.Lines(ctx, pods, web, remote.LogOptions{Container: "app", Tail: 2}) {
			if err != nil {
				log.Print(err)
				return
			}
			fmt.Println(line.Time.Format(time.TimeOnly), line.Pod.Name, line.Container, line.Text)
		}
	})
	// Output:
	// 12:00:01 web app ready
	// 12:00:02 web app stopped
}

// A copy of a folder to this machine.
func ExampleCopyFrom() {
	container, local, err := folders()
	if err != nil {
		log.Print(err)
		return
	}
	defer os.RemoveAll(container)
	defer os.RemoveAll(local)
	root, err := os.OpenRoot(container)
	if err != nil {
		log.Print(err)
		return
	}
	defer root.Close()
	if err := os.WriteFile(filepath.Join(container, "app.conf"), []byte("level = debug"), 0o600); err != nil {
		log.Print(err)
		return
	}
	files := &containers.Files{Root: root}
	within(&containers.Server{Run: files.Run}, func(ctx context.Context, pods client.Resource[*meta.Raw], web meta.Key) {
		result, err := remote.CopyFrom(ctx, pods, web, "/", local, remote.CopyOptions{})
		fmt.Println(result.Files, "file,", result.Bytes, "bytes,", err)
		text, err := os.ReadFile(filepath.Join(local, "app.conf"))
		fmt.Println(string(text), err)
	})
	// Output:
	// 1 file, 13 bytes, <nil>
	// level = debug <nil>
}

// folders makes two folders.
func folders() (container, local string, err error) {
	if container, err = os.MkdirTemp("", ""); err != nil {
		return "", "", err
	}
	local, err = os.MkdirTemp("", "")
	return container, local, err
}
