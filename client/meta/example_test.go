package meta_test

import (
	"encoding/json"
	"fmt"

	"github.com/bowline-go/bowline/client/meta"
)

// A struct needs only the metadata that the program reads.
func ExampleIdentity() {
	type Pod struct {
		meta.Identity `json:"metadata"`
		Spec          struct {
			NodeName string `json:"nodeName"`
		} `json:"spec"`
	}

	var pod Pod
	raw := `{"metadata":{"name":"web-0","namespace":"shop","labels":{"app":"web"}},"spec":{"nodeName":"n1"}}`
	if err := json.Unmarshal([]byte(raw), &pod); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(pod.Key(), pod.Spec.NodeName)
	// Output: shop/web-0 n1
}

// PodMeta is the metadata that this program reads. It is a named type, so that Pod can embed it.
type PodMeta struct {
	meta.Identity
	Labels map[string]string `json:"labels,omitempty"`
}

// Pod embeds its metadata, which gives it the methods of Identity and makes it an Object.
type Pod struct {
	PodMeta `json:"metadata"`
}

// Other metadata fields go into a struct with the identity, which is embedded under the name metadata.
func ExampleIdentity_andLabels() {
	var pod Pod
	raw := `{"metadata":{"name":"web-0","namespace":"shop","labels":{"app":"web"}}}`
	if err := json.Unmarshal([]byte(raw), &pod); err != nil {
		fmt.Println(err)
		return
	}
	var obj meta.Object = &pod
	fmt.Println(meta.KeyOf(obj), pod.Labels["app"])
	// Output: shop/web-0 web
}

func ExampleParseSelector() {
	s, err := meta.ParseSelector("tier notin (cache, db), app==web, !legacy")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s)
	fmt.Println(s.Matches(map[string]string{"app": "web", "tier": "front"}))

	_, err = meta.ParseSelector("app in web")
	fmt.Println(err)
	// Output:
	// app=web,!legacy,tier notin (cache,db)
	// true
	// parse label selector "app in web": at byte 7: found "web", want "("
}

func ExampleNewSelector() {
	s, err := meta.NewSelector(
		meta.Requirement{Key: "app", Operator: meta.OpIn, Values: []string{"web"}},
		meta.Requirement{Key: "tier", Operator: meta.OpNotIn, Values: []string{"db", "cache"}},
	)
	fmt.Println(s, err)
	// Output: app=web,tier notin (cache,db) <nil>
}

func ExampleNewFieldSelector() {
	s, err := meta.NewFieldSelector(
		meta.FieldTerm{Field: "metadata.namespace", Value: "a,b", Differs: true},
		meta.FieldTerm{Field: "metadata.name", Value: "x"},
	)
	fmt.Println(s, err)
	// Output: metadata.name=x,metadata.namespace!=a\,b <nil>
}

func ExampleNested() {
	var obj meta.Unstructured
	if err := json.Unmarshal([]byte(`{"spec":{"replicas":9007199254740993,"args":["-v"]}}`), &obj); err != nil {
		fmt.Println(err)
		return
	}
	replicas, found, err := meta.Nested[int64](obj.Object, "spec", "replicas")
	fmt.Println(replicas, found, err)
	_, found, err = meta.Nested[int64](obj.Object, "spec", "paused")
	fmt.Println(found, err)
	_, _, err = meta.Nested[string](obj.Object, "spec", "args", "first")
	fmt.Println(err)

	if err := meta.SetNested(&obj, int32(3), "spec", "replicas"); err != nil {
		fmt.Println(err)
	}
	out, err := json.Marshal(obj)
	fmt.Println(string(out), err)
	// Output:
	// 9007199254740993 true <nil>
	// false <nil>
	// read spec.args.first: spec.args is an array, not an object
	// {"spec":{"args":["-v"],"replicas":3}} <nil>
}

// A Raw decodes its metadata; Nested reads the rest field by field.
func ExampleNested_raw() {
	pod := new(meta.Raw)
	if err := json.Unmarshal([]byte(`{
		"kind": "Pod", "apiVersion": "v1", "metadata": {"namespace": "web", "name": "web-0"},
		"spec": {"nodeName": "n1", "priority": 10, "containers": [{"name": "app"}]}
	}`), pod); err != nil {
		fmt.Println(err)
	}
	node, found, err := meta.Nested[string](pod, "spec", "nodeName")
	fmt.Println(pod.Key(), node, found, err)
	_, found, err = meta.Nested[string](pod, "spec", "hostname")
	fmt.Println(found, err)
	_, _, err = meta.Nested[string](pod, "spec", "priority")
	fmt.Println(err)
	out, err := json.Marshal(pod)
	fmt.Println(string(out), err)
	// Output:
	// web/web-0 n1 true <nil>
	// false <nil>
	// read spec.priority: it is a number, not string
	// {"kind":"Pod","apiVersion":"v1","metadata":{"name":"web-0","namespace":"web"},"spec":{"nodeName":"n1","priority":10,"containers":[{"name":"app"}]}} <nil>
}

func ExampleClone() {
	shared := &Pod{PodMeta{meta.Identity{Name: "web-0"}, map[string]string{"app": "web"}}} // as a cache returns it
	mine := meta.Clone(shared)
	mine.Labels["app"] = "changed"
	fmt.Println(shared.Labels["app"], mine.Labels["app"])
	// Output: web changed
}

func ExampleControllerOf() {
	yes := true
	pod := &struct {
		meta.ObjectMeta `json:"metadata"`
	}{meta.ObjectMeta{OwnerReferences: []meta.OwnerReference{
		{Kind: "ConfigMap", Name: "settings"},
		{Kind: "ReplicaSet", Name: "web-5d4f8c7b9", Controller: &yes},
	}}}
	owner, found := meta.ControllerOf(pod)
	fmt.Println(owner.Kind, owner.Name, found, meta.IsDeleting(pod))
	// Output: ReplicaSet web-5d4f8c7b9 true false
}

func ExampleCompareVersions() {
	fmt.Println(meta.CompareVersions("999", "1000"))
	fmt.Println(meta.CompareVersions("999", "not-a-number"))
	// Output:
	// -1 true
	// 0 false
}

// SetOwners works with any type of owner references, as Owners does.
func ExampleSetOwners() {
	obj := &meta.Unstructured{}
	if err := meta.SetOwners(obj, []meta.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "a", UID: "0a1b"}}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(meta.Owners(obj)[0].Name, obj.Object["metadata"])
	// Output:
	// a map[ownerReferences:[map[apiVersion:v1 kind:Node name:a uid:0a1b]]]
}

func ExampleSetCondition() {
	var conditions []meta.Condition
	generation := int64(3) // of the observed object
	err := meta.SetCondition(&conditions, generation, meta.Condition{
		Type: "Ready", Status: meta.ConditionFalse, Reason: "NoDomain", Message: "spec.domain is empty",
	})
	fmt.Println(err, conditions[0].ObservedGeneration, meta.IsConditionTrue(conditions, "Ready"))
	// Output: <nil> 3 false
}

// A struct embeds the parts of the metadata that its program reads.
func ExampleDeletionMeta() {
	type SiteMeta struct {
		meta.Identity
		meta.DeletionMeta
	}

	type Site struct {
		SiteMeta `json:"metadata"`
	}
	var site Site
	if err := json.Unmarshal([]byte(`{"metadata":{"name":"a","deletionTimestamp":"2026-01-02T03:04:05Z"}}`), &site); err != nil {
		fmt.Println(err)
	}
	fmt.Println(site.Name, meta.IsDeleting(&site))
	// Output: a true
}
