package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/patch"
)

// readiness is an object of the real server, and what UntilReady says of it.
type readiness struct {
	t   *testing.T
	all client.Resource[object]
	raw client.Resource[*meta.Raw]
	key meta.Key
}

func newReadiness(t *testing.T, c *client.Client, of client.Type[object], namespace, text string) *readiness {
	t.Helper()
	raw := client.Type[*meta.Raw]{Group: of.Group, Version: of.Version, Kind: of.Kind, Resource: of.Resource, Scope: of.Scope}
	r := &readiness{t: t, all: client.For(c, of), raw: client.For(c, raw)}
	r.key = meta.KeyOf(create(t, r.all, namespace, text))
	return r
}

// merge patches the object, as its user does.
func (r *readiness) merge(text string) {
	r.t.Helper()
	must(r.all.Patch(r.t.Context(), r.key, patch.Merge(json.RawMessage(text))))(r.t)
}

// report patches the status, as the controller does that the test stands for. GENERATION is the object's.
func (r *readiness) report(status string) {
	r.t.Helper()
	generation := must(r.all.Get(r.t.Context(), r.key))(r.t).GetGeneration()
	text := strings.ReplaceAll(`{"status":`+status+`}`, "GENERATION", fmt.Sprint(generation))
	must(r.all.Status().Patch(r.t.Context(), r.key, patch.Merge(json.RawMessage(text))))(r.t)
}

// want checks what UntilReady says: "ready", "waits", or a part of an error.
func (r *readiness) want(what string) {
	r.t.Helper()
	met, state, err := client.UntilReady().Met(must(r.raw.Get(r.t.Context(), r.key))(r.t))
	switch {
	case err != nil && what != "ready" && what != "waits" && strings.Contains(err.Error(), what):
	case err != nil || met != (what == "ready"):
		r.t.Errorf("it is ready: %t (%s), %v; want %s", met, state, err, what)
	}
}

func TestADeploymentIsReadyWhenItsControllerSaysSo(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	r := newReadiness(t, c, deployments, ns, `{"metadata":{"name":"a"},"spec":{
		"replicas":2,"selector":{"matchLabels":{"app":"a"}},
		"template":{"metadata":{"labels":{"app":"a"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`)
	const all = `"observedGeneration":GENERATION,"replicas":2,"updatedReplicas":2,"readyReplicas":2,"availableReplicas":2`
	r.want("waits") // no controller has seen it
	r.report(`{"observedGeneration":GENERATION,"replicas":2,"updatedReplicas":2,"readyReplicas":1,"availableReplicas":1}`)
	r.want("waits")
	r.report(`{` + all + `,"conditions":[{"type":"Available","status":"True"},{"type":"Progressing","status":"True","reason":"NewReplicaSetAvailable"}]}`)
	r.want("ready")
	r.merge(`{"spec":{"replicas":3}}`)
	r.want("waits") // the status is about the generation before
	r.report(`{"observedGeneration":GENERATION,"conditions":[{"type":"Progressing","status":"False","reason":"ProgressDeadlineExceeded","message":"too slow"}]}`)
	r.want("ProgressDeadlineExceeded")
}

func TestAPodIsReadyWhenItsNodeSaysSo(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	r := newReadiness(t, c, pods, ns, `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
	r.want("waits")
	r.report(`{"phase":"Running","conditions":[{"type":"Ready","status":"False"}]}`)
	r.want("waits")
	r.report(`{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}`)
	r.want("ready")
	r.report(`{"phase":"Failed","reason":"Evicted","message":"no room"}`)
	r.want("Evicted")
}

// The server itself is the controller of definitions. The second one has the names of the first.
func TestADefinitionIsReadyWhenTheServerHasAcceptedItsNames(t *testing.T) {
	t.Parallel()
	c, _ := admin(t)
	const group = "ready.e2e.bowline.example"
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	first := create(t, client.For(c, definitions), "", definition(group))
	must(client.WaitFor(ctx, client.For(c, definitions), meta.KeyOf(first), client.UntilReady()))(t)
	second := create(t, client.For(c, definitions), "", strings.ReplaceAll(strings.ReplaceAll(definition(group), `"knots`, `"ties`), `"shortNames"`, `"listKind": "KnotList", "shortNames"`))
	_, err := client.WaitFor(ctx, client.For(c, definitions), meta.KeyOf(second), client.UntilReady())
	if err == nil || ctx.Err() != nil || !strings.Contains(err.Error(), "names are not accepted") {
		t.Errorf("error is %v, want that the names are not accepted", err)
	}
}
