package clienttest_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
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

// Nobody becomes an administrator by a request for a certificate.
func TestARequestForTheGroupOfAdministratorsIsRefused(t *testing.T) {
	h := newHarness(t, clienttest.Options{})
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for group, code := range map[string]int{"system:masters": http.StatusForbidden, "other": http.StatusCreated} {
		subject := pkix.Name{CommonName: "a", Organization: []string{group}}
		der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: subject}, key)
		if err != nil {
			t.Fatal(err)
		}
		text := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}))
		a := h.do(t, http.MethodPost, "/apis/certificates.k8s.io/v1/certificatesigningrequests", `{"metadata":{"generateName":"a-"},
			"spec":{"signerName":"kubernetes.io/kube-apiserver-client","usages":["client auth"],"request":"`+text+`"}}`)
		if a.code != code {
			t.Errorf("%s: %d %s, want %d", group, a.code, a.body, code)
		}
	}
}
