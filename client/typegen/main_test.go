package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/typegen/testdata/certificates"
	"github.com/bowline-go/bowline/client/typegen/testdata/gateways"
)

const site = "testdata/scalers/scalers.yaml"

const corePackage = "github.com/bowline-go/bowline/client/builtin/core"

// ends runs the command, and returns its exit code and both outputs.
func ends(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, strings.NewReader(stdin), &out, &errs)
	return code, out.String(), errs.String()
}

func TestWrongFlagsEndWith2AndOtherErrorsWith1(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{nil, 2, "-kinds must name a kind of the server, or -groups a group, since there is no FILE"},
		{[]string{"-groups", "apps", site}, 2, "-groups is for a server"},
		{[]string{"-groups", "apps", "-fields", "spec"}, 2, "-fields needs one kind"},
		{[]string{"-import", "io.k8s", site}, 2, "it must have the form PREFIX=PACKAGE"},
		{[]string{"-type", "=x", site}, 2, "it must have the form FIELD=PACKAGE.TYPE"},
		{[]string{"-type", "spec=example.com/types", site}, 2, `-type must have the form FIELD=PACKAGE.TYPE, got "spec=example.com/types"`},
		{[]string{"-type", "spec=" + corePackage + ".Pod", "-fields", "spec", site}, 2, "-type needs whole kinds"},
		{[]string{"-import", "a=example.com/nothing", site}, 1, `-import: read the package "example.com/nothing"`},
		{[]string{"-import", "a=github.com/bowline-go/bowline/client/typegen", site}, 1, "it must be the path of a package that can be imported"},
		{[]string{"-type", "spec=" + corePackage + ".Nothing", site}, 1, "Scaler.spec: package " + corePackage + " has no struct Nothing"},
		{[]string{"-type", "spec=" + corePackage + ".PodSpec", site}, 1, "which would be lost"},
		{[]string{"-kubeconfig", "k", site}, 2, "-kubeconfig and -context are for a server"},
		{[]string{"-check", site}, 2, "-o must name the file that -check checks"},
		{[]string{"-package", "a b", site}, 2, `-package must be the name of a package, got "a b"`},
		{[]string{"-package", "func", site}, 2, `-package must be the name of a package, got "func"`},
		{[]string{"-kinds", "a,,b", site}, 2, "it must be names with commas between them"},
		{[]string{"-kinds", "pods,nodes", "-fields", "spec"}, 2, "-fields needs one kind"},
		{[]string{"-nonsense"}, 2, "not defined: -nonsense"},
		{[]string{"no.yaml"}, 1, "no.yaml"},
		{[]string{"main.go"}, 1, "read main.go: "},
		{[]string{"-kinds", "pages", site}, 1, `-kinds: the files have no kind "pages"; they have Scaler.load.example.com/v1`},
		{[]string{"-versions", "v7", site}, 1, `-versions: the files have none of ["v7"]; they have Scaler.load.example.com/v1`},
		{[]string{"-fields", "spec", "testdata/functions/functions.yaml"}, 1, "-fields needs one kind; -kinds and -versions choose Function.serve.example.com/v1, Sink"},
		{[]string{"-fields", "spec.nothing", site}, 1, `Scaler.spec has no field "nothing"`},
		{[]string{"-kinds", "pods", "-kubeconfig", "no.kubeconfig"}, 1, "no.kubeconfig"},
	} {
		code, stdout, stderr := ends(t, "", c.args...)
		if code != c.code || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%q: it ends with %d, and says %s", c.args, code, stderr)
		}
	}
}

// Definitions have the template of a pod again, field by field, or say nothing about it.
func TestAPodTemplateOfADefinitionHasTheTypeOfCore(t *testing.T) {
	const definition = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"runs.example.com"},
		"spec":{"group":"example.com","scope":"Namespaced","names":{"kind":"Run","plural":"runs"},"versions":[{"name":"v1","served":true,"storage":true,
		"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","required":["template"],"properties":{
		"debug":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
		"template":{"type":"object","properties":{"metadata":{"type":"object"},"spec":{"type":"object","properties":{
		"containers":{"type":"array","items":{"type":"object","properties":{"image":{"type":"string"}}}}}}}}}}}}}}]}}`
	args := []string{"-type", "spec.template=" + corePackage + ".PodTemplateSpec", "-type", "spec.debug=" + corePackage + ".PodSpec", "-"}
	code, text, stderr := ends(t, definition, args...)
	for _, want := range []string{
		" -type spec.template=" + corePackage + ".PodTemplateSpec -type spec.debug=" + corePackage + ".PodSpec -; DO NOT EDIT.\n",
		"	Debug    *core.PodSpec        `json:\"debug,omitempty\"`\n", "	Template core.PodTemplateSpec `json:\"template\"`\n", "\"" + corePackage + "\"\n",
	} {
		if code != 0 || !strings.Contains(text, want) {
			t.Errorf("it ends with %d and says %s; there is no %s in\n%s", code, stderr, want, text)
		}
	}
	newer := strings.Replace(definition, `"image":`, `"new":{"type":"string"},"image":`, 1)
	if code, _, stderr := ends(t, newer, args...); code != 1 || !strings.Contains(stderr, `has no field for "spec.containers.new", which would be lost`) {
		t.Errorf("with a field that core lacks it ends with %d and says %s", code, stderr)
	}
}

func TestGroupsNameAllKindsOfAServersGroup(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-groups", "autoscaling/v2"}, "HorizontalPodAutoscaler"},
		{[]string{"-groups", "net.example.com"}, "Gateway GatewayClass"},
		{[]string{"-groups", "net.example.com", "-versions", "all"}, "GatewayV1 GatewayV1beta1 GatewayClass"},
		{[]string{"-groups", "net.example.com/v1beta1"}, "Gateway"},
		{[]string{"-groups", "policy,net.example.com", "-kinds", "jobs"}, "Job Gateway GatewayClass PodDisruptionBudget"},
	} {
		if got := written(askedFor(t, append(c.args, "-package", "p")...)); got != c.want {
			t.Errorf("%q: it has %q, want %q", c.args, got, c.want)
		}
	}
	s := must(parse([]string{"-groups", "apps/v7"}, io.Discard))(t)
	if _, err := askServer(t.Context(), newClient(t, clienttest.Options{}), s); err == nil || err.Error() != `-groups: the server has no kinds of "apps/v7"` {
		t.Errorf("the error is %v", err)
	}
}

// written returns the types of the descriptors.
func written(text string) string {
	var types []string
	for line := range strings.Lines(text) {
		if _, rest, ok := strings.Cut(line, "= client.Type[*"); ok {
			name, _, _ := strings.Cut(rest, "]")
			types = append(types, name)
		}
	}
	return strings.Join(types, " ")
}

func TestHelpIsNotAnError(t *testing.T) {
	if code, _, stderr := ends(t, "", "-h"); code != 0 || !strings.Contains(stderr, "-fields") || !strings.Contains(stderr, "kubectl get crd") {
		t.Errorf("it ends with %d, and says %s", code, stderr)
	}
}

func TestCheckFailsUntilTheFileIsWritten(t *testing.T) {
	data := string(must(os.ReadFile(site))(t))
	folder := filepath.Join(t.TempDir(), "2-my.Types")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "types.go")
	check := []string{"-check", "-o", file, "-"}
	if code, _, stderr := ends(t, data, check...); code != 1 || !strings.Contains(stderr, "types.go") {
		t.Errorf("without a file it ends with %d, and says %s", code, stderr)
	}
	if code, _, stderr := ends(t, data, check[1:]...); code != 0 || stderr != "" {
		t.Fatalf("it ends with %d, and says %s", code, stderr)
	}
	text := must(os.ReadFile(file))(t)
	if !bytes.HasPrefix(text, []byte("// Code generated by "+program+" -o ")) || !bytes.Contains(text, []byte("; DO NOT EDIT.\n\npackage mytypes\n")) {
		t.Errorf("the file begins with %.200s", text)
	}
	before := must(os.Stat(file))(t).ModTime()
	if code, _, _ := ends(t, data, check[1:]...); code != 0 || must(os.Stat(file))(t).ModTime() != before {
		t.Errorf("a file that has the text already is written again; the command ends with %d", code)
	}
	if code, _, stderr := ends(t, data, check...); code != 0 || stderr != "" {
		t.Errorf("the written file fails with %d, %s", code, stderr)
	}
	if err := os.WriteFile(file, append(text, "// more\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := ends(t, data, check...); code != 1 || !strings.Contains(stderr, "differs from what this command writes") {
		t.Errorf("a changed file ends with %d, and says %s", code, stderr)
	}
}

func TestThePackageIsThatOfTheOtherFiles(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{"a_test.go": "package other_test", "b.go": "package operator", "types.go": "package old"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := packageOf(filepath.Join(folder, "types.go")); got != "operator" {
		t.Errorf("it is %q", got)
	}
	if got := packageOf(""); got != "main" {
		t.Errorf("for standard output it is %q", got)
	}
}

// Without -versions the most stable served version is written, and -kinds takes the names of kinds and resources.
func TestKindsAndVersionsChoose(t *testing.T) {
	for _, c := range []struct {
		args  []string
		types string
	}{
		{[]string{"testdata/gateways/gateways.yaml"}, "Gateway GatewayClass"},
		{[]string{"-kinds", "gatewayclasses.net.example.com", "testdata/gateways/gateways.yaml"}, "GatewayClass"},
		{[]string{"-kinds", "Gateway", "-versions", "v1beta1", "testdata/gateways/gateways.yaml"}, "Gateway"},
		{[]string{"-versions", "v1,v1beta1", "testdata/gateways/gateways.yaml"}, "GatewayV1 GatewayV1beta1 GatewayClass"},
		{[]string{"testdata/databases/databases.yaml"}, "Database"},
		{[]string{"-versions", "v1alpha1", "testdata/databases/databases.yaml"}, "Database"},
		{[]string{"testdata/scalers/scalers.yaml", "testdata/functions/functions.yaml"}, "Scaler Function Sink"},
	} {
		code, stdout, stderr := ends(t, "", c.args...)
		if got := written(stdout); code != 0 || got != c.types {
			t.Errorf("%q: it ends with %d, has %q and says %s", c.args, code, got, stderr)
		}
	}
}

// A program that names what it wants with a written type changes nothing else, and wants it once.
func TestEnsureOfAWrittenTypeLeavesTheDefaultsOfTheServer(t *testing.T) {
	c := newClient(t, clienttest.Options{CRDs: []string{"testdata/certificates/certificates.yaml"}})
	certs := client.For(c, certificates.Certs)
	want := &certificates.Cert{ObjectMeta: meta.Key{Namespace: "default", Name: "web"}.ObjectMeta(), Spec: certificates.CertSpec{
		SecretName: "web", IssuerRef: certificates.CertSpecIssuerRef{Name: "ca"},
		PrivateKey: &certificates.CertSpecPrivateKey{Algorithm: certificates.CertSpecPrivateKeyAlgorithmECDSA},
	}}
	made, _, err := certs.Ensure(t.Context(), want, client.EnsureOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := made.Spec.PrivateKey.RotationPolicy; got == nil || *got != certificates.CertSpecPrivateKeyRotationPolicyAlways || *made.Spec.IssuerRef.Kind != "Issuer" {
		t.Errorf("the server's defaults are %v, %+v", got, made.Spec.IssuerRef)
	}
	if _, did, err := certs.Ensure(t.Context(), want, client.EnsureOptions{}); err != nil || did.Outcome != client.Unchanged {
		t.Errorf("the second Ensure did %+v, %v", did, err)
	}
}

// The tags of a written type make Ensure merge a list by its key, so that an element of another writer stays.
func TestEnsureMergesAListOfAWrittenTypeByItsKey(t *testing.T) {
	c := newClient(t, clienttest.Options{CRDs: []string{"testdata/gateways/gateways.yaml"}, Lenient: true})
	all := client.For(c, gateways.GatewaysV1)
	want := func(listener string) *gateways.GatewayV1 {
		return &gateways.GatewayV1{ObjectMeta: meta.Key{Namespace: "default", Name: "web"}.ObjectMeta(), Spec: gateways.GatewayV1Spec{
			GatewayClassName: "c", Listeners: []gateways.GatewayV1SpecListener{{Name: listener, Port: 80, Protocol: "HTTP"}},
		}}
	}
	for _, name := range []string{"one", "two"} {
		if _, _, err := all.With(client.WriteOptions{FieldManager: name}).Ensure(t.Context(), want(name), client.EnsureOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := all.Get(t.Context(), meta.Key{Namespace: "default", Name: "web"})
	if err != nil || len(got.Spec.Listeners) != 2 {
		t.Errorf("the listeners are %+v, %v", got.Spec.Listeners, err)
	}
}
