package strategies

import (
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/kubernetes/scheme"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

const zerosFile = "../../../../client/clienttest/internal/strategy/zeros.txt"

// The list of members that are not written when they are zero is that of Kubernetes' Go types. -update writes it.
func TestZeros(t *testing.T) {
	found := map[string]string{}
	types := scheme.Scheme
	if err := apiregistration.AddToScheme(types); err != nil {
		t.Fatal(err)
	}
	for kind, typ := range types.AllKnownTypes() {
		if kind.Version == "v1" || kind.Version == "v2" {
			zeros(typ, found)
		}
	}
	var lines strings.Builder
	for _, name := range slices.Sorted(maps.Keys(found)) {
		lines.WriteString(name + found[name] + "\n")
	}
	if *update {
		if err := os.WriteFile(zerosFile, []byte(lines.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if is, err := os.ReadFile(zerosFile); err != nil || string(is) != lines.String() {
		t.Errorf("the list is old: run this test with -update: %v", err)
	}
}

// zeros adds the members of a type, and of the types in it, that are not written when they are zero.
func zeros(t reflect.Type, found map[string]string) {
	for slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Map}, t.Kind()) {
		t = t.Elem()
	}
	path, isAPI := strings.CutPrefix(t.PkgPath(), "k8s.io/api/")
	if !isAPI {
		path, isAPI = strings.CutPrefix(t.PkgPath(), "k8s.io/apimachinery/")
		path = "io.k8s.apimachinery." + path
	}
	if !isAPI {
		path, isAPI = strings.CutPrefix(t.PkgPath(), "k8s.io/kube-aggregator/")
		path = "io.k8s.kube-aggregator." + path
	}
	name := strings.ReplaceAll(path, "/", ".") + "." + t.Name()
	if _, seen := found[name]; seen || !isAPI || t.Kind() != reflect.Struct {
		return
	}
	found[name] = ""
	addZeros(name, t, found)
	if found[name] == "" {
		delete(found, name)
	}
}

// addZeros adds the members that the fields of a type are.
func addZeros(name string, t reflect.Type, found map[string]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		member, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		hasZero := slices.Contains([]reflect.Kind{
			reflect.String, reflect.Bool, reflect.Int32, reflect.Int64, reflect.Slice, reflect.Map,
		}, f.Type.Kind())
		switch {
		case strings.Contains(options, "inline"):
			if f.Type.Name() != "TypeMeta" {
				addZeros(name, f.Type, found)
			}
			continue
		case strings.Contains(options, "omitempty") && hasZero:
			found[name] += " " + member
		case member == "-" || strings.Contains(options, "omitzero"):
		case f.Type.PkgPath() == "k8s.io/apimachinery/pkg/apis/meta/v1" && (f.Type.Name() == "Time" || f.Type.Name() == "MicroTime"):
			found[name] += " " + member + "=null"
		case !strings.Contains(options, "omitempty"):
			found[name] += written(member, f.Type)
		}
		zeros(f.Type, found)
	}
}

// written returns a member that is always written, with its zero value. The members that are objects are elsewhere.
func written(member string, t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return " " + member + `=""`
	case reflect.Bool:
		return " " + member + "=false"
	case reflect.Int32, reflect.Int64, reflect.Float64:
		return " " + member + "=0"
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return " " + member + "=null"
	}
	return ""
}
