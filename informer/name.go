package informer

import (
	"fmt"
	"strings"
)

// The name of an informer distinguishes it from other informers of its resource wherever a person reads: in its String,
// in log lines, in errors of readiness, on the page of package debug, and in metrics.

// called returns the name of an informer: Name and the selectors. It is empty if it has neither.
func (o Options) called() string {
	parts := []string{o.Name}
	if o.LabelSelector != "" {
		parts = append(parts, "labels "+o.LabelSelector)
	}
	if o.FieldSelector != "" {
		parts = append(parts, "fields "+o.FieldSelector)
	}
	return strings.TrimSpace(strings.Join(parts, " "))
}

// String is [Informer.String].
func (i *engine[T]) String() string {
	if called := i.o.called(); called != "" {
		return fmt.Sprintf("informer %q of %s", called, i.resource())
	}
	return "informer of " + i.resource()
}

// name names what the informer follows, without its namespaces, as in: configmaps.v1 of "eu labels app=web".
func (i *engine[T]) name() string {
	if called := i.o.called(); called != "" {
		return fmt.Sprintf("%s of %q", i.resource(), called)
	}
	return i.resource()
}
