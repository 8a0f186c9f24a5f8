package informer_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/leader"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/recorder"
	"github.com/bowline-go/bowline/client/shards"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/informer/warm"
)

// permissions returns what a group asks for, an access a line.
func permissions(g *informer.Group) string {
	var lines []string
	for _, a := range g.Permissions() {
		resource := a.Resource.Resource
		if a.Subresource != "" {
			resource += "/" + a.Subresource
		}
		words := []string{a.Verb, resource + strings.TrimPrefix(a.Path, "/"), a.Key.String(), a.LabelSelector}
		lines = append(lines, strings.Join(slices.DeleteFunc(words, func(word string) bool { return word == "" }), " "))
	}
	return strings.Join(lines, "\n")
}

func TestAGroupSaysWhatItsPartsAskFor(t *testing.T) {
	c, err := client.New(client.Config{Server: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	of := func(resource, kind string, scope meta.Scope) client.Resource[*meta.Partial] {
		return client.For(c, client.Type[*meta.Partial]{Version: "v1", Kind: kind, Resource: resource, Scope: scope})
	}
	pods, nodes, maps := of("pods", "Pod", meta.Namespaced), of("nodes", "Node", meta.Cluster), of("configmaps", "ConfigMap", meta.Namespaced)
	podCache := informer.New(pods, informer.Options{Namespaces: []string{"b", "a"}, LabelSelector: "app"})
	// A cache of one object, one that is kept between processes, and one that is needed twice.
	one := informer.New(maps.In("home").One(meta.Key{Name: "settings"}), informer.Options{})
	kept := informer.New(informer.Transform(maps.In("kept"), func(o *meta.Partial) *meta.Partial { return o }),
		informer.Options{Warm: warm.New(warm.Options{Dir: "none"})})
	nodeCache := informer.New(nodes, informer.Options{})
	reconcile := func(context.Context, meta.Key) (controller.Result, error) { return controller.Result{}, nil }
	ctl := controller.New("pods", controller.Options{
		Permissions: append(pods.Status().Access("patch"), client.Access{Verb: "get", Path: "/metrics"}),
	}, reconcile, controller.Watch(podCache), controller.Reads[meta.Key](nodeCache))
	other := controller.New("nodes", controller.Options{}, reconcile, controller.Watch(nodeCache))
	g := &informer.Group{
		Services: []informer.Runner{recorder.New(c, recorder.Options{Controller: "example.com/x"}), nil, (*recorder.Recorder)(nil), kept, kept},
		Leader:   leader.New(c, leader.Options{Namespace: "home", Name: "lead"}),
		Runners:  []informer.Runner{ctl, other, one, informer.RunnerFunc(func(context.Context) error { return nil })},
	}
	want := `get metrics
list configmaps home/settings
watch configmaps home/settings
list configmaps kept/
watch configmaps kept/
get namespaces kube-system
list nodes
watch nodes
list pods a/ app
watch pods a/ app
list pods b/ app
watch pods b/ app
patch pods/status
create leases home/
get leases home/lead
update leases home/lead
watch leases home/lead
create events
patch events`
	if got := permissions(g); got != want {
		t.Errorf("the group asks for\n%s\nwant\n%s", got, want)
	}
	if err := podCache.SetNamespaces([]string{"c"}); err != nil {
		t.Fatal(err)
	}
	if got := permissions(g); !strings.Contains(got, "list pods c/") || strings.Contains(got, "pods a/") {
		t.Errorf("after a change of the namespaces, the group asks for\n%s", got)
	}
	if got := (&informer.Group{}).Permissions(); got != nil {
		t.Errorf("a group without parts asks for %v", got)
	}
	replicas := shards.New(c, shards.Options{Namespace: "home", Name: "share"})
	sharing := controller.New("shared", controller.Options{Shards: replicas}, reconcile,
		controller.Watch(informer.New(maps, informer.Options{Shards: replicas})))
	got := permissions(&informer.Group{Runners: []informer.Runner{sharing}})
	for _, verb := range []string{"create", "get", "update", "list", "watch", "delete"} {
		if strings.Count(got, verb+" leases home/") != 1 {
			t.Errorf("a controller with shards asks for\n%s\nwant %s leases once", got, verb)
		}
	}
}

func TestAHandleSaysItsAccesses(t *testing.T) {
	c, err := client.New(client.Config{Server: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	pods := client.For(c, client.Type[*meta.Partial]{Version: "v1", Kind: "Pod", Resource: "pods"})
	resource, key := meta.GVR{Version: "v1", Resource: "pods"}, meta.Key{Namespace: "a", Name: "b"}
	for name, of := range map[string]struct{ got, want []client.Access }{
		"all":         {pods.Access("get", "list"), []client.Access{{Verb: "get", Resource: resource}, {Verb: "list", Resource: resource}}},
		"bound":       {pods.In("a").Access("get"), []client.Access{{Verb: "get", Resource: resource, Key: meta.Key{Namespace: "a"}}}},
		"one":         {pods.One(key).Access("get"), []client.Access{{Verb: "get", Resource: resource, Key: key}}},
		"status":      {pods.Status().Access("update"), []client.Access{{Verb: "update", Resource: resource, Subresource: "status"}}},
		"no verb":     {pods.Access(), nil},
		"not usable":  {pods.In("").Access("get"), nil},
		"zero handle": {client.Resource[*meta.Partial]{}.Access("get"), nil},
	} {
		if !slices.Equal(of.got, of.want) {
			t.Errorf("%s: got %v, want %v", name, of.got, of.want)
		}
	}
}
