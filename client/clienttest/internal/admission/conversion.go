package admission

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/meta"
)

// Conversion is the webhook that converts the objects of a custom resource from one version to another.
type Conversion struct {
	Client         Client
	ReviewVersions []string         // of ConversionReviews, in the order in which the webhook prefers them
	Validator      object.Validator // checks the labels and annotations that the webhook changes
}

// ConversionRequest is what the webhook is asked. The objects are of one version.
type ConversionRequest struct {
	UID     string
	Objects []*object.Draft
	To      string // the wanted apiVersion
}

const (
	// conversionTimeout is the time that a webhook has to convert objects.
	conversionTimeout = 30 * time.Second
	conversionGroup   = "apiextensions.k8s.io/"
)

// conversionAnswer is the member response of a ConversionReview.
type conversionAnswer struct {
	UID              string            `json:"uid"`
	ConvertedObjects []json.RawMessage `json:"convertedObjects"`
	Result           meta.Status       `json:"result"`
}

// Convert asks the webhook, and returns the objects in the wanted version, in the order of the request. The errors are
// those of a real server that converts one object at a time.
func (c *Caller) Convert(ctx context.Context, by *Conversion, r ConversionRequest) ([]*object.Draft, error) {
	if len(r.Objects) == 0 {
		return nil, nil
	}
	body, version, err := by.review(r)
	if err != nil {
		return nil, err
	}
	kind := meta.TypeMeta{APIVersion: r.Objects[0].APIVersion, Kind: r.Objects[0].Kind}
	failed := func(format string, args ...any) error {
		return fmt.Errorf("conversion webhook for %s, Kind=%s %w", kind.APIVersion, kind.Kind, fmt.Errorf(format, args...))
	}
	var all []json.RawMessage
	text, err := c.Post(ctx, by.Client, conversionTimeout, body)
	if err == nil {
		all, err = r.read(text, version)
	}
	switch {
	case err != nil:
		return nil, failed("failed: %w", err)
	case len(all) != len(r.Objects):
		return nil, failed("returned %d objects, expected %d", len(all), len(r.Objects))
	}
	converted := make([]*object.Draft, len(all))
	for i, raw := range all {
		whole, err := readConverted(raw)
		if err != nil {
			return nil, err // without the name of the webhook, as on a real server
		}
		if converted[i], err = by.accept(r.Objects[i], whole, r.To); err != nil {
			return nil, failed("returned invalid %w", err)
		}
	}
	return converted, nil
}

// review returns the body of a call, and the version of the review.
func (by *Conversion) review(r ConversionRequest) (body []byte, version string, _ error) {
	i := slices.IndexFunc(by.ReviewVersions, func(v string) bool { return v == "v1" || v == "v1beta1" })
	if i < 0 {
		return nil, "", errors.New("no supported conversion review versions")
	}
	version = by.ReviewVersions[i]
	objects := make([]json.RawMessage, len(r.Objects))
	for i, d := range r.Objects {
		t := meta.TypeMeta{APIVersion: d.APIVersion, Kind: d.Kind}
		objects[i] = d.Revision(&object.Type{Of: t.GVK()}, 0).Raw
	}
	body, err := json.Marshal(map[string]any{
		"kind": "ConversionReview", "apiVersion": conversionGroup + version,
		"request": map[string]any{"uid": r.UID, "desiredAPIVersion": r.To, "objects": objects},
		// A real server sends an empty answer with its request.
		"response": map[string]any{"uid": "", "convertedObjects": nil, "result": map[string]any{"metadata": map[string]any{}}},
	})
	return body, version, err
}

// read returns the objects in an answer to a review of a version.
func (r *ConversionRequest) read(body []byte, version string) ([]json.RawMessage, error) {
	var review struct {
		Response *conversionAnswer `json:"response"`
	}
	is, err := decodeReview(body, "ConversionReview", conversionGroup, version, &review)
	a := review.Response
	switch {
	case err != nil:
		return nil, err
	case version == "v1" && is != meta.TypeMeta{Kind: "ConversionReview", APIVersion: conversionGroup + version}:
		gvk := is.GVK()
		return nil, fmt.Errorf("expected webhook response of %s%s, Kind=ConversionReview, got %s/%s, Kind=%s",
			conversionGroup, version, gvk.Group, gvk.Version, gvk.Kind)
	case a == nil:
		return nil, errors.New("no response provided")
	case version == "v1" && a.UID != r.UID:
		return nil, fmt.Errorf("expected response.uid=%q, got %q", r.UID, a.UID)
	case a.Result.Status == "Success":
		return a.ConvertedObjects, nil
	case a.Result.Message != "":
		return nil, errors.New(a.Result.Message)
	}
	return nil, fmt.Errorf("response.result.status was '%s', not 'Success'", a.Result.Status)
}

// readConverted reads an object that a webhook has converted.
func readConverted(raw []byte) (jsontree.Object, error) {
	if _, err := object.TypeOf(raw); err != nil {
		return nil, err
	}
	v, err := jsontree.Parse(raw)
	whole, _ := v.(jsontree.Object)
	if kind, _ := whole["kind"].(string); kind == "" && err == nil {
		//lint:ignore ST1005 these are the real server's words
		err = fmt.Errorf("Object 'Kind' is missing in '%s'", raw)
	}
	return whole, err
}

// accept returns an object that a webhook has converted. The object keeps its metadata, except for labels and
// annotations.
func (by *Conversion) accept(was *object.Draft, whole jsontree.Object, to string) (*object.Draft, error) {
	text := func(m jsontree.Object, name string) string { s, _ := m[name].(string); return s }
	if got := text(whole, "apiVersion"); got != to {
		return nil, fmt.Errorf("object at index 0: invalid groupVersion (expected %s, received %s)", to, got)
	}
	if got := text(whole, "kind"); got != was.Kind {
		return nil, fmt.Errorf("object at index 0: invalid kind (expected %s, received %s)", was.Kind, got)
	}
	metadata, _ := whole["metadata"].(jsontree.Object)
	for _, same := range []struct{ what, name, want string }{
		{"name", "name", was.Meta.Name}, {"namespace", "namespace", was.Meta.Namespace}, {"UID", "uid", was.Meta.UID},
	} {
		if got := text(metadata, same.name); got != same.want {
			return nil, fmt.Errorf("object: must have the same %s: %s != %s", same.what, same.want, got)
		}
	}
	d := &object.Draft{APIVersion: to, Kind: was.Kind, Meta: was.Meta, Content: whole}
	for _, name := range []string{"apiVersion", "kind", "metadata"} {
		delete(d.Content, name)
	}
	for name, v := range d.Content {
		d.Content[name] = object.Canonical(v)
	}
	var err error
	if d.Meta.Labels, err = by.texts(metadata, "labels", was.Meta.Labels); err == nil {
		d.Meta.Annotations, err = by.texts(metadata, "annotations", was.Meta.Annotations)
	}
	if err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	return d, nil
}

// texts returns the labels or the annotations of a converted object. They are checked if they have changed.
func (by *Conversion) texts(metadata jsontree.Object, name string, was map[string]string) (map[string]string, error) {
	if metadata[name] == nil {
		return nil, nil
	}
	all, ok := metadata[name].(jsontree.Object)
	if !ok {
		return nil, fmt.Errorf("invalid metadata.%s of type %T in converted object", name, jsontree.GoValue(metadata[name]))
	}
	is := make(map[string]string, len(all))
	for _, k := range slices.Sorted(maps.Keys(all)) {
		s, ok := all[k].(string)
		if !ok {
			return nil, fmt.Errorf("metadata.%s[%s] must be a string, but is %T in converted object", name, k, jsontree.GoValue(all[k]))
		}
		is[k] = s
	}
	if maps.Equal(is, was) {
		return is, nil
	}
	checked := &meta.ObjectMeta{Labels: is}
	if name == "annotations" {
		checked = &meta.ObjectMeta{Annotations: is}
	}
	var wrong []string
	for _, cause := range by.Validator.Descriptions(checked) {
		field := cause.Field
		if field == "metadata.annotations" {
			field = "metadata.annotation" // as on a real server
		}
		wrong = append(wrong, field+": "+cause.Message)
	}
	switch len(wrong) {
	case 0:
		return is, nil
	case 1:
		return nil, errors.New(wrong[0])
	}
	return nil, fmt.Errorf("[%s]", strings.Join(wrong, ", "))
}
