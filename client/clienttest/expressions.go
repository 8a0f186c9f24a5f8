package clienttest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/meta"
)

// policyOfConditions returns a policy that has only the matchConditions of a webhook.
func policyOfConditions(conditions json.RawMessage, failurePolicy string) json.RawMessage {
	text, _ := json.Marshal(map[string]any{"spec": map[string]any{"matchConditions": conditions, "failurePolicy": failurePolicy}})
	return text
}

// wrongExpressions returns what is wrong with the CEL expressions of a policy or of the webhooks in a configuration.
func (c *call) wrongExpressions(d *object.Draft) (causes []meta.StatusCause) {
	switch c.res {
	case c.policyKinds:
		return c.wrongPolicy(jsontree.Append(nil, d.Value()), "")
	case c.mutatingHooks, c.validatingHooks:
		hooks, _ := d.Content["webhooks"].([]any)
		for i, v := range hooks {
			hook, _ := v.(jsontree.Object)
			if hook["matchConditions"] != nil {
				policy := policyOfConditions(jsontree.Append(nil, hook["matchConditions"]), "Fail")
				causes = append(causes, c.wrongPolicy(policy, fmt.Sprintf("webhooks[%d].", i))...)
			}
		}
	}
	return causes
}

// wrongPolicy returns what is wrong with the expressions of a policy. at, if it is set, takes the place of "spec." in
// the fields.
func (c *call) wrongPolicy(policy json.RawMessage, at string) []meta.StatusCause {
	if c.options.Rules == nil {
		return []meta.StatusCause{{
			Reason: "FieldValueForbidden", Field: cmp.Or(strings.TrimSuffix(at, "."), "spec"), Message: "Forbidden: this server has no CEL: set Options.Rules to a value of package " +
				"client/clienttest/cel, a module of its own, or Options.Lenient, which ignores policies and conditions",
		}}
	}
	_, causes := c.options.Rules.CompilePolicy(policy)
	for i := range causes {
		if at != "" {
			causes[i].Field = at + strings.TrimPrefix(causes[i].Field, "spec.")
		}
	}
	return causes
}
