package client_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// A handle of one namespace: keys and objects need not say it, and none that say another get anywhere.
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

// What a selector selects is deleted by one request.
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

// The fields that one program has an opinion on, applied under its name.
func ExampleResource_Apply() {
	apply := func(ctx context.Context, settings client.Resource[*Settings]) error {
		_, err := settings.With(client.WriteOptions{FieldManager: "painter"}).Apply(ctx, meta.Key{Namespace: "default", Name: "web"},
			map[string]any{"data": map[string]any{"color": "green"}}, client.ApplyOptions{})
		if cause, found := apierrors.Cause(err, apierrors.CauseFieldManagerConflict); found {
			return fmt.Errorf("somebody else has painted it: %s", cause.Message)
		}
		return err
	}
	_ = apply
}

// Deployment has nothing but its identity here: its scale says the rest.
type Deployment struct {
	meta.Identity `json:"metadata"`
}

// How many instances there should be is the same question for every kind that has a scale.
func ExampleScaleOf() {
	withServer(func(ctx context.Context, c *client.Client) error {
		deployments := client.For(c, client.Type[*Deployment]{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments"})
		made, err := deployments.Create(ctx, &Deployment{meta.Identity{Namespace: "default", Name: "web"}})
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
	// web 2
}

// A custom subresource, with a type of one's own.
func ExampleSubAs() {
	withServer(func(ctx context.Context, c *client.Client) error {
		deployments := client.For(c, client.Type[*Deployment]{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments"})
		made, err := deployments.Create(ctx, &Deployment{meta.Identity{Namespace: "default", Name: "web"}})
		if err != nil {
			return err
		}
		scale, err := client.SubAs[*meta.Unstructured](deployments, "scale").Get(ctx, meta.KeyOf(made))
		if err != nil {
			return err
		}
		fmt.Println(scale.GVK())
		return nil
	})
	// Output:
	// Scale.autoscaling/v1
}

// A pod goes, unless others need it.
func ExampleEvict() {
	evict := func(ctx context.Context, c *client.Client) error {
		pods := client.For(c, client.Type[*meta.Partial]{Version: "v1", Kind: "Pod", Resource: "pods"})
		err := client.Evict(ctx, pods, meta.Key{Namespace: "default", Name: "web-0"}, client.EvictOptions{})
		switch cause, found := apierrors.Cause(err, apierrors.CauseDisruptionBudget); {
		case found:
			fmt.Println("later:", cause.Message)
		case errors.Is(err, apierrors.NotFound):
			fmt.Println("it has gone")
		default:
			return err
		}
		return nil
	}
	withServer(evict)
	// Output:
	// it has gone
}

// A token of a service account is shown to nobody who does not ask for it.
func ExampleRequestToken() {
	withServer(func(ctx context.Context, c *client.Client) error {
		accounts := client.For(c, client.Type[*meta.Partial]{Version: "v1", Kind: "ServiceAccount", Resource: "serviceaccounts"})
		robot := meta.Key{Namespace: "default", Name: "robot"}
		manifest := client.For(c, client.Type[*Settings]{Version: "v1", Kind: "ServiceAccount", Resource: "serviceaccounts"})
		if _, err := manifest.Create(ctx, &Settings{Identity: meta.Identity{Namespace: robot.Namespace, Name: robot.Name}}); err != nil {
			return err
		}
		token, err := client.RequestToken(ctx, accounts, robot, client.TokenOptions{Audiences: []string{"vault"}})
		fmt.Println(len(token.Secret()) > 0, fmt.Sprint(token)[:18])
		return err
	})
	// Output:
	// true {Token:"[redacted]
}

// Credentials that ask for a new token of a service account whenever one is about to end.
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
