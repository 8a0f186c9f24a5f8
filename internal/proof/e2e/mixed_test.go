package e2e

import (
	"context"
	"fmt"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer"
)

var apiServices = client.Type[object]{
	Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService", Resource: "apiservices", Scope: meta.Cluster,
}

// A cluster serves built-in kinds, custom resources and an aggregated API, whose server has JSON alone. One client that asks for
// protobuf follows all three, without a setting for any of them.
func TestAClusterOfMixedFormsNeedsNoSetting(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	custom, aggregated := ns+".mixed.e2e.bowline.example", ns+".aggregated.e2e.bowline.example"
	install(t, c, custom)
	aggregate(t, c, ns, aggregated)

	binary, _ := inProtobuf(t, adminConfig())
	configMaps := client.Type[object]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}
	create(t, client.For(c, configMaps), ns, `{"metadata":{"name":"first"}}`)
	create(t, client.For(c, configMaps), ns, `{"metadata":{"name":"second"}}`)
	t.Run("built-in", func(t *testing.T) {
		follows(t, client.For(binary, client.Type[*meta.Partial]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}), ns, true,
			func() { create(t, client.For(c, configMaps), ns, `{"metadata":{"name":"third"}}`) })
	})
	for _, kind := range []client.Type[*knot]{knots(custom, "v1"), clusterKnots(aggregated)} {
		knot := func(name string) {
			k := &knot{ObjectMeta: meta.ObjectMeta{Name: name}}
			if kind.Scope != meta.Cluster {
				k.Namespace = ns
			}
			k.Spec.Rope = "hemp"
			must(client.For(c, kind).Create(t.Context(), k))(t)
		}
		knot("first")
		knot("second")
		t.Run(kind.Group, func(t *testing.T) {
			in := ns
			if kind.Scope == meta.Cluster {
				in = ""
			}
			follows(t, client.For(binary, kind), in, false, func() { knot("third") })
		})
	}
}

// clusterKnots are knots without namespaces.
func clusterKnots(group string) client.Type[*knot] {
	kind := knots(group, "v1")
	kind.Scope = meta.Cluster
	return kind
}

// aggregate has the server of the cluster proxy a group of knots to another API server, which has no protobuf for them.
func aggregate(t *testing.T, c *client.Client, ns, group string) {
	t.Helper()
	host := ns + ".knots.e2e.bowline.example"
	l := must(plane.Listen(host + ":443"))(t)
	clienttest.Start(t, clienttest.Options{Listener: l, HTTP2: true, Resources: []clienttest.Resource{
		{Group: group, Version: "v1", Kind: "Knot", Resource: "knots", Scope: meta.Cluster},
	}})
	create(t, client.For(c, services), ns, `{"metadata":{"name":"knots"},"spec":{"type":"ExternalName","externalName":"`+host+`"}}`)
	made := create(t, client.For(c, apiServices), "", fmt.Sprintf(`{"metadata":{"name":"v1.%s"},"spec":{
		"group":%q, "version":"v1", "groupPriorityMinimum":10, "versionPriority":10, "insecureSkipTLSVerify":true,
		"service":{"namespace":%q, "name":"knots", "port":443}}}`, group, group, ns))
	t.Cleanup(func() {
		err := client.For(c, apiServices).Delete(context.WithoutCancel(t.Context()), meta.KeyOf(made), client.DeleteOptions{})
		if apierrors.Ignore(err, apierrors.NotFound) != nil {
			t.Error(err)
		}
	})
	eventually(t, func() error {
		if _, err := client.For(c, clusterKnots(group)).List(t.Context(), client.ListOptions{}); err != nil {
			service := must(client.For(c, apiServices).Get(t.Context(), meta.KeyOf(made)))(t)
			return fmt.Errorf("%w; the service's status is %v", err, service.Object["status"])
		}
		return nil
	})
}

// follows runs an informer, which is to hold two objects, and a third one after more has made it; in protobuf, or in JSON.
func follows[T meta.Object](t *testing.T, r client.Resource[T], ns string, binary bool, more func()) {
	t.Helper()
	inf := informer.New(r, informer.Options{Namespace: ns})
	runs(t, inf)
	if err := inf.WaitSynced(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"first", "second"} {
		if _, ok := inf.Reader().Get(meta.Key{Namespace: ns, Name: name}); !ok {
			t.Errorf("the cache does not have %s", name)
		}
	}
	more()
	eventually(t, func() error {
		if _, ok := inf.Reader().Get(meta.Key{Namespace: ns, Name: "third"}); !ok {
			return fmt.Errorf("the cache does not have the third one: %v", inf.Status())
		}
		return nil
	})
	s := inf.Status()
	if s.Protobuf != binary || (s.WhyJSON == "") != binary {
		t.Errorf("protobuf is %t, want %t: %v", s.Protobuf, binary, s)
	}
}
