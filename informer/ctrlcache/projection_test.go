package ctrlcache_test

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
	bowmeta "github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/protobuf"
	"github.com/bowline-go/bowline/client/protobuf/all"
	"github.com/bowline-go/bowline/informer/compact"
	"github.com/bowline-go/bowline/informer/ctrlcache"
	"github.com/bowline-go/bowline/internal/codec"
	"github.com/bowline-go/bowline/internal/jsonstream"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/randfill"
)

// fullPod has something in and out of every path of the tests.
func fullPod(name string) *corev1.Pod {
	p := pod("default", name, "n1", "app", "web")
	p.Annotations = map[string]string{"note": "kept"}
	p.Finalizers = []string{"example.com/kept"}
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "u"}}
	p.Spec.ServiceAccountName = "robot"
	p.Spec.Containers = []corev1.Container{
		{Name: "a", Image: "first", Args: []string{"x"}, Env: []corev1.EnvVar{{Name: "E", Value: "v"}}}, {Name: "b", Image: "second"},
	}
	p.Status = corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.0.1", StartTime: &metav1.Time{Time: time.Unix(1_700_000_000, 0)}}
	return p
}

var podFields = map[client.Object][]string{&corev1.Pod{}: {"spec.nodeName", "status.phase", "spec.containers.image", "status.startTime"}}

// checkProjected wants what podFields name, and all metadata.
func checkProjected(t *testing.T, where string, p *corev1.Pod) {
	t.Helper()
	want := corev1.Pod{
		TypeMeta: p.TypeMeta, ObjectMeta: p.ObjectMeta,
		Spec:   corev1.PodSpec{NodeName: "n1", Containers: []corev1.Container{{Image: "first"}, {Image: "second"}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, StartTime: p.Status.StartTime},
	}
	if !reflect.DeepEqual(*p, want) || p.Status.StartTime.Unix() != 1_700_000_000 {
		t.Errorf("%s: it has\n%+v, want\n%+v", where, *p, want)
	}
	if p.Labels["app"] != "web" || p.Annotations["note"] != "kept" || len(p.Finalizers) != 1 || len(p.OwnerReferences) != 1 ||
		p.UID == "" || p.ResourceVersion == "" || p.CreationTimestamp.IsZero() || p.ManagedFields != nil {
		t.Errorf("%s: its metadata is %+v", where, p.ObjectMeta)
	}
}

func TestObjectsHaveTheFieldsThatAreNamed(t *testing.T) {
	for name, contentType := range map[string]string{"protobuf": "", "JSON": runtime.ContentTypeJSON} {
		t.Run(name, func(t *testing.T) {
			bothCaches(t, clienttest.Options{}, func(t *testing.T, w *world) {
				w.config.ContentType = contentType
				listed := fullPod("listed")
				w.create(listed)
				listed.Status = fullPod("").Status
				must(t, w.Status().Update(t.Context(), listed))
				var transformed []*corev1.Pod
				c := w.cache(ctrlcache.Options{Fields: podFields}, cache.Options{
					ByObject: map[client.Object]cache.ByObject{&corev1.Pod{}: {Transform: func(obj any) (any, error) {
						transformed = append(transformed, obj.(*corev1.Pod).DeepCopy())
						return obj, nil
					}}},
				})
				must(t, c.IndexField(t.Context(), &corev1.Pod{}, "node", func(o client.Object) []string { return []string{o.(*corev1.Pod).Spec.NodeName} }))
				must(t, c.IndexField(t.Context(), &corev1.Pod{}, "account", func(o client.Object) []string { return []string{o.(*corev1.Pod).Spec.ServiceAccountName} }))
				w.start(c)
				var got corev1.Pod
				must(t, c.Get(t.Context(), client.ObjectKeyFromObject(listed), &got))
				if got.Kind != "Pod" || got.APIVersion != "v1" {
					t.Errorf("a copy is a %s of %s", got.Kind, got.APIVersion)
				}
				checkProjected(t, "listed", &got)

				watched := fullPod("watched")
				w.create(watched)
				watched.Status = fullPod("").Status
				must(t, w.Status().Update(t.Context(), watched))
				synctest.Wait()
				must(t, c.Get(t.Context(), client.ObjectKeyFromObject(watched), &got))
				checkProjected(t, "watched", &got)
				checkProjected(t, "for the transform", transformed[len(transformed)-1])

				for field, want := range map[string]string{"node": "listed watched", "account": ""} {
					var list corev1.PodList
					value := map[string]string{"node": "n1", "account": "robot"}[field]
					must(t, c.List(t.Context(), &list, client.MatchingFields{field: value}, client.MatchingLabels{"app": "web"}))
					if podNames(&list) != want {
						t.Errorf("by %s: %q, want %q", field, podNames(&list), want)
					}
				}
				status, _ := ctrlcache.StatusOf(c)
				if len(status) != 1 || strings.Join(status[0].Fields, " ") != "spec.containers.image spec.nodeName status.phase status.startTime" {
					t.Errorf("the status is %+v", status)
				}
				if status[0].Protobuf != (name == "protobuf") {
					t.Errorf("protobuf is %v", status[0].Protobuf)
				}
			})
		})
	}
}

func TestOtherFormsAndKindsAreNotProjected(t *testing.T) {
	bothCaches(t, clienttest.Options{}, func(t *testing.T, w *world) {
		w.create(fullPod("a"), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "s"}, Data: map[string][]byte{"k": {1}}})
		c := w.started(ctrlcache.Options{Fields: podFields}, cache.Options{})
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
		must(t, c.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "a"}, u))
		if account, _, _ := unstructured.NestedString(u.Object, "spec", "serviceAccountName"); account != "robot" || len(u.GetManagedFields()) == 0 {
			t.Errorf("unstructured: %v", u)
		}
		var s corev1.Secret
		must(t, c.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "s"}, &s))
		if len(s.Data) != 1 || len(s.ManagedFields) == 0 {
			t.Errorf("another kind: %v", s)
		}
		status, _ := ctrlcache.StatusOf(c)
		for _, s := range status {
			if s.Fields != nil {
				t.Errorf("the fields of %v %v are %q", s.Form, s.GVK, s.Fields)
			}
		}
	})
}

func TestManagedFieldsCanBeNamed(t *testing.T) {
	bothCaches(t, clienttest.Options{}, func(t *testing.T, w *world) {
		w.create(fullPod("a"))
		c := w.started(ctrlcache.Options{Fields: map[client.Object][]string{&corev1.Pod{}: {"metadata.managedFields"}}}, cache.Options{})
		var p corev1.Pod
		must(t, c.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "a"}, &p))
		if len(p.ManagedFields) == 0 || !reflect.DeepEqual(p.Spec, corev1.PodSpec{}) {
			t.Errorf("got %+v", p)
		}
	})
}

// A merge patch of what was changed keeps what the cache does not have. An update would clear it, as the package says.
func TestAMergePatchOfAProjectedObjectKeepsTheRest(t *testing.T) {
	bothCaches(t, clienttest.Options{}, func(t *testing.T, w *world) {
		w.create(fullPod("a"))
		c := w.started(ctrlcache.Options{Fields: podFields}, cache.Options{})
		var p, live corev1.Pod
		must(t, c.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "a"}, &p))
		before := p.DeepCopy()
		p.Labels["more"] = "yes"
		must(t, w.Patch(t.Context(), &p, client.MergeFrom(before)))
		must(t, w.Get(t.Context(), client.ObjectKeyFromObject(&p), &live))
		if live.Labels["more"] != "yes" || live.Spec.ServiceAccountName != "robot" || live.Spec.Containers[0].Name != "a" {
			t.Errorf("the server has %+v", live)
		}
	})
}

func TestFieldsThatCannotBeDecodedAloneAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, clienttest.Options{})
		pods := func(paths ...string) ctrlcache.Options {
			return ctrlcache.Options{Fields: map[client.Object][]string{&corev1.Pod{}: paths}}
		}
		partial := &metav1.PartialObjectMetadata{}
		partial.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
		stripped := pods("metadata.managedFields")
		stripped.StripManagedFields = true
		const pod = "ctrlcache.Options: Fields: /v1, Kind=Pod: "
		for _, test := range []struct {
			own  ctrlcache.Options
			want string
		}{
			{pods("spec.nodName"), pod + `"spec.nodName" does not exist: spec has no nodName, its members are activeDeadlineSeconds, affinity, `},
			{pods("Spec.nodeName"), pod + `"Spec.nodeName" does not exist: the object has no Spec, its members are apiVersion, kind, metadata, spec, status`},
			{pods("spec.containers.imag"), pod + `"spec.containers.imag" does not exist: spec.containers has no imag, its members are args, `},
			{pods("status.startTime.seconds"), pod + `"status.startTime.seconds" cannot be decoded by itself: v1.Time, the type of status.startTime, decodes itself, so name "status.startTime"`},
			{pods("spec.nodeSelector.zone"), pod + `"spec.nodeSelector.zone" does not exist: spec.nodeSelector has strings only, so name "spec.nodeSelector"`},
			{pods("spec.nodeName.x"), pod + `"spec.nodeName.x" does not exist: spec.nodeName has no members`},
			{pods(), pod + "there must be a path"},
			{pods(""), pod + "a path must not be empty"},
			{pods("spec..nodeName"), pod + `"spec..nodeName" has an empty name between its dots`},
			{pods("spec.nodeName", "spec.nodeName"), pod + `"spec.nodeName" is named twice`},
			{pods("spec.nodeName", "spec"), pod + `"spec.nodeName" is named twice: "spec" includes it`},
			{pods("metadata.managedFields", "metadata.managedFields"), pod + `"metadata.managedFields" is named twice`},
			{pods("metadata.labels"), pod + `"metadata.labels" must not be named: kind, apiVersion and metadata are always there, except metadata.managedFields`},
			{pods("metadata"), pod + `"metadata" must not be named`},
			{pods("kind"), pod + `"kind" must not be named`},
			{stripped, pod + `"metadata.managedFields" and StripManagedFields exclude each other`},
			{ctrlcache.Options{Fields: map[client.Object][]string{&unknown{}: {"spec"}}}, "ctrlcache.Options: Fields: *ctrlcache_test.unknown: no kind is registered"},
			{ctrlcache.Options{Fields: map[client.Object][]string{&unstructured.Unstructured{}: {"spec"}}}, "only typed objects can lack fields"},
			{ctrlcache.Options{Fields: map[client.Object][]string{partial: {"spec"}}}, "only typed objects can lack fields"},
			{ctrlcache.Options{Fields: map[client.Object][]string{nil: {"spec"}}}, "ctrlcache.Options: Fields: <nil>: the key must not be nil"},
			{ctrlcache.Options{Fields: map[client.Object][]string{(*corev1.Pod)(nil): {"spec"}}}, "the key must not be nil"},
			{ctrlcache.Options{Fields: map[client.Object][]string{&corev1.Pod{}: {"spec"}, &corev1.Pod{}: {"status"}}}, pod + "the kind has two entries"},
		} {
			if _, err := test.own.New(w.config, cache.Options{HTTPClient: w.http}); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		}
		o := cache.Options{HTTPClient: w.http}
		o.NewInformer = toolscache.NewSharedIndexInformer
		if _, err := pods("spec").New(w.config, o); err == nil || !strings.Contains(err.Error(), "Fields must be empty if cache.Options.NewInformer is set") {
			t.Errorf("with informers of somebody else: %v", err)
		}
		if _, err := (ctrlcache.Options{Compact: compact.New()}).New(w.config, o); err == nil || !strings.Contains(err.Error(), "Compact must be nil if cache.Options.NewInformer is set") {
			t.Errorf("compact, with informers of somebody else: %v", err)
		}
	})
}

// members returns the members of a struct by their names in JSON, those of structs that are inline too.
func members(v reflect.Value) map[string]reflect.Value {
	all := map[string]reflect.Value{}
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" && f.Anonymous {
			maps.Copy(all, members(v.Field(i)))
		} else if name != "-" {
			all[name] = v.Field(i)
		}
	}
	return all
}

// below returns the struct that a path goes on in, or an invalid value if there is none: of a type that decodes itself, too.
func below(t reflect.Type) reflect.Value {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return reflect.Value{}
	}
	return reflect.New(t).Elem()
}

// tree is a set of paths: a name without names below it is whole.
type tree map[string]tree

func randomTree(r *rand.Rand, v reflect.Value, depth int) tree {
	chosen := tree{}
	all := members(v)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if depth == 0 && (name == "kind" || name == "apiVersion" || name == "metadata") || r.IntN(2+depth) > 0 {
			continue
		}
		chosen[name] = nil
		if inner := below(all[name].Type()); inner.IsValid() && depth < 5 && r.IntN(4) > 0 {
			chosen[name] = randomTree(r, inner, depth+1)
		}
	}
	return chosen
}

func (t tree) paths() (all []string) {
	for _, name := range slices.Sorted(maps.Keys(t)) {
		inner := t[name].paths()
		if len(inner) == 0 {
			all = append(all, name)
		}
		for _, path := range inner {
			all = append(all, name+"."+path)
		}
	}
	return all
}

// prune sets what is not in the tree to zero.
func prune(v reflect.Value, t tree) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			prune(v.Elem(), t)
		}
	case reflect.Slice:
		for i := range v.Len() {
			prune(v.Index(i), t)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			value := reflect.New(v.Type().Elem()).Elem()
			value.Set(v.MapIndex(key))
			prune(value, t)
			v.SetMapIndex(key, value)
		}
	case reflect.Struct:
		for name, field := range members(v) {
			inner, wanted := t[name]
			switch {
			case !wanted:
				field.SetZero()
			case len(inner) > 0:
				prune(field, inner)
			}
		}
	}
}

// message is an object of k8s.io/api.
type message interface {
	client.Object
	Marshal() ([]byte, error)
}

// A projection gives what the whole object without the rest is, for random objects and random paths, in both forms.
func TestProjectionsOfRandomObjects(t *testing.T) {
	form := protobuf.New(all.Tables()...)
	fill := randfill.NewWithSeed(1).NilChance(0.3).NumElements(0, 3).MaxDepth(12).Funcs(
		func(q *resource.Quantity, c randfill.Continue) {
			*q = *resource.NewQuantity(c.Int63n(1000), resource.DecimalSI)
		},
		func(at *metav1.Time, c randfill.Continue) { *at = metav1.Unix(c.Int63n(1<<32), 0) },
		func(at *metav1.MicroTime, c randfill.Continue) {
			*at = metav1.NewMicroTime(time.Unix(c.Int63n(1<<32), 0))
		},
		func(d *metav1.Duration, c randfill.Continue) { d.Duration = time.Duration(c.Int63n(1 << 40)) },
		func(v *intstr.IntOrString, c randfill.Continue) { *v = intstr.FromInt32(int32(c.Intn(1 << 16))) },
		func(f *metav1.FieldsV1, _ randfill.Continue) { f.SetRawString(`{"f:spec":{}}`) },
		func(r *runtime.RawExtension, _ randfill.Continue) { r.Raw = []byte(`{"a":1}`) },
	)
	for _, kind := range []struct {
		gvk bowmeta.GVK
		new func() message
	}{
		{bowmeta.GVK{Version: "v1", Kind: "Pod"}, func() message { return new(corev1.Pod) }},
		{bowmeta.GVK{Version: "v1", Kind: "Node"}, func() message { return new(corev1.Node) }},
		{bowmeta.GVK{Version: "v1", Kind: "Service"}, func() message { return new(corev1.Service) }},
		{bowmeta.GVK{Version: "v1", Kind: "ConfigMap"}, func() message { return new(corev1.ConfigMap) }},
		{bowmeta.GVK{Group: "apps", Version: "v1", Kind: "Deployment"}, func() message { return new(appsv1.Deployment) }},
		{bowmeta.GVK{Group: "apps", Version: "v1", Kind: "DaemonSet"}, func() message { return new(appsv1.DaemonSet) }},
		{bowmeta.GVK{Group: "batch", Version: "v1", Kind: "CronJob"}, func() message { return new(batchv1.CronJob) }},
		{bowmeta.GVK{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress"}, func() message { return new(networkingv1.Ingress) }},
	} {
		t.Run(kind.gvk.Kind, func(t *testing.T) {
			typ := reflect.TypeOf(kind.new())
			whole, err := form.Decoder(kind.gvk, typ, nil)
			must(t, err)
			for seed := range uint64(150) {
				r := rand.New(rand.NewPCG(seed, 0))
				wanted := randomTree(r, reflect.New(typ.Elem()).Elem(), 0)
				only, err := codec.Project(typ, append(wanted.paths(), "metadata"))
				must(t, err)
				binary, err := form.Decoder(kind.gvk, typ, only)
				must(t, err)
				obj := kind.new()
				fill.Fill(obj)
				raw, err := json.Marshal(obj)
				must(t, err)
				bytes, err := obj.Marshal()
				must(t, err)
				wanted["metadata"], wanted["kind"], wanted["apiVersion"] = nil, nil, nil

				item := jsonstream.Item{Raw: raw}
				want, err := codec.DecodeType(typ, item, codec.Options{APIVersion: kind.gvk.APIVersion(), Kind: kind.gvk.Kind})
				must(t, err)
				prune(reflect.ValueOf(want), wanted)
				got, err := only.Decode(item, codec.Options{APIVersion: kind.gvk.APIVersion(), Kind: kind.gvk.Kind})
				if err != nil || !reflect.DeepEqual(got, want) {
					t.Fatalf("seed %d, JSON, with %q: got\n%+v, %v, want\n%+v", seed, wanted.paths(), got, err, want)
				}
				item = jsonstream.Item{Raw: bytes, Protobuf: true}
				from, to := reflect.New(typ), reflect.New(typ)
				must(t, whole.Decode(from.Interface(), item, codec.Options{APIVersion: kind.gvk.APIVersion(), Kind: kind.gvk.Kind}))
				prune(from.Elem(), wanted)
				err = binary.Decode(to.Interface(), item, codec.Options{APIVersion: kind.gvk.APIVersion(), Kind: kind.gvk.Kind})
				if err != nil || !reflect.DeepEqual(to.Elem().Interface(), from.Elem().Interface()) {
					t.Fatalf("seed %d, protobuf, with %q: got\n%+v, %v, want\n%+v", seed, wanted.paths(), to.Elem(), err, from.Elem())
				}
			}
		})
	}
}
