package clienttest_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
)

// A condition that comes again without its times has been so since the first, and was said so now.
func TestAnApprovalKeepsTheTimeOfItsFirstCondition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, clienttest.Options{Lenient: true}) // the request has no certificate
		const requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
		h.must(t, "POST", requests, `{"metadata":{"name":"a"},"spec":{"signerName":"example.com/a"}}`)
		type condition struct{ Message, LastUpdateTime, LastTransitionTime string }
		approve := func(message string) condition {
			body := h.must(t, "PATCH", requests+"/a/approval", `{"status":{"conditions":[{"type":"Approved","status":"True","message":"`+
				message+`"}]}}`, "Content-Type", "application/merge-patch+json")
			var conditions []condition
			if err := json.Unmarshal([]byte(at(body, "status", "conditions")), &conditions); err != nil || len(conditions) != 1 {
				t.Fatalf("the answer is %s, %v", body, err)
			}
			return conditions[0]
		}
		first := approve("1")
		time.Sleep(time.Hour)
		second := approve("2")
		if first.LastTransitionTime == "" || first.LastTransitionTime != first.LastUpdateTime ||
			second.LastTransitionTime != first.LastTransitionTime || second.LastUpdateTime == first.LastUpdateTime || second.Message != "2" {
			t.Errorf("at first %v, and then %v", first, second)
		}
	})
}
