package client_test

import (
	"errors"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// A Status of failure is an error even where the answer's code says that all is well, as the API server's own eviction sends
// it. A deletion took it for a success, a SubOf handed it on as the object, and the other calls knew its kind and not its word.
func TestAFailureWithinASuccessfulAnswerIsAnError(t *testing.T) {
	c := connect(t, answers(answer{code: 201, body: status(500, "InternalError", "it did not work")}))
	maps, ctx := client.For(c, slims), t.Context()
	everything := client.Selection{Namespace: "web", Everything: true}
	for name, err := range map[string]error{
		"get":              drop(maps.Get(ctx, web)),
		"create":           drop(maps.Create(ctx, &Slim{Identity: at(web)})),
		"modify":           drop(maps.Modify(ctx, web, func(*Slim) error { return nil })),
		"delete":           maps.Delete(ctx, web, client.DeleteOptions{}),
		"deletecollection": maps.DeleteCollection(ctx, everything, client.DeleteOptions{}),
		"custom":           drop(client.SubOf[*meta.Unstructured](maps, "custom").Create(ctx, web, &meta.Unstructured{})),
		"eviction":         client.Evict(ctx, client.For(c, pods), web, client.DeleteOptions{}),
		"token":            drop(client.RequestToken(ctx, client.For(c, accounts), web, client.TokenOptions{})),
		"table":            drop(maps.Table(ctx, client.ListOptions{}, client.TableOptions{})),
	} {
		if op := (*client.OpError)(nil); !errors.As(err, &op) || !errors.Is(err, apierrors.InternalError) {
			t.Errorf("%s: error is %v, want the server's", name, err)
			continue
		}
		wantErr(t, err, "server said InternalError (500): it did not work")
	}
}
