package recorder

import (
	"context"
	"math"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/patch"
)

// events is the descriptor of the resource of records.
var events = client.Type[*event]{Group: "events.k8s.io", Version: "v1", Kind: "Event", Resource: "events"}

// event is a record as it is sent.
type event struct {
	meta.TypeMeta
	meta.ObjectMeta     `json:"metadata"`
	EventTime           meta.MicroTime   `json:"eventTime"`
	Series              *eventSeries     `json:"series,omitempty"`
	ReportingController string           `json:"reportingController"`
	ReportingInstance   string           `json:"reportingInstance"`
	Action              string           `json:"action"`
	Reason              string           `json:"reason"`
	Regarding           objectReference  `json:"regarding"`
	Related             *objectReference `json:"related,omitempty"`
	Note                string           `json:"note,omitempty"`
	Type                string           `json:"type"`
}

type eventSeries struct {
	Count            int            `json:"count"`
	LastObservedTime meta.MicroTime `json:"lastObservedTime"`
}

type objectReference struct {
	Kind            string `json:"kind,omitempty"`
	Namespace       string `json:"namespace,omitempty"`
	Name            string `json:"name,omitempty"`
	UID             string `json:"uid,omitempty"`
	APIVersion      string `json:"apiVersion,omitempty"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
	FieldPath       string `json:"fieldPath,omitempty"`
}

func (r Reference) wire() objectReference {
	return objectReference{
		Kind: r.GVK.Kind, APIVersion: r.GVK.APIVersion(), FieldPath: r.FieldPath,
		Namespace: r.Identity.Namespace, Name: r.Identity.Name, UID: r.Identity.UID, ResourceVersion: r.Identity.ResourceVersion,
	}
}

// series returns the count of a task as it is sent; nil if there is only one occurrence.
func (t task) series() *eventSeries {
	if t.count < 2 {
		return nil
	}
	return &eventSeries{Count: min(t.count, math.MaxInt32), LastObservedTime: meta.MicroTime{Time: t.last}}
}

// event returns the record of a task as it is sent.
func (t task) event(controller, instance string) *event {
	r := t.s.record
	e := &event{
		ObjectMeta: meta.ObjectMeta{Namespace: t.s.at.Namespace, Name: t.s.at.Name},
		EventTime:  meta.MicroTime{Time: t.first}, Series: t.series(),
		ReportingController: controller, ReportingInstance: instance,
		Action: r.Action, Reason: r.Reason, Regarding: r.Regarding.wire(), Note: r.Note, Type: "Normal",
	}
	if r.Warning {
		e.Type = "Warning"
	}
	if r.Related != (Reference{}) {
		related := r.Related.wire()
		e.Related = &related
	}
	return e
}

// send makes the request of a task.
func (r *Recorder) send(ctx context.Context, t task, instance string) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	if t.create {
		_, err := r.events.Create(ctx, t.event(r.o.Controller, instance))
		return err
	}
	_, err := r.events.Patch(ctx, t.s.at, patch.Merge(map[string]any{"series": t.series()}))
	return err
}
