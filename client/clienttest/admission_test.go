package clienttest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/patch"
)

// text is an object of which a test reads little.
type text = meta.Unstructured

var (
	mapsOfText = client.Type[*text]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}
	podsOfText = client.Type[*text]{Version: "v1", Kind: "Pod", Resource: "pods"}
	servicesOf = client.Type[*text]{Version: "v1", Kind: "Service", Resource: "services"}
	deploys    = client.Type[*text]{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments"}
	spaces     = client.Type[*text]{Version: "v1", Kind: "Namespace", Resource: "namespaces", Scope: meta.Cluster}
	mutating   = client.Type[*text]{
		Group: "admissionregistration.k8s.io", Version: "v1", Kind: "MutatingWebhookConfiguration",
		Resource: "mutatingwebhookconfigurations", Scope: meta.Cluster,
	}
	validating = client.Type[*text]{
		Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingWebhookConfiguration",
		Resource: "validatingwebhookconfigurations", Scope: meta.Cluster,
	}
)

func textOf(t *testing.T, body string) *text {
	t.Helper()
	o := new(text)
	if err := json.Unmarshal([]byte(body), o); err != nil {
		t.Fatal(err)
	}
	return o
}

// admitted starts a server, and returns a client of it and the namespace default.
func admitted(t *testing.T, o clienttest.Options) *client.Client {
	t.Helper()
	c, err := client.New(clienttest.Start(t, o).Config())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestFunctionsDecideAboutEachOperation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []string
		record := func(phase string) func(context.Context, *clienttest.Admission) error {
			return func(_ context.Context, a *clienttest.Admission) error {
				asked = append(asked, fmt.Sprintf("%s %s %s/%s %s %s object=%t old=%t dry=%t", phase, a.Operation, a.Resource.Resource, a.Subresource,
					a.Kind.Kind, a.Key.Name, a.Object != nil, a.OldObject != nil, a.DryRun))
				return nil
			}
		}
		c := admitted(t, clienttest.Options{Admit: record("admit"), Validate: record("validate")})
		check := func(what string, err error, want ...string) {
			t.Helper()
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			var both []string
			for _, w := range want {
				both = append(both, "admit "+w, "validate "+w)
			}
			if !slices.Equal(asked, both) {
				t.Errorf("%s: functions are asked\n%s\nwant\n%s", what, strings.Join(asked, "\n"), strings.Join(both, "\n"))
			}
			asked = nil
		}
		r := client.For(c, mapsOfText).In("default")
		_, err := r.Create(t.Context(), textOf(t, `{"metadata":{"name":"a"}}`))
		check("create", err, "CREATE configmaps/ ConfigMap a object=true old=false dry=false")
		_, err = r.With(client.WriteOptions{DryRun: true}).Patch(t.Context(), meta.Key{Name: "a"}, patch.Merge(map[string]any{"data": map[string]any{"k": "v"}}))
		check("a dry run", err, "UPDATE configmaps/ ConfigMap a object=true old=true dry=true")
		err = r.Delete(t.Context(), meta.Key{Name: "a"}, client.DeleteOptions{})
		check("delete", err, "DELETE configmaps/ ConfigMap a object=false old=true dry=false")

		pods := client.For(c, podsOfText).In("default")
		_, err = pods.Create(t.Context(), textOf(t, `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}`))
		check("create a pod", err, "CREATE pods/ Pod p object=true old=false dry=false")
		check("bind", client.Bind(t.Context(), pods, meta.Key{Name: "p"}, "n"), "CREATE pods/binding Binding p object=true old=false dry=false")
		check("evict", client.Evict(t.Context(), pods, meta.Key{Name: "p"}, client.DeleteOptions{GracePeriod: client.NoGracePeriod}),
			"CREATE pods/eviction Eviction p object=true old=false dry=false")

		d := client.For(c, deploys).In("default")
		_, err = d.Create(t.Context(), textOf(t, `{"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},
			"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`))
		check("create a deployment", err, "CREATE deployments/ Deployment d object=true old=false dry=false")
		_, err = client.ScaleOf(d).Patch(t.Context(), meta.Key{Name: "d"}, patch.Merge(map[string]any{"spec": map[string]any{"replicas": 2}}))
		check("scale", err, "UPDATE deployments/scale Scale d object=true old=true dry=false")
		_, err = d.Sub("status").Patch(t.Context(), meta.Key{Name: "d"}, patch.Merge(map[string]any{"status": map[string]any{"replicas": 2}}))
		check("status", err, "UPDATE deployments/status Deployment d object=true old=true dry=false")

		for _, name := range []string{"x", "y"} {
			if _, err := r.Create(t.Context(), textOf(t, `{"metadata":{"name":"`+name+`"}}`)); err != nil {
				t.Fatal(err)
			}
		}
		asked = nil
		check("delete all", r.DeleteCollection(t.Context(), client.Selection{Everything: true}, client.DeleteOptions{}),
			"DELETE configmaps/ ConfigMap x object=false old=true dry=false", "DELETE configmaps/ ConfigMap y object=false old=true dry=false")
	})
}

func TestAFunctionRefusesAndChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := admitted(t, clienttest.Options{
			Admit: func(_ context.Context, a *clienttest.Admission) error {
				if a.Resource.Resource == "configmaps" && a.Operation == "CREATE" {
					a.Object = []byte(strings.Replace(string(a.Object), `"metadata":{`, `"data":{"k":"admitted"},"unknown":1,"metadata":{`, 1))
				}
				return nil
			},
			Validate: func(_ context.Context, a *clienttest.Admission) error {
				if strings.Contains(string(a.Object), `"forbidden"`) || a.Operation == "DELETE" && a.User.Name != "" {
					return errors.New("it is not Monday")
				}
				return nil
			},
		})
		r := client.For(c, mapsOfText).In("default")
		made, err := r.Create(t.Context(), textOf(t, `{"metadata":{"name":"a"}}`))
		if err != nil {
			t.Fatal(err)
		}
		whole, err := json.Marshal(made)
		if err != nil {
			t.Fatal(err)
		}
		if s := string(whole); !strings.Contains(s, `"data":{"k":"admitted"}`) || strings.Contains(s, "unknown") || strings.Contains(s, "f:data") {
			t.Errorf("the object is %s, want data that nobody owns and no unknown member", s)
		}
		_, err = r.Create(t.Context(), textOf(t, `{"metadata":{"name":"b","labels":{"x":"forbidden"}}}`))
		if want := `configmaps "b" is forbidden: it is not Monday`; !errors.Is(err, apierrors.Forbidden) || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %s", err, want)
		}
		if err := r.Delete(t.Context(), meta.Key{Name: "a"}, client.DeleteOptions{}); !errors.Is(err, apierrors.Forbidden) {
			t.Errorf("the deletion returns %v", err)
		}
		if err := r.DeleteCollection(t.Context(), client.Selection{Everything: true}, client.DeleteOptions{}); !errors.Is(err, apierrors.Forbidden) {
			t.Errorf("the deletion of all returns %v", err)
		}
	})
}

// A function may write to the server, also to the object that it decides about: the write of the client begins again.
func TestAFunctionMayUseTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c *client.Client
		var times atomic.Int64
		var always atomic.Bool
		inner := func(ctx context.Context, a *clienttest.Admission) error {
			if a.User.Name != "outer" {
				return nil
			}
			n := times.Add(1)
			if n > 1 && !always.Load() {
				return nil
			}
			data := map[string]any{"inner": strconv.FormatInt(n, 10)}
			_, err := client.For(c, mapsOfText).In("default").Patch(ctx, meta.Key{Name: "a"}, patch.Merge(map[string]any{"data": data}))
			return err
		}
		server := clienttest.Start(t, clienttest.Options{Validate: inner})
		cfg := server.Config()
		var err error
		if c, err = client.New(cfg); err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		cfg.Impersonate = &client.Subject{User: "outer"}
		outer, err := client.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer outer.Close()
		old, err := client.For(c, mapsOfText).In("default").Create(t.Context(), textOf(t, `{"metadata":{"name":"a"}}`))
		if err != nil {
			t.Fatal(err)
		}
		r := client.For(outer, mapsOfText).In("default")
		is, err := r.Patch(t.Context(), meta.Key{Name: "a"}, patch.Merge(map[string]any{"data": map[string]any{"outer": "2"}}))
		if err != nil {
			t.Fatal(err)
		}
		if whole, _ := json.Marshal(is); !strings.Contains(string(whole), `"data":{"inner":"1","outer":"2"}`) || times.Load() != 2 {
			t.Errorf("after %d questions the object is %s, want both data after 2", times.Load(), whole)
		}
		times.Store(0)
		if _, err := r.Update(t.Context(), old); !errors.Is(err, apierrors.Conflict) {
			t.Errorf("an update of the old version returns %v, want a conflict", err)
		}
		times.Store(1)
		always.Store(true) // each question changes the object
		_, err = r.Patch(t.Context(), meta.Key{Name: "a"}, patch.Merge(map[string]any{"data": map[string]any{"outer": "3"}}))
		if want := "the object has changed each time while admission was asked"; !errors.Is(err, apierrors.Timeout) || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %s", err, want)
		}
	})
}

// hookConfig is a configuration of one webhook of the service hooks/hooks.
func hookConfig(more string) string {
	return `{"metadata":{"name":"hooks"},"webhooks":[{"name":"hook.example.com","sideEffects":"None","admissionReviewVersions":["v1"],
		"clientConfig":{"service":{"namespace":"hooks","name":"hooks","path":"/hook"}},
		"rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*/*"]}]` + more + `}]}`
}

// answering returns a handler of webhooks that allows everything, with a patch if there is one.
func answering(patch string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review struct {
			Request struct {
				UID string `json:"uid"`
			} `json:"request"`
		}
		_ = json.NewDecoder(r.Body).Decode(&review)
		answer := map[string]any{"uid": review.Request.UID, "allowed": true}
		if patch != "" {
			answer["patchType"], answer["patch"] = "JSONPatch", []byte(patch)
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "response": answer})
	})
}

func TestAServiceOfTheTestIsAWebhook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := admitted(t, clienttest.Options{Services: map[string]http.Handler{
			"hooks/hooks": answering(`[{"op":"add","path":"/metadata/labels","value":{"hooked":"yes"}}]`),
		}})
		if _, err := client.For(c, mutating).Create(t.Context(), textOf(t, hookConfig(""))); err != nil {
			t.Fatal(err)
		}
		r := client.For(c, mapsOfText).In("default")
		made, err := r.Create(t.Context(), textOf(t, `{"metadata":{"name":"a"}}`))
		if err != nil || made.GetLabels()["hooked"] != "yes" {
			t.Fatalf("the object is %v, the error %v, want the label of the webhook", made, err)
		}
		// A configuration with a caBundle of its own does not trust the service.
		config, err := client.For(c, mutating).Patch(t.Context(), meta.Key{Name: "hooks"}, patch.JSON(
			patch.Add("/webhooks/0/clientConfig/caBundle", otherCA(t)),
		))
		if err != nil {
			t.Fatal(config, err)
		}
		_, err = r.Create(t.Context(), textOf(t, `{"metadata":{"name":"b"}}`))
		if want := "certificate signed by unknown authority"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %s", err, want)
		}
	})
}

// otherCA is the certificate of another server.
func otherCA(t *testing.T) []byte {
	t.Helper()
	return []byte(clienttest.Start(t, clienttest.Options{TLS: true}).Config().TLS.CAData)
}

func TestAWebhookThatCannotBeAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		for _, test := range []struct {
			name, service, more, want string
			after                     time.Duration
		}{
			{"no such service", "other/hooks", "", `Options.Services has no "hooks/hooks"`, 0},
			{"it does not answer", "hooks/hooks", `,"timeoutSeconds":3`, "context deadline exceeded", 3 * time.Second},
			{"it may fail", "hooks/hooks", `,"timeoutSeconds":3,"failurePolicy":"Ignore"`, "", 3 * time.Second},
		} {
			c := admitted(t, clienttest.Options{Services: map[string]http.Handler{test.service: hangs}})
			if _, err := client.For(c, validating).Create(t.Context(), textOf(t, hookConfig(test.more))); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			_, err := client.For(c, mapsOfText).In("default").Create(t.Context(), textOf(t, `{"metadata":{"name":"a"}}`))
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: error is %v, want %q", test.name, err, test.want)
			}
			if took := time.Since(began); took != test.after {
				t.Errorf("%s: it took %v, want %v", test.name, took, test.after)
			}
		}
	})
}

// Two services that are created at once get different addresses, although a webhook keeps both from being stored.
func TestAdmissionDoesNotGiveAnAddressTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := admitted(t, clienttest.Options{Validate: func(context.Context, *clienttest.Admission) error {
			time.Sleep(time.Second)
			return nil
		}})
		results := make(chan string, 2)
		for _, name := range []string{"a", "b"} {
			go func() {
				made, err := client.For(c, servicesOf).In("default").Create(t.Context(), textOf(t, `{"metadata":{"name":"`+name+`"},"spec":{"ports":[{"port":80}]}}`))
				whole, _ := json.Marshal(made)
				_, address, _ := strings.Cut(string(whole), `"clusterIP":"`)
				address, _, _ = strings.Cut(address, `"`)
				if err != nil {
					address = err.Error()
				}
				results <- address
			}()
		}
		if a, b := <-results, <-results; a == b || !strings.HasPrefix(a, "10.") || !strings.HasPrefix(b, "10.") {
			t.Errorf("the addresses are %s and %s", a, b)
		}
	})
}

func TestOptionsOfServicesAreChecked(t *testing.T) {
	err := clienttest.New(clienttest.Options{Services: map[string]http.Handler{"hooks": answering(""), "a/b": nil}}).Run(t.Context())
	for _, want := range []string{`the key must be NAMESPACE/NAME of a service, got "hooks"`, `the handler of "a/b" must not be nil`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
}

// Admission is not asked about the objects that the server deletes with a namespace, nor about reviews.
func TestAdmissionIsNotAskedAbout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []string
		c := admitted(t, clienttest.Options{Validate: func(_ context.Context, a *clienttest.Admission) error {
			asked = append(asked, a.Operation+" "+a.Resource.Resource)
			return nil
		}})
		if _, err := client.For(c, spaces).Create(t.Context(), textOf(t, `{"metadata":{"name":"n"}}`)); err != nil {
			t.Fatal(err)
		}
		if _, err := client.For(c, mapsOfText).In("n").Create(t.Context(), textOf(t, `{"metadata":{"name":"a"}}`)); err != nil {
			t.Fatal(err)
		}
		if err := client.For(c, spaces).Delete(t.Context(), meta.Key{Name: "n"}, client.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		reviews := client.Type[*text]{Group: "authentication.k8s.io", Version: "v1", Kind: "SelfSubjectReview", Resource: "selfsubjectreviews", Scope: meta.Cluster}
		if _, err := client.For(c, reviews).Create(t.Context(), textOf(t, `{}`)); err != nil {
			t.Fatal(err)
		}
		if want := []string{"CREATE namespaces", "CREATE configmaps", "DELETE namespaces"}; !slices.Equal(asked, want) {
			t.Errorf("the function is asked about %q, want %q", asked, want)
		}
	})
}

// GUIDE.md shows the first lines.
func TestTheWebhooksOfAManifestAreAsked(t *testing.T) {
	asked := 0
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		answering("").ServeHTTP(w, r)
	})
	server := clienttest.Start(t, clienttest.Options{
		Objects:  []string{"testdata/webhooks.yaml"},
		Services: map[string]http.Handler{"web/hooks": handler},
	})
	c, err := client.New(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r := client.For(c, mapsOfText).In("default")
	if _, err := r.Create(t.Context(), textOf(t, `{"metadata":{"name":"a"}}`)); err != nil || asked != 1 {
		t.Errorf("the webhook is asked %d times, the error is %v", asked, err)
	}
	if err := r.Delete(t.Context(), meta.Key{Name: "a"}, client.DeleteOptions{}); err != nil || asked != 1 {
		t.Errorf("after a deletion, which no rule names, the webhook is asked %d times, the error is %v", asked, err)
	}
}

// No policy and no condition is silently not checked.
func TestExpressionsNeedRules(t *testing.T) {
	for _, test := range []struct {
		path, body, want string
	}{
		{
			"validatingadmissionpolicies", `{"metadata":{"name":"a"},"spec":{"matchConstraints":{"resourceRules":[{"operations":["*"],"apiGroups":[""],
				"apiVersions":["v1"],"resources":["pods"]}]},"validations":[{"expression":"true"}]}}`, "spec: Forbidden: this server has no CEL",
		},
		{
			"validatingwebhookconfigurations", hookConfig(`,"matchConditions":[{"name":"a","expression":"true"}]`),
			"webhooks[0]: Forbidden: this server has no CEL",
		},
	} {
		h := newHarness(t, clienttest.Options{})
		path := "/apis/admissionregistration.k8s.io/v1/" + test.path
		if a := h.do(t, http.MethodPost, path, test.body); a.code != http.StatusUnprocessableEntity || !strings.Contains(a.body, test.want) {
			t.Errorf("%s: %d %s, want %s", test.path, a.code, a.body, test.want)
		}
		newHarness(t, clienttest.Options{Lenient: true}).must(t, http.MethodPost, path, test.body)
	}
}

// A webhook that wants it is asked again if a later one has changed the object, and only once.
func TestAWebhookIsAskedAgainAfterALaterOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []string
		handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked = append(asked, r.URL.Path)
			patch := ""
			if r.URL.Path == "/second" {
				patch = `[{"op":"add","path":"/metadata/labels","value":{"hooked":"yes"}}]`
			}
			answering(patch).ServeHTTP(w, r)
		})
		hook := func(name, more string) string {
			return `{"name":"` + name + `.example.com","sideEffects":"None","admissionReviewVersions":["v1"],
				"clientConfig":{"service":{"namespace":"hooks","name":"hooks","path":"/` + name + `"}},
				"rules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}]` + more + `}`
		}
		c := admitted(t, clienttest.Options{Services: map[string]http.Handler{"hooks/hooks": handler}})
		config := `{"metadata":{"name":"a"},"webhooks":[` + hook("never", "") + "," + hook("first", `,"reinvocationPolicy":"IfNeeded"`) + "," + hook("second", "") + `]}`
		if _, err := client.For(c, mutating).Create(t.Context(), textOf(t, config)); err != nil {
			t.Fatal(err)
		}
		if _, err := client.For(c, mapsOfText).In("default").Create(t.Context(), textOf(t, `{"metadata":{"name":"a"}}`)); err != nil {
			t.Fatal(err)
		}
		if want := []string{"/never", "/first", "/second", "/first"}; !slices.Equal(asked, want) {
			t.Errorf("webhooks are asked in the order %q, want %q", asked, want)
		}
	})
}

// A service that is changed keeps its address, and a dry run chooses one, although admission is asked.
func TestAdmissionKeepsTheAddressOfAService(t *testing.T) {
	c := admitted(t, clienttest.Options{Validate: func(context.Context, *clienttest.Admission) error { return nil }})
	r := client.For(c, servicesOf).In("default")
	made, err := r.Create(t.Context(), textOf(t, `{"metadata":{"name":"a"},"spec":{"type":"NodePort","ports":[{"port":80}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	is, err := r.Patch(t.Context(), meta.Key{Name: "a"}, patch.Merge(map[string]any{"spec": map[string]any{"sessionAffinity": "ClientIP"}}))
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"clusterIP", "ports"} {
		was, _ := json.Marshal(made.Object["spec"].(map[string]any)[field])
		now, _ := json.Marshal(is.Object["spec"].(map[string]any)[field])
		if string(was) != string(now) {
			t.Errorf("%s is %s, want %s", field, now, was)
		}
	}
	if _, err := r.With(client.WriteOptions{DryRun: true}).Create(t.Context(), textOf(t, `{"metadata":{"name":"b"},"spec":{"ports":[{"port":80}]}}`)); err != nil {
		t.Errorf("a dry run: %v", err)
	}
}
