package informer

import (
	"testing"

	"github.com/bowline-go/bowline/client/meta"
	requests "github.com/bowline-go/bowline/internal/follow"
)

func TestSelectorsExcludeOnlyObjectsThatCannotMatch(t *testing.T) {
	const answer = `{"metadata":{"name":"a","labels":{"app":"web"}},"spec":{"unschedulable":true,"replicas":30,"nodeName":"n1","a.b":1.5},"type":""}`
	for _, test := range []struct {
		labels, fields, answer, subresource string
		want                                bool
	}{
		{"", "", answer, "", false},
		{"app=web", "", answer, "", false},
		{"app=db", "", answer, "", true},
		{"app=db", "", answer, "status", true},
		{"app=db", "", answer, "scale", false},
		{"app=db", "", "", "", false},
		{"app=db", "", "no JSON", "", false},
		{"app==!", "metadata.name=b", answer, "", false},
		{"app=db", "name", answer, "", false},
		{"", "spec.unschedulable=true", answer, "", false},
		{"", "spec.unschedulable=false", answer, "", true},
		{"", "spec.unschedulable!=true", answer, "", true},
		{"", "spec.unschedulable!=false", answer, "", false},
		{"", "spec.replicas=30", answer, "", false},
		{"", "spec.replicas=4", answer, "", true},
		{"app=web", "spec.nodeName=n1,spec.nodeName!=n2", answer, "", false},
		{"app=web", "spec.nodeName=n1,metadata.name=b", answer, "", true},
		{"", "type=x", answer, "", false},              // the server may have a default for it
		{"", "status.successful=1", answer, "", false}, // the server calls it by another name
		{"", "spec=x", answer, "", false},
	} {
		i := newEngine[*meta.Unstructured](nil, Options{LabelSelector: test.labels, FieldSelector: test.fields})
		w := requests.Write{Subresource: test.subresource}
		if test.answer != "" {
			w.Answer = []byte(test.answer)
		}
		if got := i.leavesOut(w); got != test.want {
			t.Errorf("labels %q, fields %q, subresource %q: got %v", test.labels, test.fields, test.subresource, got)
		}
	}
}
