package clienttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest/internal/recording"
	"github.com/bowline-go/bowline/client/meta"
)

// maxDocument bounds the answers about the server.
const maxDocument = 64 << 20

// ask asks the server for the facts that the recorder needs, and checks that the client may read everything.
func (r *recordRun) ask(ctx context.Context) error {
	r.header = r.begin()
	for _, gvr := range r.o.Resources {
		res, err := r.describe(ctx, gvr)
		if err != nil {
			return err
		}
		r.header.Resources = append(r.header.Resources, res)
	}
	var version struct {
		GitVersion string `json:"gitVersion"`
	}
	_ = r.read(ctx, "/version", &version) // not every user may read it
	r.header.Server = version.GitVersion
	r.header.Cluster = r.cluster(ctx)
	var errs []error
	for _, name := range r.header.Streams() {
		s := newRecordedStream(r, name)
		r.streams = append(r.streams, s)
		errs = append(errs, s.permitted(ctx))
	}
	return errors.Join(errs...)
}

// describe asks discovery about a resource.
func (r *recordRun) describe(ctx context.Context, gvr meta.GVR) (*recording.Resource, error) {
	path := "/apis/" + gvr.APIVersion()
	if gvr.Group == "" {
		path = "/api/" + gvr.Version
	}
	var list struct {
		Resources []struct {
			Name         string   `json:"name"`
			SingularName string   `json:"singularName"`
			Kind         string   `json:"kind"`
			Namespaced   bool     `json:"namespaced"`
			ShortNames   []string `json:"shortNames"`
			Categories   []string `json:"categories"`
			Verbs        []string `json:"verbs"`
		} `json:"resources"`
	}
	if err := r.read(ctx, path, &list); err != nil {
		return nil, fmt.Errorf("find %s: %w", gvr, err)
	}
	var found *recording.Resource
	status := false
	for _, is := range list.Resources {
		status = status || is.Name == gvr.Resource+"/status"
		if is.Name != gvr.Resource {
			continue
		}
		for _, verb := range []string{"list", "watch"} {
			if !slices.Contains(is.Verbs, verb) {
				return nil, fmt.Errorf("%s cannot be recorded: the server has no verb %s for it", gvr, verb)
			}
		}
		found = &recording.Resource{
			Group: gvr.Group, Version: gvr.Version, Resource: gvr.Resource, Kind: is.Kind, Singular: is.SingularName,
			ShortNames: is.ShortNames, Categories: is.Categories, Namespaced: is.Namespaced,
		}
	}
	if found == nil {
		return nil, fmt.Errorf("the server does not serve %s", gvr)
	}
	found.Status = status
	return found, nil
}

// read reads a document of the server.
func (r *recordRun) read(ctx context.Context, path string, into any) error {
	resp, err := r.c.Raw(ctx, client.RawRequest{Path: path})
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("read the answer to %s: %w", path, err)
	}
	return nil
}

// cluster returns the uid of a namespace, which no other cluster has; empty if the client may read none.
func (r *recordRun) cluster(ctx context.Context) string {
	namespaces := client.For(r.c, client.Type[*meta.Partial]{
		Version: "v1", Kind: "Namespace", Resource: "namespaces", Scope: meta.Cluster,
	})
	for _, name := range slices.Concat([]string{"kube-system"}, r.o.Namespaces) {
		if ns, err := namespaces.Get(ctx, meta.Key{Name: name}); err == nil {
			return ns.UID
		}
	}
	return ""
}
