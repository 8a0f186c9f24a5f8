package conformance

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// PlainDeployment is a Deployment whose type has no omitempty, so that it writes more than its caller means.
type PlainDeployment struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            PlainDeploymentSpec `json:"spec"`
	Status          DeploymentStatus    `json:"status"`
}

// PlainDeploymentSpec has members that the server fills in, and some that it leaves out while they are zero.
type PlainDeploymentSpec struct {
	Replicas        int                `json:"replicas"`
	MinReadySeconds int                `json:"minReadySeconds"`
	Paused          bool               `json:"paused"`
	Selector        meta.LabelSelector `json:"selector"`
	Strategy        struct {
		Type string `json:"type"`
	} `json:"strategy"`
	Template PlainTemplate `json:"template"`
}

// PlainTemplate is the template of its pods.
type PlainTemplate struct {
	Metadata meta.ObjectMeta `json:"metadata"`
	Spec     struct {
		Containers       []PlainContainer  `json:"containers"`
		InitContainers   []PlainContainer  `json:"initContainers"`
		NodeName         string            `json:"nodeName"`
		NodeSelector     map[string]string `json:"nodeSelector"`
		HostNetwork      bool              `json:"hostNetwork"`
		ImagePullSecrets []struct{}        `json:"imagePullSecrets"`
	} `json:"spec"`
}

// PlainContainer is one container.
type PlainContainer struct {
	Name      string   `json:"name"`
	Image     string   `json:"image"`
	Command   []string `json:"command"`
	Resources struct {
		Limits   map[string]string `json:"limits"`
		Requests map[string]string `json:"requests"`
	} `json:"resources"`
	WorkingDir string `json:"workingDir"`
}

func newPlainDeployment(namespace, name string) *PlainDeployment {
	d := &PlainDeployment{ObjectMeta: meta.ObjectMeta{Namespace: namespace, Name: name}}
	labels := map[string]string{"app": name}
	d.Spec.Replicas = 2
	d.Spec.Selector.MatchLabels = labels
	d.Spec.Template.Metadata.Labels = labels
	d.Spec.Template.Spec.NodeSelector = map[string]string{}
	main := PlainContainer{Name: "main", Image: "example.invalid/main:1", Command: []string{}}
	main.Resources.Limits = map[string]string{"cpu": "1000m", "memory": "1024Mi"}
	d.Spec.Template.Spec.Containers = []PlainContainer{main}
	return d
}

// counter is a client that counts the writes that it sends.
type counter struct {
	*client.Client
	writes atomic.Int64
}

func newCounter(t *testing.T, s suite) *counter {
	t.Helper()
	c := &counter{}
	cfg := s.cfg
	cfg.Hooks.Request = func(_ context.Context, r client.RequestInfo) {
		if r.Method != http.MethodGet {
			c.writes.Add(1)
		}
	}
	var err error
	if c.Client, err = client.New(cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// ensure calls Ensure and checks its outcome, and how many writes it sent.
func ensure[T meta.Object](t *testing.T, c *counter, r client.Resource[T], want T, outcome client.Outcome, writes int64) T {
	t.Helper()
	before := c.writes.Load()
	obj, got, err := r.Ensure(t.Context(), want, client.EnsureOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if sent := c.writes.Load() - before; got.Outcome != outcome || sent != writes {
		t.Errorf("ensured: %v by %d writes, want %v by %d", got, sent, outcome, writes)
	}
	return obj
}

// behaviour 328: Ensure sends no write if the object is already as wanted.
func testEnsure(t *testing.T, s suite) {
	ns := s.namespace(t)
	c := newCounter(t, s)
	configMaps := client.For(c.Client, ConfigMaps)

	want := newConfigMap(ns, "a", map[string]string{"mine": "1"})
	made := ensure(t, c, configMaps, want, client.Created, 1)
	if made.UID == "" || made.Data["k"] != "v" {
		t.Errorf("created %+v", made)
	}
	if want.UID != "" || want.ResourceVersion != "" {
		t.Errorf("what was wanted became %+v", want)
	}
	equal(t, "version of the same", ensure(t, c, configMaps, want, client.Unchanged, 0).ResourceVersion, made.ResourceVersion)

	theirs := must[*ConfigMap](t)(s.configMaps.Modify(t.Context(), meta.KeyOf(made), func(m *ConfigMap) error {
		m.Labels["theirs"], m.Data["other"] = "1", "x"
		m.Finalizers, m.BinaryData = []string{"bowline.dev/theirs"}, map[string][]byte{"b": {1}}
		return nil
	}))
	ensure(t, c, configMaps, want, client.Unchanged, 0)
	want.Labels["mine"], want.Data["k"], want.Finalizers = "2", "w", []string{"bowline.dev/mine"}
	got := ensure(t, c, configMaps, want, client.Updated, 1)
	if got.ResourceVersion == theirs.ResourceVersion || fmt.Sprint(got.Labels) != "map[mine:2 theirs:1]" ||
		fmt.Sprint(got.Data) != "map[k:w other:x]" || fmt.Sprint(got.Finalizers) != "[bowline.dev/theirs bowline.dev/mine]" || len(got.BinaryData) != 1 {
		t.Errorf("updated %+v", got)
	}

	view := client.For(c.Client, ConfigMapViews)
	slim := &ConfigMapNames{Identity: meta.Identity{Namespace: ns, Name: "a"}, Data: map[string]string{"slim": "1"}}
	ensure(t, c, view, slim, client.Updated, 1)
	whole := must[*ConfigMap](t)(s.configMaps.Get(t.Context(), meta.KeyOf(made)))
	equal(t, "what the projection does not name", string(whole.BinaryData["b"])+whole.Labels["theirs"], "\x011")

	plain := client.For(c.Client, client.Type[*PlainDeployment](Deployments))
	d := newPlainDeployment(ns, "plain")
	ensure(t, c, plain, d, client.Created, 1)
	ensure(t, c, plain, d, client.Unchanged, 0)
	d.Spec.Replicas = 0
	equal(t, "generation", ensure(t, c, plain, d, client.Updated, 1).Generation, 2)
	ensure(t, c, plain, d, client.Unchanged, 0)

	generic := &meta.Unstructured{Object: map[string]any{"data": map[string]any{"k": "v", "n": nil}}}
	generic.SetNamespace(ns)
	generic.SetName("generic")
	dynamic := client.For(c.Client, client.Type[*meta.Unstructured](ConfigMaps))
	ensure(t, c, dynamic, generic, client.Created, 1)
	ensure(t, c, dynamic.In(ns), generic, client.Unchanged, 0)

	t.Run("dry run", func(t *testing.T) {
		dry := configMaps.With(client.WriteOptions{DryRun: true})
		ensure(t, c, dry, newConfigMap(ns, "dry", nil), client.Created, 1)
		want := newConfigMap(ns, "a", map[string]string{"dry": "1"})
		want.Data = nil
		equal(t, "label", ensure(t, c, dry, want, client.Updated, 1).Labels["dry"], "1")
		ensure(t, c, dry, newConfigMap(ns, "a", map[string]string{"mine": "2"}), client.Updated, 1)
	})
	t.Run("refused", func(t *testing.T) {
		_, outcome, err := configMaps.Ensure(t.Context(), newConfigMap("conformance-absent", "a", nil), client.EnsureOptions{})
		wantReason(t, err, apierrors.NotFound, 404)
		equal(t, "outcome", outcome.Outcome, client.Unchanged)
		bad := newConfigMap(ns, "a", map[string]string{"a b": "c"})
		_, _, err = configMaps.Ensure(t.Context(), bad, client.EnsureOptions{})
		wantReason(t, err, apierrors.Invalid, 422)
	})
	t.Run("an object that is being deleted", func(t *testing.T) { testEnsureDeleting(t, s, ns) })
	t.Run("preconditions", func(t *testing.T) { testEnsurePreconditions(t, s, ns) })
	t.Run("lists with keys", func(t *testing.T) { testEnsureKeyed(t, s, c, ns) })
}

// A container that is no longer wanted is removed if it was ours, and stays if another program has added it. It used to
// be removed in any case, so an injected container came and went with each Ensure.
func testEnsureKeyed(t *testing.T, s suite, c *counter, ns string) {
	r := client.For(c.Client, client.Type[*PlainDeployment](Deployments)).With(client.WriteOptions{FieldManager: "conformance-ensure"})
	want := newPlainDeployment(ns, "keyed")
	main := want.Spec.Template.Spec.Containers[0]
	side := PlainContainer{Name: "side", Image: "example.invalid/side:1"}
	want.Spec.Template.Spec.Containers = []PlainContainer{main, side}
	made := ensure(t, c, r, want, client.Created, 1)
	theirs := client.For(c.Client, client.Type[*PlainDeployment](Deployments)).With(client.WriteOptions{FieldManager: "conformance-injector"})
	must[*PlainDeployment](t)(theirs.Modify(t.Context(), meta.KeyOf(made), func(d *PlainDeployment) error {
		d.Spec.Template.Spec.Containers = append(d.Spec.Template.Spec.Containers, PlainContainer{Name: "injected", Image: "example.invalid/injected:1"})
		return nil
	}))
	names := func(d *PlainDeployment) (names []string) {
		for _, c := range d.Spec.Template.Spec.Containers {
			names = append(names, c.Name)
		}
		return names
	}
	equal(t, "containers", fmt.Sprint(names(ensure(t, c, r, want, client.Unchanged, 0))), "[main side injected]")
	want.Spec.Template.Spec.Containers = []PlainContainer{main}
	got := ensure(t, c, r, want, client.Updated, 1)
	equal(t, "containers after one is no longer wanted", fmt.Sprint(names(got)), "[main injected]")
	ensure(t, c, r, want, client.Unchanged, 0)

	// Ensure trusts a cached object with managedFields like the server's; without them, it reads the object.
	_, done, err := r.Ensure(t.Context(), want, client.EnsureOptions{Known: got, Absent: []string{"/spec/template/spec/containers/name=injected"}})
	if err != nil || done.Outcome != client.Updated {
		t.Errorf("without the injected one: %v, %v", done, err)
	}
	last := must[*PlainDeployment](t)(r.Get(t.Context(), meta.KeyOf(made)))
	equal(t, "containers at last", fmt.Sprint(names(last)), "[main]")
}

func testEnsureDeleting(t *testing.T, s suite, ns string) {
	held := newConfigMap(ns, "held", nil)
	held.Finalizers = []string{"bowline.dev/hold"}
	made := must[*ConfigMap](t)(s.configMaps.Create(t.Context(), held))
	if err := s.configMaps.Delete(t.Context(), meta.KeyOf(made), client.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	want := newConfigMap(ns, "held", nil)
	_, _, err := s.configMaps.Ensure(t.Context(), want, client.EnsureOptions{})
	var deleting *client.DeletingError
	if !errors.As(err, &deleting) || !errors.Is(err, apierrors.Conflict) || fmt.Sprint(deleting.Finalizers) != "[bowline.dev/hold]" {
		t.Fatalf("error is %v, want that it is being deleted", err)
	}
	must[*ConfigMap](t)(s.configMaps.Modify(t.Context(), meta.KeyOf(made), func(m *ConfigMap) error {
		m.Finalizers = nil
		return nil
	}))
	got, outcome, err := s.configMaps.Ensure(t.Context(), want, client.EnsureOptions{})
	if err != nil || outcome.Outcome != client.Created || got.UID == made.UID {
		t.Errorf("after it has gone: %v, %v, %+v", outcome, err, got)
	}
}

func testEnsurePreconditions(t *testing.T, s suite, ns string) {
	made := s.configMap(t, ns, "guarded", nil)
	for _, test := range []struct {
		name                       string
		key, uid, version, outcome string
	}{
		{"the object", "guarded", made.UID, made.ResourceVersion, "Unchanged"},
		{"another object", "guarded", "other", "", "metadata.uid"},
		{"another version", "guarded", "", "1", "metadata.resourceVersion"},
		{"no object of that uid", "absent", made.UID, "", "metadata.uid"},
		{"no object of that version", "absent", "", made.ResourceVersion, "metadata.resourceVersion"},
	} {
		t.Run(test.name, func(t *testing.T) {
			want := newConfigMap(ns, test.key, nil)
			want.UID, want.ResourceVersion = test.uid, test.version
			_, outcome, err := s.configMaps.Ensure(t.Context(), want, client.EnsureOptions{})
			got := outcome.Outcome.String()
			if field := test.outcome; errors.Is(err, apierrors.Conflict) && strings.Contains(err.Error(), field+" must be ") {
				got = field
			} else if err != nil {
				got = err.Error()
			}
			equal(t, "outcome", got, test.outcome)
		})
	}
	_, err := s.configMaps.Get(t.Context(), meta.Key{Namespace: ns, Name: "absent"})
	wantReason(t, err, apierrors.NotFound, 404)
	want := newConfigMap(ns, "guarded", map[string]string{"x": "y"})
	want.UID, want.ResourceVersion = made.UID, made.ResourceVersion
	_, outcome, err := s.configMaps.Ensure(t.Context(), want, client.EnsureOptions{})
	if err != nil || outcome.Outcome != client.Updated {
		t.Errorf("with both preconditions: %v, %v", outcome, err)
	}
}

// Many programs ensure one object: one of them creates it, and in the end it has the fields of each.
func testEnsureTogether(t *testing.T, s suite) {
	const many = 16
	ns := s.namespace(t)
	together := func(t *testing.T, want func(i int) *ConfigMap) map[client.Outcome]int {
		var mu sync.Mutex
		var all sync.WaitGroup
		outcomes := map[client.Outcome]int{}
		for i := range many {
			all.Go(func() {
				_, outcome, err := s.configMaps.Ensure(t.Context(), want(i), client.EnsureOptions{})
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				outcomes[outcome.Outcome]++
			})
		}
		all.Wait()
		return outcomes
	}
	same := together(t, func(int) *ConfigMap { return newConfigMap(ns, "same", nil) })
	if same[client.Created] != 1 || same[client.Unchanged] != many-1 {
		t.Errorf("the same object: %v, want one Created and the rest Unchanged", same)
	}
	names := numbered("label", many)
	different := together(t, func(i int) *ConfigMap {
		m := newConfigMap(ns, "different", map[string]string{names[i]: "x"})
		m.Finalizers = []string{"bowline.dev/" + names[i]}
		m.OwnerReferences = []meta.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "other", UID: names[i]}}
		return m
	})
	if different[client.Created] != 1 || different[client.Updated] != many-1 {
		t.Errorf("the object with labels of each: %v, want one Created and the rest Updated", different)
	}
	got := must[*ConfigMap](t)(s.configMaps.Get(t.Context(), meta.Key{Namespace: ns, Name: "different"}))
	for _, name := range names {
		owned := slices.ContainsFunc(got.OwnerReferences, func(o meta.OwnerReference) bool { return o.UID == name })
		if got.Labels[name] == "" || !slices.Contains(got.Finalizers, "bowline.dev/"+name) || !owned {
			t.Errorf("of %s something is lost: %+v", name, got.ObjectMeta)
		}
	}
}

// An object that was replaced, or has changed, is not deleted.
func testDeletePreconditions(t *testing.T, s suite) {
	ns := s.namespace(t)
	old := s.configMap(t, ns, "a", nil)
	key := meta.KeyOf(old)
	if err := s.configMaps.Delete(t.Context(), key, client.DeleteOptions{UID: old.UID}); err != nil {
		t.Fatal(err)
	}
	made := s.configMap(t, ns, "a", nil)
	wantReason(t, s.configMaps.Delete(t.Context(), key, client.DeleteOptions{UID: old.UID}), apierrors.Conflict, 409)
	changed := must[*ConfigMap](t)(s.configMaps.Modify(t.Context(), key, func(m *ConfigMap) error {
		m.Data["k"] = "w"
		return nil
	}))
	for _, o := range []client.DeleteOptions{
		{ResourceVersion: made.ResourceVersion},
		{UID: made.UID, ResourceVersion: made.ResourceVersion},
		{UID: old.UID, ResourceVersion: changed.ResourceVersion},
	} {
		wantReason(t, s.configMaps.Delete(t.Context(), key, o), apierrors.Conflict, 409)
	}
	dry := s.configMaps.With(client.WriteOptions{DryRun: true})
	wantReason(t, dry.Delete(t.Context(), key, client.DeleteOptions{UID: old.UID}), apierrors.Conflict, 409)
	equal(t, "the object that stays", must[*ConfigMap](t)(s.configMaps.Get(t.Context(), key)).ResourceVersion, changed.ResourceVersion)

	now := client.DeleteOptions{UID: changed.UID, ResourceVersion: changed.ResourceVersion}
	if err := dry.Delete(t.Context(), key, now); err != nil {
		t.Error(err)
	}
	if err := s.configMaps.Delete(t.Context(), key, now); err != nil {
		t.Error(err)
	}
	wantReason(t, s.configMaps.Delete(t.Context(), key, now), apierrors.NotFound, 404)
}
