package main

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	controllertools "sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/genall"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	webv1 "github.com/bowline-go/bowline/internal/proof/controllergen/apifolder/api/v1"
)

var update = flag.Bool("update", false, "write the definition")

const definitions = "config/crd/bases"

func TestTheDefinitionIsThatOfControllerGen(t *testing.T) {
	none := 0
	var generator genall.Generator = controllertools.Generator{MaxDescLen: &none}
	r, err := genall.Generators{&generator}.ForRoots("./api/...")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	r.OutputRules = genall.OutputRules{Default: genall.OutputToDirectory(dir)}
	if r.Run() {
		t.Fatal("controller-gen has errors")
	}
	const name = "web.example.com_sites.yaml"
	made, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	made = regexp.MustCompile(`(?m)^  annotations:\n.*\n`).ReplaceAll(made, nil) // the version, which a test does not have
	if *update {
		if err := os.WriteFile(filepath.Join(definitions, name), made, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if is, err := os.ReadFile(filepath.Join(definitions, name)); err != nil || string(is) != string(made) {
		t.Errorf("the definition is not that of controller-gen (%v); go test -run Definition . -update writes this:\n%s", err, made)
	}
}

// The server has the definition of controller-gen, with its defaults and limits, and the controller has the Go types.
func TestAControllerHasTheTypesOfAnAPIFolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{CRDs: []string{definitions}})
		c, err := client.New(server.Config())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- run(ctx, server.Config()) }()

		sites := client.For(c, siteType)
		site := &webv1.Site{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "home"}}
		site.Spec.Host = "home.example.com"
		made, err := sites.Create(t.Context(), site)
		if err != nil || made.Spec.Replicas == nil || *made.Spec.Replicas != 2 {
			t.Fatalf("created %+v, %v", made, err)
		}
		key := meta.KeyOf(made)
		if _, err := sites.Modify(t.Context(), key, func(s *webv1.Site) error { *s.Spec.Replicas = 11; return nil }); !errors.Is(err, apierrors.Invalid) {
			t.Errorf("with 11 replicas: %v", err)
		}
		if _, err := sites.Modify(t.Context(), key, func(s *webv1.Site) error { *s.Spec.Replicas = 3; return nil }); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Minute) // passes at once
		is, err := sites.Get(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		ready := apimeta.FindStatusCondition(is.Status.Conditions, "Ready")
		if ready == nil || ready.Status != metav1.ConditionTrue || ready.ObservedGeneration != 2 || is.Generation != 2 {
			t.Fatalf("the condition is %+v, and the generation %d", ready, is.Generation)
		}
		clone := meta.Clone(is)
		*clone.Spec.Replicas, clone.Status.Conditions[0].Reason = 4, "Changed"
		if *is.Spec.Replicas != 3 || is.Status.Conditions[0].Reason != "Served" {
			t.Error("a clone shares memory with its original")
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
