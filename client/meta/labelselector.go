package meta

import (
	"errors"
	"fmt"
)

// LabelSelector is a label selector as in objects of the API, for instance in a Deployment's spec: every label of
// MatchLabels and every expression must hold. An empty selector selects everything, a null selector nothing.
type LabelSelector struct {
	MatchLabels map[string]string `json:"matchLabels,omitempty"`
	// MatchExpressions may use OpIn, OpNotIn, OpExists and OpDoesNotExist.
	MatchExpressions []Requirement `json:"matchExpressions,omitempty"`
}

// Selector returns the selector that l describes. If l is nil, the selector matches no object, and prints as the
// contradiction "bowline.dev/nothing,!bowline.dev/nothing", which selects nothing on the server too. The error names
// each requirement that the server would refuse, and why.
func (l *LabelSelector) Selector() (Selector, error) {
	if l == nil {
		return selectNothing(), nil
	}
	requirements := make([]Requirement, 0, len(l.MatchLabels)+len(l.MatchExpressions))
	for key, value := range l.MatchLabels {
		requirements = append(requirements, Requirement{Key: key, Operator: OpIn, Values: []string{value}})
	}
	var errs []error
	for _, r := range l.MatchExpressions {
		if r.Operator == OpGreaterThan || r.Operator == OpLessThan {
			errs = append(errs, fmt.Errorf("label selector: label %q: operator must be In, NotIn, Exists or DoesNotExist "+
				"in matchExpressions, got %q", clip(r.Key), r.Operator))
			continue
		}
		requirements = append(requirements, r)
	}
	s, err := NewSelector(requirements...)
	if err := errors.Join(append(errs, err)...); err != nil {
		return Selector{}, err
	}
	return s, nil
}
