package webhook_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/bowline-go/bowline/patch"
)

// FuzzReviews sends any body to each handler. It is answered: with a review, or with an error that says what is wrong.
// The patch of a default can be applied to the object.
func FuzzReviews(f *testing.F) {
	f.Add("/validate", admission(`"operation":"CREATE","name":"a","object":{"spec":{"hosts":["a"]}}`))
	f.Add("/default", admission(`"operation":"UPDATE","name":"a","object":{"metadata":null,"spec":{"parts":[{"color":1},null]}},"oldObject":{}`))
	f.Add("/default", admission(`"operation":"DELETE","name":"a","oldObject":{"spec":null}`))
	f.Add("/convert", `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"1","desiredAPIVersion":"example.com/v1","objects":[`+
		`{"apiVersion":"example.com/v3","kind":"Site","metadata":{"annotations":{"a":"b"}},"spec":{"names":["a"]}},{"apiVersion":"example.com/v2","kind":"Site"}]}}`)
	f.Fuzz(func(t *testing.T, path, body string) {
		if path != "/validate" && path != "/default" && path != "/convert" {
			return
		}
		code, text := ask(path, body)
		if code != http.StatusOK {
			if code < 400 || text == "" {
				t.Errorf("%s %q: answered %d %q", path, body, code, text)
			}
			return
		}
		var asked struct {
			Request struct {
				Object  json.RawMessage   `json:"object"`
				Objects []json.RawMessage `json:"objects"`
			} `json:"request"`
		}
		var answer struct {
			Response struct {
				Patch     []byte            `json:"patch"`
				Converted []json.RawMessage `json:"convertedObjects"`
				Result    struct {
					Status string `json:"status"`
				} `json:"result"`
			} `json:"response"`
		}
		if json.Unmarshal([]byte(body), &asked) != nil || json.Unmarshal([]byte(text), &answer) != nil {
			t.Fatalf("%s %q: answered %q", path, body, text)
		}
		if r := answer.Response; r.Result.Status == "Success" && len(r.Converted) != len(asked.Request.Objects) {
			t.Errorf("%q: %d of %d objects are converted", body, len(r.Converted), len(asked.Request.Objects))
		} else if r.Patch != nil {
			if _, err := patch.ApplyJSON(asked.Request.Object, r.Patch); err != nil {
				t.Errorf("%q: the patch %s: %v", body, r.Patch, err)
			}
		}
	})
}
