package patching

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/schema"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
)

func applyJSON(doc, body []byte, lenient bool) (Result, error) {
	v, err := jsontree.Parse(body)
	if err == nil && !lenient {
		err = notOperations(v, "[]handlers.jsonPatchOp", "handlers.jsonPatchOp", "op", "path", "from")
	}
	if err != nil {
		return Result{}, status.BadRequest("error decoding patch: %v", err)
	}
	if err := notOperations(v, "jsonpatch.Patch", "jsonpatch.Operation"); err != nil {
		return Result{}, status.BadRequest("%v", err)
	}
	operations, err := read(body)
	if err != nil {
		return Result{}, err
	}
	result, err := applyOperations(doc, operations)
	if err != nil {
		return Result{}, status.Failure(http.StatusUnprocessableEntity, "Invalid",
			"the server rejected our request due to an error in our request").With(meta.StatusDetails{})
	}
	p := Result{Doc: result, shown: string(result)}
	for _, text := range schema.FieldErrors(body, schema.JSONPatch()) {
		p.wrong = append(p.wrong, "json patch "+text)
	}
	return p, nil
}

// Patched returns a document after a JSON patch. The error says which operation does not apply, and why.
func Patched(doc, body []byte) ([]byte, error) {
	operations, err := read(body)
	if err != nil {
		return nil, err
	}
	return applyOperations(doc, operations)
}

// read reads the operations of a patch.
func read(body []byte) ([]*operation, error) {
	var loose []map[string]json.RawMessage
	if err := json.Unmarshal(body, &loose); err != nil {
		return nil, err
	}
	if len(loose) > maxOperations {
		return nil, status.Failure(http.StatusRequestEntityTooLarge, "RequestEntityTooLarge",
			"Request entity too large: The allowed maximum operations in a JSON patch is %d, got %d", maxOperations, len(loose))
	}
	operations := make([]*operation, 0, len(loose))
	for _, members := range loose {
		o := &operation{Value: members["value"]}
		for name, into := range map[string]**string{"op": &o.Op, "path": &o.Path, "from": &o.From} {
			if json.Unmarshal(members[name], into) != nil {
				*into = nil
			}
		}
		operations = append(operations, o)
	}
	return operations, nil
}

// notOperations returns an error if v is not a list of operations, or if a member that texts names is not a string. A
// server answers with the error of encoding/json, which contains the names of the server's Go types. The error is
// written here because its text in encoding/json differs between releases of Go.
func notOperations(v any, list, item string, texts ...string) error {
	if v == nil {
		return nil
	}
	items, isList := v.([]any)
	if !isList {
		return fmt.Errorf("json: cannot unmarshal %s into Go value of type %s", jsontree.KindOf(v), list)
	}
	for _, v := range items {
		operation, isObject := v.(jsontree.Object)
		if !isObject && v != nil {
			return fmt.Errorf("json: cannot unmarshal %s into Go value of type %s", jsontree.KindOf(v), item)
		}
		// A lenient server does not read the values here.
		if n := jsontree.OutOfRange(operation["value"]); n != "" && len(texts) > 0 {
			return fmt.Errorf("json: cannot unmarshal number %s into Go struct field jsonPatchOp.value of type float64", n)
		}
		for _, name := range texts {
			if _, isText := operation[name].(string); !isText && operation[name] != nil {
				_, of, _ := strings.Cut(item, ".")
				return fmt.Errorf("json: cannot unmarshal %s into Go struct field %s.%s of type string", jsontree.KindOf(operation[name]), of, name)
			}
		}
	}
	return nil
}
