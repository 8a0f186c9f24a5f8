package webhook_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/go-logr/logr"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// ask sends a body, and returns the code and the answer.
func ask(path, body string) (int, string) {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	hooks().ServeHTTP(w, r.WithContext(logr.NewContext(r.Context(), logr.Discard()))) // a panic is logged
	return w.Code, strings.TrimSpace(w.Body.String())
}

// admission returns a review.
func admission(more string) string {
	return `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u1","kind":{"group":"example.com","version":"v2","kind":"Site"},` +
		`"resource":{"group":"example.com","version":"v2","resource":"sites"},"userInfo":{"username":"jane"},` + more + `}}`
}

func TestAnswersToReviews(t *testing.T) {
	const head = `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"u1",`
	for _, test := range []struct {
		name, path, body string
		code             int
		want             string
	}{
		{
			"allowed", "/validate", admission(`"operation":"CREATE","name":"a","object":{"metadata":{"name":"a"},"spec":{}}`), 200,
			head + `"allowed":true,"auditAnnotations":{"seen":"CREATE"}}}`,
		},
		{
			"with a warning", "/validate", admission(`"operation":"CREATE","name":"warned","object":{"spec":{}}`), 200,
			head + `"allowed":true,"auditAnnotations":{"seen":"CREATE"},"warnings":["warned is an odd name"]}}`,
		},
		{
			"two causes", "/validate", admission(`"operation":"UPDATE","name":"a","object":{"spec":{"hosts":[""]}},"oldObject":{"spec":{"hosts":["a","b"]}}`), 200,
			head + `"allowed":false,"status":{"metadata":{},"status":"Failure","message":"Site.example.com \"a\" is invalid: spec.hosts: host 0 must not be empty, spec.hosts: must not become fewer",` +
				`"reason":"Invalid","details":{"name":"a","group":"example.com","kind":"Site","causes":[{"reason":"FieldValueInvalid","message":"host 0 must not be empty","field":"spec.hosts"},` +
				`{"reason":"FieldValueInvalid","message":"must not become fewer","field":"spec.hosts"}]},"code":422},"auditAnnotations":{"seen":"UPDATE"}}}`,
		},
		{
			"a status", "/validate", admission(`"operation":"CREATE","name":"busy","object":{"spec":{}}`), 200,
			head + `"allowed":false,"status":{"metadata":{},"message":"later","reason":"TooManyRequests","code":429},"auditAnnotations":{"seen":"CREATE"}}}`,
		},
		{
			"another error", "/validate", admission(`"operation":"DELETE","name":"a","object":null,"oldObject":{"metadata":{"labels":{"locked":"yes"}}}`), 200,
			head + `"allowed":false,"status":{"metadata":{},"status":"Failure","message":"a locked site stays","reason":"Forbidden","code":403},"auditAnnotations":{"seen":"DELETE"}}}`,
		},
		{"nothing to default", "/default", admission(`"operation":"CREATE","name":"a","object":{"spec":{"hosts":["x"]}}`), 200, head + `"allowed":true}}`},
		{"a panic", "/validate", admission(`"operation":"CREATE","name":"panic","object":{"spec":{}}`), 500, "webhook: panic: a bug"},
		{"an object that does not fit", "/validate", admission(`"operation":"CREATE","name":"a","object":{"spec":{"hosts":1}}`), 500, "webhook: read the Site: "},
		{"no uid", "/validate", strings.Replace(admission(`"operation":"CREATE"`), `"uid":"u1",`, "", 1), 400, "webhook: the request must have a uid"},
		{
			"another kind", "/validate", strings.Replace(admission(`"operation":"CREATE"`), `"version":"v2","kind"`, `"version":"v3","kind"`, 1), 400,
			"webhook: this webhook decides about Site.example.com/v2, and was asked about Site.example.com/v3; see the rules of its configuration",
		},
		{
			"another review", "/validate", `{"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview","request":{}}`, 400,
			`webhook: the body must be an AdmissionReview of admission.k8s.io/v1 with a request, got kind "AdmissionReview" and apiVersion "admission.k8s.io/v1beta1"`,
		},
		{"no review", "/default", `[]`, 400, "webhook: the body must be an AdmissionReview of admission.k8s.io/v1: "},
		{"nothing", "/convert", ``, 400, "webhook: the body must be a ConversionReview of apiextensions.k8s.io/v1: "},
		{"too much", "/validate", `"` + strings.Repeat("a", 16<<20) + `"`, 413, "webhook: the review has more than 16777216 bytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			code, got := ask(test.path, test.body)
			if code != test.code || (code == 200 && got != test.want) || !strings.HasPrefix(got, test.want) {
				t.Errorf("got %d %s\nwant %d %s", code, got, test.code, test.want)
			}
		})
	}
	w := httptest.NewRecorder()
	hooks().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/validate", nil))
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("a GET is answered with %d", w.Code)
	}
}

// A default changes what the function changed. The members that the type does not have stay, in elements of lists too.
func TestADefaultKeepsWhatTheTypeDoesNotHave(t *testing.T) {
	_, text := ask("/default", admission(`"operation":"CREATE","name":"a","object":{"metadata":{"name":"a"},"spec":{"note":"n","parts":[`+
		`{"name":"x","color":"red"},{"name":"y","size":2,"color":"blue"}]}}`))
	var answer struct {
		Response struct {
			Patch     []byte `json:"patch"`
			PatchType string `json:"patchType"`
		} `json:"response"`
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		t.Fatal(err)
	}
	const want = `[{"op":"add","path":"/spec/parts/0/size","value":1},{"op":"add","path":"/spec/hosts","value":["a.example.com"]}]`
	if got := string(answer.Response.Patch); got != want || answer.Response.PatchType != "JSONPatch" {
		t.Errorf("the patch is %s of type %s, want %s", got, answer.Response.PatchType, want)
	}
}

func TestConversions(t *testing.T) {
	review := func(to, objects string) string {
		return `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"u1","desiredAPIVersion":"` + to + `","objects":[` + objects + `]}}`
	}
	one := func(version, metadata, spec string) string {
		return `{"apiVersion":"example.com/` + version + `","kind":"Site","metadata":{"name":"a","namespace":"web","uid":"1","managedFields":[{"manager":"x"}]` + metadata + `},"spec":` + spec + `}`
	}
	const success = `"result":{"metadata":{},"status":"Success"}`
	for _, test := range []struct{ name, to, objects, want string }{
		{
			"up", "example.com/v2", one("v1", `,"labels":{"l":"1"}`, `{"host":"h","note":"n"}`),
			`"convertedObjects":[{"apiVersion":"example.com/v2","kind":"Site","metadata":{"labels":{"l":"1"},"managedFields":[{"manager":"x"}],"name":"a","namespace":"web","uid":"1"},"spec":{"hosts":["h"],"note":"n"}}],` + success,
		},
		{"down", "example.com/v1", one("v2", "", `{"hosts":["h"]}`), `"spec":{"host":"h"}}],` + success},
		{
			"along two steps", "example.com/v3", one("v1", "", `{"host":"h","note":"n"}`),
			`"metadata":{"annotations":{"example.com/note":"n"},"managedFields":[{"manager":"x"}],"name":"a","namespace":"web","uid":"1"},"spec":{"names":["h"]}}],` + success,
		},
		{
			"and back, without the annotation", "example.com/v1", one("v3", `,"annotations":{"example.com/note":"n"}`, `{"names":["h"]}`),
			`"metadata":{"managedFields":[{"manager":"x"}],"name":"a","namespace":"web","uid":"1"},"spec":{"host":"h","note":"n"}}],` + success,
		},
		{"to its own version", "example.com/v2", one("v2", "", `{"other":1}`), `"spec":{"other":1}}],` + success},
		{"of nothing", "example.com/v2", "", `"convertedObjects":[],` + success},
		{
			"that fails", "example.com/v1", one("v2", "", `{}`) + "," + one("v2", "", `{"hosts":["a","b"]}`),
			`"convertedObjects":[],"result":{"metadata":{},"status":"Failure","message":"convert Site web/a from example.com/v2 to example.com/v1: version v1 holds one host"`,
		},
		{
			"that would lose a member", "example.com/v1", one("v2", "", `{"hosts":["a"],"parts":[{"name":"x"}]}`),
			`"message":"convert Site web/a from example.com/v2 to example.com/v1: the Go type of v2 has no member for spec.parts, which would be lost"`,
		},
		{"to an unknown version", "example.com/v9", one("v2", "", `{}`), `this webhook converts Site of example.com between the versions [v1 v2 v3]`},
		{"of an object that does not fit", "example.com/v1", one("v2", "", `{"hosts":1}`), `"status":"Failure","message":"convert Site web/a from example.com/v2 to example.com/v1: `},
	} {
		t.Run(test.name, func(t *testing.T) {
			code, got := ask("/convert", review(test.to, test.objects))
			if code != 200 || !strings.Contains(got, `"response":{"uid":"u1",`) || !strings.Contains(got, test.want) {
				t.Errorf("got %d %s\nwant %s", code, got, test.want)
			}
		})
	}
}

// The server of a test calls the handlers as a cluster does.
func TestWebhooksOfATestServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{
			CRDs: []string{"testdata/sites.yaml"}, Objects: []string{"testdata/hooks.yaml"},
			Services: map[string]http.Handler{"web/hooks": hooks()},
		})
		c, err := client.New(server.Config())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		sites, old := client.For(c, Sites), client.For(c, version[*siteV1]("v1"))
		key := meta.Key{Namespace: "default", Name: "home"}
		if _, err := old.Create(t.Context(), &siteV1{ObjectMeta: key.ObjectMeta(), Spec: specV1{Note: "n"}}); err != nil {
			t.Fatal(err)
		}
		is, err := sites.Get(t.Context(), key)
		if err != nil || len(is.Spec.Hosts) != 1 || is.Spec.Hosts[0] != "home.example.com" {
			t.Errorf("the site is %+v, %v; want the default host", is, err)
		}
		if was, err := old.Get(t.Context(), key); err != nil || was.Spec != (specV1{Host: "home.example.com", Note: "n"}) {
			t.Errorf("in its old version the site is %+v, %v", was, err)
		}
		_, err = sites.Modify(t.Context(), key, func(s *Site) error { s.Spec.Hosts = []string{""}; return nil })
		if !errors.Is(err, apierrors.Invalid) || !strings.Contains(err.Error(), "host 0 must not be empty") {
			t.Errorf("an empty host: %v", err)
		}
	})
}
