package client_test

import (
	"errors"
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

func TestCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{})
		r := client.For(dial(t, server.Config()), configMaps)
		for i := range 7 {
			labels := map[string]string{"even": strconv.FormatBool(i%2 == 0), "one": strconv.Itoa(i)}
			must[*ConfigMap](t)(r.Create(t.Context(), &ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a" + strconv.Itoa(i), Labels: labels}}))
		}
		must[*ConfigMap](t)(r.Create(t.Context(), &ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: "kube-public", Name: "a"}}))
		before := server.Requests()
		for _, test := range []struct {
			name  string
			r     client.Resource[*ConfigMap]
			o     client.ListOptions
			n     int
			known bool
		}{
			{"everything", r, client.ListOptions{}, 8, true},
			{"a namespace", r.In("default"), client.ListOptions{}, 7, true},
			{"a namespace with one", r, client.ListOptions{Namespace: "kube-public"}, 1, true},
			{"a namespace with none", r, client.ListOptions{Namespace: "kube-system"}, 0, true},
			{"a selector of several", r, client.ListOptions{LabelSelector: "even=true"}, 0, false},
			{"a selector of one, behind which a server has not looked", r, client.ListOptions{LabelSelector: "one=3"}, 0, false},
			{"a selector of none", r, client.ListOptions{FieldSelector: "metadata.name=x"}, 0, true},
			{"a field selector of several", r, client.ListOptions{FieldSelector: "metadata.namespace=default"}, 0, false},
			{"a shard selector that the server ignores", r, client.ListOptions{ShardSelector: "x"}, 0, false},
			{"one object among others", r.One(meta.Key{Namespace: "default", Name: "a3"}), client.ListOptions{}, 0, false},
			{"another size of pages", r, client.ListOptions{PageSize: 500}, 8, true},
		} {
			n, known, err := test.r.Count(t.Context(), test.o)
			if err != nil || n != test.n || known != test.known {
				t.Errorf("%s: %d, %t, %v; want %d, %t", test.name, n, known, err, test.n, test.known)
			}
		}
		if n := server.Requests()[clienttest.Call{Verb: "list", Resource: "configmaps"}] - before[clienttest.Call{Verb: "list", Resource: "configmaps"}]; n != 11 {
			t.Errorf("11 counts took %d requests", n)
		}
	})
}

func TestCountReportsWhetherItIsKnown(t *testing.T) {
	const partial = `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"7"`
	const one = `},"items":[{"metadata":{"name":"a"}}]}`
	for _, test := range []struct {
		name, answer string
		n            int
		known        bool
	}{
		{"that do not say how many are left", partial + `,"continue":"x"` + one, 0, false},
		{"that say a number below zero", partial + `,"continue":"x","remainingItemCount":-1` + one, 0, false},
		{"that say that none is left", partial + `,"continue":"x","remainingItemCount":0` + one, 1, true},
		{"that ignore the limit", partial + `},"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}},{"metadata":{"name":"c"}}]}`, 3, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			n, known, err := client.For(connect(t, says(test.answer)), configMaps).Count(t.Context(), client.ListOptions{})
			if err != nil || n != test.n || known != test.known {
				t.Errorf("%d, %t, %v; want %d, %t", n, known, err, test.n, test.known)
			}
		})
	}
	_, known, err := client.For(connect(t, answers(answer{code: http.StatusForbidden, body: status(403, "Forbidden", "no")})), configMaps).Count(t.Context(), client.ListOptions{})
	if err == nil || known {
		t.Errorf("a refusal: known %t, %v", known, err)
	}
	_, _, err = client.For(connect(t, says(partial+one)), configMaps).Count(t.Context(), client.ListOptions{ResourceVersionMatch: client.Exact})
	if usage := (*client.UsageError)(nil); !errors.As(err, &usage) {
		t.Errorf("wrong options: %v", err)
	}
	n, known, err := client.For(connect(t, says(partial+`},"items":[{"metadata":{"name":"a"}}`)), configMaps).Count(t.Context(), client.ListOptions{})
	if err == nil || known || n != 0 {
		t.Errorf("an answer that is cut: %d, %t, %v", n, known, err)
	}
}
