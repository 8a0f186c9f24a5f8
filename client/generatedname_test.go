package client_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// collision is the answer of a server that made a name which another object has.
func collision(name string) outcome {
	return failed(409, "AlreadyExists", fmt.Sprintf(`"name":%q,"retryAfterSeconds":1`, name))
}

// failed is a Status with details.
func failed(code int, reason, details string) outcome {
	return outcome{answer: answer{code: code, body: fmt.Sprintf(
		`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no","reason":%q,"code":%d,"details":{%s}}`, reason, code, details)}}
}

func TestAGeneratedNameThatIsTakenIsAskedForAgain(t *testing.T) {
	const late = `"retryAfterSeconds":1`
	generated, named := meta.ObjectMeta{Namespace: "web", GenerateName: "a-"}, meta.ObjectMeta{Namespace: "web", Name: "a-1"}
	both := generated
	both.Name = "a-1"
	for _, test := range []struct {
		name   string
		obj    meta.ObjectMeta
		answer outcome
		again  bool
	}{
		{"a collision", generated, collision("a-xyz12"), true},
		{"a collision whose answer names nothing", generated, failed(409, "AlreadyExists", late), true},
		{"no name was found in time", generated, failed(504, "ServerTimeout", ""), true},
		{"no name was found in time, and when to come again", generated, failed(504, "ServerTimeout", late), true},
		{"the server has too much to do", generated, failed(429, "TooManyRequests", late), true},
		{"the server is away", generated, failed(503, "ServiceUnavailable", late), true},
		{"AlreadyExists without a time, as a webhook says it", generated, failed(409, "AlreadyExists", ""), false},
		{"another conflict", generated, failed(409, "Conflict", late), false},
		{"500, after which an object may exist", generated, failed(500, "ServerTimeout", late), false},
		{"500 for another reason", generated, failed(500, "InternalError", late), false},
		{"504, after which an object may exist", generated, failed(504, "Timeout", late), false},
		{"503 without a time", generated, failed(503, "ServiceUnavailable", ""), false},
		{"the name was the program's", named, collision("a-1"), false},
		{"so it was beside a generateName", both, collision("a-1"), false},
		{"a name of the program's, and 504", named, failed(504, "ServerTimeout", ""), false},
		{"a name of the program's, and 500", named, failed(500, "ServerTimeout", late), true},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg, o := through(test.answer, outcome{answer: answer{code: 201, body: object("a-2", "1")}})
				made, err := client.For(dial(t, cfg), configMaps).Create(t.Context(), &ConfigMap{ObjectMeta: test.obj})
				if test.again != (err == nil) || test.again && (made.Name != "a-2" || len(o.calls) != 2) || !test.again && len(o.calls) != 1 {
					t.Errorf("%d requests, %v, %v; want another request: %t", len(o.calls), made, err, test.again)
				}
				if test.again && o.calls[0].body != o.calls[1].body {
					t.Errorf("the second request was %s, and the first %s", o.calls[1].body, o.calls[0].body)
				}
			})
		})
	}
}

func TestANameThatIsNeverFreeIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, o := through(collision("a-xyz12"))
		_, err := client.For(dial(t, cfg), configMaps).Create(t.Context(), &ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: "web", GenerateName: "a-"}})
		if !errors.Is(err, apierrors.AlreadyExists) || len(is[*client.OpError](t, err).Before) != 4 || len(o.calls) != 5 {
			t.Errorf("%d requests, and the error is %v", len(o.calls), err)
		}
		cfg, o = through(collision("a-xyz12"))
		cfg.Retry.Attempts = 1
		_, err = client.For(dial(t, cfg), configMaps).Create(t.Context(), &ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: "web", GenerateName: "a-"}})
		if !errors.Is(err, apierrors.AlreadyExists) || len(o.calls) != 1 {
			t.Errorf("without retries: %d requests, and the error is %v", len(o.calls), err)
		}
	})
}

// A dry run stores nothing, so it can be repeated after any answer that asks for it.
func TestADryRunWithAGeneratedNameIsRepeatedAfter500(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, o := through(failed(500, "ServerTimeout", `"retryAfterSeconds":1`), outcome{answer: answer{code: 201, body: object("a-2", "1")}})
		r := client.For(dial(t, cfg), configMaps).With(client.WriteOptions{DryRun: true})
		_, err := r.Create(t.Context(), &ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: "web", GenerateName: "a-"}})
		if err != nil || len(o.calls) != 2 {
			t.Errorf("%d requests, %v", len(o.calls), err)
		}
	})
}

// The body of a raw request, and an object behind a subresource, follow the same rule: what counts is what the server makes.
func TestARawCreateWithAGeneratedName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, test := range []struct {
			answer outcome
			calls  int
		}{{collision("a-xyz12"), 2}, {failed(500, "InternalError", `"retryAfterSeconds":1`), 1}} {
			cfg, o := through(test.answer, outcome{answer: answer{code: 201, body: object("a-2", "1")}})
			resp, err := dial(t, cfg).Raw(t.Context(), client.RawRequest{
				Method: http.MethodPost, Path: "/api/v1/namespaces/web/configmaps", Body: []byte(`{"metadata":{"generateName":"a-"}}`),
			})
			if err == nil {
				_ = resp.Body.Close()
			}
			if len(o.calls) != test.calls || (err == nil) != (test.calls == 2) {
				t.Errorf("%d requests, %v; want %d", len(o.calls), err, test.calls)
			}
		}
	})
}
