package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/patch"
)

// In binds a handle to a namespace: keys and objects need not name it, and naming another one is an error.
func ExampleResource_In() {
	withServer(func(ctx context.Context, c *client.Client) error {
		settings := client.For(c, AllSettings).In("default")
		made, err := settings.Create(ctx, &Settings{Identity: meta.Identity{Name: "web"}})
		if err != nil {
			return err
		}
		fmt.Println("made", meta.KeyOf(made))
		_, err = settings.Get(ctx, meta.Key{Namespace: "kube-system", Name: "web"})
		fmt.Println(err)
		return nil
	})
	// Output:
	// made default/web
	// get configmaps "kube-system/web": namespace must be "default" or empty, which this handle is bound to, got "kube-system"
}

// One request deletes all objects that a selector matches.
func ExampleResource_DeleteCollection() {
	withServer(func(ctx context.Context, c *client.Client) error {
		settings := client.For(c, AllSettings).In("default")
		for _, name := range []string{"a", "b"} {
			if _, err := settings.Create(ctx, &Settings{Identity: meta.Identity{Name: name}}); err != nil {
				return err
			}
		}
		err := settings.DeleteCollection(ctx, client.Selection{FieldSelector: "metadata.name!=b"}, client.DeleteOptions{})
		if err != nil {
			return err
		}
		list, err := settings.List(ctx, client.ListOptions{})
		for _, s := range list.Items {
			fmt.Println("left", s.Name)
		}
		return err
	})
	// Output:
	// left b
}

// A program applies the fields that it has an opinion on, under its own name. If another program owns one of them, the error
// names the field and the owner.
func ExampleResource_Apply() {
	withServer(func(ctx context.Context, c *client.Client) error {
		settings := client.For(c, AllSettings)
		key := meta.Key{Namespace: "default", Name: "web"}
		as := func(manager, color string, o client.ApplyOptions) error {
			config := map[string]any{"data": map[string]any{"color": color}}
			_, err := settings.With(client.WriteOptions{FieldManager: manager}).Apply(ctx, key, config, o)
			return err
		}
		fmt.Println(as("decorator", "red", client.ApplyOptions{}))
		for _, conflict := range apierrors.FieldConflicts(as("painter", "green", client.ApplyOptions{})) {
			fmt.Println(conflict.Field, "is of", conflict.Manager)
		}
		fmt.Println(as("painter", "green", client.ApplyOptions{Force: true}))
		return nil
	})
	// Output:
	// <nil>
	// .data.color is of decorator
	// <nil>
}

// A patch is sent without reading first. A patch with a test, or for one version, changes all or nothing.
func ExampleResource_Patch() {
	withServer(func(ctx context.Context, c *client.Client) error {
		settings := client.For(c, AllSettings)
		key := meta.Key{Namespace: "default", Name: "web"}
		first, err := settings.Create(ctx, &Settings{
			Identity: meta.Identity{Namespace: key.Namespace, Name: key.Name}, Data: map[string]string{"color": "green"},
		})
		if err != nil {
			return err
		}
		red := patch.Merge(map[string]any{"data": map[string]any{"color": "red"}})
		for _, p := range []patch.Patch{
			patch.JSON(patch.Test("/data/color", "green"), patch.Replace("/data/color", "blue")),
			patch.JSON(patch.Test("/data/color", "green"), patch.Replace("/data/color", "black")),
			red.WithResourceVersion(first.ResourceVersion),
			red,
		} {
			got, err := settings.Patch(ctx, key, p)
			if err != nil {
				fmt.Println(apierrors.ReasonOf(err))
				continue
			}
			fmt.Println(got.Data["color"])
		}
		_, err = settings.Patch(ctx, key, patch.JSON(patch.Remove("data/color")))
		fmt.Println(err)
		return nil
	})
	// Output:
	// blue
	// Invalid
	// Conflict
	// red
	// patch configmaps "default/web": patch: operation 0 (remove "data/color"): pointer "data/color" must be empty or start with a slash
}

// Deployment has here what a server requires of a new one. The scale has the rest.
type Deployment struct {
	meta.Identity `json:"metadata"`
	Spec          json.RawMessage `json:"spec"`
}

func deployment(name string) *Deployment {
	return &Deployment{meta.Identity{Namespace: "default", Name: name}, json.RawMessage(`{
		"selector": {"matchLabels": {"app": "a"}},
		"template": {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "a", "image": "example.com/a"}]}}
	}`)}
}

// ScaleOf works for every kind that has a scale.
func ExampleScaleOf() {
	withServer(func(ctx context.Context, c *client.Client) error {
		deployments := client.For(c, client.Type[*Deployment]{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments"})
		made, err := deployments.Create(ctx, deployment("web"))
		if err != nil {
			return err
		}
		scale, err := client.ScaleOf(deployments).Modify(ctx, meta.KeyOf(made), func(s *client.Scale) error {
			s.Spec.Replicas += 2
			return nil
		})
		if err != nil {
			return err
		}
		fmt.Println(scale.Name, scale.Spec.Replicas)
		return nil
	})
	// Output:
	// web 3
}

// A custom subresource with its own type.
func ExampleSubOf() {
	withServer(func(ctx context.Context, c *client.Client) error {
		deployments := client.For(c, client.Type[*Deployment]{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments"})
		made, err := deployments.Create(ctx, deployment("web"))
		if err != nil {
			return err
		}
		scale, err := client.SubOf[*meta.Unstructured](deployments, "scale").Get(ctx, meta.KeyOf(made))
		if err != nil {
			return err
		}
		fmt.Println(scale.GVK())
		return nil
	})
	// Output:
	// Scale.autoscaling/v1
}

// Evict removes a pod unless a PodDisruptionBudget needs it; then the caller may try again later, or take another pod.
func ExampleEvict() {
	evict := func(ctx context.Context, c *client.Client, name string) error {
		pods := client.For(c, client.Type[*meta.Partial]{Version: "v1", Kind: "Pod", Resource: "pods"})
		err := client.Evict(ctx, pods, meta.Key{Namespace: "default", Name: name}, client.DeleteOptions{})
		if cause, found := apierrors.Cause(err, apierrors.CauseDisruptionBudget); found {
			fmt.Println(name, "stays:", cause.Message)
			return nil
		}
		if errors.Is(err, apierrors.NotFound) {
			fmt.Println(name, "has gone")
			return nil
		}
		return err
	}
	withServerOf(clienttest.Options{}, func(ctx context.Context, c *client.Client, srv *clienttest.Server) error {
		if err := evict(ctx, c, "web-0"); err != nil {
			return err
		}
		srv.Intercept(func(*http.Request) http.HandlerFunc {
			return clienttest.Answer(meta.Status{
				Code: http.StatusTooManyRequests, Reason: "TooManyRequests", Message: "Cannot evict pod as it would violate the pod's disruption budget.",
				Details: &meta.StatusDetails{Causes: []meta.StatusCause{{
					Reason: apierrors.CauseDisruptionBudget, Message: "The disruption budget web needs 3 healthy pods and has 3 currently",
				}}},
			})
		})
		return evict(ctx, c, "web-1")
	})
	// Output:
	// web-0 has gone
	// web-1 stays: The disruption budget web needs 3 healthy pods and has 3 currently
}

// Printing a service account's token does not show it; Secret returns it.
func ExampleRequestToken() {
	withServer(func(ctx context.Context, c *client.Client) error {
		accounts := client.For(c, client.Type[*meta.Partial]{Version: "v1", Kind: "ServiceAccount", Resource: "serviceaccounts"})
		robot := meta.Key{Namespace: "default", Name: "robot"}
		manifest := client.For(c, client.Type[*Settings]{Version: "v1", Kind: "ServiceAccount", Resource: "serviceaccounts"})
		if _, err := manifest.Create(ctx, &Settings{Identity: meta.Identity{Namespace: robot.Namespace, Name: robot.Name}}); err != nil {
			return err
		}
		token, err := client.RequestToken(ctx, accounts, robot, client.TokenOptions{Audiences: []string{"vault"}})
		fmt.Println(len(token.Token) > 0, token.Token)
		return err
	})
	// Output:
	// true [redacted]
}

// TokenCredentials request a new token of a service account whenever one is about to end.
func ExampleTokenCredentials() {
	server := clienttest.New(clienttest.Options{})
	bootstrap, err := client.New(server.Config())
	if err != nil {
		fmt.Println(err)
		return
	}
	accounts := client.For(bootstrap, client.Type[*meta.Partial]{Version: "v1", Kind: "ServiceAccount", Resource: "serviceaccounts"})
	cfg := server.Config()
	cfg.Credentials = client.TokenCredentials(accounts, meta.Key{Namespace: "default", Name: "robot"}, client.TokenOptions{})
}

// Sub returns a subresource that takes the object itself, such as the approval of a CertificateSigningRequest. Here
// meta.Unstructured stands for a struct, so the program sends unknown fields back unchanged.
func ExampleResource_Sub() {
	lenient := clienttest.Options{Lenient: true} // the request below is too short for a real one
	withServerOf(lenient, func(ctx context.Context, c *client.Client, _ *clienttest.Server) error {
		requests := client.For(c, client.Type[*meta.Unstructured]{
			Group: "certificates.k8s.io", Version: "v1", Kind: "CertificateSigningRequest", Resource: "certificatesigningrequests",
			Scope: meta.Cluster,
		})
		csr := &meta.Unstructured{Object: map[string]any{"spec": map[string]any{
			"request": "LS0t", "signerName": "example.com/mine", "usages": []any{"client auth"},
		}}}
		csr.SetName("jane")
		if _, err := requests.Create(ctx, csr); err != nil {
			return err
		}
		approved := map[string]any{"type": "Approved", "status": "True", "reason": "KnownUser"}
		got, err := requests.Sub("approval").Modify(ctx, meta.Key{Name: "jane"}, func(csr *meta.Unstructured) error {
			return meta.SetNested(csr.Object, []any{approved}, "status", "conditions")
		})
		if err != nil {
			return err
		}
		conditions, _, err := meta.Nested[[]any](got.Object, "status", "conditions")
		fmt.Println(got.GetName(), len(conditions))
		return err
	})
	// Output:
	// jane 1
}

// A watch of a handle that is bound to one object is a watch of that object.
func ExampleResource_One() {
	withServer(func(ctx context.Context, c *client.Client) error {
		settings := client.For(c, AllSettings).In("default")
		for _, name := range []string{"web", "other"} {
			if _, err := settings.Create(ctx, &Settings{Identity: meta.Identity{Name: name}}); err != nil {
				return err
			}
		}
		web := settings.One(meta.Key{Name: "web"})
		for event, err := range web.Watch(ctx, client.WatchOptions{InitialEvents: true}) {
			if err != nil {
				return err
			}
			if event.InitialEventsEnd { // all that exists has come
				for _, name := range []string{"other", "web"} {
					if err := settings.Delete(ctx, meta.Key{Name: name}, client.DeleteOptions{}); err != nil {
						return err
					}
				}
				continue
			}
			fmt.Println(event.Type, event.Identity.Key())
			if event.Type == client.Deleted {
				break
			}
		}
		_, err := web.Get(ctx, meta.Key{Name: "other"})
		fmt.Println(err)
		return nil
	})
	// Output:
	// ADDED default/web
	// DELETED default/web
	// get configmaps "default/other": name must be "web", which this handle is bound to, got "other"
}

// Count asks for one object, and the server says how many come after it. With a selector it cannot say.
func ExampleResource_Count() {
	withServer(func(ctx context.Context, c *client.Client) error {
		settings := client.For(c, AllSettings).In("default")
		for _, name := range []string{"a", "b", "c"} {
			if _, err := settings.Create(ctx, &Settings{Identity: meta.Identity{Name: name}}); err != nil {
				return err
			}
		}
		n, known, err := settings.Count(ctx, client.ListOptions{})
		if err != nil {
			return err
		}
		fmt.Println(n, known)
		_, known, err = settings.Count(ctx, client.ListOptions{FieldSelector: "metadata.name!=b"})
		fmt.Println(known)
		return err
	})
	// Output:
	// 3 true
	// false
}
