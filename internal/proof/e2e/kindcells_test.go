package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/controlplane/build"
)

// young is a span of time that passes while the test runs, and a time that has just been.
var young = regexp.MustCompile(`^(\d{1,2}s|1m\d+s|20\d\d-\d\d-\d\dT[0-9:]+Z)$`)

// The cells of the server in the process are those of kube-apiserver, for the same objects, of every kind that it has: with the least that
// it takes, with much, and with a status.
func TestCellsOfClienttestAreThoseOfTheServer(t *testing.T) {
	t.Parallel()
	if newest := build.Minors()[0]; plane.Kubernetes != newest {
		t.Skipf("the cells of clienttest are those of Kubernetes %s", newest)
	}
	c, ns := admin(t)
	local := open(t, clienttest.Start(t, clienttest.Options{Lenient: true}).Config()) // a copied object has what the other server chose
	if a := ask(t, local, http.MethodPost, "/api/v1/namespaces", nil, `{"metadata":{"name":"`+ns+`"}}`); a.code != http.StatusCreated {
		t.Fatal(a.message)
	}
	all := slices.Concat(manifests, moreManifests, rareKinds())
	compared := 0
	for _, k := range servedBy(t, c) {
		if k.reviews {
			continue
		}
		m := all[slices.IndexFunc(all, func(m manifest) bool {
			return m.gvk == meta.GVK{Group: k.Group, Version: k.Version, Kind: k.Kind} && m.resource == k.Resource
		})]
		texts := []string{m.minimal}
		if k.Group != "events.k8s.io" {
			texts = append(texts, shown[k.Kind]...)
		}
		if m.full != "" {
			texts = append(texts, m.full)
		}
		for i, text := range texts {
			for _, status := range append([]string{""}, statusesOf(k.Kind)...) {
				if status != "" && !slices.Contains(k.Subresources, "status") {
					continue
				}
				name := fmt.Sprintf("e2e-cells-%s-%d-%s", strings.ToLower(k.Kind), i, sum(status))
				if k.Group == "events.k8s.io" {
					name = "e2e-records" + name
				}
				if compareCells(t, c, local, k, ns, name, text, status) {
					compared++
				}
			}
		}
	}
	if compared < 250 {
		t.Errorf("compared %d rows only", compared)
	}
}

// compareCells makes an object on the server, copies it to the one in the process, and compares their rows. It is false if there is no such object.
func compareCells(t *testing.T, c, local *client.Client, k kindRow, ns, name, text, status string) bool {
	t.Helper()
	path, object := k.path(ns), name
	if named := namesOf[k.Kind]; named != nil {
		object = named(name)
	}
	whole := with(t, strings.NewReplacer("NAME", name, "NSPACE", ns).Replace(text), map[string]any{
		"apiVersion": meta.GVR{Group: k.Group, Version: k.Version}.APIVersion(), "kind": k.Kind, "metadata.name": object,
	})
	a := ask(t, c, http.MethodPost, path, nil, whole)
	if a.code != http.StatusCreated {
		t.Errorf("create %s of %s: %s", name, k.Resource, a.message)
		return false
	}
	path += "/" + object
	defer ask(t, c, http.MethodDelete, path, nil, `{"gracePeriodSeconds":0}`)
	if status != "" {
		switch a = ask(t, c, http.MethodPatch, path+"/status", nil, `{"status":`+status+`}`); a.code {
		case http.StatusOK:
		case http.StatusUnprocessableEntity:
			return false // not every status is one of every object
		default:
			t.Errorf("write the status of %s: %s", k.Kind, a.message)
			return false
		}
	}
	var got reply
	var want []string
	eventually(t, func() error { // some kinds are written by the server itself meanwhile
		got, want = ask(t, c, http.MethodGet, path, nil, ""), row(t, c, path)
		if again := ask(t, c, http.MethodGet, path, nil, ""); !same(again.object["metadata"], got.object["metadata"]) {
			return errors.New("it changes")
		}
		if k.Kind == "CustomResourceDefinition" && want[len(want)-1] != "true" { // the server in the process establishes it at once
			return errors.New("it is not established yet")
		}
		return nil
	})
	copied := with(t, string(must(json.Marshal(got.object))(t)), map[string]any{"metadata.resourceVersion": nil, "metadata.uid": nil})
	collection := k.path(ns)
	if a = ask(t, local, http.MethodPost, collection, nil, copied); a.code != http.StatusCreated {
		t.Errorf("copy %s: %s", path, a.message)
		return false
	}
	if len(got.object["status"]) > 0 && slices.Contains(k.Subresources, "status") {
		if a = ask(t, local, http.MethodPut, path+"/status", nil, with(t, copied, map[string]any{"metadata.resourceVersion": nil})); a.code != http.StatusOK &&
			!strings.Contains(a.message, "must be specified for an update") {
			t.Errorf("copy the status of %s: %s", path, a.message)
		} else if a.code != http.StatusOK {
			a = ask(t, local, http.MethodPatch, path+"/status", nil, `{"status":`+string(got.object["status"])+`}`)
		}
	}
	if is := row(t, local, path); !slices.Equal(is, want) {
		t.Errorf("%s:\n got %q\nwant %q", path, is, want)
	}
	return true
}

// row returns the cells of an object as JSON, without what passes.
func row(t *testing.T, c *client.Client, path string) []string {
	t.Helper()
	var table struct{ Rows []struct{ Cells []any } }
	fetch(t, c, path, http.Header{"Accept": {"application/json;as=Table;v=v1;g=meta.k8s.io"}}, &table)
	if len(table.Rows) != 1 {
		t.Fatalf("%s: %d rows", path, len(table.Rows))
	}
	var cells []string
	for _, cell := range table.Rows[0].Cells {
		if s, ok := cell.(string); ok && young.MatchString(s) {
			cell = "just now"
		}
		cells = append(cells, string(must(json.Marshal(cell))(t)))
	}
	return cells
}
