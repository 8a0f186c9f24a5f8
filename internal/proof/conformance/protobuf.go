package conformance

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	tables "github.com/bowline-go/bowline/client/protobuf"
	"github.com/bowline-go/bowline/client/protobuf/apps"
	"github.com/bowline-go/bowline/client/protobuf/authorization"
	"github.com/bowline-go/bowline/client/protobuf/autoscaling"
	"github.com/bowline-go/bowline/client/protobuf/certificates"
	"github.com/bowline-go/bowline/client/protobuf/coordination"
	"github.com/bowline-go/bowline/client/protobuf/core"
	"github.com/bowline-go/bowline/client/protobuf/events"
	"github.com/bowline-go/bowline/internal/jsonlex"
	"github.com/bowline-go/bowline/internal/protobuf"
)

const asProtobuf = protobuf.MediaType

// encoded is a request and its expected answer. Both may be protobuf.
type encoded struct {
	name   string
	path   string // after the method and a blank
	accept string
	body   string // JSON, which is sent as protobuf; anything that does not begin as JSON is sent as it is

	code int
	as   string // the type of the answer
	want string // the JSON of the answer; * stands for any text
}

// groupTables returns the tables of the groups that the suite uses.
func groupTables() []tables.Table {
	return []tables.Table{
		apps.V1(), authorization.V1(), autoscaling.V1(), certificates.V1(), coordination.V1(), core.V1(), events.V1(),
	}
}

// protobufCounter counts the answers that are protobuf.
type protobufCounter struct {
	http.RoundTripper
	answers *atomic.Int64
}

func (c protobufCounter) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := c.RoundTripper.RoundTrip(r)
	if err == nil && strings.HasPrefix(resp.Header.Get("Content-Type"), asProtobuf) {
		c.answers.Add(1)
	}
	return resp, err
}

// coder translates between the forms.
type coder struct {
	schema *protobuf.Schema
	http.RoundTripper
	s suite
}

func newCoder(t *testing.T, s suite) *coder {
	t.Helper()
	var all []*protobuf.Table
	for _, table := range groupTables() {
		all = append(all, table.Inside())
	}
	schema := must[*protobuf.Schema](t)(protobuf.NewSchema(all...))
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(s.cfg.TLS.CAData))
	transport := &http.Transport{DialContext: s.cfg.Dial, TLSClientConfig: &tls.Config{RootCAs: pool}}
	t.Cleanup(transport.CloseIdleConnections)
	return &coder{schema, transport, s}
}

// open sends a request.
func (c *coder) open(t *testing.T, e encoded, names *strings.Replacer) *http.Response {
	t.Helper()
	method, path, _ := strings.Cut(names.Replace(e.path), " ")
	body := names.Replace(e.body)
	if strings.HasPrefix(body, "{") {
		body = string(must[[]byte](t)(c.schema.AppendObject(nil, []byte(body), nil)))
	}
	req := must[*http.Request](t)(http.NewRequestWithContext(t.Context(), method, c.s.cfg.Server+path, strings.NewReader(body)))
	req.Header.Set("Accept", e.accept)
	if body != "" {
		req.Header.Set("Content-Type", asProtobuf)
	}
	if method == http.MethodPatch {
		req.Header.Set("Content-Type", "application/"+asMerge)
	}
	if c.s.cfg.BearerToken != "" {
		req.Header.Set("Authorization", "Bearer "+string(c.s.cfg.BearerToken))
	}
	resp, err := c.RoundTrip(req)
	if err != nil {
		t.Fatalf("%s: %v", e.name, err)
	}
	return resp
}

// json returns the JSON of an envelope, or b itself if it is not an envelope.
func (c *coder) json(t *testing.T, b []byte) string {
	t.Helper()
	e, err := protobuf.Open(b)
	if err != nil {
		if json.Valid(b) { // the server indents some
			b = jsonlex.AppendCompact(nil, b)
		}
		return string(b)
	}
	m := c.schema.Of(e)
	if m == nil {
		t.Errorf("an answer has the kind %s of %s", e.Kind, e.APIVersion)
		return ""
	}
	return string(must[[]byte](t)(e.AppendJSON(nil, m)))
}

func (c *coder) run(t *testing.T, e encoded, names *strings.Replacer) {
	t.Helper()
	resp := c.open(t, e, names)
	defer resp.Body.Close()
	b := must[[]byte](t)(io.ReadAll(resp.Body))
	got := c.json(t, b)
	if as := resp.Header.Get("Content-Type"); resp.StatusCode != e.code || as != e.as || !matches(strings.TrimSpace(got), names.Replace(e.want)) {
		t.Errorf("%s: got %d, %s, %s\nwant %d, %s, %s", e.name, resp.StatusCode, as, got, e.code, e.as, e.want)
	}
}

// failure is a pattern for the JSON of a Status whose message ends in message.
func failure(message string) string { return `{*"status":"Failure","message":"*` + message + `*` }

// Built-in kinds are read and written as protobuf too.
func testProtobuf(t *testing.T, s suite) {
	ns := s.namespace(t)
	names := paths(ns)
	c := newCoder(t, s)
	s.configMap(t, ns, "b", nil)
	const inJSON, yaml, pb = "application/json", "application/yaml", asProtobuf
	const a, all, leases = "GET {core}/configmaps/a", "GET {core}/configmaps", "POST /apis/coordination.k8s.io/v1/namespaces/{ns}/leases"
	const made = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"{ns}","uid":"*","resourceVersion":"*","creationTimestamp":"*Z",` +
		`"labels":{"l":""},"managedFields":[{"manager":"*","operation":"Update","apiVersion":"v1","time":"*Z","fieldsType":"FieldsV1","fieldsV1":{*}}]},"data":{"k":"é"},"binaryData":{"b":"AAE="}}`
	const only = "only the following media types are accepted: " + inJSON + ", " + yaml + ", " + pb
	body := func(more string) string {
		return `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"` + more + `}`
	}
	for _, e := range []encoded{
		{"create", "POST {core}/configmaps", pb, body(`,"labels":{"l":""}},"data":{"k":"é"},"binaryData":{"b":"AAE="}`), 201, pb, made},
		{"create again", "POST {core}/configmaps", pb, body("}"), 409, pb, failure(`configmaps \"a\" already exists`)},
		{"create, answered in JSON", "POST {core}/configmaps?dryRun=All", inJSON, body(`,"generateName":"a-"},"immutable":true`), 409, inJSON, failure("already exists")},
		{"get", a, pb, "", 200, pb, made},
		{"get by the order", a, pb + "," + inJSON, "", 200, pb, made},
		{"get by the other order", a, inJSON + "," + pb, "", 200, inJSON, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a",*`},
		{"get by quality", a, inJSON + ";q=0.5," + pb + ";q=0.9", "", 200, pb, made},
		{"get by another quality", a, pb + ";q=0.5," + yaml, "", 200, yaml, "apiVersion: v1\nbinaryData:\n*"},
		{"get anything", a, "*/*", "", 200, inJSON, `{"kind":"ConfigMap","apiVersion":"v1",*`},
		{"get anything rather than one", a, pb + ";q=0.9,*/*", "", 200, inJSON, `{"kind":"ConfigMap","apiVersion":"v1",*`},
		{"get anything or one", a, "*/*," + pb + ";q=0.9", "", 200, pb, made},
		{"get with an unknown parameter", a, pb + ";x=y", "", 200, pb, made},
		{"get what is missing", "GET {core}/configmaps/none", pb, "", 404, pb, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",` +
			`"message":"configmaps \"none\" not found","reason":"NotFound","details":{"name":"none","kind":"configmaps"},"code":404}`},
		{"list", all + "?labelSelector=l", pb, "", 200, pb, `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"*"},"items":[{"metadata":{"name":"a",*}]}`},
		{"an empty list", all + "?labelSelector=none", pb, "", 200, pb, `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"*"}}`},
		{"a page", all + "?limit=1", pb, "", 200, pb, `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"*","continue":"*","remainingItemCount":1},"items":[*]}`},
		{"a list at a version that is none", all + "?resourceVersion=x", pb, "", 400, pb, failure("invalid resource version*")},
		{"metadata", a, pb + form("", "v1"), "", 200, pb, `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a",*}}`},
		{"metadata of a list", all + "?labelSelector=l", pb + form("List", "v1"), "", 200, pb, `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"*"},"items":[{"metadata":{"name":"a",*}}]}`},
		{"metadata of a list as an object", all, pb + form("", "v1"), "", 406, inJSON, failure("you requested PartialObjectMetadata, but the requested object is a list*")},
		{"a table", a, pb + ";as=Table;g=meta.k8s.io;v=v1", "", 406, inJSON, failure(only)},
		{"a table in another form", a, pb + ";as=Table;g=meta.k8s.io;v=v1," + inJSON + ";as=Table;g=meta.k8s.io;v=v1", "", 200, inJSON, `{"kind":"Table",*`},
		{"a table or an object", a, pb + ";as=Table;g=meta.k8s.io;v=v1," + pb, "", 200, pb, made},

		{"update", "PUT {core}/configmaps/a", pb, body(`},"data":{"k":"2"}`), 200, pb, `{"kind":"ConfigMap",*"data":{"k":"2"}}`},
		{"update of an old version", "PUT {core}/configmaps/a", pb, body(`,"resourceVersion":"1"}`), 409, pb, failure("please apply your changes to the latest version and try again*")},
		{"a patch", "PATCH {core}/configmaps/a", pb, "\n" + `{"data":{"k":"3"}}`, 200, pb, `{"kind":"ConfigMap",*"data":{"k":"3"}}`},
		{"another kind", "PUT {core}/configmaps/a", pb, string(protobuf.Envelope{APIVersion: "v1", Kind: "Nope"}.Append(nil)), 400, pb, failure(`no kind \"Nope\" is registered for version \"v1\" in scheme*`)},
		{"no kind", "PUT {core}/configmaps/a", pb, string(protobuf.Envelope{Raw: []byte("\n\x03\n\x01a")}.Append(nil)), 200, pb, `{"kind":"ConfigMap",*`},
		{"a field of a newer client", "PUT {core}/configmaps/a", pb, string(protobuf.Envelope{APIVersion: "v1", Kind: "ConfigMap", Raw: []byte("\n\x03\n\x01a\xfa\x06\x01x")}.Append(nil)), 200, pb, `{"kind":"ConfigMap",*`},
		{"no protobuf", "PUT {core}/configmaps/a", pb, "k9s", 400, pb, failure("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]*")},
		{"only the prefix", "PUT {core}/configmaps/a", pb, "k8s\x00", 400, pb, failure("empty body*")},
		{"what is cut", "PUT {core}/configmaps/a", pb, "k8s\x00\n\x0f\n\x02v1", 400, pb, failure("unexpected EOF*")},

		{
			"a lease", leases, pb, `{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"a"},"spec":{"holderIdentity":"h","leaseDurationSeconds":15,"renewTime":"2026-01-02T03:04:05.000600Z"}}`, 201, pb,
			`{"kind":"Lease",*"spec":{"holderIdentity":"h","leaseDurationSeconds":15,"renewTime":"2026-01-02T03:04:05.000600Z"}}`,
		},
		{"a deployment", "POST {apps}/deployments", pb, `{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"a"},"spec":{"replicas":2,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},` +
			`"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"0.1"}}}]}}}}`, 201, pb, `{"kind":"Deployment",*"replicas":2,*`},
		{"its scale", "GET {apps}/deployments/a/scale", pb, "", 200, pb, `{"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"a",*},"spec":{"replicas":2},"status":{"replicas":0,"selector":"a=b"}}`},
		{"another scale", "PUT {apps}/deployments/a/scale", pb, `{"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"a"},"spec":{"replicas":0}}`, 200, pb, `{"kind":"Scale",*"spec":{},*`},
		{
			"a review", "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews", pb, `{"kind":"SelfSubjectAccessReview","apiVersion":"authorization.k8s.io/v1","spec":{"nonResourceAttributes":{"path":"/","verb":"get"}}}`, 201, pb,
			`{"kind":"SelfSubjectAccessReview",*"status":{"allowed":true*`,
		},

		{"delete another uid", "DELETE {core}/configmaps/a", pb, `{"kind":"DeleteOptions","apiVersion":"meta.k8s.io/v1","preconditions":{"uid":"x"}}`, 409, pb, failure("the UID in the precondition (x) does not match the UID in record (*")},
		{"delete by the group's kind", "DELETE {core}/configmaps/a", pb, string(protobuf.Envelope{APIVersion: "v1", Kind: "DeleteOptions", Raw: []byte("*\x03All")}.Append(nil)), 200, pb, `{"kind":"Status",*"status":"Success",*`},
		{
			"delete", "DELETE {core}/configmaps/a", pb, `{"kind":"DeleteOptions","apiVersion":"meta.k8s.io/v1","gracePeriodSeconds":0}`, 200, pb,
			`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","details":{"name":"a","kind":"configmaps","uid":"*"}}`,
		},
		{"delete all", "DELETE {core}/configmaps?dryRun=All&labelSelector=none", pb, "", 200, pb, `{"kind":"ConfigMapList",*`},
	} {
		c.run(t, e, names)
	}
}

// form returns the parameters of a media type that asks for metadata alone.
func form(list, version string) string {
	return ";as=PartialObjectMetadata" + list + ";g=meta.k8s.io;v=" + version
}

// Custom resources have no protobuf form. Their metadata alone has one, and so have errors about them.
func testProtobufOfCustomResources(t *testing.T, s suite) {
	ns := s.namespace(t)
	names := paths(ns)
	c := newCoder(t, s)
	s.widget(t, ns, "a", "{}")
	const inJSON, pb = "application/json", asProtobuf
	const a, all = "GET {widgets}/a", "GET {widgets}"
	const only = "only the following media types are accepted: " + inJSON + ", application/yaml, " + pb
	for _, e := range []encoded{
		{"get", a, pb, "", 406, pb, failure(only)},
		{"get by the order", a, pb + "," + inJSON, "", 200, inJSON, `{"apiVersion":"conformance.bowline.example/v1","kind":"Widget",*`},
		{"get by quality", a, inJSON + ";q=0.1," + pb, "", 200, inJSON, `{"apiVersion":"conformance.bowline.example/v1","kind":"Widget",*`},
		{"get what is missing", "GET {widgets}/none", pb + "," + inJSON, "", 404, pb, failure(`widgets.conformance.bowline.example \"none\" not found*`)},
		{"list", all, pb, "", 406, pb, failure(only)},
		{"metadata", a, pb + form("", "v1"), "", 200, pb, `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a",*}}`},
		{"metadata of a list", all, pb + form("List", "v1"), "", 200, pb, `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"*"},"items":[{"metadata":{"name":"a",*}}]}`},
		{"a table", a, pb + ";as=Table;g=meta.k8s.io;v=v1," + inJSON, "", 200, inJSON, `{"apiVersion":"conformance.bowline.example/v1",*`},
		{"delete, dry", "DELETE {widgets}/a", inJSON, `{"kind":"DeleteOptions","apiVersion":"meta.k8s.io/v1","dryRun":["All"]}`, 200, inJSON, `{*`},
		{"delete", "DELETE {widgets}/a", pb + "," + inJSON, `{"kind":"DeleteOptions","apiVersion":"meta.k8s.io/v1"}`, 200, inJSON, `{"kind":"Status",*"status":"Success",*`},
	} {
		c.run(t, e, names)
	}
}

// The events of a watch are frames with a length.
func testProtobufWatch(t *testing.T, s suite) {
	ns := s.namespace(t)
	names := paths(ns)
	c := newCoder(t, s)
	s.configMap(t, ns, "a", map[string]string{"l": ""})
	s.widget(t, ns, "a", "{}")
	const watch, object = "?watch=1&labelSelector=l&timeoutSeconds=1", `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a",*}}`
	for _, e := range []encoded{
		{"objects", "GET {core}/configmaps" + watch, asProtobuf, "", 200, asProtobuf + ";stream=watch", "ADDED " + object},
		{"the type of a stream", "GET {core}/configmaps" + watch, asProtobuf + ";stream=watch", "", 200, asProtobuf + ";stream=watch", "ADDED " + object},
		{"the first form", "GET {core}/configmaps" + watch, asProtobuf + ",application/json", "", 200, asProtobuf + ";stream=watch", "ADDED " + object},
		{"metadata", "GET {core}/configmaps" + watch, asProtobuf + form("", "v1"), "", 200, asProtobuf + ";stream=watch", `ADDED {"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a",*}}`},
		{"metadata of a custom resource", "GET {widgets}?watch=1&timeoutSeconds=1", asProtobuf + form("", "v1"), "", 200, asProtobuf + ";stream=watch", `ADDED {"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a",*}}`},
		{
			"a bookmark", "GET {core}/configmaps?watch=1&labelSelector=none&allowWatchBookmarks=1&sendInitialEvents=1&resourceVersionMatch=NotOlderThan&timeoutSeconds=1", asProtobuf, "", 200, asProtobuf + ";stream=watch",
			`BOOKMARK {"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"*","annotations":{"k8s.io/initial-events-end":"true"}}}`,
		},
	} {
		resp := c.open(t, e, names)
		equal(t, e.name+": the code", resp.StatusCode, e.code)
		equal(t, e.name+": the type", resp.Header.Get("Content-Type"), e.as)
		if got := c.event(t, resp.Body); !matches(got, e.want) {
			t.Errorf("%s: got %s\nwant %s", e.name, got, e.want)
		}
		resp.Body.Close()
	}
	for _, e := range []encoded{
		{"a table", "GET {core}/configmaps" + watch, asProtobuf + ";as=Table;g=meta.k8s.io;v=v1", "", 406, "application/json", failure("*")},
		{"custom resources", "GET {widgets}" + watch, asProtobuf, "", 406, asProtobuf, failure("only the following media types are accepted: *")},
	} {
		c.run(t, e, names)
	}
}

// event reads one event: its type and the JSON of its object.
func (c *coder) event(t *testing.T, r io.Reader) string {
	t.Helper()
	var length [4]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		t.Errorf("read an event: %v", err)
		return ""
	}
	frame := make([]byte, min(binary.BigEndian.Uint32(length[:]), 1<<20))
	if _, err := io.ReadFull(r, frame); err != nil {
		t.Errorf("read an event: %v", err)
		return ""
	}
	typ, object := "", []byte(nil)
	for len(frame) > 0 {
		number, _, value, err := protobuf.ReadTag(frame)
		if err != nil {
			t.Fatal(err)
		}
		content, rest, err := protobuf.ReadBytes(value)
		if err != nil {
			t.Fatal(err)
		}
		frame = rest
		switch number {
		case 1:
			typ = string(content)
		case 2: // a message with the envelope in its first field
			_, _, value, err := protobuf.ReadTag(content)
			if err != nil {
				t.Fatal(err)
			}
			object, _, err = protobuf.ReadBytes(value)
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return typ + " " + c.json(t, object)
}
