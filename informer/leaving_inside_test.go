package informer

import (
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
)

func TestWhyObjectsMayLeaveTheCache(t *testing.T) {
	key := meta.Key{Namespace: "b", Name: "x"}
	for name, test := range map[string]struct {
		o    Options
		key  meta.Key // the zero Key is any object
		want string   // empty if none may leave
	}{
		"all objects":                              {Options{}, key, ""},
		"a namespace":                              {Options{Namespace: "b"}, key, ""},
		"labels change":                            {Options{LabelSelector: "app=web"}, meta.Key{}, `LabelSelector is "app=web"`},
		"a field may change":                       {Options{FieldSelector: "metadata.name=x,spec.nodeName=n"}, meta.Key{}, `FieldSelector is "metadata.name=x,spec.nodeName=n"`},
		"name and namespace never change":          {Options{FieldSelector: "metadata.name=x,metadata.namespace=b"}, key, ""},
		"a namespace that is followed":             {Options{Namespaces: []string{"a", "b"}}, key, ""},
		"a namespace that is no longer followed":   {Options{Namespaces: []string{"a"}}, key, `SetNamespaces has removed "b"`},
		"no namespace is known to be removed, yet": {Options{Namespaces: []string{"a"}}, meta.Key{}, ""},
	} {
		got := newEngine[*meta.Unstructured](nil, test.o).Leaves(test.key)
		if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}
