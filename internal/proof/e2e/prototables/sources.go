package prototables

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kubescheme "k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// modules are the modules that have .proto files.
var modules = []string{"k8s.io/api", "k8s.io/apimachinery", "k8s.io/apiextensions-apiserver", "k8s.io/kube-aggregator"}

// protoFiles returns the .proto files of the modules, in the versions that this module requires.
func protoFiles(ctx context.Context) ([]string, error) {
	out, err := exec.CommandContext(ctx, "go", append([]string{"list", "-m", "-f", "{{.Dir}}"}, modules...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("find the modules: %w", err)
	}
	var files []string
	for _, dir := range strings.Fields(string(out)) {
		for _, pattern := range []string{"*/*/generated.proto", "pkg/*/generated.proto", "pkg/*/*/generated.proto", "pkg/*/*/*/generated.proto"} {
			found, err := filepath.Glob(filepath.Join(dir, pattern))
			if err != nil {
				return nil, err
			}
			files = append(files, found...)
		}
	}
	return files, nil
}

// versions are the group versions that kube-apiserver can serve: those of each stability in
// pkg/controlplane/instance.go of k8s.io/kubernetes, and those of custom resource definitions and API services.
var versions = []schema.GroupVersion{
	{Group: "", Version: "v1"},
	{Group: "admissionregistration.k8s.io", Version: "v1"},
	{Group: "admissionregistration.k8s.io", Version: "v1beta1"},
	{Group: "admissionregistration.k8s.io", Version: "v1alpha1"},
	{Group: "apiextensions.k8s.io", Version: "v1"},
	{Group: "apiregistration.k8s.io", Version: "v1"},
	{Group: "apps", Version: "v1"},
	{Group: "authentication.k8s.io", Version: "v1"},
	{Group: "authentication.k8s.io", Version: "v1beta1"},
	{Group: "authentication.k8s.io", Version: "v1alpha1"},
	{Group: "authorization.k8s.io", Version: "v1"},
	{Group: "autoscaling", Version: "v1"},
	{Group: "autoscaling", Version: "v2"},
	{Group: "batch", Version: "v1"},
	{Group: "certificates.k8s.io", Version: "v1"},
	{Group: "certificates.k8s.io", Version: "v1beta1"},
	{Group: "certificates.k8s.io", Version: "v1alpha1"},
	{Group: "coordination.k8s.io", Version: "v1"},
	{Group: "coordination.k8s.io", Version: "v1beta1"},
	{Group: "coordination.k8s.io", Version: "v1alpha2"},
	{Group: "discovery.k8s.io", Version: "v1"},
	{Group: "events.k8s.io", Version: "v1"},
	{Group: "flowcontrol.apiserver.k8s.io", Version: "v1"},
	{Group: "flowcontrol.apiserver.k8s.io", Version: "v1beta1"},
	{Group: "flowcontrol.apiserver.k8s.io", Version: "v1beta2"},
	{Group: "flowcontrol.apiserver.k8s.io", Version: "v1beta3"},
	{Group: "internal.apiserver.k8s.io", Version: "v1alpha1"},
	{Group: "lifecycle.k8s.io", Version: "v1alpha1"},
	{Group: "networking.k8s.io", Version: "v1"},
	{Group: "networking.k8s.io", Version: "v1beta1"},
	{Group: "node.k8s.io", Version: "v1"},
	{Group: "policy", Version: "v1"},
	{Group: "rbac.authorization.k8s.io", Version: "v1"},
	{Group: "resource.k8s.io", Version: "v1"},
	{Group: "resource.k8s.io", Version: "v1beta1"},
	{Group: "resource.k8s.io", Version: "v1beta2"},
	{Group: "resource.k8s.io", Version: "v1alpha3"},
	{Group: "scheduling.k8s.io", Version: "v1"},
	{Group: "scheduling.k8s.io", Version: "v1beta1"},
	{Group: "scheduling.k8s.io", Version: "v1alpha3"},
	{Group: "storage.k8s.io", Version: "v1"},
	{Group: "storage.k8s.io", Version: "v1beta1"},
	{Group: "storage.k8s.io", Version: "v1alpha1"},
	{Group: "storagemigration.k8s.io", Version: "v1"},
	{Group: "storagemigration.k8s.io", Version: "v1beta1"},
}

// ofMeta are the types of meta/v1 that are sent by themselves.
var ofMeta = []reflect.Type{
	reflect.TypeFor[metav1.DeleteOptions](),
	reflect.TypeFor[metav1.PartialObjectMetadata](),
	reflect.TypeFor[metav1.PartialObjectMetadataList](),
	reflect.TypeFor[metav1.Status](),
	reflect.TypeFor[metav1.WatchEvent](),
}

// newScheme returns the Go types of all kinds.
func newScheme() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{kubescheme.AddToScheme, apiextensionsv1.AddToScheme, apiregistrationv1.AddToScheme} {
		if err := add(s); err != nil {
			return nil, err
		}
	}
	return s, nil
}
