package cel_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/cel"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

type page struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Min int `json:"min"`
		Max int `json:"max"`
	} `json:"spec"`
}

const schema = `{"type": "object", "properties": {
	"spec": {
		"type": "object",
		"properties": {"min": {"type": "integer"}, "max": {"type": "integer"}},
		"x-kubernetes-validations": [{"rule": "self.min <= self.max", "fieldPath": ".max", "message": "must be at least min"}]
	}
}}`

// A server that checks the rules of a schema. It is the same with the schemas of CustomResourceDefinitions. In a test,
// clienttest.Start runs the server.
func ExampleRules() {
	server := clienttest.New(clienttest.Options{
		Rules: cel.Rules(),
		Resources: []clienttest.Resource{{
			Group: "example.com", Version: "v1", Kind: "Page", Resource: "pages", Schema: json.RawMessage(schema),
		}},
	})
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	done := make(chan error)
	go func() { done <- server.Run(ctx) }()

	c, err := client.New(server.Config())
	if err != nil {
		fmt.Println(err)
		return
	}
	pages := client.For(c, client.Type[*page]{Group: "example.com", Version: "v1", Kind: "Page", Resource: "pages"})
	p := &page{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "index"}}
	p.Spec.Min, p.Spec.Max = 3, 2
	_, err = pages.Create(ctx, p)
	if refused, ok := errors.AsType[*apierrors.StatusError](err); ok {
		for _, cause := range refused.Status.Details.Causes {
			fmt.Printf("%s: %s\n", cause.Field, cause.Message)
		}
	}

	c.Close()
	stop()
	<-done
	// Output: spec.max: Invalid value: must be at least min
}
