package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/codec"
)

// Step converts between two versions of a kind. [Between] makes one.
type Step struct {
	group, kind string
	ways        []way
}

// way converts in one direction.
type way struct {
	from, to string // versions
	convert  func(ctx context.Context, doc json.RawMessage) (json.RawMessage, error)
}

// Between returns the step between two versions of one kind: up fills a B from an A, and down an A from a B. The new
// object already has the metadata of the other one; the functions may change only its labels and annotations. A field
// that the other version does not have is lost unless the functions keep it, for example in an annotation. Both
// functions must be set.
func Between[A, B meta.Object](a client.Type[A], b client.Type[B], up func(ctx context.Context, from A, to B) error, down func(ctx context.Context, from B, to A) error) Step {
	return Step{a.Group, a.Kind, []way{direction(a, b, up), direction(b, a, down)}}
}

// Convert returns the handler for the conversion webhook of a CustomResourceDefinition. With steps from v1 to v2 and
// from v2 to v3 it also converts between v1 and v3. If an object cannot be converted, the answer says which and why,
// and no object is converted. Convert panics if the steps are not of one kind, if a function is nil, if two steps join
// the same versions, or if no steps lead from one of the versions to another.
func Convert(steps ...Step) http.Handler {
	c, err := newConverter(steps)
	if err != nil {
		panic("webhook: " + err.Error())
	}
	return &handler{conversionVersion, "ConversionReview", "a ConversionReview", c.answer}
}

// converter converts objects along ways.
type converter struct {
	group, kind string
	versions    []string
	from        map[string][]way
}

func newConverter(steps []Step) (*converter, error) {
	if len(steps) == 0 {
		return nil, fmt.Errorf("Convert must have at least one step")
	}
	c := &converter{group: steps[0].group, kind: steps[0].kind, from: map[string][]way{}}
	for _, s := range steps {
		if s.group != c.group || s.kind != c.kind {
			return nil, fmt.Errorf("all steps must be of one kind, got %s of %s and %s of %s", c.kind, c.group, s.kind, s.group)
		}
		for _, w := range s.ways {
			switch {
			case w.convert == nil:
				return nil, fmt.Errorf("the function from %s to %s must not be nil", w.from, w.to)
			case w.from == w.to:
				return nil, fmt.Errorf("a step must join two versions, got %s twice", w.from)
			case slices.ContainsFunc(c.from[w.from], func(o way) bool { return o.to == w.to }):
				return nil, fmt.Errorf("two steps join %s and %s", w.from, w.to)
			}
			c.from[w.from] = append(c.from[w.from], w)
			if !slices.Contains(c.versions, w.from) {
				c.versions = append(c.versions, w.from)
			}
		}
	}
	for _, v := range c.versions[1:] {
		if c.path(c.versions[0], v) == nil {
			return nil, fmt.Errorf("no steps lead from %s to %s", c.versions[0], v)
		}
	}
	return c, nil
}

// path returns the shortest sequence of ways between two versions; nil if there is none.
func (c *converter) path(from, to string) []way {
	paths := map[string][]way{from: {}}
	for next := []string{from}; len(next) > 0; next = next[1:] {
		if next[0] == to {
			return paths[to]
		}
		for _, w := range c.from[next[0]] {
			if _, seen := paths[w.to]; !seen {
				paths[w.to] = append(slices.Clone(paths[next[0]]), w)
				next = append(next, w.to)
			}
		}
	}
	return nil
}

// answer answers a request.
func (c *converter) answer(ctx context.Context, text json.RawMessage) (any, error) {
	var r conversionRequest
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, wrong(http.StatusBadRequest, "read the request: %w", err)
	}
	if r.UID == "" {
		return nil, wrong(http.StatusBadRequest, "the request must have a uid")
	}
	answer := &conversionResponse{UID: r.UID, Converted: []json.RawMessage{}, Result: meta.Status{Status: "Success"}}
	for _, doc := range r.Objects {
		converted, err := c.convert(ctx, doc, r.Desired)
		if err != nil {
			answer.Converted = []json.RawMessage{}
			answer.Result = *failure(http.StatusUnprocessableEntity, "Invalid", nil, "%s", err)
			return answer, nil
		}
		answer.Converted = append(answer.Converted, converted)
	}
	return answer, nil
}

// convert converts one object.
func (c *converter) convert(ctx context.Context, doc json.RawMessage, desired string) (json.RawMessage, error) {
	var is struct {
		meta.TypeMeta `json:",inline"`
		Metadata      meta.Identity `json:"metadata"`
	}
	if err := json.Unmarshal(doc, &is); err != nil {
		return nil, fmt.Errorf("read an object: %w", err)
	}
	group, from := meta.SplitAPIVersion(is.APIVersion)
	wanted, to := meta.SplitAPIVersion(desired)
	about := fmt.Sprintf("convert %s %s from %s to %s", is.Kind, is.Metadata.Key(), is.APIVersion, desired)
	if is.Kind != c.kind || group != c.group || wanted != c.group || !slices.Contains(c.versions, from) || !slices.Contains(c.versions, to) {
		return nil, fmt.Errorf("%s: this webhook converts %s of %s between the versions %v", about, c.kind, c.group, c.versions)
	}
	for _, w := range c.path(from, to) {
		var err error
		if doc, err = w.convert(ctx, doc); err != nil {
			return nil, fmt.Errorf("%s: %w", about, err)
		}
	}
	return doc, nil
}

// direction returns the way from one version to another.
func direction[A, B meta.Object](a client.Type[A], b client.Type[B], convert func(context.Context, A, B) error) way {
	w := way{from: a.Version, to: b.Version}
	if convert == nil {
		return w
	}
	w.convert = func(ctx context.Context, doc json.RawMessage) (json.RawMessage, error) {
		from, err := codec.Unmarshal[A](doc)
		if err != nil {
			return nil, err
		}
		whole, err := encode(a, from)
		if err != nil {
			return nil, err
		}
		if lost := missing(doc, whole); lost != "" {
			return nil, fmt.Errorf("the Go type of %s has no member for %s, which would be lost", a.Version, lost)
		}
		to, err := begin(b, doc)
		if err != nil {
			return nil, err
		}
		begun, err := encode(b, to)
		if err != nil {
			return nil, err
		}
		if err := convert(ctx, from, to); err != nil {
			return nil, err
		}
		made, err := encode(b, to)
		if err != nil {
			return nil, err
		}
		return withMetadata(made, begun, doc)
	}
	return w
}
