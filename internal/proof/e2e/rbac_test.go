package e2e

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/proof/conformance"
)

// review is how a user asks who the server takes them for.
type review struct {
	meta.Identity `json:"metadata"`
	Status        struct {
		UserInfo struct {
			Username string              `json:"username"`
			UID      string              `json:"uid"`
			Groups   []string            `json:"groups"`
			Extra    map[string][]string `json:"extra"`
		} `json:"userInfo"`
	} `json:"status"`
}

// credential is the name of the token or the certificate that the user came with.
func (r *review) credential() string {
	return strings.Join(r.Status.UserInfo.Extra["authentication.kubernetes.io/credential-id"], ",")
}

var selfReviews = client.Type[*review]{
	Group: "authentication.k8s.io", Version: "v1", Kind: "SelfSubjectReview", Resource: "selfsubjectreviews", Scope: meta.Cluster,
}

// grant lets a group do verbs with resources in a namespace.
func grant(t *testing.T, c *client.Client, namespace, group, rules string) {
	t.Helper()
	create(t, client.For(c, roles), namespace, `{"metadata": {"name": "`+group+`"}, "rules": `+rules+`}`)
	create(t, client.For(c, roleBindings), namespace, `{
		"metadata": {"name": "`+group+`"},
		"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "`+group+`"},
		"subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "`+group+`"}]
	}`)
}

func TestAUserMayDoWhatTheRolesOfTheGroupSay(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	user := client.For(open(t, userConfig(t, "alice", "gardeners")), conformance.ConfigMaps)

	_, err := user.List(t.Context(), client.ListOptions{Namespace: ns})
	wantReason(t, err, apierrors.Forbidden)
	want := `list configmaps in "` + ns + `": server said Forbidden (403): configmaps is forbidden: ` +
		`User "alice" cannot list resource "configmaps" in API group "" in the namespace "` + ns + `"`
	if err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}

	grant(t, c, ns, "gardeners", `[{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list", "watch"]}]`)
	eventually(t, func() error {
		_, err := user.List(t.Context(), client.ListOptions{Namespace: ns})
		return err
	})
	_, err = user.Create(t.Context(), &conformance.ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: ns, Name: "a"}})
	wantReason(t, err, apierrors.Forbidden)
	_, err = user.List(t.Context(), client.ListOptions{})
	wantReason(t, err, apierrors.Forbidden)
	_, err = user.Get(t.Context(), meta.Key{Namespace: ns, Name: "a"})
	wantReason(t, err, apierrors.Forbidden)
}

// behaviour 100
func TestTheServerSeesWhoIsImpersonated(t *testing.T) {
	t.Parallel()
	somebody := client.Subject{
		User: "system:serviceaccount:gardens:bob", UID: "42", Groups: []string{"gardeners", "two words"},
		Extra: map[string][]string{"Example.org/Reason why%": {"first", "second"}, "scopes": {"a"}},
	}
	check := func(t *testing.T, r client.Resource[*review]) {
		t.Helper()
		got := must(r.Create(t.Context(), &review{}))(t).Status.UserInfo
		equal(t, "user", got.Username, somebody.User)
		equal(t, "uid", got.UID, somebody.UID)
		for _, group := range append([]string{"system:authenticated"}, somebody.Groups...) {
			if !slices.Contains(got.Groups, group) {
				t.Errorf("groups are %q, want %q among them", got.Groups, group)
			}
		}
		for key, want := range somebody.Extra {
			if !slices.Equal(got.Extra[key], want) {
				t.Errorf("extra is %q, want %q for %q", got.Extra, want, key)
			}
		}
	}
	t.Run("by a client", func(t *testing.T) {
		cfg := adminConfig()
		cfg.Impersonate = &somebody
		check(t, client.For(open(t, cfg), selfReviews))
	})
	t.Run("by a handle", func(t *testing.T) {
		c := open(t, adminConfig())
		r := client.For(c, selfReviews)
		check(t, r.As(somebody))
		equal(t, "the user of the handle that it came from", must(r.Create(t.Context(), &review{}))(t).Status.UserInfo.Username, "admin")
	})
	t.Run("by a handle of a client that impersonates somebody else", func(t *testing.T) {
		cfg := adminConfig()
		cfg.Impersonate = &client.Subject{User: "carol", UID: "7", Groups: []string{"others"}}
		check(t, client.For(open(t, cfg), selfReviews).As(somebody))
	})
}

func TestAnImpersonatedUserHasTheRightsOfThatUser(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	grant(t, c, ns, "florists", `[{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "create", "watch"]}]`)
	florist := client.For(c, conformance.ConfigMaps).As(client.Subject{User: "flora", Groups: []string{"florists"}})
	var made *conformance.ConfigMap
	eventually(t, func() (err error) {
		made, err = florist.Create(t.Context(), &conformance.ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: ns, Name: "a"}})
		return err
	})
	must(florist.Get(t.Context(), meta.KeyOf(made)))(t)
	for event, err := range florist.Watch(t.Context(), client.WatchOptions{Namespace: ns}) {
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "the object of the first event", event.Identity.UID, made.UID)
		break
	}
	wantReason(t, florist.Delete(t.Context(), meta.KeyOf(made), client.DeleteOptions{}), apierrors.Forbidden)
	_, err := florist.List(t.Context(), client.ListOptions{Namespace: ns})
	wantReason(t, err, apierrors.Forbidden)
}

func TestImpersonationWithoutPermissionIsForbidden(t *testing.T) {
	t.Parallel()
	cfg := adminConfig()
	cfg.BearerToken = client.Secret(plane.OutsiderToken)
	outsider := client.For(open(t, cfg), selfReviews)
	equal(t, "the outsider", must(outsider.Create(t.Context(), &review{}))(t).Status.UserInfo.Username, "outsider")
	_, err := outsider.As(client.Subject{User: "admin", Groups: []string{"system:masters"}}).Create(t.Context(), &review{})
	wantReason(t, err, apierrors.Forbidden)
	if err == nil || !strings.Contains(err.Error(), `User "outsider" cannot impersonate`) {
		t.Errorf("error is %v, want that the outsider cannot impersonate", err)
	}
}

// guarantee S4
func TestAnAnonymousClientIsAnonymous(t *testing.T) {
	t.Parallel()
	cfg := userConfig(t, "alice", "system:masters")
	cfg.Impersonate = &client.Subject{User: "bob"}
	_, err := client.For(open(t, cfg.Anonymous()), conformance.Namespaces).Get(t.Context(), meta.Key{Name: "default"})
	wantReason(t, err, apierrors.Forbidden)
	if err == nil || !strings.Contains(err.Error(), `User "system:anonymous" cannot get`) {
		t.Errorf("error is %v, want that the user is anonymous", err)
	}
}

func TestTheServerSaysWhoMayDoWhat(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	grant(t, c, ns, "bakers", `[{"apiGroups": ["apps"], "resources": ["deployments", "deployments/scale"], "verbs": ["get", "patch"]}]`)
	baker := open(t, userConfig(t, "bert", "bakers"))
	who := must(client.WhoAmI(t.Context(), baker))(t)
	if who.User != "bert" || !slices.Equal(who.Groups, []string{"bakers", "system:authenticated"}) {
		t.Errorf("the server takes the user for %+v", who)
	}
	theirs := client.Access{Verb: "patch", Resource: meta.GVR{Group: "apps", Version: "v1", Resource: "deployments"}, Key: meta.Key{Namespace: ns}}
	eventually(t, func() error {
		if d, err := client.CanI(t.Context(), baker, theirs); err != nil || !d.Allowed {
			return fmt.Errorf("the server says %+v, %v", d, err)
		}
		return nil
	})
	change := func(f func(*client.Access)) client.Access {
		a := theirs
		f(&a)
		return a
	}
	for _, test := range []struct {
		name    string
		access  client.Access
		allowed bool
	}{
		{"one object", change(func(a *client.Access) { a.Key.Name = "web" }), true},
		{"the scale", change(func(a *client.Access) { a.Subresource = "scale" }), true},
		{"the status", change(func(a *client.Access) { a.Subresource = "status" }), false},
		{"another verb", change(func(a *client.Access) { a.Verb = "delete" }), false},
		{"every verb", change(func(a *client.Access) { a.Verb = "*" }), false},
		{"every namespace", change(func(a *client.Access) { a.Key = meta.Key{} }), false},
		{"another resource", change(func(a *client.Access) { a.Resource.Resource = "statefulsets" }), false},
		{"a path that all may read", client.Access{Verb: "get", Path: "/version"}, true},
		{"a path that few may read", client.Access{Verb: "get", Path: "/metrics"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			for asked, decision := range map[string]client.Decision{
				"for oneself":       must(client.CanI(t.Context(), baker, test.access))(t),
				"for somebody else": must(client.Can(t.Context(), c, client.Subject{User: "bert", Groups: who.Groups}, test.access))(t),
			} {
				if decision.Allowed != test.allowed || decision.Denied {
					t.Errorf("%s the server says %+v, want that it is allowed: %v", asked, decision, test.allowed)
				}
			}
		})
	}
	rules := must(client.Rules(t.Context(), baker, ns))(t)
	if rules.Incomplete || !slices.ContainsFunc(rules.Rules, func(r client.Rule) bool {
		return slices.Contains(r.Resources, "deployments/scale") && slices.Equal(r.Verbs, []string{"get", "patch"})
	}) {
		t.Errorf("the rules are %+v, want those of the role", rules)
	}
	_, err := client.Can(t.Context(), baker, client.Subject{User: "admin"}, theirs)
	wantReason(t, err, apierrors.Forbidden)
}

// Whatever is made of a handle acts for the same user.
func TestDerivedHandlesActForTheSameUser(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	r := client.For(c, deployments)
	key := meta.KeyOf(create(t, r, ns, deployment))
	nobody := r.As(client.Subject{User: "nobody"})
	ctx := t.Context()
	accounts := client.For(c, serviceAccounts).As(client.Subject{User: "nobody"})
	podsThere := client.For(c, pods).As(client.Subject{User: "nobody"})
	for name, call := range map[string]func() error{
		"itself":      func() error { _, err := nobody.Get(ctx, key); return err },
		"with":        func() error { _, err := nobody.With(client.WriteOptions{DryRun: true}).Get(ctx, key); return err },
		"a namespace": func() error { _, err := nobody.In(ns).List(ctx, client.ListOptions{}); return err },
		"metadata":    func() error { _, err := client.Metadata(nobody).Get(ctx, key); return err },
		"status":      func() error { _, err := nobody.Status().Get(ctx, key); return err },
		"scale":       func() error { _, err := client.ScaleOf(nobody).Get(ctx, key); return err },
		"sub as":      func() error { _, err := client.SubOf[object](nobody, "scale").Get(ctx, key); return err },
		"table": func() error {
			_, err := nobody.Table(ctx, client.ListOptions{Namespace: ns}, client.TableOptions{})
			return err
		},
		"wait": func() error {
			_, err := client.WaitFor(ctx, nobody, key, client.UntilCreated())
			return err
		},
		"token":    func() error { _, err := client.RequestToken(ctx, accounts, key, client.TokenOptions{}); return err },
		"eviction": func() error { return client.Evict(ctx, podsThere, key, client.DeleteOptions{}) },
		"binding":  func() error { return client.Bind(ctx, podsThere, key, "node-1") },
		"deletion": func() error { return nobody.Delete(ctx, key, client.DeleteOptions{}) },
		"a collection": func() error {
			return nobody.DeleteCollection(ctx, client.Selection{Namespace: ns, Everything: true}, client.DeleteOptions{})
		},
		"a watch": func() error {
			for _, err := range nobody.Watch(ctx, client.WatchOptions{Namespace: ns}) {
				return err
			}
			return nil
		},
	} {
		err := call()
		if !errors.Is(err, apierrors.Forbidden) || !strings.Contains(err.Error(), `User "nobody" cannot`) {
			t.Errorf("%s: error is %v, want that nobody cannot do it", name, err)
		}
	}
}
