package controllers

import (
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/discovery"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
)

// environment has the parts that the controllers of one Run share.
type environment struct {
	client  *client.Client
	caches  informer.Factory // which Run runs
	catalog *discovery.Catalog
}

// cached returns an informer of all objects of a resource. Controllers that ask for the same descriptor, with the same
// Go type, share its watch and its cache. It is used like any informer: a source of a controller, or a Runner.
func cached[T meta.Object](env *environment, t client.Type[T]) *informer.Informer[T] {
	return informer.Share(&env.caches, client.For(env.client, t), informer.Options{})
}
