package client_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

func owning(namespace, name, uid string) *Slim {
	return &Slim{Identity: meta.Identity{Namespace: namespace, Name: name, UID: uid}}
}

func TestSetControllerAndAddOwnerNameTheOwner(t *testing.T) {
	yes := true
	early := client.OwnerOf(deployments, owning("web", "d", "1"))
	early.MayGoFirst = true
	for _, test := range []struct {
		name  string
		owner client.Owner
		set   func(child *ConfigMap, owner client.Owner) error
		had   []meta.OwnerReference
		want  []meta.OwnerReference
	}{
		{
			"the controller", client.OwnerOf(deployments, owning("web", "d", "1")), client.SetController[*ConfigMap], nil,
			[]meta.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: "d", UID: "1", Controller: &yes, BlockOwnerDeletion: &yes}},
		},
		{
			"cluster-wide", client.OwnerOf(nodes, owning("", "n", "1")), client.SetController[*ConfigMap], nil,
			[]meta.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "n", UID: "1", Controller: &yes, BlockOwnerDeletion: &yes}},
		},
		{
			"one of several", client.OwnerOf(deployments, owning("web", "d", "1")), client.AddOwner[*ConfigMap],
			[]meta.OwnerReference{{Kind: "X", UID: "2", Controller: &yes}},
			[]meta.OwnerReference{{Kind: "X", UID: "2", Controller: &yes}, {APIVersion: "apps/v1", Kind: "Deployment", Name: "d", UID: "1", BlockOwnerDeletion: &yes}},
		},
		{
			"one that may go first", early, client.SetController[*ConfigMap], nil,
			[]meta.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: "d", UID: "1", Controller: &yes}},
		},
		{
			"renewed in its place", early, client.SetController[*ConfigMap],
			[]meta.OwnerReference{{UID: "0"}, {APIVersion: "apps/v1beta1", Kind: "Deployment", Name: "d", UID: "1"}, {UID: "2"}},
			[]meta.OwnerReference{{UID: "0"}, {APIVersion: "apps/v1", Kind: "Deployment", Name: "d", UID: "1", Controller: &yes}, {UID: "2"}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			child := &ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: "web", Name: "c", OwnerReferences: test.had}}
			before := append([]meta.OwnerReference(nil), test.had...)
			for range 2 {
				if err := test.set(child, test.owner); err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(child.OwnerReferences, test.want) {
					t.Errorf("owners are %+v, want %+v", child.OwnerReferences, test.want)
				}
			}
			if !reflect.DeepEqual(before, test.had) {
				t.Errorf("what the child had became %+v", test.had)
			}
			if err := client.RemoveOwner(child, test.owner); err != nil {
				t.Fatal(err)
			}
			for _, o := range child.OwnerReferences {
				if o.UID == "1" {
					t.Errorf("still owned: %+v", child.OwnerReferences)
				}
			}
			if err := client.RemoveOwner(child, test.owner); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestSetControllerRefusesInvalidOwners(t *testing.T) {
	yes := true
	owner := client.OwnerOf(deployments, owning("web", "d", "1"))
	child := func(namespace string) *ConfigMap {
		return &ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: namespace, Name: "c"}}
	}
	taken := child("web")
	taken.OwnerReferences = []meta.OwnerReference{{Kind: "ReplicaSet", Name: "r", UID: "9", Controller: &yes}}
	for _, test := range []struct {
		name  string
		child *ConfigMap
		owner client.Owner
		want  string
	}{
		{"no child", (*ConfigMap)(nil), owner, `client.SetController: the child must not be nil`},
		{"no owner", child("web"), client.Owner{}, `client.SetController: the owner must have a kind and a version; use client.OwnerOf`},
		{"a nil owner", child("web"), client.OwnerOf(deployments, (*Slim)(nil)), `client.SetController: the owner must have a name`},
		{"no uid", child("web"), client.OwnerOf(deployments, owning("web", "d", "")), `client.SetController: the owner Deployment "d" must have a uid: create or read it first, with a type that has metadata.uid`},
		{"another namespace", child("db"), owner, `client.SetController: the child's namespace must be "web", that of its owner, got "db"`},
		{"a cluster-wide child", child(""), owner, `client.SetController: the child's namespace must be "web", that of its owner, got ""`},
		{"a namespaced owner without a namespace", child("web"), client.OwnerOf(deployments, owning("", "d", "1")), `client.SetController: the owner Deployment "d" must have a namespace`},
		{"a cluster-wide owner with one", child("web"), client.OwnerOf(nodes, owning("web", "n", "1")), `client.SetController: the owner Node "n" must have no namespace, since it is cluster-wide, got "web"`},
		{"a second controller", taken, owner, `client.SetController: "web/c" is controlled by ReplicaSet "r" (uid "9"), not by Deployment "d" (uid "1")`},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := client.SetController(test.child, test.owner)
			if err == nil || err.Error() != test.want {
				t.Errorf("error is %v, want %s", err, test.want)
			}
		})
	}
	e := is[*client.ControllerError](t, client.SetController(taken, owner))
	if e.Present.UID != "9" || !strings.Contains(e.Error(), `c" is controlled by `) || !strings.HasSuffix(e.Error(), `(uid "1")`) || len(taken.OwnerReferences) != 1 {
		t.Errorf("the error is %+v, and the child %+v", e, taken)
	}
	for _, test := range []struct {
		child *ConfigMap
		owner client.Owner
		want  string
	}{
		{(*ConfigMap)(nil), owner, "client.RemoveOwner: the child must not be nil"},
		{taken, client.Owner{}, "client.RemoveOwner: the owner must have a uid"},
	} {
		if err := client.RemoveOwner(test.child, test.owner); err == nil || err.Error() != test.want {
			t.Errorf("error is %v, want %s", err, test.want)
		}
	}
}
