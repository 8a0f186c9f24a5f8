package cel_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/bowline-go/bowline/client/clienttest/cel"
)

func ExampleRules() {
	rules, err := cel.Rules().Compile(json.RawMessage(`{"type": "object", "properties": {
		"spec": {
			"type": "object",
			"properties": {"min": {"type": "integer"}, "max": {"type": "integer"}},
			"x-kubernetes-validations": [{"rule": "self.min <= self.max", "fieldPath": ".max", "message": "must be at least min"}]
		}
	}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	page := map[string]any{"spec": map[string]any{"min": int64(3), "max": int64(2)}}
	for _, cause := range rules.Check(context.Background(), page, nil) {
		fmt.Printf("%s: %s\n", cause.Field, cause.Message)
	}
	// Output: spec.max: Invalid value: must be at least min
}
