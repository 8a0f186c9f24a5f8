package client_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// deleteAnswer returns the body of an answer with an object.
func deleteAnswer(metadata string) string {
	return fmt.Sprintf(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"namespace":"web","name":"a","uid":"u","resourceVersion":"7"%s}}`, metadata)
}

func TestDeleteWithResultReadsTheResponse(t *testing.T) {
	const ends = `,"deletionTimestamp":"2026-01-02T03:04:05Z"`
	const success = `{"kind":"Status","apiVersion":"v1","metadata":{%s},"status":"Success","details":{"name":"a","kind":"configmaps","uid":"u"}}`
	for _, test := range []struct {
		name       string
		code       int
		body       string
		gone       bool
		object     bool
		finalizers []string
		grace      time.Duration
		version    string
	}{
		{name: "a Status", body: fmt.Sprintf(success, ""), gone: true},
		{name: "a Status of 1.38", body: fmt.Sprintf(success, `"resourceVersion":"9"`), gone: true, version: "9"},
		{name: "a Status that promises it", code: 202, body: fmt.Sprintf(success, "")},
		{name: "the last state", body: deleteAnswer(""), gone: true, object: true, version: "7"},
		{name: "the last state of a pod", body: deleteAnswer(ends + `,"deletionGracePeriodSeconds":0`), gone: true, object: true, version: "7"},
		{
			name: "a finalizer", body: deleteAnswer(ends + `,"deletionGracePeriodSeconds":0,"finalizers":["a/b"]`), object: true,
			finalizers: []string{"a/b"}, version: "7",
		},
		{name: "a grace period", body: deleteAnswer(ends + `,"deletionGracePeriodSeconds":30`), object: true, grace: 30 * time.Second, version: "7"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &script{answers: []answer{{code: max(test.code, 200), body: test.body}}}
			d, err := client.For(dial(t, serve(t, s)), slims).DeleteWithResult(t.Context(), web, client.DeleteOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if d.Gone != test.gone || (d.Object != nil) != test.object ||
				!slices.Equal(d.Finalizers, test.finalizers) || d.GracePeriod != test.grace || d.UID != "u" || d.ResourceVersion != test.version {
				t.Errorf("got %+v", d)
			}
		})
	}
}

// A namespace waits for the finalizers of its spec.
func TestANamespaceThatIsDeletedWaits(t *testing.T) {
	body := `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"a","uid":"u","resourceVersion":"7","deletionTimestamp":"2026-01-02T03:04:05Z"},` +
		`"spec":{"finalizers":["kubernetes"]},"status":{"phase":"Terminating"}}`
	namespaces := client.Type[*Slim]{Version: "v1", Kind: "Namespace", Resource: "namespaces", Scope: nodes.Scope}
	s := &script{answers: []answer{{code: http.StatusOK, body: body}}}
	d, err := client.For(dial(t, serve(t, s)), namespaces).DeleteWithResult(t.Context(), meta.Key{Name: "a"}, client.DeleteOptions{})
	if err != nil || d.Gone || !slices.Equal(d.Finalizers, []string{"kubernetes"}) {
		t.Errorf("got %+v, %v", d, err)
	}
}

func TestTheErrorsOfADeletionWithAResult(t *testing.T) {
	s := &script{answers: []answer{{code: 404, body: status(404, "NotFound", "no")}, {code: 200, body: `{"kind":"Secret","apiVersion":"v1","metadata":{}}`}}}
	r := client.For(dial(t, serve(t, s)), slims)
	if _, err := r.DeleteWithResult(t.Context(), web, client.DeleteOptions{}); apierrors.ReasonOf(err) != apierrors.NotFound {
		t.Errorf("error is %v", err)
	}
	_, err := r.DeleteWithResult(t.Context(), web, client.DeleteOptions{})
	answered(t, err, client.WrongKind)
	_, err = r.DeleteWithResult(t.Context(), web, client.DeleteOptions{GracePeriod: time.Millisecond})
	is[*client.UsageError](t, err)
	_, err = (client.Resource[*Slim]{}).DeleteWithResult(t.Context(), web, client.DeleteOptions{})
	is[*client.UsageError](t, err)
	if n := len(s.all()); n != 2 {
		t.Errorf("%d calls", n)
	}
}
