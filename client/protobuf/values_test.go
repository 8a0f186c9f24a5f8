package protobuf_test

import (
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/protobuf/core"
)

type quotaOf struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Hard map[string]meta.Quantity `json:"hard,omitempty"`
	} `json:"spec"`
}

type serviceOf struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Ports []portOf `json:"ports"`
	} `json:"spec"`
}

type portOf struct {
	Name       string           `json:"name"`
	Port       int32            `json:"port"`
	TargetPort meta.IntOrString `json:"targetPort"`
}

// The values of package meta are read from protobuf as from JSON.
func TestQuantitiesAndPortsInProtobuf(t *testing.T) {
	server := clienttest.Start(t, clienttest.Options{})
	binary, seen := open(t, server.Config(), core.V1())
	var quota quotaOf
	quota.ObjectMeta = meta.Key{Namespace: "default", Name: "all"}.ObjectMeta()
	quota.Spec.Hard = map[string]meta.Quantity{"requests.cpu": meta.MustQuantity("1.5"), "requests.memory": meta.MustQuantity("1024Mi"), "pods": {}}
	quotas := client.For(binary, client.Type[*quotaOf]{Version: "v1", Kind: "ResourceQuota", Resource: "resourcequotas"})
	if _, err := quotas.Create(t.Context(), &quota); err != nil {
		t.Fatal(err)
	}
	list, err := quotas.List(t.Context(), client.ListOptions{})
	if err != nil || len(list.Items) != 1 {
		t.Fatal(list, err)
	}
	for name, want := range map[string]string{"requests.cpu": "1500m", "requests.memory": "1Gi", "pods": "0"} {
		if got := list.Items[0].Spec.Hard[name]; got != meta.MustQuantity(want) {
			t.Errorf("%s is %v, want %s", name, got, want)
		}
	}
	var service serviceOf
	service.ObjectMeta = meta.Key{Namespace: "default", Name: "web"}.ObjectMeta()
	service.Spec.Ports = []portOf{{"a", 80, meta.FromString("http")}, {"b", 81, meta.FromInt(8081)}}
	services := client.For(binary, client.Type[*serviceOf]{Version: "v1", Kind: "Service", Resource: "services"})
	if _, err := services.Create(t.Context(), &service); err != nil {
		t.Fatal(err)
	}
	read, err := services.List(t.Context(), client.ListOptions{FieldSelector: "metadata.name=web"})
	if err != nil || len(read.Items) != 1 || len(read.Items[0].Spec.Ports) != 2 ||
		read.Items[0].Spec.Ports[0] != service.Spec.Ports[0] || read.Items[0].Spec.Ports[1] != service.Spec.Ports[1] {
		t.Fatal(read, err)
	}
	if types := seen.take(); strings.Count(types, "-> "+binType) != 2 {
		t.Errorf("the answers are\n%s", types)
	}
}
