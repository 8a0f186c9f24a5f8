package meta

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// ConditionStatus says whether a condition holds.
type ConditionStatus string

// The statuses of a condition, from the Kubernetes API conventions ("Typical status properties").
const (
	ConditionTrue    ConditionStatus = "True"
	ConditionFalse   ConditionStatus = "False"
	ConditionUnknown ConditionStatus = "Unknown"
)

// Condition is one aspect of an object's state, as an element of status.conditions. Its fields are those of the API's
// own Condition (metav1.Condition). Set one with [SetCondition].
type Condition struct {
	// Type names the aspect, such as "Ready", and is unique in a list.
	Type   string          `json:"type"`
	Status ConditionStatus `json:"status"`
	// ObservedGeneration is the metadata.generation for which the condition was set.
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// LastTransitionTime is when Status changed last.
	LastTransitionTime Time `json:"lastTransitionTime"`
	// Reason is one word for programs: a letter, followed by letters, digits, "_", "," and ":", with no "," or ":" at
	// the end. Message is a sentence for people.
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// SetCondition puts c into conditions: it replaces the condition of the same type, or appends c. generation is the
// metadata.generation of the object that the caller has acted on; c gets it as observedGeneration. If the status does
// not change, lastTransitionTime does not change either; otherwise it becomes the time in c, or the present time if c
// has none. So setting the same condition again changes nothing, and a Modify that does so writes nothing:
//
//	site, _ := inf.Reader().Get(key) // the reconcile acts on this one
//	...
//	_, err := sites.Status().Modify(ctx, key, func(live *Site) error {
//		return meta.SetCondition(&live.Status.Conditions, site.Generation, meta.Condition{
//			Type: "Ready", Status: meta.ConditionTrue, Reason: "Served",
//		})
//	})
//
// Do not pass the generation of the object that Modify has read. It may be newer, and the condition would then describe
// a spec that the caller has not acted on.
//
// C is [Condition], or any other struct whose fields have the same names in JSON: metav1.Condition, and the conditions
// of the built-in kinds. Fields that C lacks are not set; type and status are required.
//
// It returns an error, and does not change conditions, if the server would refuse the object: c has no type, its status
// is not one of the three constants, or it has no reason although C requires one (its tag has no omitempty). If C
// requires a reason, as metav1.Condition does, SetCondition also checks the server's other rules for metav1.Condition:
// the reason has the form that [Condition] describes and at most 1024 characters, the type has the form of a label key
// and at most 316 characters, and the message has at most 32768 characters.
func SetCondition[C any](conditions *[]C, generation int64, c C) error {
	p := conditionPlanOf(reflect.TypeFor[C]())
	if err := p.validate(reflect.ValueOf(&c).Elem()); err != nil {
		return fmt.Errorf("set a condition: %w", err)
	}
	now := reflect.ValueOf(&c).Elem()
	kind := readText(now, p.kind)
	if generation != 0 && p.generation != nil {
		now.FieldByIndex(p.generation).SetInt(generation)
	}
	at := slices.IndexFunc(*conditions, func(had C) bool { return readText(reflect.ValueOf(&had).Elem(), p.kind) == kind })
	if at < 0 {
		p.transition(now, reflect.Value{})
		*conditions = append(*conditions, c)
		return nil
	}
	had := reflect.ValueOf(&(*conditions)[at]).Elem()
	if readText(had, p.status) == readText(now, p.status) {
		p.transition(now, had)
	} else {
		p.transition(now, reflect.Value{})
	}
	(*conditions)[at] = c
	return nil
}

// FindCondition returns a pointer into conditions to the condition of a type, nil if there is none. C is as for
// [SetCondition].
func FindCondition[C any](conditions []C, kind string) *C {
	p := conditionPlanOf(reflect.TypeFor[C]())
	for i := range conditions {
		if p.err == nil && readText(reflect.ValueOf(&conditions[i]).Elem(), p.kind) == kind {
			return &conditions[i]
		}
	}
	return nil
}

// IsConditionTrue reports whether there is a condition of a type and its status is True. C is as for [SetCondition]. It
// does not compare observedGeneration; client.UntilTrue does.
func IsConditionTrue[C any](conditions []C, kind string) bool {
	c := FindCondition(conditions, kind)
	return c != nil && readText(reflect.ValueOf(c).Elem(), conditionPlanOf(reflect.TypeFor[C]()).status) == string(ConditionTrue)
}

// conditionPlan locates the fields of a type of condition. It has nil for a field that the type lacks.
type conditionPlan struct {
	kind, status, generation, transitionTime, reason, message []int

	needsReason bool  // the tag of reason has no omitempty or omitzero, as in metav1.Condition
	err         error // why the type is not a condition
}

// conditionPlans caches the plan of each type. Plans never change, and there are at most as many as the program has
// types.
var conditionPlans sync.Map // reflect.Type -> *conditionPlan

func conditionPlanOf(t reflect.Type) *conditionPlan {
	if p, ok := conditionPlans.Load(t); ok {
		return p.(*conditionPlan)
	}
	p, _ := conditionPlans.LoadOrStore(t, compileCondition(t))
	return p.(*conditionPlan)
}

func compileCondition(t reflect.Type) *conditionPlan {
	field := func(name string, fits func(t reflect.Type) bool) []int {
		if t.Kind() != reflect.Struct {
			return nil
		}
		way, found := jsonField(t, name)
		if way == nil || !fits(found) {
			return nil
		}
		for i := 1; i < len(way); i++ {
			if t.FieldByIndex(way[:i]).Type.Kind() == reflect.Pointer {
				return nil
			}
		}
		return way
	}
	text := func(t reflect.Type) bool { return t.Kind() == reflect.String }
	p := &conditionPlan{
		kind: field("type", text), status: field("status", text), reason: field("reason", text), message: field("message", text),
		generation:     field("observedGeneration", func(t reflect.Type) bool { return t.Kind() == reflect.Int64 }),
		transitionTime: field("lastTransitionTime", func(t reflect.Type) bool { return timeIn(t) != nil }),
	}
	if p.kind == nil || p.status == nil {
		p.err = fmt.Errorf("%v must have the fields type and status, both strings", t)
	}
	if p.reason != nil {
		_, options, _ := strings.Cut(t.FieldByIndex(p.reason).Tag.Get("json"), ",")
		p.needsReason = !strings.Contains(","+options+",", ",omitempty,") && !strings.Contains(","+options+",", ",omitzero,")
	}
	return p
}

func (p *conditionPlan) validate(c reflect.Value) error {
	if p.err != nil {
		return p.err
	}
	kind, status := readText(c, p.kind), ConditionStatus(readText(c, p.status))
	switch {
	case kind == "":
		return fmt.Errorf("%v must have a type", c.Type())
	case status != ConditionTrue && status != ConditionFalse && status != ConditionUnknown:
		return fmt.Errorf("the status of the condition %q must be True, False or Unknown, got %q", kind, status)
	case p.needsReason && readText(c, p.reason) == "":
		return fmt.Errorf("the condition %q must have a reason", clip(kind))
	case p.needsReason:
		return validCondition(kind, readText(c, p.reason), readText(c, p.message))
	}
	return nil
}

// The greatest lengths of the API's own Condition, in characters.
const (
	maxConditionType    = 316
	maxConditionReason  = 1024
	maxConditionMessage = 32768
)

// validCondition checks the texts of a condition by the rules of the API's own Condition.
func validCondition(kind, reason, message string) error {
	prefix, name, prefixed := strings.Cut(kind, "/")
	if !prefixed {
		name = kind
	}
	switch {
	case name == "" || !isLabelName(name) || prefixed && !isSubdomain(prefix) || len(kind) > maxConditionType:
		return fmt.Errorf("the type of the condition %q must be at most %d letters, digits, '-', '_' and '.', the first and the "+
			"last a letter or digit, after an optional DNS subdomain and a slash", clip(kind), maxConditionType)
	case ValidReason(reason) != nil:
		return fmt.Errorf("the condition %q: %w", clip(kind), ValidReason(reason))
	case len(message) > maxConditionMessage && utf8.RuneCountInString(message) > maxConditionMessage:
		return fmt.Errorf("the message of the condition %q must have at most %d characters, got %d", clip(kind),
			maxConditionMessage, utf8.RuneCountInString(message))
	}
	return nil
}

// ValidReason returns an error unless reason has the form that the server wants for the reason of a condition: a
// letter, then letters, digits, "_", "," and ":", at most 1024, with no "," or ":" at the end. [SetCondition] calls it.
func ValidReason(reason string) error {
	n := len(reason)
	good := n > 0 && n <= maxConditionReason && reason[n-1] != ',' && reason[n-1] != ':'
	for i := 0; good && i < n; i++ {
		c := reason[i]
		if i == 0 {
			good = isAlphanumeric(c) && (c < '0' || c > '9')
		} else {
			good = isAlphanumeric(c) || c == '_' || c == ',' || c == ':'
		}
	}
	if good {
		return nil
	}
	return fmt.Errorf("a reason must begin with a letter, have at most %d letters, digits, '_', ',' and ':', and not end in "+
		"',' or ':', got %q", maxConditionReason, clip(reason))
}

// transition sets the time of the last transition: to the time in had, if had is valid and has one; otherwise to the
// time in now, if now has one; otherwise to the present.
func (p *conditionPlan) transition(now, had reflect.Value) {
	if p.transitionTime == nil {
		return
	}
	field := now.FieldByIndex(p.transitionTime)
	if had.IsValid() && !timeOf(had.FieldByIndex(p.transitionTime)).IsZero() {
		field.Set(had.FieldByIndex(p.transitionTime))
		return
	}
	if at := timeOf(field); at.IsZero() {
		if field.Kind() == reflect.Pointer {
			field.Set(reflect.New(field.Type().Elem()))
			field = field.Elem()
		}
		field.FieldByIndex(timeIn(field.Type())).Set(reflect.ValueOf(time.Now().Truncate(time.Second)))
	}
}

// timeIn returns the way to the time.Time in a type like [Time], or in a pointer to one. It is nil for other types.
func timeIn(t reflect.Type) []int {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == reflect.TypeFor[time.Time]() || t.Kind() != reflect.Struct {
		return nil
	}
	if f, ok := t.FieldByName("Time"); ok && f.Type == reflect.TypeFor[time.Time]() {
		return f.Index
	}
	return nil
}

// timeOf returns the time in a value of a type that timeIn supports.
func timeOf(v reflect.Value) time.Time {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return time.Time{}
		}
		v = v.Elem()
	}
	return v.FieldByIndex(timeIn(v.Type())).Interface().(time.Time)
}
