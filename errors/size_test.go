package errors_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// A write that is too large for the store was an InternalError, so callers tried again. The texts are those of kube-apiserver 1.36
// with etcd 3.6, for objects of 1.6 and 2.5 MB, and of gRPC.
func TestSizeErrorsOfTheStoreAreRequestEntityTooLarge(t *testing.T) {
	const (
		etcd     = "etcdserver: request is too large"
		sends    = "trying to send message larger than max (2560379 vs. 2097152)"
		receives = "grpc: received message larger than max (2560379 vs. 2097152)"
		code     = "rpc error: code = ResourceExhausted desc = "
	)
	for _, test := range []struct {
		name    string
		method  string
		code    int
		reason  string
		message string
		large   bool
	}{
		{"the API server itself", "PUT", 413, "RequestEntityTooLarge", "Request entity too large: limit is 3145728", true},
		{"etcd", "PUT", 500, "", etcd, true},
		{"etcd, to a creation", "POST", 500, "", etcd, true},
		{"etcd, by gRPC", "PATCH", 500, "", "rpc error: code = InvalidArgument desc = " + etcd, true},
		{"an internal error", "PUT", 500, "InternalError", "Internal error occurred: " + etcd, true},
		{"an unknown reason", "PUT", 500, "Unknown", etcd, true},
		{"gRPC's client", "PUT", 500, "", code + sends, true},
		{"gRPC's client, without its code", "PUT", 500, "", sends, true},
		{"gRPC's server", "PUT", 500, "", code + receives, true},
		{"gRPC's server, compressed", "PUT", 500, "", code + "grpc: received message after decompression larger than max 4", true},
		{
			"gRPC's server, more than an int", "PUT", 500, "",
			code + "grpc: received message larger than max length allowed on current machine (9 vs. 8)", true,
		},
		{"a read that is too large for gRPC", "GET", 500, "", code + receives, false},
		{"a full database", "PUT", 500, "", code + "etcdserver: mvcc: database space exceeded", false},
		{"a full server", "PUT", 500, "", "etcdserver: too many requests", false},
		{"a webhook's text", "PUT", 500, "InternalError", `Internal error occurred: failed calling webhook "x": ` + etcd, false},
		{"a webhook's refusal", "PUT", 403, "Forbidden", etcd, false},
		{"another code", "PUT", 504, "", etcd, false},
		{"a reason of its own", "PUT", 500, "StorageReadError", etcd, false},
	} {
		s := meta.Status{TypeMeta: meta.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure", Code: test.code, Message: test.message}
		s.Reason = test.reason
		body, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		got := apierrors.FromResponse(test.code, http.Header{"Content-Type": {"application/json"}}, body, test.method)
		if reason := apierrors.ReasonOf(got); errors.Is(got, apierrors.RequestEntityTooLarge) != test.large ||
			(reason == apierrors.RequestEntityTooLarge) != test.large {
			t.Errorf("%s: the reason of %v is %v", test.name, got, apierrors.ReasonOf(got))
		}
		if test.large && (errors.Is(got, apierrors.InternalError) || got.Status.Code != test.code || got.Status.Message != test.message) {
			t.Errorf("%s: %v is an InternalError too, or not what the server said", test.name, got)
		}
		if test.large && apierrors.SafeToRetry(got) {
			t.Errorf("%s: a retry never succeeds", test.name)
		}
	}
	if err := apierrors.FromStatus(meta.Status{Code: 500, Message: etcd}); !errors.Is(err, apierrors.RequestEntityTooLarge) {
		t.Errorf("a Status that is no response has the reason %v", apierrors.ReasonOf(err))
	}
}
