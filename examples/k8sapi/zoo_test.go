package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/codec"
	"github.com/bowline-go/bowline/internal/jsonstream"
)

// An animal is a kind of the zoo: what encoding/json does with its type, and what Bowline does.
type animal struct {
	group, version, kind string

	random     func(seed int64) meta.Object
	stdlib     func(raw []byte) (any, error)
	bowline    func(raw []byte) (any, error)
	lost       func(raw []byte) (noted bool, lost []string, err error)
	setVersion func(obj meta.Object, apiVersion, kind string)
}

func (a animal) apiVersion() string { return meta.GVK{Group: a.group, Version: a.version}.APIVersion() }

// of makes an animal of a type; it is named for its kind.
func of[T meta.Object](group, version string) animal {
	structure := reflect.TypeFor[T]().Elem()
	return animal{
		group: group, version: version, kind: structure.Name(),
		random: func(seed int64) meta.Object { return random[T](seed) },
		stdlib: func(raw []byte) (any, error) {
			obj := reflect.New(structure).Interface()
			err := json.Unmarshal(raw, obj)
			return obj, err
		},
		bowline: func(raw []byte) (any, error) { return codec.Unmarshal[T](raw) },
		lost: func(raw []byte) (bool, []string, error) {
			var noted atomic.Bool
			if _, err := codec.Decode(reflect.TypeFor[T](), jsonstream.Item{Raw: raw}, codec.Options{Lossy: &noted}); err != nil {
				return false, nil, err
			}
			var object map[string]any
			d := json.NewDecoder(bytes.NewReader(raw))
			d.UseNumber()
			if err := d.Decode(&object); err != nil {
				return false, nil, err
			}
			lost, err := codec.Lost(reflect.TypeFor[T](), object, 10)
			return noted.Load(), lost, err
		},
		setVersion: func(obj meta.Object, apiVersion, kind string) {
			typeMeta := reflect.ValueOf(obj).Elem().FieldByName("TypeMeta")
			typeMeta.FieldByName("APIVersion").SetString(apiVersion)
			typeMeta.FieldByName("Kind").SetString(kind)
		},
	}
}

var zoo = []animal{
	of[*corev1.Binding]("", "v1"),
	of[*corev1.ConfigMap]("", "v1"),
	//lint:ignore SA1019 endpoints are deprecated, and still served
	of[*corev1.Endpoints]("", "v1"),
	of[*corev1.Event]("", "v1"),
	of[*corev1.LimitRange]("", "v1"),
	of[*corev1.Namespace]("", "v1"),
	of[*corev1.Node]("", "v1"),
	of[*corev1.PersistentVolume]("", "v1"),
	of[*corev1.PersistentVolumeClaim]("", "v1"),
	of[*corev1.Pod]("", "v1"),
	of[*corev1.PodTemplate]("", "v1"),
	of[*corev1.ReplicationController]("", "v1"),
	of[*corev1.ResourceQuota]("", "v1"),
	of[*corev1.Secret]("", "v1"),
	of[*corev1.Service]("", "v1"),
	of[*corev1.ServiceAccount]("", "v1"),
	of[*admissionregistrationv1.MutatingWebhookConfiguration]("admissionregistration.k8s.io", "v1"),
	of[*admissionregistrationv1.ValidatingAdmissionPolicy]("admissionregistration.k8s.io", "v1"),
	of[*admissionregistrationv1.ValidatingAdmissionPolicyBinding]("admissionregistration.k8s.io", "v1"),
	of[*admissionregistrationv1.ValidatingWebhookConfiguration]("admissionregistration.k8s.io", "v1"),
	of[*appsv1.ControllerRevision]("apps", "v1"),
	of[*appsv1.DaemonSet]("apps", "v1"),
	of[*appsv1.Deployment]("apps", "v1"),
	of[*appsv1.ReplicaSet]("apps", "v1"),
	of[*appsv1.StatefulSet]("apps", "v1"),
	of[*authenticationv1.TokenRequest]("authentication.k8s.io", "v1"),
	of[*authenticationv1.TokenReview]("authentication.k8s.io", "v1"),
	of[*authorizationv1.SelfSubjectAccessReview]("authorization.k8s.io", "v1"),
	of[*authorizationv1.SubjectAccessReview]("authorization.k8s.io", "v1"),
	of[*autoscalingv1.Scale]("autoscaling", "v1"),
	of[*autoscalingv2.HorizontalPodAutoscaler]("autoscaling", "v2"),
	of[*batchv1.CronJob]("batch", "v1"),
	of[*batchv1.Job]("batch", "v1"),
	of[*certificatesv1.CertificateSigningRequest]("certificates.k8s.io", "v1"),
	of[*coordinationv1.Lease]("coordination.k8s.io", "v1"),
	of[*discoveryv1.EndpointSlice]("discovery.k8s.io", "v1"),
	of[*eventsv1.Event]("events.k8s.io", "v1"),
	of[*flowcontrolv1.FlowSchema]("flowcontrol.apiserver.k8s.io", "v1"),
	of[*flowcontrolv1.PriorityLevelConfiguration]("flowcontrol.apiserver.k8s.io", "v1"),
	of[*networkingv1.Ingress]("networking.k8s.io", "v1"),
	of[*networkingv1.IngressClass]("networking.k8s.io", "v1"),
	of[*networkingv1.NetworkPolicy]("networking.k8s.io", "v1"),
	of[*nodev1.RuntimeClass]("node.k8s.io", "v1"),
	of[*policyv1.Eviction]("policy", "v1"),
	of[*policyv1.PodDisruptionBudget]("policy", "v1"),
	of[*rbacv1.ClusterRole]("rbac.authorization.k8s.io", "v1"),
	of[*rbacv1.ClusterRoleBinding]("rbac.authorization.k8s.io", "v1"),
	of[*rbacv1.Role]("rbac.authorization.k8s.io", "v1"),
	of[*rbacv1.RoleBinding]("rbac.authorization.k8s.io", "v1"),
	of[*resourcev1.DeviceClass]("resource.k8s.io", "v1"),
	of[*resourcev1.ResourceClaim]("resource.k8s.io", "v1"),
	of[*resourcev1.ResourceSlice]("resource.k8s.io", "v1"),
	of[*schedulingv1.PriorityClass]("scheduling.k8s.io", "v1"),
	of[*storagev1.CSIDriver]("storage.k8s.io", "v1"),
	of[*storagev1.CSINode]("storage.k8s.io", "v1"),
	of[*storagev1.StorageClass]("storage.k8s.io", "v1"),
	of[*storagev1.VolumeAttachment]("storage.k8s.io", "v1"),
}

// seeds is how many random objects of each kind a test looks at.
const seeds = 30

func TestWritesAreTheBytesOfEncodingJSON(t *testing.T) {
	for _, a := range zoo {
		t.Run(a.kind+"."+a.apiVersion(), func(t *testing.T) {
			for seed := range int64(seeds) {
				obj := a.random(seed)
				without, err := codec.Marshal(obj, a.apiVersion(), a.kind)
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				a.setVersion(obj, a.apiVersion(), a.kind)
				want, err := json.Marshal(obj)
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				with, err := codec.Marshal(obj, a.apiVersion(), a.kind)
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				if !bytes.Equal(without, want) {
					t.Fatalf("seed %d: without TypeMeta, got\n%s\nwant\n%s", seed, without, want)
				}
				if !bytes.Equal(with, want) {
					t.Fatalf("seed %d: with TypeMeta, got\n%s\nwant\n%s", seed, with, want)
				}
			}
		})
	}
}

func TestReadsAreTheValuesOfEncodingJSON(t *testing.T) {
	for _, a := range zoo {
		t.Run(a.kind+"."+a.apiVersion(), func(t *testing.T) {
			for seed := range int64(seeds) {
				raw, err := json.Marshal(a.random(seed))
				if err != nil {
					t.Fatal(err)
				}
				a.compare(t, raw)
				// A field that this version of the types does not know yet changes nothing.
				a.compare(t, bytes.Replace(raw, []byte(`{"metadata":{`), []byte(`{"New":{"a":[1]},"metadata":{"new":{"b":2},`), 1))
			}
		})
	}
}

// The wire forms that k8s.io/api keeps for its own tests: every field of every kind set.
func TestWireFormsOfTheTypesAreReadAsEncodingJSONDoes(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/api").Output()
	if err != nil {
		t.Fatalf("find k8s.io/api: %v", err)
	}
	dir := filepath.Join(strings.TrimSpace(string(out)), "testdata", "HEAD")
	for _, a := range zoo {
		t.Run(a.kind+"."+a.apiVersion(), func(t *testing.T) {
			group := a.group
			if group == "" {
				group = "core"
			}
			raw, err := os.ReadFile(filepath.Join(dir, group+"."+a.version+"."+a.kind+".json"))
			if errors.Is(err, os.ErrNotExist) {
				t.Fatalf("no wire form: %v", err)
			}
			if err != nil {
				t.Fatal(err)
			}
			a.compare(t, raw)
		})
	}
}

// compare decodes raw in both ways.
func (a animal) compare(t *testing.T, raw []byte) {
	t.Helper()
	want, err := a.stdlib(raw)
	if err != nil {
		t.Fatalf("encoding/json does not decode %s: %v", raw, err)
	}
	got, err := a.bowline(raw)
	if err != nil {
		t.Fatalf("decode %s: %v", raw, err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("decode %s: got\n%+v\nwant\n%+v", raw, got, want)
	}
}

// A type that has all of the API's fields loses nothing, so that an update of it asks nothing before.
func TestWholeTypesLoseNothing(t *testing.T) {
	for _, a := range zoo {
		for seed := range int64(10) {
			raw, err := json.Marshal(a.random(seed))
			if err != nil {
				t.Fatal(err)
			}
			if noted, lost, err := a.lost(raw); noted || len(lost) > 0 || err != nil {
				t.Errorf("%s, seed %d: noted %v, lost %v, %v", a.kind, seed, noted, lost, err)
				break
			}
		}
	}
}
