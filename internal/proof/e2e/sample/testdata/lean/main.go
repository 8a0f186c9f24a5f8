// Lean is a program with a mistake: Foo has no more metadata than its identity, and is asked for the rest. It must not
// compile.
package main

import (
	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer/controller"
)

type Foo struct {
	meta.Identity `json:"metadata"`
}

func main() {
	foo := new(Foo)
	_ = meta.IsDeleting(foo)
	_ = client.SetController(foo, client.Owner{})
	_ = controller.Owns(cache.Reader[*Foo]{}, client.Type[*Foo]{})
	for range cache.Select(cache.Reader[*Foo]{}, meta.Selector{}) {
	}
}
