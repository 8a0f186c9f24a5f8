// Table prints the objects of any resource as kubectl does: with the columns that the server chooses.
//
//	go run ./examples/table                      # with nothing but Go: the API server is in the process
//	go run ./examples/table -kubeconfig FILE -group apps -kind Deployment -resource deployments -wide
//
// It needs only the name of the resource. If a server makes no tables, it sends the objects, and Table makes a table
// of their names and ages; its field Plain says so.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/examples/internal/cluster"
)

// show prints the table of a namespace, or of all if that is empty. It needs only the metadata of the objects.
func show(ctx context.Context, objects client.Resource[*meta.Partial], namespace string, wide bool, out io.Writer) error {
	table, err := objects.Table(ctx, client.ListOptions{Namespace: namespace}, client.TableOptions{})
	if err != nil {
		return err
	}
	if len(table.Rows) == 0 {
		_, err = fmt.Fprintln(out, "nothing there")
		return err
	}
	if wide {
		table = table.Wide()
	}
	return table.Write(out)
}

// Secret has the fields that fill writes.
type Secret struct {
	meta.Identity `json:"metadata"`
	Type          string            `json:"type,omitempty"`
	Text          map[string]string `json:"stringData,omitempty"`
}

// fill makes something to print.
func fill(ctx context.Context, c *client.Client) error {
	secrets := client.For(c, client.Type[*Secret]{Version: "v1", Kind: "Secret", Resource: "secrets"})
	for _, s := range []*Secret{
		{Identity: meta.Identity{Namespace: "default", Name: "door"}, Text: map[string]string{"code": "1234"}},
		{Identity: meta.Identity{Namespace: "default", Name: "mail"}, Type: "kubernetes.io/basic-auth", Text: map[string]string{"username": "ann", "password": "x"}},
		{Identity: meta.Identity{Namespace: "kube-system", Name: "token"}},
	} {
		if _, err := secrets.Create(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

func main() {
	var t client.Type[*meta.Partial]
	flag.StringVar(&t.Group, "group", "", "the resource's group; empty is the core group")
	flag.StringVar(&t.Version, "version", "v1", "the group's version")
	flag.StringVar(&t.Kind, "kind", "Secret", "the kind of the objects")
	flag.StringVar(&t.Resource, "resource", "secrets", "the resource's name")
	namespace := flag.String("namespace", "", "the namespace; empty means all")
	wide := flag.Bool("wide", false, "print all columns")
	cluster.Example{Fill: fill, Work: func(ctx context.Context, c *client.Client) error {
		return show(ctx, client.For(c, t), *namespace, *wide, os.Stdout)
	}}.Main()
}
