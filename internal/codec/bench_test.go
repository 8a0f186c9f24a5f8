package codec_test

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/codec"
	"github.com/bowline-go/bowline/internal/jsonstream"
)

// podView is what a small controller reads of a pod.
type podView struct {
	meta.Identity `json:"metadata"`
	Spec          struct {
		NodeName string `json:"nodeName"`
	} `json:"spec"`
	Status struct {
		Phase string `json:"phase"`
		PodIP string `json:"podIP"`
	} `json:"status"`
}

// pod is most of a pod.
type pod struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata"`
	Spec            podSpec   `json:"spec"`
	Status          podStatus `json:"status"`
}

type podSpec struct {
	Volumes []struct {
		Name      string `json:"name"`
		ConfigMap *struct {
			Name        string `json:"name"`
			DefaultMode *int32 `json:"defaultMode"`
		} `json:"configMap"`
		Projected *struct {
			Sources     []map[string]stdjson.RawMessage `json:"sources"`
			DefaultMode *int32                          `json:"defaultMode"`
		} `json:"projected"`
	} `json:"volumes"`
	Containers                    []container       `json:"containers"`
	RestartPolicy                 string            `json:"restartPolicy"`
	TerminationGracePeriodSeconds *int64            `json:"terminationGracePeriodSeconds"`
	ServiceAccountName            string            `json:"serviceAccountName"`
	NodeName                      string            `json:"nodeName"`
	NodeSelector                  map[string]string `json:"nodeSelector"`
	SchedulerName                 string            `json:"schedulerName"`
	Tolerations                   []struct {
		Key               string `json:"key"`
		Operator          string `json:"operator"`
		Effect            string `json:"effect"`
		TolerationSeconds *int64 `json:"tolerationSeconds"`
	} `json:"tolerations"`
}

type container struct {
	Name    string   `json:"name"`
	Image   string   `json:"image"`
	Command []string `json:"command"`
	Args    []string `json:"args"`
	Ports   []struct {
		Name          string `json:"name"`
		ContainerPort int32  `json:"containerPort"`
		Protocol      string `json:"protocol"`
	} `json:"ports"`
	Env []struct {
		Name      string `json:"name"`
		Value     string `json:"value"`
		ValueFrom *struct {
			FieldRef *struct {
				APIVersion string `json:"apiVersion"`
				FieldPath  string `json:"fieldPath"`
			} `json:"fieldRef"`
			SecretKeyRef *struct {
				Name string `json:"name"`
				Key  string `json:"key"`
			} `json:"secretKeyRef"`
		} `json:"valueFrom"`
	} `json:"env"`
	Resources struct {
		Limits   map[string]string `json:"limits"`
		Requests map[string]string `json:"requests"`
	} `json:"resources"`
	VolumeMounts []struct {
		Name      string `json:"name"`
		ReadOnly  bool   `json:"readOnly"`
		MountPath string `json:"mountPath"`
	} `json:"volumeMounts"`
	LivenessProbe   *probe `json:"livenessProbe"`
	ReadinessProbe  *probe `json:"readinessProbe"`
	ImagePullPolicy string `json:"imagePullPolicy"`
}

type probe struct {
	HTTPGet *struct {
		Path   string `json:"path"`
		Port   any    `json:"port"`
		Scheme string `json:"scheme"`
	} `json:"httpGet"`
	TimeoutSeconds   int32 `json:"timeoutSeconds"`
	PeriodSeconds    int32 `json:"periodSeconds"`
	SuccessThreshold int32 `json:"successThreshold"`
	FailureThreshold int32 `json:"failureThreshold"`
}

type podStatus struct {
	Phase      string `json:"phase"`
	Conditions []struct {
		Type               string    `json:"type"`
		Status             string    `json:"status"`
		LastTransitionTime meta.Time `json:"lastTransitionTime"`
	} `json:"conditions"`
	HostIP            string     `json:"hostIP"`
	PodIP             string     `json:"podIP"`
	StartTime         *meta.Time `json:"startTime"`
	ContainerStatuses []struct {
		Name         string                        `json:"name"`
		State        map[string]stdjson.RawMessage `json:"state"`
		Ready        bool                          `json:"ready"`
		RestartCount int32                         `json:"restartCount"`
		Image        string                        `json:"image"`
		ImageID      string                        `json:"imageID"`
		ContainerID  string                        `json:"containerID"`
	} `json:"containerStatuses"`
	QOSClass string `json:"qosClass"`
}

// readPod returns a pod without managedFields, 4.7 KB.
func readPod(tb testing.TB) []byte {
	tb.Helper()
	raw, err := os.ReadFile("../jsonstream/testdata/pod.json")
	if err != nil {
		tb.Fatal(err)
	}
	from, to := bytes.Index(raw, []byte(`,"managedFields"`)), bytes.Index(raw, []byte(`},"spec"`))
	return append(raw[:from:from], raw[to:]...)
}

func benchmarkUnmarshal[T any](b *testing.B) {
	raw := readPod(b)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := codec.Unmarshal[T](raw); err != nil {
			b.Fatal(err)
		}
	}
}

func benchmarkReference[T any](b *testing.B) {
	raw := readPod(b)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		var v T
		if err := stdjson.Unmarshal(raw, &v); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkUnmarshal(b *testing.B) {
	b.Run("FewFields", benchmarkUnmarshal[*podView])
	b.Run("MostFields", benchmarkUnmarshal[*pod])
	b.Run("Map", benchmarkUnmarshal[map[string]any])
	b.Run("Raw", benchmarkUnmarshal[map[string]stdjson.RawMessage])
	b.Run("MalformedTag", benchmarkUnmarshal[*struct {
		pod `json:",omitempty"`
	}])
}

// BenchmarkDecode has objects that do not say their type, as the items of a list.
func BenchmarkDecode(b *testing.B) {
	item := jsonstream.Item{Raw: readPod(b)}
	b.SetBytes(int64(len(item.Raw)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := codec.DecodeAs[*podView](item, codec.Options{APIVersion: "v1", Kind: "Pod"}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDecodeNoting looks for what is lost in every object, as for a type that has lost nothing yet.
func BenchmarkDecodeNoting(b *testing.B) {
	b.Run("FewFields", benchmarkNoting[*podView])
	b.Run("MostFields", benchmarkNoting[*pod])
}

func benchmarkNoting[T any](b *testing.B) {
	item := jsonstream.Item{Raw: readPod(b)}
	b.SetBytes(int64(len(item.Raw)))
	b.ReportAllocs()
	for b.Loop() {
		var lossy atomic.Bool
		if _, err := codec.DecodeAs[T](item, codec.Options{Lossy: &lossy}); err != nil {
			b.Fatal(err)
		}
	}
}

// fieldsV1 is a type with a method of its own that gets the set of fields of a manager.
type fieldsV1 []byte

func (f *fieldsV1) UnmarshalJSON(b []byte) error {
	*f = append((*f)[:0], b...)
	return nil
}

// BenchmarkManagedFields has names with escapes, as the keys of list elements in managedFields have.
func BenchmarkManagedFields(b *testing.B) {
	raw := []byte(`{"manager": "m", "fieldsV1": {"f:metadata": {"f:ownerReferences": {".": {}`)
	for i := range 20 {
		raw = fmt.Appendf(raw, `, "k:{\"uid\":\"11111111-2222-3333-4444-%012d\"}": {}`, i)
	}
	raw = append(raw, "}}}}"...)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		var lossy atomic.Bool
		if _, err := codec.DecodeAs[struct {
			Manager  string   `json:"manager"`
			FieldsV1 fieldsV1 `json:"fieldsV1"`
		}](jsonstream.Item{Raw: raw}, codec.Options{Lossy: &lossy}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWrong has a large array or object of which nothing fits the Go type.
func BenchmarkWrong(b *testing.B) {
	type wrong struct {
		Ints    []int             `json:"ints"`
		Map     map[string]int    `json:"map"`
		Structs []struct{ A int } `json:"structs"`
		Int     int               `json:"int"`
	}
	var members strings.Builder
	for i := 0; members.Len() < 1<<20; i++ {
		fmt.Fprintf(&members, `"%d":"x",`, i)
	}
	for _, body := range []struct{ name, raw string }{
		{"Elements", `{"ints":[` + strings.Repeat(`"x",`, 1<<18) + `"x"]}`},
		{"Members", `{"map":{` + members.String() + `"":"x"}}`},
		{"Structs", `{"structs":[` + strings.Repeat(`{"A":"x"},`, 1<<20/10) + `{}]}`},
		{"Duplicates", `{` + strings.Repeat(`"int":"x",`, 1<<20/10) + `"int":"x"}`},
		{"Last", `{"ints":[` + strings.Repeat(`1,`, 1<<19) + `"x"]}`},
	} {
		b.Run(body.name, func(b *testing.B) {
			raw := []byte(body.raw)
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := codec.Unmarshal[*wrong](raw); err == nil {
					b.Fatal("it fits")
				}
			}
		})
	}
}

// BenchmarkReference is encoding/json on the same input.
func BenchmarkReference(b *testing.B) {
	b.Run("FewFields", benchmarkReference[*podView])
	b.Run("MostFields", benchmarkReference[*pod])
	b.Run("Map", benchmarkReference[map[string]any])
}
