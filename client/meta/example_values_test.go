package meta_test

import (
	"fmt"

	"github.com/bowline-go/bowline/client/meta"
)

// A Quantity is exact, and a percentage is one of a total.
func ExampleQuantity() {
	type Limits struct {
		Memory   meta.Quantity    `json:"memory,omitzero"`
		MaxSurge meta.IntOrString `json:"maxSurge,omitzero"`
	}
	limits := Limits{Memory: meta.MustQuantity("512Mi"), MaxSurge: meta.FromString("25%")}
	replicas := 3
	all := limits.Memory.Scale(int64(replicas)) // 1536Mi
	surge, err := limits.MaxSurge.Ceil(replicas)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(all, all.Cmp(meta.MustQuantity("1.5Gi")) == 0, surge)
	// Output: 1536Mi true 1
}

func ExampleCloneForCreate() {
	type Service struct {
		meta.ObjectMeta `json:"metadata"`
		Spec            struct {
			ClusterIP string            `json:"clusterIP,omitempty"`
			Selector  map[string]string `json:"selector,omitempty"`
		} `json:"spec"`
	}
	live := &Service{ObjectMeta: meta.ObjectMeta{Namespace: "shop", Name: "web", UID: "5a1c", ResourceVersion: "7"}}
	live.Spec.ClusterIP, live.Spec.Selector = "10.0.0.7", map[string]string{"app": "web"}
	copied, err := meta.CloneForCreate(live, meta.GVK{Version: "v1", Kind: "Service"}, meta.CloneTarget{Namespace: "test"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%v %q %q %v\n", copied.Key(), copied.UID, copied.Spec.ClusterIP, copied.Spec.Selector)
	// Output: test/web "" "" map[app:web]
}

func ExampleSelector_Overlaps() {
	a, _ := meta.ParseSelector("app=web,tier in (front, back)")
	b, _ := meta.ParseSelector("app,tier!=back")
	c, _ := meta.ParseSelector("tier notin (front, back)")
	fmt.Println(a.Overlaps(b), a.Overlaps(c))
	// Output: true false
}

func ExampleStatusCause_Value() {
	cause := meta.StatusCause{Field: "spec.containers[0].image", Message: "Required value"}
	pod := map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "web", "image": ""}}}}
	pointer, err := cause.Pointer(pod)
	if err != nil {
		fmt.Println(err)
		return
	}
	value, found, err := cause.Value(pod)
	fmt.Printf("%s %q %v %v\n", pointer, value, found, err)
	// Output: /spec/containers/0/image "" true <nil>
}
