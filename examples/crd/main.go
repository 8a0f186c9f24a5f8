// Crd works with a custom resource through a struct of its own: no generated code, no scheme, no registration.
//
//	go run ./examples/crd                     # with nothing but Go: the API server is in the process
//	go run ./examples/crd -kubeconfig FILE
//
// In a real cluster it installs the definition of Sites, makes one Site in the namespace default, and removes the Site
// at the end.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/crd"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/examples/internal/cluster"
)

// kubectl explain shows the comments of Site and its fields. The command writes them to descriptions.go, because a
// compiled program has no comments.
//
//go:generate go run github.com/bowline-go/bowline/client/typegen -crd -o descriptions.go Site

// Site is a place on the web.
type Site struct {
	// The decoder skips the other fields of a Site, and writes keep them.
	Metadata `json:"metadata"`
	Spec     SiteSpec   `json:"spec"`
	Status   SiteStatus `json:"status,omitzero"`
}

// Metadata is the identity, which a struct needs, and the other metadata that this program uses.
type Metadata struct {
	meta.Identity
	Labels map[string]string `json:"labels,omitempty"`
}

// SiteSpec is the wanted state.
type SiteSpec struct {
	// Domain is the name of the site in the DNS.
	Domain string `json:"domain"`
	// Pages is how many pages the site has.
	Pages int `json:"pages,omitempty"`
}

// SiteStatus is the present state.
type SiteStatus struct {
	// URL is where the site is published.
	URL string `json:"url,omitempty"`
}

// Sites is the resource on the server. This and the struct are the whole client.
var Sites = client.Type[*Site]{Group: "example.com", Version: "v1", Kind: "Site", Resource: "sites"}

func work(ctx context.Context, c *client.Client, out io.Writer) (err error) {
	// The type says what the definition of sites has.
	if err := crd.Install(ctx, c, crd.MustOf(Sites, crd.Options{Descriptions: SiteDescriptions()})); err != nil {
		return err
	}
	sites := client.For(c, Sites)
	made, err := sites.Create(ctx, &Site{
		Metadata: Metadata{Identity: meta.Identity{Namespace: "default", Name: "bowline-example"}, Labels: map[string]string{"team": "docs"}},
		Spec:     SiteSpec{Domain: "example.com"},
	})
	if err != nil {
		return err
	}
	key := made.Key()
	defer func() {
		gone := client.DeleteOptions{UID: made.UID} // this one, and not another that has taken its name
		err = errors.Join(err, sites.Delete(context.WithoutCancel(ctx), key, gone))
	}()
	fmt.Fprintln(out, "made", key, made.Spec)

	// Modify writes what the function changes, and tries again if somebody else was faster.
	changed, err := sites.Modify(ctx, key, func(s *Site) error {
		s.Spec.Pages = 3
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "changed to", changed.Spec)

	// The status is a subresource: a write to it changes nothing else.
	changed, err = sites.Status().Modify(ctx, key, func(s *Site) error {
		s.Status.URL = "https://" + s.Spec.Domain + "/"
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "published at", changed.Status.URL)

	list, err := sites.List(ctx, client.ListOptions{Namespace: key.Namespace, LabelSelector: "team=docs"})
	if err != nil {
		return err
	}
	for _, site := range list.Items {
		fmt.Fprintln(out, "listed", site.Name, site.Spec.Pages, site.Status.URL)
	}
	return nil
}

func main() {
	cluster.Example{Work: func(ctx context.Context, c *client.Client) error { return work(ctx, c, os.Stdout) }}.Main()
}
