package crd_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/crd"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// Site is a custom resource in its first release.
type Site struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Domain string   `json:"domain" crd:"maxLength=253"`
		Pages  int      `json:"pages,omitempty"`
		Hosts  []string `json:"hosts,omitempty"`
	} `json:"spec"`
	Status struct {
		URL string `json:"url"`
	} `json:"status"`
}

// NarrowSite is a Site in a later release, with a smaller schema.
type NarrowSite struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Domain string `json:"domain" crd:"maxLength=63"`
		Pages  int    `json:"pages,omitempty"`
	} `json:"spec"`
	Status struct {
		URL string `json:"url"`
	} `json:"status"`
}

// WideSite is a Site in a later release, with more members.
type WideSite struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Domain string   `json:"domain,omitempty"`
		Pages  int      `json:"pages,omitempty"`
		Hosts  []string `json:"hosts,omitempty"`
		Theme  string   `json:"theme,omitempty" crd:"enum=light,dark; default=light"`
	} `json:"spec"`
	Status struct {
		URL string `json:"url"`
	} `json:"status"`
}

var (
	Sites       = client.Type[*Site]{Group: "example.com", Version: "v1", Kind: "Site", Resource: "sites"}
	SitesV2     = client.Type[*Site]{Group: "example.com", Version: "v2", Kind: "Site", Resource: "sites"}
	NarrowSites = client.Type[*NarrowSite]{Group: "example.com", Version: "v1", Kind: "Site", Resource: "sites"}
	WideSites   = client.Type[*WideSite]{Group: "example.com", Version: "v1", Kind: "Site", Resource: "sites"}
)

// start runs a test with a server, whose strictRules ignore CEL.
func start(t *testing.T, test func(t *testing.T, s *clienttest.Server, c *client.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := clienttest.Start(t, clienttest.Options{Lenient: true})
		c, err := client.New(s.Config())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		test(t, s, c)
	})
}

func install(t *testing.T, c *client.Client, defs ...*crd.Definition) {
	t.Helper()
	if err := crd.Install(t.Context(), c, defs...); err != nil {
		t.Fatal(err)
	}
}

// live returns the server's definition of sites.
func live(t *testing.T, c *client.Client) *crd.Definition {
	t.Helper()
	d, err := client.For(c, crd.Definitions()).Get(t.Context(), meta.Key{Name: "sites.example.com"})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// home creates a site.
func home(t *testing.T, c *client.Client) *Site {
	t.Helper()
	site := &Site{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "home"}}
	site.Spec.Domain = "example.com"
	made, err := client.For(c, Sites).Create(t.Context(), site)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestInstallMakesAResourceThatIsServedAtOnce(t *testing.T) {
	start(t, func(t *testing.T, s *clienttest.Server, c *client.Client) {
		install(t, c, crd.MustOf(Sites, crd.Options{}), zoo())
		home(t, c)
		version := live(t, c).ResourceVersion
		install(t, c, crd.MustOf(Sites, crd.Options{}), zoo())
		if now := live(t, c).ResourceVersion; now != version {
			t.Errorf("the second call wrote the definition: version %s, before %s", now, version)
		}
		for _, want := range []*crd.Definition{crd.MustOf(Sites, crd.Options{}), zoo()} {
			if plan, err := crd.PlanOf(t.Context(), c, want); err != nil || plan.New || len(plan.Changes) > 0 {
				t.Errorf("the plan after the install is %v, %v", plan, err)
			}
		}
	})
}

func TestReplicasInstallAtTheSameTime(t *testing.T) {
	start(t, func(t *testing.T, s *clienttest.Server, c *client.Client) {
		for _, d := range []*crd.Definition{crd.MustOf(Sites, crd.Options{}), crd.MustOf(WideSites, crd.Options{})} {
			var all sync.WaitGroup
			for range 5 {
				all.Go(func() {
					if err := crd.Install(t.Context(), c, d); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			if plan, err := crd.PlanOf(t.Context(), c, d); err != nil || len(plan.Changes) > 0 {
				t.Errorf("the plan is %v, %v", plan, err)
			}
		}
		if n := live(t, c).Generation; n != 2 {
			t.Errorf("the definition has been written %d times, want 2", n)
		}
	})
}

func TestAPlanSaysWhatWouldChange(t *testing.T) {
	start(t, func(t *testing.T, s *clienttest.Server, c *client.Client) {
		want := func(d *crd.Definition, want string) {
			t.Helper()
			if plan, err := crd.PlanOf(t.Context(), c, d); err != nil || plan.String() != want {
				t.Errorf("the plan is %v\n%v\nwant\n%s", err, plan, want)
			}
		}
		want(crd.MustOf(Sites, crd.Options{}), "sites.example.com: new")
		install(t, c, crd.MustOf(Sites, crd.Options{}))
		want(crd.MustOf(Sites, crd.Options{}), "sites.example.com: no change")
		want(crd.MustOf(WideSites, crd.Options{ShortNames: []string{"si"}, Labels: map[string]string{"a": "b"}}), `sites.example.com:
  labels: {"a":"b"}, was missing
  names.shortNames: ["si"], was missing
  v1.spec.domain.required: missing, was true
  v1.spec.domain.maxLength: missing, was 253
  v1.spec.theme: string, was missing`)
		want(crd.MustOf(NarrowSites, crd.Options{WholeStatus: true}), `sites.example.com:
  v1.subresources: missing, was {"status":{}}
  v1.spec.domain.maxLength: 63, was 253 (narrowed)
  v1.spec.hosts: missing, was array (narrowed)`)
		cluster := Sites
		cluster.Scope = meta.Cluster
		want(crd.MustOf(cluster, crd.Options{}), "sites.example.com:\n  scope: \"Cluster\", was \"Namespaced\" (fixed)")
		want(crd.MustOf(SitesV2, crd.Options{}), "sites.example.com:\n  v1: missing, was a version (dropped)\n  v2: a version, was missing")
		if n := live(t, c).Generation; n != 1 {
			t.Errorf("a plan has written: generation %d", n)
		}
	})
}

func TestInstallWidensASchemaAndKeepsWhatOthersSet(t *testing.T) {
	start(t, func(t *testing.T, s *clienttest.Server, c *client.Client) {
		install(t, c, crd.MustOf(Sites, crd.Options{}))
		home(t, c)
		if _, err := client.For(c, crd.Definitions()).Modify(t.Context(), meta.Key{Name: "sites.example.com"}, func(d *crd.Definition) error {
			d.Annotations = map[string]string{"other": "writer"}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		install(t, c, crd.MustOf(WideSites, crd.Options{Annotations: map[string]string{"a": "b"}}))
		is := live(t, c)
		if is.Annotations["other"] != "writer" || is.Annotations["a"] != "b" {
			t.Errorf("the annotations are %v", is.Annotations)
		}
		site, err := client.For(c, WideSites).Get(t.Context(), meta.Key{Namespace: "default", Name: "home"})
		if err != nil || site.Spec.Theme != "light" {
			t.Errorf("the site is %+v, %v; want the default of the wider schema", site, err)
		}
	})
}

func TestASchemaIsNotNarrowedUnderObjects(t *testing.T) {
	start(t, func(t *testing.T, s *clienttest.Server, c *client.Client) {
		wide, narrow := crd.MustOf(Sites, crd.Options{}), crd.MustOf(NarrowSites, crd.Options{})
		install(t, c, wide)
		install(t, c, narrow) // nothing is narrowed for anybody
		install(t, c, wide)
		home(t, c)
		err := crd.Install(t.Context(), c, narrow)
		refused, is := errors.AsType[*crd.RefusedError](err)
		if !is || len(refused.Reasons) != 2 || !strings.Contains(err.Error(), `crd.Install sites.example.com: `) || !strings.Contains(err.Error(), `the change is refused:
  v1.spec.domain.maxLength: 63, was 253 (narrowed)
  v1.spec.hosts: missing, was array (narrowed)
there are objects; InstallOptions.Narrow permits it`) {
			t.Errorf("the error is %v", err)
		}
		if plan := crd.Compare(live(t, c), wide); len(plan.Changes) > 0 {
			t.Errorf("a refused install has written: %v", plan)
		}
		if err := crd.InstallWith(t.Context(), c, []*crd.Definition{narrow}, crd.InstallOptions{Narrow: true}); err != nil {
			t.Error(err)
		}
		if plan := crd.Compare(live(t, c), narrow); len(plan.Changes) > 0 {
			t.Errorf("a permitted install has not written: %v", plan)
		}
	})
}

func TestAVersionIsNotDropped(t *testing.T) {
	start(t, func(t *testing.T, s *clienttest.Server, c *client.Client) {
		both := crd.MustOf(Sites, crd.Options{Others: []crd.OtherVersion{crd.Other(SitesV2, crd.Options{})}, Storage: "v2"})
		install(t, c, crd.MustOf(Sites, crd.Options{}))
		install(t, c, both)
		unserved := crd.MustOf(SitesV2, crd.Options{Others: []crd.OtherVersion{crd.Other(Sites, crd.Options{Unserved: true})}})
		err := crd.Install(t.Context(), c, unserved)
		if !errors.As(err, new(*crd.RefusedError)) || !strings.Contains(err.Error(), "v1.served: missing, was true (dropped)\nInstallOptions.Drop permits it") {
			t.Errorf("the error is %v", err)
		}
		if err := crd.InstallWith(t.Context(), c, []*crd.Definition{unserved}, crd.InstallOptions{Drop: []string{"v1"}}); err != nil {
			t.Error(err)
		}
		// Objects may still be stored in v1.
		without := crd.MustOf(SitesV2, crd.Options{})
		err = crd.InstallWith(t.Context(), c, []*crd.Definition{without}, crd.InstallOptions{Drop: []string{"v1"}})
		if refused, is := errors.AsType[*crd.RefusedError](err); !is || len(refused.Stored) != 1 || !strings.Contains(err.Error(), `remove the version from status.storedVersions`) {
			t.Errorf("the error is %v", err)
		}
		if _, err := client.For(c, crd.Definitions()).Status().Modify(t.Context(), meta.Key{Name: "sites.example.com"}, func(d *crd.Definition) error {
			d.Status.StoredVersions = []string{"v2"}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		install(t, c, without) // nobody could use it
		if n := len(live(t, c).Spec.Versions); n != 1 {
			t.Errorf("%d versions are left", n)
		}
	})
}

func TestInstallSaysWhyItFails(t *testing.T) {
	start(t, func(t *testing.T, s *clienttest.Server, c *client.Client) {
		sites := crd.MustOf(Sites, crd.Options{})
		if err := crd.Install(t.Context(), c, nil); err == nil || err.Error() != "crd: the definition must not be nil; crd.Of makes one" {
			t.Error(err)
		}
		if err := crd.InstallWith(t.Context(), c, nil, crd.InstallOptions{Timeout: -1}); err == nil || !strings.Contains(err.Error(), "Timeout must not be negative") {
			t.Error(err)
		}
		ended, stop := context.WithCancel(t.Context())
		stop()
		if err := crd.Install(ended, c, sites); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		cluster := Sites
		cluster.Scope = meta.Cluster
		install(t, c, sites)
		if err := crd.Install(t.Context(), c, crd.MustOf(cluster, crd.Options{})); !errors.As(err, new(*crd.RefusedError)) ||
			!strings.Contains(err.Error(), "no server changes that; the definition must be deleted, with all objects, and made again") {
			t.Error(err)
		}
		// Another resource has the names.
		taken := client.Type[*Site]{Group: "example.com", Version: "v1", Kind: "Site", Resource: "places"}
		began := time.Now()
		if err := crd.Install(t.Context(), c, crd.MustOf(taken, crd.Options{})); err == nil || !strings.Contains(err.Error(), "the names are not accepted") {
			t.Error(err)
		}
		if waited := time.Since(began); waited > time.Second {
			t.Errorf("it took %v to say that the names are taken", waited)
		}
		site := home(t, c)
		if _, err := client.For(c, Sites).Modify(t.Context(), site.Key(), func(s *Site) error { s.Finalizers = []string{"example.com/hold"}; return nil }); err != nil {
			t.Fatal(err)
		}
		if err := client.For(c, crd.Definitions()).Delete(t.Context(), meta.Key{Name: "sites.example.com"}, client.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := crd.Install(t.Context(), c, sites); err == nil || !strings.Contains(err.Error(), "the definition is being deleted") {
			t.Error(err)
		}
	})
}

func TestInstallIsBoundedInTime(t *testing.T) {
	start(t, func(t *testing.T, s *clienttest.Server, c *client.Client) {
		s.Intercept(func(r *http.Request) http.HandlerFunc {
			if r.Method == http.MethodGet && r.URL.Query().Get("fieldSelector") != "" { // the wait
				return clienttest.Answer(meta.Status{Code: 503, Reason: "ServiceUnavailable"})
			}
			return nil
		})
		began := time.Now()
		err := crd.Install(t.Context(), c, crd.MustOf(Sites, crd.Options{}))
		if waited := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || waited != time.Minute {
			t.Errorf("after %v: %v", waited, err)
		}
	})
}

// Without the right to see objects, nobody knows whether there are any.
func TestANarrowedSchemaNeedsTheRightToListObjects(t *testing.T) {
	start(t, func(t *testing.T, s *clienttest.Server, c *client.Client) {
		install(t, c, crd.MustOf(Sites, crd.Options{}))
		s.Intercept(func(r *http.Request) http.HandlerFunc {
			if strings.HasSuffix(r.URL.Path, "/sites") {
				return clienttest.Answer(meta.Status{Code: 403, Reason: "Forbidden", Message: "not you"})
			}
			return nil
		})
		err := crd.Install(t.Context(), c, crd.MustOf(NarrowSites, crd.Options{}))
		if !errors.Is(err, apierrors.Forbidden) || !strings.Contains(err.Error(), "narrows the schema, and whether there are objects is unknown") {
			t.Error(err)
		}
	})
}

// The server's injected authority of a webhook stays, and the port has a default.
func TestAnInjectedBundleStays(t *testing.T) {
	hook := &crd.WebhookClient{Service: &crd.WebhookService{Namespace: "default", Name: "hooks", Path: "/convert"}}
	want := crd.MustOf(Sites, crd.Options{Conversion: hook})
	var is crd.Definition
	text, err := json.Marshal(want)
	if err != nil || json.Unmarshal(text, &is) != nil {
		t.Fatal(err)
	}
	is.Spec.Conversion.Webhook.Client.CABundle, is.Spec.Conversion.Webhook.Client.Service.Port = []byte("injected"), 443
	if plan := crd.Compare(&is, want); len(plan.Changes) > 0 {
		t.Error(plan)
	}
	hook.CABundle = []byte("other")
	if plan := crd.Compare(&is, crd.MustOf(Sites, crd.Options{Conversion: hook})); len(plan.Changes) != 1 {
		t.Error(plan)
	}
}

func TestInstallNeedsThePermissionsThatTheDocumentationNames(t *testing.T) {
	start(t, func(t *testing.T, s *clienttest.Server, c *client.Client) {
		for _, d := range []*crd.Definition{crd.MustOf(Sites, crd.Options{}), crd.MustOf(NarrowSites, crd.Options{})} {
			install(t, c, d)
		}
		// A real server serves a definition a little later, so there the wait also watches.
		const want = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: installer
rules:
- apiGroups: [apiextensions.k8s.io]
  resources: [customresourcedefinitions]
  verbs: [get, list, create, update]
- apiGroups: [example.com]
  resources: [sites]
  verbs: [list]
`
		if got := string(s.Role("installer", clienttest.RoleOptions{})); got != want {
			t.Errorf("the role is\n%s", got)
		}
	})
}
