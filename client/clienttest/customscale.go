package clienttest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/definitions"
	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/ownership"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
)

// The definition of a custom resource says where in its objects the numbers of a scale are.

// noReplicas is the number of replicas of an object that does not set one: a write of its scale must set it.
const noReplicas = math.MinInt32

// readFrom reads the numbers of a scale.
func (s *scale) readFrom(content jsontree.Object, from *definitions.Scale) error {
	var err, err2, err3 error
	s.Spec.Replicas, _, err = numberAt(content, from.SpecReplicasPath)
	s.Status.Replicas, _, err2 = numberAt(content, from.StatusReplicasPath)
	if from.LabelSelectorPath != "" {
		s.Status.Selector, err3 = textAt(content, from.LabelSelectorPath)
	}
	return cmp.Or(err, err2, err3)
}

// names returns the names on a path such as .spec.replicas.
func names(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }

// replicasPath returns the path of the number of replicas that a scale writes.
func (r *resource) replicasPath() string {
	if r.scale != nil {
		return r.scale.SpecReplicasPath
	}
	return ".spec.replicas"
}

// ownedReplicas is replicasPath in the form of managedFields.
func (r *resource) ownedReplicas() []string {
	if r.scale == nil {
		return ownership.Replicas()
	}
	path := names(r.scale.SpecReplicasPath)
	for i := range path {
		path[i] = "f:" + path[i]
	}
	return path
}

// at returns the value on a path, and whether there is one. The error says that a value on the way is not an object.
func at(content jsontree.Object, path string) (v any, found bool, _ error) {
	v = content
	all := names(path)
	for i, name := range all {
		m, ok := v.(jsontree.Object)
		switch {
		case v == nil:
			return nil, false, nil
		case !ok:
			return nil, false, mismatch(all[:i+1], v, "map[string]interface{}")
		}
		if v, found = m[name]; !found {
			return nil, false, nil
		}
	}
	return v, true, nil
}

// mismatch returns the error for a value of another type, in the words of a real server.
func mismatch(path []string, v any, want string) error {
	v = jsontree.GoValue(v)
	return fmt.Errorf(".%s accessor error: %v is of the type %T, expected %s", strings.Join(path, "."), v, v, want)
}

func numberAt(content jsontree.Object, path string) (n int64, found bool, _ error) {
	v, found, err := at(content, path)
	if err != nil || !found {
		return 0, false, err
	}
	number, _ := v.(json.Number)
	if n, err = strconv.ParseInt(number.String(), 10, 64); err != nil {
		return 0, false, mismatch(names(path), v, "int64")
	}
	return n, true, nil
}

func textAt(content jsontree.Object, path string) (string, error) {
	v, found, err := at(content, path)
	text, ok := v.(string)
	if err == nil && found && !ok {
		err = mismatch(names(path), v, "string")
	}
	return text, err
}

// setNumber sets a number in a draft, and makes the objects on the way to it.
func setNumber(d *object.Draft, path string, n int64) error {
	all := names(path)
	m := d.Content
	for i, name := range all[:len(all)-1] {
		inner, ok := m[name].(jsontree.Object)
		if _, found := m[name]; found && !ok {
			return fmt.Errorf("value cannot be set because .%s is not a map[string]interface{}", strings.Join(all[:i+1], "."))
		}
		if inner = maps.Clone(inner); inner == nil {
			inner = jsontree.Object{}
		}
		m[name], m = inner, inner
	}
	m[all[len(all)-1]] = json.Number(strconv.FormatInt(n, 10))
	return nil
}

// wrongScale returns what is wrong with the numbers of a scale in a custom resource, or in its status.
func (r *resource) wrongScale(d *object.Draft, subresource string) (causes []meta.StatusCause) {
	if r.scale == nil {
		return nil
	}
	number := func(path string) {
		n, _, err := numberAt(d.Content, path)
		why := ""
		switch {
		case err != nil:
			why = err.Error()
		case n < 0:
			why = "should be a non-negative integer"
		case n > math.MaxInt32:
			why = fmt.Sprintf("should be less than or equal to %d", math.MaxInt32)
		default:
			return
		}
		causes = append(causes, status.InvalidValue(path, n, why))
	}
	if subresource != "status" {
		number(r.scale.SpecReplicasPath)
	}
	number(r.scale.StatusReplicasPath)
	if path := r.scale.LabelSelectorPath; path != "" {
		if text, err := textAt(d.Content, path); err != nil {
			causes = append(causes, status.InvalidValue(path, text, err.Error()))
		}
	}
	return causes
}
