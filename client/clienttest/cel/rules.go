package cel

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	v1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	kjson "k8s.io/apimachinery/pkg/util/json"
	limits "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/warning"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

// Rules returns the rules for [clienttest.Options]. Several servers may use them at once.
func Rules() clienttest.Rules { return rules{} }

type rules struct{}

// Compile implements [clienttest.Rules]. The result is nil if the schema has no rules. A rule that is not valid CEL is
// no error here: as on a real server, Check reports it for each object that it applies to.
func (rules) Compile(data json.RawMessage) (clienttest.CompiledRules, error) {
	var props v1.JSONSchemaProps
	if err := kjson.Unmarshal(data, &props); err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	var internal apiextensions.JSONSchemaProps
	if err := v1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&props, &internal, nil); err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	structural, err := schema.NewStructural(&internal)
	if err != nil {
		return nil, fmt.Errorf("make schema structural: %w", err)
	}
	validator := cel.NewValidator(structural, true, limits.PerCallLimit)
	if validator == nil {
		return nil, nil
	}
	return &compiled{structural, validator}, nil
}

// compiled are the rules of one schema. Nothing in it changes.
type compiled struct {
	schema    *schema.Structural
	validator *cel.Validator
}

// Check implements [clienttest.CompiledRules].
func (c *compiled) Check(ctx context.Context, obj, old map[string]any) ([]meta.StatusCause, []string) {
	var w recorder
	ctx = warning.WithWarningRecorder(ctx, &w)
	var options []cel.Option
	if old != nil {
		pair := common.NewCorrelatedObject(obj, old, &model.Structural{Structural: c.schema})
		options = append(options, cel.WithRatcheting(pair))
	}
	// To Validate, an old that is a nil map means that there is no old object.
	errs, _ := c.validator.Validate(ctx, nil, c.schema, obj, old, limits.RuntimeCELCostBudget, options...)
	return causes(errs), w
}

// recorder keeps the warnings of the library.
type recorder []string

// AddWarning implements warning.Recorder.
func (r *recorder) AddWarning(_, text string) { *r = append(*r, text) }
