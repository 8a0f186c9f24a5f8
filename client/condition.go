package client

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/codec"
	"github.com/bowline-go/bowline/internal/shown"
)

// Condition is the goal of a [WaitFor]. The functions of this package make the usual conditions; use a literal for any
// other.
type Condition struct {
	// Name completes the sentence "wait for the pod to be ...", as in "ready".
	Name string
	// Met reports whether a state of the object meets the condition; obj is nil if the object does not exist. The
	// waiting goroutine calls it with each state. state describes obj in a few words, for the error of a wait that ends
	// without success. An error ends the wait: return one when further waiting is pointless.
	Met func(obj *meta.Raw) (met bool, state string, err error)

	// awaitResource makes the wait go on if the server does not know the resource, such as before its
	// CustomResourceDefinition exists.
	awaitResource bool
}

// UntilCreated is met when the object exists. It also waits for its resource.
func UntilCreated() Condition {
	return Condition{Name: "created", awaitResource: true, Met: func(obj *meta.Raw) (bool, string, error) {
		return obj != nil, "", nil
	}}
}

// UntilDeleted is met when the object does not exist. If uid is not empty, it is also met when the object of that name
// has another uid: then the first object has been deleted, and a new one created.
func UntilDeleted(uid string) Condition {
	return Condition{Name: "deleted", Met: func(obj *meta.Raw) (bool, string, error) {
		switch {
		case obj == nil:
			return true, "", nil
		case uid != "" && obj.UID != uid:
			return true, fmt.Sprintf("another object has the name, with uid %q", obj.UID), nil
		case obj.DeletionTimestamp == nil:
			return false, "it exists and is not being deleted", nil
		case len(obj.Finalizers) > 0:
			return false, "it is being deleted, and waits for the finalizers " + strings.Join(obj.Finalizers, ", "), nil
		}
		return false, "it is being deleted", nil
	}}
}

// UntilTrue is met when status.conditions has the condition, such as "Ready", and it is True and current. If the
// condition has an observedGeneration, or else status has one, it must not be lower than metadata.generation.
// UntilTrue("Available") waits for a Deployment with enough pods, of the latest template or of the one before;
// [UntilReady] waits for those of the latest.
func UntilTrue(condition string) Condition {
	return Condition{Name: condition, Met: func(obj *meta.Raw) (bool, string, error) {
		s := statusOf(obj)
		return s.isTrue(condition), s.text(condition), nil
	}}
}

// UntilPodReady is met when a pod is ready. It fails when the pod has ended (its phase is Succeeded or Failed).
func UntilPodReady() Condition {
	return Condition{Name: "ready", Met: func(obj *meta.Raw) (bool, string, error) {
		s := statusOf(obj)
		phase := s.member("phase")
		state := s.text("Ready")
		if phase != "" {
			state = "phase " + phase + ", " + state
		}
		switch {
		case phase == "Succeeded" || phase == "Failed":
			return false, state, fmt.Errorf("the pod has ended: %s", withReason("phase "+phase, s.member("reason"), s.member("message")))
		case s.isTrue("Ready"):
			return true, state, nil
		case obj != nil && obj.DeletionTimestamp != nil:
			state += ", being deleted"
		}
		return false, state, nil
	}}
}

// UntilComplete is met when a Job is complete. It fails when the Job has failed.
func UntilComplete() Condition {
	return Condition{Name: "complete", Met: func(obj *meta.Raw) (bool, string, error) {
		s := statusOf(obj)
		state := s.text("Complete")
		if failed, ok := s.current("Failed", "True"); ok {
			return false, state, fmt.Errorf("the job has failed: %s", withReason("", failed.Reason, failed.Message))
		}
		return s.isTrue("Complete"), state, nil
	}}
}

// Until is met when the object exists, fits T, and met returns true. name completes the sentence "wait for the pod to
// be ...". An error of met ends the wait, and so does an object that does not fit T. In metadata, T gets only the
// fields of [meta.ObjectMeta].
func Until[T meta.Object](name string, met func(obj T) (bool, error)) Condition {
	return Condition{Name: name, Met: func(raw *meta.Raw) (bool, string, error) {
		if raw == nil {
			return false, "", nil
		}
		text, err := raw.MarshalJSON()
		if err != nil {
			return false, "", err
		}
		obj, err := codec.Unmarshal[T](text)
		if err != nil {
			return false, "", &DecodeError{Identity: raw.Identity(), Err: err}
		}
		ok, err := met(obj)
		return ok, "", err
	}}
}

// statusCondition is an element of status.conditions.
type statusCondition struct {
	Type               string `json:"type"`
	Status             string `json:"status"`
	Reason             string `json:"reason"`
	Message            string `json:"message"`
	ObservedGeneration *int64 `json:"observedGeneration"`
}

// statusConditions are decoded by case-sensitive names, as all other parts of an object are.
type statusConditions struct{ items []statusCondition }

// UnmarshalJSON implements json.Unmarshaler.
func (c *statusConditions) UnmarshalJSON(b []byte) (err error) {
	items, err := codec.Unmarshal[*[]statusCondition](b)
	if items != nil {
		c.items = *items
	}
	return err
}

// objectStatus is the part of an object that conditions look at.
type objectStatus struct {
	obj        *meta.Raw // nil if it does not exist
	conditions []statusCondition
	err        error // why status.conditions cannot be read
}

func statusOf(obj *meta.Raw) objectStatus {
	c, _, err := meta.Nested[statusConditions](obj, "status", "conditions")
	return objectStatus{obj: obj, conditions: c.items, err: err}
}

// member returns a member of status that is a string; any other value counts as empty.
func (s objectStatus) member(name string) string {
	text, _, _ := meta.Nested[string](s.obj, "status", name)
	return text
}

func (s objectStatus) find(kind string) (statusCondition, bool) {
	i := slices.IndexFunc(s.conditions, func(c statusCondition) bool { return c.Type == kind })
	if i < 0 {
		return statusCondition{}, false
	}
	return s.conditions[i], true
}

// isTrue reports whether the object has a condition of the type that is True and current.
func (s objectStatus) isTrue(kind string) bool {
	_, ok := s.current(kind, "True")
	return ok
}

// current returns the object's condition of the type if it has that status and is current.
func (s objectStatus) current(kind, status string) (c statusCondition, ok bool) {
	c, found := s.find(kind)
	return c, found && c.Status == status && s.isCurrent(c)
}

// observed returns the generation that a condition is about, if the object says so.
func (s objectStatus) observed(c statusCondition) (generation int64, said bool) {
	if c.ObservedGeneration != nil {
		return *c.ObservedGeneration, true
	}
	generation, said, err := meta.Nested[int64](s.obj, "status", "observedGeneration")
	return generation, said && err == nil
}

func (s objectStatus) isCurrent(c statusCondition) bool {
	observed, said := s.observed(c)
	return !said || observed >= s.obj.Generation
}

// text describes the condition of a type for people. It is empty for an object that does not exist.
func (s objectStatus) text(kind string) string {
	if s.obj == nil {
		return ""
	}
	if s.err != nil {
		return "its conditions cannot be read: " + s.err.Error()
	}
	c, found := s.find(kind)
	if !found {
		return "no condition " + kind
	}
	text := withReason("condition "+kind+" "+c.Status, c.Reason, c.Message)
	if observed, _ := s.observed(c); !s.isCurrent(c) {
		text += fmt.Sprintf(" (of generation %d, and the object's is %d)", observed, s.obj.Generation)
	}
	return text
}

// withReason joins a text, a reason and a message from the server, and leaves out empty ones.
func withReason(parts ...string) string {
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	if len(parts) == 0 {
		return "no reason given"
	}
	return shown.Text(strings.Join(parts, ": "))
}
