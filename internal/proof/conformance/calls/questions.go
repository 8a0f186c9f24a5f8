package calls

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// of makes a call of a client, without a handle.
func of(name string, f func(ctx context.Context, c *client.Client) error, refused ...apierrors.Reason) Call {
	return Call{Name: name, Do: f, Refused: refused}
}

// questions are the calls for tables, counts and reviews of access, and those with a path of the caller's choice.
func questions() []Call {
	type (
		ctx  = context.Context
		maps = client.Resource[*ConfigMap]
	)
	status := client.Access{Verb: "update", Resource: deployments.GVR(), Subresource: "status", Key: key("a")}
	return []Call{
		on("table", configMaps, func(ctx ctx, r maps) error {
			return drop(r.Table(ctx, client.ListOptions{Namespace: Namespace, LabelSelector: "app=wire"}, client.TableOptions{}))
		}),
		on("table-of-one", configMaps, func(ctx ctx, r maps) error { return drop(r.TableOf(ctx, key("a"), client.TableOptions{})) }),
		on("table-of-one-with-its-object", configMaps, func(ctx ctx, r maps) error {
			return drop(r.TableOf(ctx, key("a"), client.TableOptions{WholeObjects: true}))
		}),
		on("watch-tables", configMaps, func(ctx ctx, r maps) error {
			for _, err := range r.WatchTable(ctx, client.WatchOptions{Namespace: Namespace, Timeout: time.Second}, client.TableOptions{}) {
				if err != nil {
					return err
				}
			}
			return nil
		}),
		on("get-not-older", configMaps, func(ctx ctx, r maps) error {
			return drop(r.GetWith(ctx, key("a"), client.GetOptions{ResourceVersion: "1"}))
		}),
		on("count", configMaps, func(ctx ctx, r maps) error { return drop3(r.Count(ctx, client.ListOptions{Namespace: Namespace})) }),
		on("watch-one", configMaps, func(ctx ctx, r maps) error {
			for _, err := range r.One(key("a")).Watch(ctx, client.WatchOptions{Timeout: time.Second}) {
				if err != nil {
					return err
				}
			}
			return nil
		}),
		{Name: "can-i-list-some", Do: func(ctx ctx, c *client.Client) error {
			return drop(client.CanI(ctx, c, client.Access{
				Verb: "list", Resource: configMaps.GVR(), LabelSelector: "app in (a,b)", FieldSelector: "metadata.name=a",
			}))
		}},
		of("can-i", func(ctx ctx, c *client.Client) error { return drop(client.CanI(ctx, c, status)) }),
		of("can-i-path", func(ctx ctx, c *client.Client) error {
			return drop(client.CanI(ctx, c, client.Access{Verb: "get", Path: "/metrics"}))
		}),
		of("can", func(ctx ctx, c *client.Client) error {
			jane := client.Subject{User: "jane", UID: "7", Groups: []string{"dev"}, Extra: map[string][]string{"example.com/team": {"a", "b"}}}
			return drop(client.Can(ctx, c, jane, client.Access{Verb: "*", Resource: meta.GVR{Group: "*", Resource: "*"}}))
		}),
		of("rules", func(ctx ctx, c *client.Client) error { return drop(client.Rules(ctx, c, Namespace)) }),
		of("who-am-i", func(ctx ctx, c *client.Client) error { return drop(client.WhoAmI(ctx, c)) }),
		of("raw", func(ctx ctx, c *client.Client) error {
			resp, err := c.Raw(ctx, client.RawRequest{Path: "/version"})
			if err != nil {
				return err
			}
			return resp.Body.Close()
		}),
		of("proxy", func(ctx ctx, c *client.Client) error {
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://absent/a%2Fb?c=d", nil)
			if err != nil {
				return err
			}
			resp, err := c.Proxy(client.ProxyTarget{Resource: "services", Key: key("absent"), Scheme: "https", Port: "web"}).RoundTrip(r)
			if err != nil {
				return err
			}
			defer func() { _ = resp.Body.Close() }()
			body, err := io.ReadAll(resp.Body)
			if err != nil {
				return err
			}
			return apierrors.FromResponse(resp.StatusCode, resp.Header, body, r.Method)
		}, apierrors.NotFound, apierrors.ServiceUnavailable), // NotFound until Kubernetes 1.36, "no endpoints" since 1.37
	}
}
