// Package envtest starts clienttest on a socket of loopback instead of a kube-apiserver, in copies of other projects'
// test suites. In those of controller-runtime it stands in for the package of that name.
//
// It is compiled here so that vet and the linters see it. The program beside it writes it into the copies.
package envtest

import (
	"context"
	"errors"
	"net"

	"k8s.io/client-go/rest"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/cel"
)

// Config starts a server that serves until the process ends, and returns the configuration of a client. The suite
// installs its definitions and webhooks there as in an existing cluster.
func Config() *rest.Config {
	e := &Environment{rules: cel.Rules()}
	config, err := e.Start()
	if err != nil {
		panic(err) // cannot listen on loopback, and no spec has run yet
	}
	return config
}

// Environment is a server of one suite. It has as many of the original's members as the suites use.
type Environment struct {
	// CRDDirectoryPaths are directories. The CustomResourceDefinitions in their YAML files are served.
	CRDDirectoryPaths []string

	rules clienttest.Rules

	stop context.CancelFunc
	done chan error
}

// Start starts the server and returns the configuration of a client. Stop must be called later.
func (e *Environment) Start() (*rest.Config, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	server := clienttest.New(clienttest.Options{Listener: listener, CRDs: e.CRDDirectoryPaths, Rules: e.rules})
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
