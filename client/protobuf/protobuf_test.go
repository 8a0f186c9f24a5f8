package protobuf_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/protobuf"
	"github.com/bowline-go/bowline/client/protobuf/core"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/internal/codec"
	inside "github.com/bowline-go/bowline/internal/protobuf"
)

type configMap struct {
	meta.ObjectMeta `json:"metadata"`
	Data            map[string]string `json:"data"`
	BinaryData      map[string][]byte `json:"binaryData"`
	Immutable       *bool             `json:"immutable"`
}

var configMaps = client.Type[*configMap]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}

// future names a member that no table has.
type future struct {
	meta.Identity `json:"metadata"`
	Shape         string `json:"shape"`
}

// foreign decodes its own messages, as the types of k8s.io/api do.
type foreign struct {
	meta.Identity `json:"metadata"`
	kind          string
	message       []byte
}

func (f *foreign) Unmarshal(message []byte) error {
	f.message = append([]byte(nil), message...)
	if f.Name = "unmarshaled"; strings.Contains(string(message), "unfit") {
		return errors.New("this one does not fit")
	}
	return nil
}

func (f *foreign) SetTypeMeta(apiVersion, kind string) { f.kind = apiVersion + " " + kind }

// types records the types that were asked for and sent.
type types struct {
	http.RoundTripper
	mu   sync.Mutex
	seen []string
}

func (s *types) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := s.RoundTripper.RoundTrip(r)
	if err == nil && r.Method == http.MethodGet {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.seen = append(s.seen, r.Header.Get("Accept")+" -> "+resp.Header.Get("Content-Type"))
	}
	return resp, err
}

func (s *types) take() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := strings.Join(s.seen, "\n")
	s.seen = nil
	return seen
}

func open(t *testing.T, cfg client.Config, tables ...protobuf.Table) (*client.Client, *types) {
	t.Helper()
	seen := &types{}
	cfg.Protobuf = protobuf.New(tables...)
	cfg.Wrap = func(next http.RoundTripper) http.RoundTripper {
		seen.RoundTripper = next
		return seen
	}
	c, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, seen
}

const (
	asked       = binType + drop + ", " + asJSON
	asJSON      = asPlainJSON + drop
	asPlainJSON = "application/json"
	drop        = ";drop=metadata.managedFields"
	binType     = "application/vnd.kubernetes.protobuf"
)

func TestListsAndWatchesComeAsProtobuf(t *testing.T) {
	s := clienttest.Start(t, clienttest.Options{})
	c, seen := open(t, s.Config(), core.V1())
	plain, err := client.New(s.Config())
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	ctx := t.Context()
	yes := true
	for i := range 5 {
		obj := &configMap{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: fmt.Sprint("m", i), Labels: map[string]string{"app": "a"}}}
		obj.Data, obj.BinaryData = map[string]string{"k": "é\x00"}, map[string][]byte{"b": {0, 255}}
		if i == 3 {
			obj.Immutable = &yes
		}
		if _, err := client.For(c, configMaps).Create(ctx, obj); err != nil {
			t.Fatal(err)
		}
	}
	want, err := client.For(plain, configMaps).List(ctx, client.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	seen.take()
	got, err := client.For(c, configMaps).List(ctx, client.ListOptions{PageSize: 2})
	if err != nil || !reflect.DeepEqual(got.Items, want.Items) || got.ResourceVersion != want.ResourceVersion {
		t.Errorf("list: %+v, %v, want %+v", got, err, want)
	}
	if page := asked + " -> " + binType; seen.take() != strings.Join([]string{page, page, page}, "\n") {
		t.Errorf("the pages were %q", seen.take())
	}
	n := 0
	for e, err := range client.For(c, configMaps).Watch(ctx, client.WatchOptions{InitialEvents: true}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.InitialEventsEnd {
			break
		}
		if !reflect.DeepEqual(e.Object, want.Items[n]) {
			t.Errorf("event %d: %+v, want %+v", n, e.Object, want.Items[n])
		}
		n++
	}
	if watch := asked + " -> " + binType + ";stream=watch"; n != len(want.Items) || seen.take() != watch {
		t.Errorf("%d events, as %q", n, seen.take())
	}
	obj, err := client.For(c, configMaps).Get(ctx, meta.Key{Namespace: "default", Name: "m0"})
	if err != nil {
		t.Fatal(err)
	}
	obj.ManagedFields = nil // lists leave them out
	if !reflect.DeepEqual(obj, want.Items[0]) || seen.take() != "application/json -> application/json" {
		t.Errorf("get: %+v", obj)
	}
}

// Resources without protobuf come as JSON, and the status of an informer says why.
func TestResourcesWithoutProtobufComeAsJSON(t *testing.T) {
	s := clienttest.Start(t, clienttest.Options{})
	if err := s.Register(clienttest.Resource{Group: "example.com", Version: "v1", Kind: "Widget", Resource: "widgets"}); err != nil {
		t.Fatal(err)
	}
	c, seen := open(t, s.Config(), core.V1())
	plain := configMaps
	plain.JSON = true
	jsonOnly := asJSON + " -> application/json"
	status := func(inf interface {
		informer.Runner
		Status() informer.Status
		WaitSynced(context.Context) error
	},
	) (informer.Status, string) {
		t.Helper()
		seen.take() // of the watch before
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- inf.Run(ctx) }()
		defer func() {
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		}()
		if err := inf.WaitSynced(t.Context()); err != nil {
			t.Fatal(err)
		}
		asked, _, _ := strings.Cut(seen.take(), "\n")
		return inf.Status(), asked
	}
	o := informer.Options{Mode: informer.Paged}
	for name, c := range map[string]struct {
		inf interface {
			informer.Runner
			Status() informer.Status
			WaitSynced(context.Context) error
		}
		seen, why string
	}{
		"a kind of a table": {informer.New(client.For(c, configMaps), o), asked + " -> " + binType, ""},
		"a custom resource": {
			informer.New(client.For(c, client.Type[*meta.Partial]{Group: "example.com", Version: "v1", Kind: "Widget", Resource: "widgets"}), o),
			jsonOnly, "no table has Widget.example.com/v1",
		},
		"a kind of no table": {
			informer.New(client.For(c, client.Type[*meta.Partial]{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments"}), o),
			jsonOnly, "no table has Deployment.apps/v1",
		},
		"a member of no table": {
			informer.New(client.For(c, client.Type[*future]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}), o),
			jsonOnly, "shape: the protobuf table of ConfigMap has no such member",
		},
		"a map": {
			informer.New(client.For(c, client.Type[*meta.Unstructured]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}), o),
			jsonOnly, "*meta.Unstructured is not a pointer to a struct without methods for decoding JSON",
		},
		"a type for JSON": {informer.New(client.For(c, plain), o), jsonOnly, "Type.JSON is set"},
		"metadata": {
			informer.New(client.Metadata(client.For(c, client.Type[*future]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"})), o),
			binType + ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1" + drop + ", application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1" +
				drop + " -> " + binType, "",
		},
	} {
		got, seen := status(c.inf)
		if got.Protobuf != (c.why == "") || got.WhyJSON != c.why || seen != c.seen {
			t.Errorf("%s: %v, %q, as %q, want %q, as %q", name, got.Protobuf, got.WhyJSON, seen, c.why, c.seen)
		}
		if shown := got.String(); c.why == "" && !strings.Contains(shown, "form=protobuf") || !strings.Contains(shown, c.why) {
			t.Errorf("%s: the status is shown as %s", name, shown)
		}
	}
}

// scripted is a server that answers with one function.
func scripted(t *testing.T, answer http.HandlerFunc) client.Config {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	return client.Config{Server: s.URL, Retry: client.Retry{Attempts: 1}}
}

// A server that refuses a form of its answer is asked for the next one, and for an hour not for the refused one. A refusal of the parameter
// drop alone cost protobuf.
func TestARefusalIsRemembered(t *testing.T) {
	const bin, dropping = binType + ", " + asPlainJSON, binType + drop + ", " + asJSON
	refusing := func(words ...string) func(accept string) bool {
		return func(accept string) bool {
			return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(accept, word) })
		}
	}
	for _, test := range []struct {
		name    string
		refuses func(accept string) bool
		first   []string // what the first list accepts
		then    string   // and each one in the next hour, as its only request
	}{
		{"nothing", refusing(), []string{dropping}, dropping},
		{"the parameter", refusing("drop"), []string{dropping, bin}, bin},
		{"protobuf", refusing("protobuf"), []string{dropping, bin, asJSON}, asJSON},
		{"both", refusing("drop", "protobuf"), []string{dropping, bin, asJSON, asPlainJSON}, asPlainJSON},
		{
			"the two together", func(accept string) bool {
				return strings.Contains(accept, "drop") && strings.Contains(accept, "protobuf")
			},
			[]string{dropping, bin},
			bin,
		},
	} {
		for _, code := range []int{http.StatusNotAcceptable, http.StatusUnsupportedMediaType} {
			t.Run(fmt.Sprint(test.name, " with ", code), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server := clienttest.Start(t, clienttest.Options{})
					var asked []string
					server.Intercept(func(r *http.Request) http.HandlerFunc {
						accept := r.Header.Get("Accept")
						asked = append(asked, accept)
						if test.refuses(accept) {
							return clienttest.Answer(meta.Status{Code: code})
						}
						return nil
					})
					c, _ := open(t, server.Config(), core.V1())
					r := client.For(c, configMaps)
					ask := func(want ...string) {
						t.Helper()
						asked = nil
						_, err := r.List(t.Context(), client.ListOptions{})
						used, why := r.Protobuf()
						if wantUsed := strings.Contains(want[len(want)-1], "protobuf"); err != nil || used != wantUsed || (why == nil) != wantUsed {
							t.Errorf("the list is %v, in protobuf: %t, %v", err, used, why)
						}
						if !slices.Equal(asked, want) {
							t.Errorf("asked for %q, want %q", asked, want)
						}
					}
					ask(test.first...)
					ask(test.then)
					time.Sleep(59 * time.Minute)
					ask(test.then)
					for event, err := range r.Watch(t.Context(), client.WatchOptions{InitialEvents: true}) {
						if err != nil || asked[len(asked)-1] != test.then {
							t.Errorf("the watch is %v, %v, and asked for %q", event, err, asked)
						}
						break
					}
					time.Sleep(2 * time.Minute)
					ask(test.first...)
				})
			})
		}
	}
}

// A server that has no form at all is no reason to give one up.
func TestARefusalOfEveryFormIsNotRemembered(t *testing.T) {
	var asked []string
	refuses := true
	cfg := scripted(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Header.Get("Accept"))
		if refuses {
			w.WriteHeader(http.StatusNotAcceptable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}`)
	})
	c, _ := open(t, cfg, core.V1())
	_, err := client.For(c, configMaps).List(t.Context(), client.ListOptions{})
	if !errors.Is(err, apierrors.NotAcceptable) || len(asked) != 4 {
		t.Errorf("error is %v after %q", err, asked)
	}
	refuses = false
	if _, err := client.For(c, configMaps).List(t.Context(), client.ListOptions{}); err != nil || len(asked) != 5 || asked[4] != asked[0] {
		t.Errorf("error is %v after %q", err, asked)
	}
}

// An aggregated server may know only JSON, and sends it.
func TestAServerMayAnswerInJSON(t *testing.T) {
	cfg := scripted(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Get("watch") != "" {
			_, _ = io.WriteString(w, `{"type":"ADDED","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"2"}}}`)
			return
		}
		_, _ = io.WriteString(w, `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"a"}}]}`)
	})
	c, _ := open(t, cfg, core.V1())
	r := client.For(c, configMaps)
	if l, err := r.List(t.Context(), client.ListOptions{}); err != nil || len(l.Items) != 1 || l.Items[0].Name != "a" {
		t.Errorf("list: %v, %v", l, err)
	}
	for e, err := range r.Watch(t.Context(), client.WatchOptions{}) {
		if err != nil || e.Object.Name != "a" {
			t.Errorf("watch: %v, %v", e, err)
		}
	}
}

// Bodies that are not what their Content-Type says are errors that say so.
func TestWrongBodiesAreErrors(t *testing.T) {
	envelope := inside.Envelope{APIVersion: "v1", Kind: "ConfigMapList", Raw: inside.AppendBytes(nil, 1, inside.AppendString(nil, 2, "1"))}.Append(nil)
	for name, c := range map[string]struct {
		contentType, body string
		want              error
	}{
		"JSON as protobuf":  {binType, `{"kind":"ConfigMapList"}`, client.ForeignBody},
		"protobuf as JSON":  {"application/json", string(envelope), client.ForeignBody},
		"a page of a proxy": {"text/html", "<html>", client.ForeignBody},
		"a broken message":  {binType, string(inside.Envelope{APIVersion: "v1", Kind: "ConfigMapList", Raw: []byte{0}}.Append(nil)), client.BrokenBody},
		"a cut message":     {binType, string(envelope[:len(envelope)-6]), io.ErrUnexpectedEOF},
		"another kind":      {binType, string(inside.Envelope{APIVersion: "v1", Kind: "SecretList", Raw: []byte{}}.Append(nil)), client.WrongKind},
	} {
		cfg := scripted(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", c.contentType)
			_, _ = io.WriteString(w, c.body)
		})
		cl, _ := open(t, cfg, core.V1())
		if l, err := client.For(cl, configMaps).List(t.Context(), client.ListOptions{}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, %v, want %v", name, l, err, c.want)
		}
	}
}

// Errors may come as protobuf too, as the body of an answer and within a watch; or as JSON in spite of it.
func TestErrorsAreReadInBothForms(t *testing.T) {
	status := inside.AppendString(nil, 2, "Failure")
	status = inside.AppendString(status, 3, "too old")
	status = inside.AppendString(status, 4, "Expired")
	status = inside.AppendVarint(status, 6, 410)
	body := inside.Envelope{APIVersion: "v1", Kind: "Status", Raw: status}.Append(nil)
	event := inside.AppendBytes(inside.AppendString(nil, 1, "ERROR"), 2, inside.AppendBytes(nil, 1, body))
	frame := append(binary.BigEndian.AppendUint32(nil, uint32(len(event))), event...)
	var asJSON atomic.Bool
	cfg := scripted(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Query().Get("watch") != "":
			w.Header().Set("Content-Type", binType+";stream=watch")
			_, _ = w.Write(frame)
		case asJSON.Load():
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusGone)
			_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"too old","reason":"Expired","code":410}`)
		default:
			w.Header().Set("Content-Type", binType)
			w.WriteHeader(http.StatusGone)
			_, _ = w.Write(body)
		}
	})
	c, _ := open(t, cfg, core.V1())
	r := client.For(c, configMaps)
	for range 2 {
		if _, err := r.List(t.Context(), client.ListOptions{}); !errors.Is(err, apierrors.Expired) || !strings.Contains(err.Error(), "too old") {
			t.Errorf("list: %v", err)
		}
		asJSON.Store(true)
	}
	for _, err := range r.Watch(t.Context(), client.WatchOptions{}) {
		if !errors.Is(err, apierrors.Expired) || !strings.Contains(err.Error(), "too old") {
			t.Errorf("watch: %v", err)
		}
	}
}

// A projection of a kind that no table has comes as JSON, because a method Unmarshal would decode all of the object.
func TestAProjectionNeedsATable(t *testing.T) {
	form := protobuf.New(core.V1())
	typ := reflect.TypeFor[*foreign]()
	only, err := codec.Project(typ, []string{"metadata"})
	if err != nil {
		t.Fatal(err)
	}
	kind := meta.GVK{Group: "example.com", Version: "v1", Kind: "Foreign"}
	if _, err := form.Decoder(kind, typ, nil); err != nil {
		t.Error(err)
	}
	if _, err := form.Decoder(kind, typ, only); err == nil || !strings.Contains(err.Error(), "a method Unmarshal cannot leave out members") {
		t.Errorf("a projection: %v", err)
	}
}

// A type that decodes its own messages needs no table. An object that it refuses costs none of the others.
func TestATypeThatDecodesItselfNeedsNoTable(t *testing.T) {
	s := clienttest.Start(t, clienttest.Options{})
	c, seen := open(t, s.Config())
	ctx := t.Context()
	for _, name := range []string{"a", "unfit", "c"} {
		if _, err := client.For(c, configMaps).Create(ctx, &configMap{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: name}}); err != nil {
			t.Fatal(err)
		}
	}
	seen.take()
	good, bad := 0, 0
	_, err := client.For(c, client.Type[*foreign]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}).ListEach(ctx, client.ListOptions{}, nil,
		func(i client.Item[*foreign]) error {
			switch wrong := (*client.DecodeError)(nil); {
			case errors.As(i.Err, &wrong) && i.Identity.Name == "unfit" && strings.Contains(i.Err.Error(), "its method Unmarshal: this one"):
				bad++
			case i.Err == nil && i.Object.Name == "unmarshaled" && i.Object.kind == "v1 ConfigMap" && len(i.Object.message) > 0:
				good++
			default:
				t.Errorf("item %v: %v, %v", i.Identity, i.Object, i.Err)
			}
			return nil
		})
	if err != nil || good != 2 || bad != 1 || seen.take() != asked+" -> "+binType {
		t.Errorf("%d good and %d bad, %v", good, bad, err)
	}
}

func TestNewRefusesTheZeroTable(t *testing.T) {
	defer func() {
		if said := fmt.Sprint(recover()); said != "client/protobuf.New: table 1 is the zero Table" {
			t.Errorf("New said %q", said)
		}
	}()
	protobuf.New(core.V1(), protobuf.Table{})
}

// Only the Status of an informer said why protobuf was not used; a program that lists could not find out.
func TestAHandleSaysWhyItsListsAreJSON(t *testing.T) {
	cfg := scripted(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}`)
	})
	open := func(p client.Protobuf) *client.Client {
		cfg.Protobuf = p
		c, err := client.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return c
	}
	c := open(protobuf.New(core.V1()))
	check := func(name string, used bool, err error, want string) {
		t.Helper()
		if used || (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v, want %q", name, used, err, want)
		}
	}
	r := client.For(c, configMaps)
	used, err := r.Protobuf()
	check("before the first list", used, err, "")
	if _, err := r.List(t.Context(), client.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	used, err = r.Protobuf()
	check("after a list", used, err, "the server has answered in JSON")
	used, err = client.For(c, client.Type[*meta.Partial]{Group: "apps", Version: "v1", Kind: "StatefulSet", Resource: "statefulsets"}).Protobuf()
	check("a kind of no table", used, err, "no table has StatefulSet.apps/v1")
	used, err = client.For(open(nil), configMaps).Protobuf()
	check("without Config.Protobuf", used, err, "Config.Protobuf is not set")
	used, err = client.Resource[*meta.Partial]{}.Protobuf()
	check("the zero Resource", used, err, "use client.For")
}
