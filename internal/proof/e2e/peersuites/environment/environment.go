// Package envtest stands in for controller-runtime's package of that name in a copy of its test suites: it starts
// clienttest on a socket of loopback instead of a kube-apiserver.
//
// It is compiled here so that vet and the linters see it. The program beside it writes it into the copy.
package envtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

// Environment is a server of one suite. It has as many of the original's members as the suites use.
type Environment struct {
	// CRDDirectoryPaths are directories. The CustomResourceDefinitions in their YAML files are served.
	CRDDirectoryPaths []string

	stop context.CancelFunc
	done chan error
}

// Start starts the server and returns the configuration of a client. Stop must be called later.
func (e *Environment) Start() (*rest.Config, error) {
	var resources []clienttest.Resource
	for _, directory := range e.CRDDirectoryPaths {
		served, err := read(directory)
		if err != nil {
			return nil, err
		}
		resources = append(resources, served...)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	server := clienttest.New(clienttest.Options{Listener: listener, Resources: resources})
	var ctx context.Context
	ctx, e.stop = context.WithCancel(context.Background())
	e.done = make(chan error, 1)
	go func() { e.done <- server.Run(ctx) }()
	return &rest.Config{
		Host: "http://" + listener.Addr().String(),
		// As the original sets them: the suites send more requests than the client allows by itself.
		QPS: 1000, Burst: 2000,
	}, nil
}

// Stop ends the server and returns once it has ended.
func (e *Environment) Stop() error {
	if e.stop == nil {
		return errors.New("the environment was not started")
	}
	e.stop()
	return <-e.done
}

// definition is as much of a CustomResourceDefinition as a clienttest.Resource has.
type definition struct {
	Kind string `json:"kind"`
	Spec struct {
		Group string `json:"group"`
		Names struct {
			Kind       string   `json:"kind"`
			Plural     string   `json:"plural"`
			Singular   string   `json:"singular"`
			ShortNames []string `json:"shortNames"`
			Categories []string `json:"categories"`
		} `json:"names"`
		Scope    string `json:"scope"`
		Versions []struct {
			Name   string `json:"name"`
			Served bool   `json:"served"`
			Schema struct {
				OpenAPIV3Schema json.RawMessage `json:"openAPIV3Schema"`
			} `json:"schema"`
			Subresources struct {
				Status *struct{} `json:"status"`
			} `json:"subresources"`
		} `json:"versions"`
	} `json:"spec"`
}

// read returns the resources that the definitions in a directory's YAML files describe.
func read(directory string) ([]clienttest.Resource, error) {
	files, err := filepath.Glob(filepath.Join(directory, "*.yaml"))
	if err != nil {
		return nil, err
	}
	var resources []clienttest.Resource
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var d definition
		if err := yaml.Unmarshal(text, &d); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if d.Kind != "CustomResourceDefinition" {
			return nil, fmt.Errorf("%s: want one document of kind CustomResourceDefinition, got %q", file, d.Kind)
		}
		scope := meta.Namespaced
		if d.Spec.Scope == "Cluster" {
			scope = meta.Cluster
		}
		for _, v := range d.Spec.Versions {
			if !v.Served {
				continue
			}
			resources = append(resources, clienttest.Resource{
				Group: d.Spec.Group, Version: v.Name, Kind: d.Spec.Names.Kind, Resource: d.Spec.Names.Plural,
				Singular: d.Spec.Names.Singular, ShortNames: d.Spec.Names.ShortNames, Categories: d.Spec.Names.Categories,
				Scope: scope, Status: v.Subresources.Status != nil, Schema: v.Schema.OpenAPIV3Schema,
			})
		}
	}
	return resources, nil
}
