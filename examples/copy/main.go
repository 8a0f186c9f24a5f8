// Copy copies a folder from a container, and a file to one.
//
//	go run ./examples/copy  # with nothing but Go: the API server is in the process, and its containers too
//	go run ./examples/copy -kubeconfig FILE -pod NAME -from /var/log/ -to ./logs
//	go run ./examples/copy -kubeconfig FILE -pod NAME -file ./app.conf -name /etc/app.conf
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest/containers"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/remote"
	"github.com/bowline-go/bowline/examples/internal/cluster"
)

// Pod has the fields that the demo writes.
type Pod struct {
	meta.Identity `json:"metadata"`
	Spec          struct {
		Containers []Container `json:"containers"`
	} `json:"spec"`
}

type Container struct {
	Name  string `json:"name"`
	Image string `json:"image"`
}

var pods = client.Type[*Pod]{Version: "v1", Kind: "Pod", Resource: "pods"}

// download copies a folder of the container to one on disk.
func download(ctx context.Context, r client.Resource[*Pod], pod meta.Key, from, to string, o remote.CopyOptions, out io.Writer) error {
	o.Progress = func(_ string, files int, bytes int64) { fmt.Fprintf(out, "%d files, %d bytes\n", files, bytes) }
	res, err := remote.CopyFrom(ctx, r, pod, from, to, o)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "copied %d files and %d folders with %s\n", res.Files, res.Folders, res.Program)
	return nil
}

// upload copies a file to the container, and verifies it.
func upload(ctx context.Context, r client.Resource[*Pod], pod meta.Key, file io.Reader, name string, o remote.CopyOptions, out io.Writer) error {
	o.Verify = true
	res, err := remote.WriteFile(ctx, r, pod, name, file, o)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "wrote %d bytes to %s\n", res.Bytes, name)
	return nil
}

// demo copies to and from a container whose files are in the folder disk.
func demo(ctx context.Context, c *client.Client, disk string, out io.Writer) error {
	web := &Pod{Identity: meta.Identity{Namespace: "default", Name: "web"}}
	web.Spec.Containers = []Container{{Name: "app", Image: "none"}}
	r, pod := client.For(c, pods), meta.KeyOf(web)
	if _, err := r.Create(ctx, web); err != nil {
		return err
	}
	if err := upload(ctx, r, pod, strings.NewReader("level=debug\n"), "/app.conf", remote.CopyOptions{}, out); err != nil {
		return err
	}
	logs := filepath.Join(disk, "logs")
	if err := download(ctx, r, pod, "/", logs, remote.CopyOptions{}, out); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(logs, "app.conf"))
	fmt.Fprintf(out, "app.conf has %q\n", text)
	return err
}

// inProcess runs the demo on a container whose files are in a temporary folder.
func inProcess(run func(files containers.Files, disk string) error) (err error) {
	disk, err := os.MkdirTemp("", "copy")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(disk)) }()
	if err := os.Mkdir(filepath.Join(disk, "container"), 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(filepath.Join(disk, "container"))
	if err != nil {
		return err
	}
	defer root.Close()
	return run(containers.Files{Root: root}, disk)
}

func main() {
	key := meta.Key{Namespace: "default"}
	var o remote.CopyOptions
	flag.StringVar(&key.Namespace, "namespace", key.Namespace, "the pod's namespace")
	flag.StringVar(&key.Name, "pod", "", "the pod's name")
	flag.StringVar(&o.Container, "container", "", "the container; may be empty if the pod has one")
	flag.BoolVar(&o.Overwrite, "overwrite", false, "replace files")
	from := flag.String("from", "", "copy this file or folder of the container; with a slash at the end, what is in the folder")
	to := flag.String("to", ".", "the folder for it")
	file := flag.String("file", "", "copy this file to the container")
	name := flag.String("name", "", "its name there")
	err := inProcess(func(files containers.Files, disk string) error {
		cluster.Example{
			Containers: &containers.Server{Run: files.Run},
			Demo:       func(ctx context.Context, c *client.Client) error { return demo(ctx, c, disk, os.Stdout) },
			Work: func(ctx context.Context, c *client.Client) error {
				if *from != "" {
					return download(ctx, client.For(c, pods), key, *from, *to, o, os.Stdout)
				}
				f, err := os.Open(*file)
				if err != nil {
					return err
				}
				defer f.Close()
				return upload(ctx, client.For(c, pods), key, f, *name, o, os.Stdout)
			},
		}.Main()
		return nil
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
