package overlay_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/overlay"
)

// A cached object is a Go value, and proves no more than its type can say. Each of these proved that there was nothing to do.

// kindOf is an object with any spec and all of metadata.
type kindOf[S any] struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            S `json:"spec"`
}

type (
	partSelector struct {
		MatchLabels map[string]string `json:"matchLabels,omitempty"`
	}
	partPolicy struct {
		PodSelector partSelector `json:"podSelector"`
		Ingress     []struct {
			From []struct {
				PodSelector *partSelector `json:"podSelector,omitempty"`
			} `json:"from"`
		} `json:"ingress,omitempty"`
	}
	wholePolicy struct {
		PodSelector meta.LabelSelector `json:"podSelector"`
	}
	secretKey struct {
		Name string `json:"name"`
		Key  string `json:"key"`
	}
	podOf[R, A any] struct {
		Containers []struct {
			Name string `json:"name"`
			Env  []struct {
				Name      string `json:"name"`
				ValueFrom struct {
					SecretKeyRef *R `json:"secretKeyRef,omitempty"`
				} `json:"valueFrom"`
			} `json:"env,omitempty"`
		} `json:"containers"`
		Automount A `json:"automountServiceAccountToken,omitzero"`
	}
	replicated struct {
		Replicas int `json:"replicas"`
	}
	portNumbers struct {
		Ports []struct {
			Port int `json:"port"`
		} `json:"ports"`
	}
	portMaps struct {
		Ports []map[string]any `json:"ports"`
	}
	custom[S any] struct {
		Selector S `json:"selector"`
	}
)

func TestACachedObjectProvesNothingAboutFieldsThatItsTypeLacks(t *testing.T) {
	var (
		policies    = meta.GVK{Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy"}
		deployments = meta.GVK{Group: "apps", Version: "v1", Kind: "Deployment"}
		pods        = meta.GVK{Version: "v1", Kind: "Pod"}
		customs     = meta.GVK{Group: "example.com", Version: "v1", Kind: "Thing"}
	)
	const (
		selected  = `"podSelector":{"matchLabels":{"a":"b"}}`
		more      = `"podSelector":{"matchLabels":{"a":"b"},"matchExpressions":[{"key":"k","operator":"Exists"}]}`
		container = `"spec":{"containers":[{"name":"a","env":[{"name":"A","valueFrom":{"secretKeyRef":{"name":"s","key":"k"%s}}}]}]}`

		proved   = "nothing to do"
		unproved = "nothing to do, which the cached object does not prove"
		needed   = "something to do"
	)
	type optional struct {
		secretKey
		Optional *bool `json:"optional,omitempty"`
	}
	type pointers struct {
		Replicas *int `json:"replicas"`
	}
	type protocols struct {
		Ports []struct {
			Port     int    `json:"port"`
			Protocol string `json:"protocol,omitempty"`
		} `json:"ports"`
	}
	type tagged struct {
		Ref struct {
			Name string `json:"name"`
		} `json:"ref" patchStrategy:"replace"`
	}
	type inner struct {
		Inner struct {
			A string `json:"a,omitempty"`
		} `json:"inner"`
	}
	type innerPointer struct {
		Inner *struct {
			A string `json:"a,omitempty"`
		} `json:"inner"`
	}
	env, envOptional := fmt.Sprintf(container, ""), fmt.Sprintf(container, `,"optional":true`)
	for _, test := range []struct {
		name string
		of   reflect.Type
		kind meta.GVK

		want, live string
		result     string
	}{
		{"part of a selector", reflect.TypeFor[kindOf[partPolicy]](), policies, `"spec":{` + selected + `}`, `"spec":{` + more + `}`, needed},
		{"part of a selector, as it is", reflect.TypeFor[kindOf[partPolicy]](), policies, `"spec":{` + selected + `}`, `"spec":{` + selected + `}`, unproved},
		{"part of a selector in a list", reflect.TypeFor[kindOf[partPolicy]](), policies, `"spec":{"podSelector":{},"ingress":[{"from":[{` + selected + `}]}]}`, `"spec":{"podSelector":{},"ingress":[{"from":[{` + more + `}]}]}`, needed},
		{"a whole selector", reflect.TypeFor[kindOf[wholePolicy]](), policies, `"spec":{` + more + `}`, `"spec":{` + more + `}`, proved},
		{"an empty selector", reflect.TypeFor[kindOf[wholePolicy]](), policies, `"spec":{"podSelector":{}}`, `"spec":{"podSelector":{}}`, proved},
		{"part of a reference", reflect.TypeFor[kindOf[podOf[secretKey, bool]]](), pods, env, envOptional, needed},
		{"a whole reference", reflect.TypeFor[kindOf[podOf[optional, bool]]](), pods, env, env, proved},
		{"a reference in a map", reflect.TypeFor[kindOf[podOf[map[string]any, bool]]](), pods, env, env, proved},
		{"part of a selector of another kind", reflect.TypeFor[kindOf[custom[partSelector]]](), customs, `"spec":{"selector":{"matchLabels":{"a":"b"}}}`, `"spec":{"selector":{"matchLabels":{"a":"b"},"matchExpressions":[]}}`, unproved},
		{"a whole selector of another kind", reflect.TypeFor[kindOf[custom[meta.LabelSelector]]](), customs, `"spec":{"selector":{"matchLabels":{"a":"b"}}}`, `"spec":{"selector":{"matchLabels":{"a":"b"}}}`, proved},
		{"a field that a tag says to replace", reflect.TypeFor[kindOf[tagged]](), customs, `"spec":{"ref":{"name":"a"}}`, `"spec":{"ref":{"name":"a","more":1}}`, needed},
		{"an element without a key", reflect.TypeFor[kindOf[portNumbers]](), meta.GVK{Version: "v1", Kind: "Service"}, `"spec":{"ports":[{"port":80}]}`, `"spec":{"ports":[{"port":80,"protocol":"UDP"}]}`, needed},
		{"an element that is a map, with its keys", reflect.TypeFor[kindOf[portMaps]](), meta.GVK{Version: "v1", Kind: "Service"}, `"spec":{"ports":[{"port":80}]}`, `"spec":{"ports":[{"port":80,"protocol":"TCP"}]}`, proved},
		{"an element with its keys", reflect.TypeFor[kindOf[protocols]](), meta.GVK{Version: "v1", Kind: "Service"}, `"spec":{"ports":[{"port":80}]}`, `"spec":{"ports":[{"port":80,"protocol":"TCP"}]}`, proved},
		{"false that is nothing", reflect.TypeFor[kindOf[struct {
			On bool `json:"automountServiceAccountToken"`
		}]](), pods, `"spec":{"automountServiceAccountToken":false}`, `"spec":{}`, needed},
		{"false", reflect.TypeFor[kindOf[struct {
			On *bool `json:"automountServiceAccountToken"`
		}]](), pods, `"spec":{"automountServiceAccountToken":false}`, `"spec":{"automountServiceAccountToken":false}`, proved},
		{"false that the server drops", reflect.TypeFor[kindOf[struct {
			On bool `json:"hostNetwork"`
		}]](), pods, `"spec":{"hostNetwork":false}`, `"spec":{}`, proved},
		{"0 that is nothing", reflect.TypeFor[kindOf[replicated]](), customs, `"spec":{"replicas":0}`, `"spec":{}`, needed},
		{"0 that may be nothing", reflect.TypeFor[kindOf[replicated]](), customs, `"spec":{"replicas":0}`, `"spec":{"replicas":0}`, unproved},
		{"0 behind a pointer", reflect.TypeFor[kindOf[pointers]](), customs, `"spec":{"replicas":0}`, `"spec":{"replicas":0}`, proved},
		{"0 that cannot be nothing", reflect.TypeFor[kindOf[replicated]](), deployments, `"spec":{"replicas":0}`, `"spec":{"replicas":0}`, proved},
		{"7", reflect.TypeFor[kindOf[replicated]](), customs, `"spec":{"replicas":7}`, `"spec":{"replicas":7}`, proved},
		{"a struct that is nothing", reflect.TypeFor[kindOf[inner]](), customs, `"spec":{"inner":{}}`, `"spec":{}`, needed},
		{"a struct behind a pointer", reflect.TypeFor[kindOf[innerPointer]](), customs, `"spec":{"inner":{}}`, `"spec":{"inner":{}}`, proved},
	} {
		t.Run(test.name, func(t *testing.T) {
			decode := func(text string) (json.RawMessage, any) {
				object := fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":"a"},%s}`, test.kind.APIVersion(), test.kind.Kind, text)
				obj := reflect.New(test.of).Interface()
				if err := json.Unmarshal(raw(object), obj); err != nil {
					t.Fatal(err)
				}
				return raw(object), obj
			}
			live, cached := decode(test.live)
			encoded, err := json.Marshal(cached)
			if err != nil {
				t.Fatal(err)
			}
			known := fmt.Sprintf(`{"apiVersion":%q,"kind":%q,%s`, test.kind.APIVersion(), test.kind.Kind, encoded[1:])
			_, want := decode(test.want)
			differs := func(live json.RawMessage, o overlay.Options) bool {
				_, changed, err := overlay.Apply(live, want, o)
				if err != nil {
					t.Fatal(err)
				}
				return len(changed) > 0
			}
			result := proved
			switch {
			case !differs(raw(known), overlay.Options{Cached: cached}):
			case !differs(live, overlay.Options{}):
				result = unproved
			default:
				result = needed
			}
			if result != test.result {
				t.Errorf("got %s, want %s", result, test.result)
			}
		})
	}
}
