package tenant_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/proof/e2e/tenant"
)

// conversions is a server that only converts.
func conversions(t *testing.T) *world {
	server := clienttest.Start(t, clienttest.Options{CRDs: []string{"crd.yaml"}, Services: services()})
	return newWorld(t, server.Config())
}

// random fills a value with a few lists, maps and pointers; some are nil and some are empty.
func random(r *rand.Rand, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if r.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			random(r, v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			random(r, v.Field(i))
		}
	case reflect.Slice:
		if n := r.IntN(4); n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n-1, n-1))
			for i := range v.Len() {
				random(r, v.Index(i))
			}
		}
	case reflect.Map:
		if n := r.IntN(4); n > 0 {
			v.Set(reflect.MakeMap(v.Type()))
			for i := range n - 1 {
				v.SetMapIndex(reflect.ValueOf(fmt.Sprint("k", i)), reflect.ValueOf(fmt.Sprint("v", r.IntN(9))))
			}
		}
	case reflect.String:
		if r.IntN(3) > 0 {
			v.SetString(fmt.Sprint("s", r.IntN(99)))
		}
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int32:
		v.SetInt(r.Int64N(9) + 1)
	}
}

// randomSpec returns the spec of a tenant that the definition allows.
func randomSpec(r *rand.Rand) (s tenant.Spec) {
	for _, part := range []any{
		&s.Cordoned, &s.PreventDeletion, &s.NamespaceOptions, &s.PodOptions, &s.StorageClasses, &s.PriorityClasses, &s.RuntimeClasses,
		&s.ServiceOptions.AdditionalMetadata, &s.ServiceOptions.AllowedServices, &s.ServiceOptions.ForbiddenLabels, &s.ServiceOptions.ForbiddenAnnotations,
		&s.IngressOptions.AllowWildcardHostnames, &s.IngressOptions.AllowedClasses, &s.IngressOptions.AllowedHostnames, &s.ContainerRegistries, &s.NodeSelector,
	} {
		random(r, reflect.ValueOf(part).Elem())
	}
	for _, f := range []*tenant.Forbidden{
		&s.NamespaceOptions.ForbiddenLabels, &s.NamespaceOptions.ForbiddenAnnotations, &s.ServiceOptions.ForbiddenLabels, &s.ServiceOptions.ForbiddenAnnotations,
	} {
		for i, text := range f.Denied {
			f.Denied[i] = "d" + text // a key has at least one character
		}
	}
	for i := range r.IntN(3) + 1 {
		o := tenant.Owner{Kind: tenant.User, Name: fmt.Sprint("user", i)}
		random(r, reflect.ValueOf(&o.ClusterRoles).Elem())
		s.Owners = append(s.Owners, o)
	}
	return s
}

// text returns what a conversion must keep.
func text(t *testing.T, o *meta.ObjectMeta, spec any) string {
	t.Helper()
	b, err := json.Marshal(map[string]any{"labels": o.Labels, "annotations": o.Annotations, "spec": spec})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The server converts at each write and read: v1beta2 -> v1beta1, an update of v1beta1 -> v1beta2.
func TestTheConversionLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := conversions(t)
		r := rand.New(rand.NewPCG(1, 2))
		for i := range 100 {
			one := newTenant(fmt.Sprint("t", i))
			one.Spec = randomSpec(r)
			if i%2 == 0 { // the parts that both versions have
				whole := rich("whole", "alice").Spec
				one.Spec.LimitRanges, one.Spec.NetworkPolicies, one.Spec.ResourceQuotas = whole.LimitRanges, whole.NetworkPolicies, whole.ResourceQuotas
				one.Spec.AdditionalRoleBindings = whole.AdditionalRoleBindings
			}
			made := must(w.tenants.Create(t.Context(), one))(w)
			want := text(t, &made.ObjectMeta, made.Spec)
			old := must(w.olds.Get(t.Context(), made.Key()))(w)
			wantOld := text(t, &old.ObjectMeta, old.Spec)
			old.Annotations["written"] = "as v1beta1" // so that the write is one
			back := must(w.olds.Update(t.Context(), old))(w)
			delete(back.Annotations, "written")
			if got := text(t, &back.ObjectMeta, back.Spec); got != wantOld {
				t.Fatalf("v1beta1 is\n%s\nand comes back as\n%s", wantOld, got)
			}
			now := must(w.tenants.Get(t.Context(), made.Key()))(w)
			if delete(now.Annotations, "written"); len(now.Annotations) == 0 {
				now.Annotations = nil
			}
			if got := text(t, &now.ObjectMeta, now.Spec); got != want {
				t.Fatalf("v1beta2 is\n%s\nand comes back as\n%s\nover\n%s", want, got, wantOld)
			}
		}
	})
}

// What v1beta1 says by a label and annotations are fields of v1beta2, and texts that v1beta1 takes for the same stay.
func TestAnnotationsOfTheOldVersionAreFields(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := conversions(t)
		old := &tenant.OldTenant{ObjectMeta: meta.ObjectMeta{
			Name: "oil", Labels: map[string]string{tenant.Group + "/cordon": "enabled", "kept": "yes"},
			Annotations: map[string]string{
				tenant.Group + "/protected": "please", tenant.Group + "/forbidden-namespace-labels": "a,b", tenant.Group + "/deny-wildcard": "no",
				tenant.Group + "/forbidden-namespace-annotations-regexp": "x.*",
			},
		}}
		old.Spec.Owners = []tenant.OldOwner{{Kind: tenant.User, Name: "alice"}}
		before := text(t, &old.ObjectMeta, nil)
		must(w.olds.Create(t.Context(), old))(w)
		s := must(w.tenants.Get(t.Context(), meta.Key{Name: "oil"}))(w)
		o := s.Spec.NamespaceOptions
		if !s.Spec.Cordoned || !s.Spec.PreventDeletion || !s.Spec.IngressOptions.AllowWildcardHostnames ||
			!reflect.DeepEqual(o.ForbiddenLabels.Denied, []string{"a", "b"}) || o.ForbiddenAnnotations.DeniedRegex != "x.*" {
			t.Errorf("the tenant is %+v", s.Spec)
		}
		if after := must(w.olds.Get(t.Context(), meta.Key{Name: "oil"}))(w); text(t, &after.ObjectMeta, nil) != before {
			t.Errorf("the metadata was\n%s\nand is\n%s", before, text(t, &after.ObjectMeta, nil))
		}
		must(w.tenants.Modify(t.Context(), meta.Key{Name: "oil"}, func(o *tenant.Tenant) error {
			o.Spec.PreventDeletion, o.Spec.Cordoned, o.Spec.IngressOptions.AllowWildcardHostnames = false, false, false
			o.Spec.NamespaceOptions = tenant.NamespaceOptions{}
			return nil
		}))(w)
		after := must(w.olds.Get(t.Context(), meta.Key{Name: "oil"}))(w)
		want := `{"annotations":{"capsule.example.com/deny-wildcard":"true"},"labels":{"kept":"yes"},"spec":null}`
		if got := text(t, &after.ObjectMeta, nil); got != want {
			t.Errorf("the metadata is\n%s\nwant\n%s", got, want)
		}
	})
}

// A rest that cannot be read is refused when it is written, and not when somebody reads the tenant.
func TestTheOldVersionRefusesARestThatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := conversions(t)
		old := &tenant.OldTenant{ObjectMeta: meta.ObjectMeta{Name: "oil", Annotations: map[string]string{tenant.Group + "/v1beta2": `{"owner":1}`}}}
		old.Spec.Owners = []tenant.OldOwner{{Kind: tenant.User, Name: "alice"}}
		if _, err := w.olds.Create(t.Context(), old); err == nil {
			t.Error("it is accepted")
		}
		if _, err := client.For(w.admin, tenant.Tenants).List(t.Context(), client.ListOptions{}); err != nil {
			t.Error(err)
		}
	})
}
