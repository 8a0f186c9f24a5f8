package conformance

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/patch"
)

// SigningRequest is a CertificateSigningRequest.
type SigningRequest struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Request    []byte   `json:"request"`
		SignerName string   `json:"signerName"`
		Usages     []string `json:"usages"`
		Username   string   `json:"username,omitempty"`
		Groups     []string `json:"groups,omitempty"`
	} `json:"spec"`
	Status struct {
		Conditions  []SigningCondition `json:"conditions,omitempty"`
		Certificate []byte             `json:"certificate,omitempty"`
	} `json:"status,omitzero"`
}

// SigningCondition is a condition of a SigningRequest.
type SigningCondition struct {
	Type               string    `json:"type"`
	Status             string    `json:"status"`
	Reason             string    `json:"reason,omitempty"`
	Message            string    `json:"message,omitempty"`
	LastUpdateTime     meta.Time `json:"lastUpdateTime,omitzero"`
	LastTransitionTime meta.Time `json:"lastTransitionTime,omitzero"`
}

var signingRequests = client.Type[*SigningRequest]{
	Group: "certificates.k8s.io", Version: "v1", Kind: "CertificateSigningRequest", Resource: "certificatesigningrequests", Scope: meta.Cluster,
}

// newSigningRequest returns a request, and a certificate that a signer may issue for it.
func newSigningRequest(t *testing.T, name string) (r *SigningRequest, certificate []byte) {
	t.Helper()
	key := must[*ecdsa.PrivateKey](t)(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	subject := pkix.Name{CommonName: "jane", Organization: []string{"ropes"}}
	request := must[[]byte](t)(x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: subject}, key))
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: subject, NotAfter: time.Now().Add(time.Hour)}
	signed := must[[]byte](t)(x509.CreateCertificate(rand.Reader, template, template, key.Public(), key))
	r = &SigningRequest{ObjectMeta: meta.ObjectMeta{Name: name}}
	r.Spec.Request = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: request})
	r.Spec.SignerName, r.Spec.Usages = "conformance.example/signer", []string{"client auth"}
	return r, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed})
}

// testApproval follows a request to its certificate.
func testApproval(t *testing.T, s suite) {
	r := client.For(s.client, signingRequests)
	wanted, certificate := newSigningRequest(t, s.namespace(t)) // the name of a namespace is unique
	wanted.Spec.Username = "somebody else"
	wanted.Status.Conditions = []SigningCondition{{Type: "Approved", Status: "True"}}
	made := must[*SigningRequest](t)(r.Create(t.Context(), wanted))
	key := meta.KeyOf(made)
	equal(t, "who asks", made.Spec.Username, s.whoAmI(t, nil).Username)
	equal(t, "conditions at first", len(made.Status.Conditions), 0)

	approve := func(c SigningCondition) func(*SigningRequest) error {
		return func(o *SigningRequest) error {
			o.Status.Conditions = append(o.Status.Conditions, c)
			return nil
		}
	}
	yes := SigningCondition{Type: "Approved", Status: "True", Reason: "Conformance", Message: "it may"}
	_, err := r.Status().Modify(t.Context(), key, approve(yes))
	wantMessage(t, err, `status.conditions: Forbidden: updates may not add a condition of type "Approved"`)
	approval := r.Sub("approval")
	_, err = approval.Modify(t.Context(), key, approve(SigningCondition{Type: "Approved", Status: "False"}))
	wantMessage(t, err, `status.conditions[0].status: Unsupported value: "False": supported values: "True"`)
	got := must[*SigningRequest](t)(approval.Modify(t.Context(), key, func(o *SigningRequest) error {
		o.Spec.SignerName, o.Status.Certificate = "conformance.example/other", certificate
		return approve(yes)(o)
	}))
	equal(t, "signer after the approval", got.Spec.SignerName, wanted.Spec.SignerName)
	equal(t, "certificate after the approval", string(got.Status.Certificate), "")
	if len(got.Status.Conditions) != 1 {
		t.Fatalf("the conditions are %+v", got.Status.Conditions)
	}
	c := got.Status.Conditions[0]
	if c.LastUpdateTime.IsZero() || c.LastTransitionTime.IsZero() {
		t.Errorf("the condition is %+v, want it to have its times", c)
	}
	since := c.LastTransitionTime
	c.LastUpdateTime, c.LastTransitionTime = meta.Time{}, meta.Time{}
	equal(t, "condition", c, yes)
	equal(t, "version by approval", must[*SigningRequest](t)(approval.Get(t.Context(), key)).ResourceVersion, got.ResourceVersion)

	_, err = approval.Modify(t.Context(), key, approve(SigningCondition{Type: "Denied", Status: "True"}))
	wantMessage(t, err, s.words(in136(
		`status.conditions: Invalid value: "{conditions[{\"type\": \"Approved\"}], conditions[{\"type\": \"Denied\"}]}": `+
			"must specify at most one of: `"+`conditions[{"type": "Approved"}]`+"`, `"+`conditions[{"type": "Denied"}]`+"`",
		`status.conditions: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive`)))
	_, err = approval.Modify(t.Context(), key, approve(yes))
	wantMessage(t, err, `status.conditions[1].type: Duplicate value: "Approved"`)
	_, err = approval.Modify(t.Context(), key, func(o *SigningRequest) error { o.Status.Conditions = nil; return nil })
	wantMessage(t, err, `status.conditions: Forbidden: updates may not remove a condition of type "Approved"`)
	_, err = approval.Patch(t.Context(), key, patch.Merge(map[string]any{"status": map[string]any{"conditions": []any{map[string]any{}}}}))
	wantMessage(t, err, "[status.conditions[0].type: Required value, status.conditions[0].status: Required value, "+
		`status.conditions: Forbidden: updates may not remove a condition of type "Approved"]`)

	// The signer's part: it writes the certificate, once, and cannot change what was decided.
	sign := func(b []byte) (*SigningRequest, error) {
		return r.Status().Modify(t.Context(), key, func(o *SigningRequest) error {
			o.Status.Certificate = b
			if len(o.Status.Conditions) == 1 {
				o.Status.Conditions[0].Message = "it may not"
			}
			return nil
		})
	}
	const name = "status.certificate: "
	_, err = sign([]byte("ABC"))
	wantMessage(t, err, name+`Invalid value: "<certificate data>": must contain at least one CERTIFICATE PEM block`)
	_, err = sign(wanted.Spec.Request)
	wantMessage(t, err, name+`Invalid value: "<certificate data>": only CERTIFICATE PEM blocks are allowed, found "CERTIFICATE REQUEST"`)
	signed := must[*SigningRequest](t)(sign(certificate))
	equal(t, "certificate", string(signed.Status.Certificate), string(certificate))
	equal(t, "message", signed.Status.Conditions[0].Message, yes.Message)
	equal(t, "approved since", signed.Status.Conditions[0].LastTransitionTime, since)
	_, other := newSigningRequest(t, "other")
	_, err = sign(other)
	wantMessage(t, err, name+"Forbidden: updates may not modify existing certificate content")

	// The request itself stays as it was made.
	_, err = r.Modify(t.Context(), key, func(o *SigningRequest) error {
		o.Spec.SignerName, o.Status.Certificate = "conformance.example/other", nil
		return nil
	})
	leftOut(t, err, "status")
	same := must[*SigningRequest](t)(r.Get(t.Context(), key))
	equal(t, "version after a change of the request", same.ResourceVersion, signed.ResourceVersion)

	_, err = approval.Update(t.Context(), &SigningRequest{ObjectMeta: meta.ObjectMeta{Name: "conformance-absent"}})
	wantReason(t, err, apierrors.NotFound, 404)
	_, err = approval.Create(t.Context(), key, same)
	wantReason(t, err, apierrors.MethodNotAllowed, 405)
}

// wantMessage fails the test unless the server answered with Invalid and a message that ends in these words.
func wantMessage(t *testing.T, err error, words string) {
	t.Helper()
	wantReason(t, err, apierrors.Invalid, 422)
	var status *apierrors.StatusError
	if errors.As(err, &status); !strings.HasSuffix(status.Status.Message, " is invalid: "+words) {
		t.Errorf("the message is %s, want %s at its end", status.Status.Message, words)
	}
}
