package patching

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/schema"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/patch/strategic"
	"github.com/bowline-go/bowline/patch"
)

func applyStrategic(doc, body []byte, kind meta.GVK) (Result, error) {
	v, err := jsontree.Parse(body)
	change, isObject := v.(jsontree.Object)
	switch {
	case err == nil && v == nil:
		change, body = jsontree.Object{}, []byte("{}")
	case !isObject:
		return Result{}, status.BadRequest("%v", notAnObject(v, err))
	}
	strategy, err := schema.Builtin().Strategy(kind)
	if err != nil {
		return Result{}, err
	}
	result, err := patch.ApplyStrategic(doc, body, strategy)
	switch wrong, ok := errors.AsType[*strategic.Error](err); {
	case ok && (errors.Is(err, strategic.ErrRetainKeys) || strings.HasSuffix(wrong.Path, "/$retainKeys")):
		return Result{}, status.BadRequest("invalid patch format of retainKeys")
	case err != nil:
		return Result{}, status.Failure(http.StatusInternalServerError, "", "%v", err)
	}
	v, err = jsontree.Parse(result)
	object, isObject := v.(jsontree.Object)
	if err != nil || !isObject {
		return Result{}, status.Failure(http.StatusInternalServerError, "", "a strategic merge patch makes %s", result)
	}
	// A real server reads the result as an object of this kind, whatever kind it names.
	for name, is := range map[string]string{"kind": kind.Kind, "apiVersion": kind.APIVersion()} {
		if v, isText := object[name].(string); v != is && (isText || object[name] == nil) {
			object[name] = is
		}
	}
	return Result{
		Doc: jsontree.Append(nil, object), Value: object, wrong: schema.Duplicates(body), sorted: true, shown: fmt.Sprintf("%+v", jsontree.GoValue(change)),
	}, nil
}

// notAnObject returns the error for a body that must be an object and is not.
func notAnObject(v any, err error) error {
	if err != nil {
		return err
	}
	return fmt.Errorf("json: cannot unmarshal %s into Go value of type map[string]interface {}", jsontree.KindOf(v))
}
