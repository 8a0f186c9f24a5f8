package informer_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/informer"
)

// Two informers of one resource with different selectors had one name, so nobody knew which of them was not ready.
func TestInformersWithDifferentSelectorsHaveDifferentNames(t *testing.T) {
	bubble(t, func(r *rig) {
		r.on("list", clienttest.HTML())
		all := []struct {
			name, called, where string
			o                   informer.Options
		}{
			{"informer of configmaps.v1", "", "configmaps.v1: list", informer.Options{}},
			{`informer "eu" of configmaps.v1`, "eu", `configmaps.v1 of "eu": list`, informer.Options{Name: "eu"}},
			{`informer "labels app=web" of configmaps.v1`, "labels app=web", `configmaps.v1 of "labels app=web": list`, informer.Options{LabelSelector: "app=web"}},
			{`informer "labels app=db" of configmaps.v1`, "labels app=db", `configmaps.v1 of "labels app=db": list`, informer.Options{LabelSelector: "app=db"}},
			{`informer "fields metadata.name=a" of configmaps.v1`, "fields metadata.name=a", `configmaps.v1 of "fields metadata.name=a": list`, informer.Options{FieldSelector: "metadata.name=a"}},
			{"informer of configmaps.v1", "", "configmaps.v1 in web: list", informer.Options{Namespace: "web"}},
			{
				`informer "eu labels app=web fields metadata.name=a" of configmaps.v1`, "eu labels app=web fields metadata.name=a",
				`configmaps.v1 of "eu labels app=web fields metadata.name=a" in web: list`,
				informer.Options{Name: "eu", LabelSelector: "app=web", FieldSelector: "metadata.name=a", Namespace: "web"},
			},
		}
		g, lines := &informer.Group{}, make([]said, len(all))
		for n, one := range all {
			one.o.Logger, one.o.Mode = lines[n].logger(), informer.Paged
			i := informer.New(r.things, one.o)
			if i.String() != one.name {
				t.Errorf("name is %s, want %s", i, one.name)
			}
			if got := i.Status().Name; got != one.called {
				t.Errorf("Status has the name %q, want %q", got, one.called)
			}
			g.Runners = append(g.Runners, i)
		}
		run := r.running(g)
		r.pass(time.Second)
		ready := g.Ready()
		for n, one := range all {
			if ready == nil || !strings.Contains(ready.Error(), one.name+": ") {
				t.Errorf("Ready does not name %s: %v", one.name, ready)
			}
			if len(lines[n].with(one.where)) == 0 {
				t.Errorf("%s logs %q, want %s", one.name, lines[n].with(""), one.where)
			}
		}
		run.stop()
	})
}
