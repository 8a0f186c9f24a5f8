package client_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/patch"
)

// Settings has the fields of a config map that this program uses. Other fields are not decoded, and not lost.
type Settings struct {
	meta.Identity `json:"metadata"`
	Data          map[string]string `json:"data"`
}

// AllSettings describes the resource of Settings.
var AllSettings = client.Type[*Settings]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}

// withServer runs an example against an API server in this process.
func withServer(f func(ctx context.Context, c *client.Client) error) {
	withServerOf(clienttest.Options{}, func(ctx context.Context, c *client.Client, _ *clienttest.Server) error { return f(ctx, c) })
}

// withServerOf is withServer with options for the server.
func withServerOf(o clienttest.Options, f func(ctx context.Context, c *client.Client, srv *clienttest.Server) error) {
	ctx, stop := context.WithCancel(context.Background())
	srv := clienttest.New(o)
	served := make(chan error)
	go func() { served <- srv.Run(ctx) }()
	c, err := client.New(srv.Config())
	if err == nil {
		err = f(ctx, c, srv)
	}
	stop()
	if err := errors.Join(err, <-served); err != nil {
		fmt.Println(err)
	}
}

// A struct and a descriptor make a typed client.
func Example() {
	withServer(func(ctx context.Context, c *client.Client) error {
		settings := client.For(c, AllSettings)
		key := meta.Key{Namespace: "default", Name: "web"}
		made, err := settings.Create(ctx, &Settings{
			Identity: meta.Identity{Namespace: key.Namespace, Name: key.Name}, Data: map[string]string{"color": "green"},
		})
		if err != nil {
			return err
		}
		fmt.Println("made", meta.KeyOf(made), made.Data)

		if _, err := settings.Patch(ctx, key, patch.Merge(map[string]any{"data": map[string]any{"size": "3"}})); err != nil {
			return err
		}
		got, err := settings.Get(ctx, key)
		if err != nil {
			return err
		}
		fmt.Println("got", got.Data)

		if err := settings.Delete(ctx, key, client.DeleteOptions{}); err != nil {
			return err
		}
		_, err = settings.Get(ctx, key)
		fmt.Println(errors.Is(err, apierrors.NotFound), err)
		return nil
	})
	// Output:
	// made default/web map[color:green]
	// got map[color:green size:3]
	// true get configmaps "default/web": server said NotFound (404): configmaps "web" not found
}

// A list arrives page by page and object by object. An object that does not decode does not affect the others.
func ExampleResource_All() {
	withServer(func(ctx context.Context, c *client.Client) error {
		settings := client.For(c, AllSettings)
		for _, name := range []string{"a", "b", "c"} {
			if _, err := settings.Create(ctx, &Settings{Identity: meta.Identity{Namespace: "default", Name: name}}); err != nil {
				return err
			}
		}
		for s, err := range settings.All(ctx, client.ListOptions{Namespace: "default", PageSize: 2}) {
			if bad := (*client.DecodeError)(nil); errors.As(err, &bad) {
				fmt.Println("skip", bad.Identity.Key())
				continue
			}
			if err != nil {
				return err
			}
			fmt.Println(s.Name)
		}
		return nil
	})
	// Output:
	// a
	// b
	// c
}

// A watch is a loop over events; leaving it closes the watch.
func ExampleResource_Watch() {
	withServer(func(ctx context.Context, c *client.Client) error {
		settings := client.For(c, AllSettings)
		list, err := settings.List(ctx, client.ListOptions{Namespace: "default"})
		if err != nil {
			return err
		}
		if _, err := settings.Create(ctx, &Settings{Identity: meta.Identity{Namespace: "default", Name: "a"}}); err != nil {
			return err
		}
		o := client.WatchOptions{Namespace: "default", ResourceVersion: list.ResourceVersion}
		for event, err := range settings.Watch(ctx, o) {
			if err != nil {
				return err
			}
			fmt.Println(event.Type, event.Identity.Key())
			break
		}
		return nil
	})
	// Output:
	// ADDED default/a
}

// If the metadata of large objects is enough, reading only that is cheaper for the client and the server.
func ExampleMetadata() {
	withServer(func(ctx context.Context, c *client.Client) error {
		settings := client.For(c, AllSettings)
		if _, err := settings.Create(ctx, &Settings{
			Identity: meta.Identity{Namespace: "default", Name: "large"}, Data: map[string]string{"text": "a megabyte, say"},
		}); err != nil {
			return err
		}
		some := client.Metadata(settings)
		for obj, err := range some.All(ctx, client.ListOptions{Namespace: "default"}) {
			if err != nil {
				return err
			}
			fmt.Println(obj.Kind, obj.Key(), obj.UID != "")
		}
		_, err := some.Create(ctx, &meta.Partial{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "empty"}})
		fmt.Println(err)
		return nil
	})
	// Output:
	// ConfigMap default/large true
	// create configmaps "default/empty": a handle of client.Metadata cannot write whole objects: use Patch, or the Resource that Metadata was called with
}

// Modify reads, changes and writes again after a conflict, so each of these increments is counted.
func ExampleResource_Modify() {
	withServer(func(ctx context.Context, c *client.Client) error {
		settings := client.For(c, AllSettings)
		key := meta.Key{Namespace: "default", Name: "counter"}
		zero := &Settings{Identity: meta.Identity{Namespace: key.Namespace, Name: key.Name}, Data: map[string]string{"count": "0"}}
		if _, err := settings.Create(ctx, zero); err != nil {
			return err
		}
		var all sync.WaitGroup
		errs := make([]error, 10)
		for i := range errs {
			all.Go(func() {
				_, errs[i] = settings.Modify(ctx, key, func(s *Settings) error {
					n, err := strconv.Atoi(s.Data["count"])
					s.Data["count"] = strconv.Itoa(n + 1)
					return err // with an error, nothing would be written
				})
			})
		}
		all.Wait()
		got, err := settings.Get(ctx, key)
		if err := errors.Join(append(errs, err)...); err != nil {
			return err
		}
		fmt.Println(got.Data)
		return nil
	})
	// Output:
	// map[count:10]
}

// A configuration can be printed and logged.
func ExampleConfig_String() {
	fmt.Println(client.Config{Server: "https://10.0.0.1:6443", BearerToken: "secret"})
	// Output:
	// {Server:https://10.0.0.1:6443 TLS:{CAFile: CAData: CertFile: CertData: KeyFile: KeyData: ServerName: Insecure:false} BearerToken:[redacted] BearerTokenFile: Username: Password: Credentials:false Impersonate:{User: UID: Groups:[] Extra:map[]} UserAgent:}
}

// The client calls a source of tokens when it needs a token, once for all requests that wait.
func ExampleNewCredentials() {
	vault := client.NewCredentials(func(ctx context.Context) (client.Credential, error) {
		return client.Credential{Token: "secret", Expires: time.Now().Add(time.Hour)}, nil
	})
	c, err := client.New(client.Config{Server: "https://10.0.0.1:6443", Credentials: vault})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	fmt.Println(c)
	// Output:
	// client of https://10.0.0.1:6443
}

// A program that acts for its users needs one client, and a handle for each user.
func ExampleResource_As() {
	withServer(func(ctx context.Context, c *client.Client) error {
		all := client.For(c, AllSettings)
		janes := all.As(client.Subject{User: "jane", Groups: []string{"dev"}})
		_, err := janes.List(ctx, client.ListOptions{Namespace: "default"})
		_, bad := all.As(client.Subject{Groups: []string{"dev"}}).List(ctx, client.ListOptions{})
		fmt.Println(err, bad)
		return nil
	})
	// Output:
	// <nil> list configmaps: client.Subject: User is empty; it must name a user
}

// A request that anybody may make needs no credentials, and so should not send them.
func ExampleConfig_Anonymous() {
	cfg := client.Config{Server: "https://10.0.0.1:6443", BearerToken: "secret", UserAgent: "probe"}
	anonymous := cfg.Anonymous()
	fmt.Println(anonymous.Server, anonymous.UserAgent, anonymous.BearerToken == "")
	// Output:
	// https://10.0.0.1:6443 probe true
}
