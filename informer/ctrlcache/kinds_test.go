package ctrlcache_test

import (
	"reflect"
	"strings"
	"testing"

	kubescheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	bowmeta "github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/protobuf"
	"github.com/bowline-go/bowline/client/protobuf/all"
)

// Every kind of client-go's scheme is read as protobuf into its Go type, with the oldest release of k8s.io/api that
// go.mod allows and with the newest one. The pods of 1.36 were read as JSON: they have a member that those of 1.37 lack.
func TestEveryKindOfTheSchemeIsReadAsProtobuf(t *testing.T) {
	form := protobuf.New(all.Tables()...)
	notJoined := map[string]string{
		"StatefulSet.v1.apps": "spec.volumeClaimTemplates.apiVersion: the protobuf table of PersistentVolumeClaim has no such member",
		"Eviction.v1.policy":  "deleteOptions.apiVersion: the protobuf table of DeleteOptions has no such member",
	}
	kinds := 0
	for gvk, typ := range kubescheme.Scheme.AllKnownTypes() {
		if _, ok := reflect.New(typ).Interface().(client.Object); !ok || strings.HasSuffix(gvk.Kind, "List") {
			continue
		}
		kinds++
		name, why := strings.TrimSuffix(gvk.Kind+"."+gvk.Version+"."+gvk.Group, "."), ""
		_, err := form.Decoder(bowmeta.GVK{Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind}, reflect.PointerTo(typ), nil)
		if err != nil {
			why = err.Error()
		}
		if why != notJoined[name] {
			t.Errorf("%s is read as protobuf, or not because of %q, want %q", name, why, notJoined[name])
		}
	}
	if kinds < 60 {
		t.Errorf("the scheme has only %d kinds", kinds)
	}
}
