package clienttest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/schema"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
)

// unknown returns the complaints of a strict server about the members of an object that was read from doc, and drops
// from d the members that its kind does not have. It leaves out duplicate members if those of a patch have already
// been counted.
func (c *call) unknown(doc []byte, d *object.Draft, of *schema.Shape) []string {
	found := c.unknownIn(doc, of)
	if slices.ContainsFunc(found, func(text string) bool { return strings.HasPrefix(text, `unknown field "metadata.`) }) {
		d.ReadMetadata(doc)
	}
	of.Prune(d.Content)
	return found
}

func (c *call) unknownIn(doc []byte, of *schema.Shape) []string {
	if c.res.Builtin {
		return schema.FieldErrors(doc, of)
	}
	// A real server first reads the metadata, and then drops the rest. It sorts the complaints about the rest.
	v, err := jsontree.Parse(doc)
	whole, isObject := v.(jsontree.Object)
	if err != nil || !isObject {
		return nil
	}
	found := schema.FieldErrors(jsontree.Append(nil, jsontree.Object{"metadata": whole["metadata"]}), schema.OnlyMetadata())
	delete(whole, "metadata")
	rest := schema.FieldErrors(jsontree.Append(nil, whole), of)
	slices.Sort(rest)
	return slices.Concat(found, rest)
}

// fields returns the complaints of a strict server about the members of an object in the body of a request, and drops
// from d the members that its kind does not have.
func (c *call) fields(body []byte, d *object.Draft) []string {
	found := c.unknown(body, d, c.res.Shape())
	if !c.res.Builtin {
		found = slices.Concat(schema.Duplicates(body), found)
	}
	return found
}

// reportPayload is report for an object that was sent whole. It also reports duplicate members of YAML.
func (c *call) reportPayload(b *payload, wrong []string) error {
	if len(b.twice) > 0 && c.query.Get("fieldValidation") == "Strict" {
		twice := "yaml: unmarshal errors:\n  " + strings.Join(b.twice, "\n  ")
		return c.report(slices.Concat([]string{twice}, wrong))
	}
	return c.report(slices.Concat(b.twice, wrong))
}

// report handles the complaints as the fieldValidation of a write says: it returns them as one error, sends them as
// warnings, or ignores them.
func (c *call) report(wrong []string) error {
	switch directive := c.query.Get("fieldValidation"); {
	case directive == "Ignore" || len(wrong) == 0:
	case directive == "Strict":
		return fmt.Errorf("strict decoding error: %s", strings.Join(wrong, ", "))
	default:
		for _, text := range wrong {
			c.warn("%s", text)
		}
	}
	return nil
}

// reportTwice handles duplicate members as the fieldValidation of an apply says. Members that the schema does not have
// are always refused.
func (c *call) reportTwice(twice []string) error {
	if err := c.report(twice); err != nil {
		return status.BadRequest("error strict decoding patch: error converting YAML to JSON: yaml: unmarshal errors:\n  %s",
			strings.Join(twice, "\n  "))
	}
	return nil
}
