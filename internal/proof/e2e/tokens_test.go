package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// tokenConfig is how the holder of a service account's token reaches the control plane.
func tokenConfig(token string) client.Config {
	return client.Config{Server: plane.Server, TLS: client.TLS{CAData: client.Secret(plane.CA)}, BearerToken: client.Secret(token)}
}

func TestAServiceAccountComesWithATokenThatItIsGiven(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	accounts := client.For(c, serviceAccounts)
	account := create(t, accounts, ns, `{"metadata": {"name": "robot"}}`)
	key := meta.KeyOf(account)

	token := must(client.RequestToken(t.Context(), accounts, key, client.TokenOptions{Lifetime: 20 * time.Minute}))(t)
	if left := time.Until(token.Expires); left < 19*time.Minute || left > 21*time.Minute {
		t.Errorf("the token expires in %v, want 20m", left)
	}
	got := must(client.For(open(t, tokenConfig(string(token.Token))), selfReviews).Create(t.Context(), &review{}))(t)
	equal(t, "user", got.Status.UserInfo.Username, "system:serviceaccount:"+ns+":robot")
	equal(t, "uid", got.Status.UserInfo.UID, account.GetUID())
	if !strings.HasPrefix(got.credential(), "JTI=") {
		t.Errorf("the credential is %q, want a token", got.credential())
	}

	t.Run("one for another audience is refused", func(t *testing.T) {
		other := must(client.RequestToken(t.Context(), accounts, key, client.TokenOptions{Audiences: []string{"https://example.org"}}))(t)
		_, err := client.For(open(t, tokenConfig(string(other.Token))), selfReviews).Create(t.Context(), &review{})
		wantReason(t, err, apierrors.Unauthorized)
		if err != nil && strings.Contains(err.Error(), string(other.Token)) {
			t.Error("the error shows the token")
		}
	})
	t.Run("one that is bound to an object that is not there is refused", func(t *testing.T) {
		_, err := client.RequestToken(t.Context(), accounts, key, client.TokenOptions{
			BoundTo: client.Owner{GVK: meta.GVK{Version: "v1", Kind: "Secret"}, Identity: meta.Identity{Name: "absent"}},
		})
		wantReason(t, err, apierrors.NotFound)
	})
	t.Run("an account that is not there has none", func(t *testing.T) {
		_, err := client.RequestToken(t.Context(), accounts, meta.Key{Namespace: ns, Name: "absent"}, client.TokenOptions{})
		wantReason(t, err, apierrors.NotFound)
	})
}

// Credentials are got anew before they expire, and no request waits or fails for it.
func TestTokensAreRotatedBeforeTheyExpire(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	accounts := client.For(c, serviceAccounts)
	key := meta.KeyOf(create(t, accounts, ns, `{"metadata": {"name": "robot"}}`))
	var fetched atomic.Int64
	cfg := client.Config{Server: plane.Server, TLS: client.TLS{CAData: client.Secret(plane.CA)}}
	cfg.Credentials = client.NewCredentials(func(ctx context.Context) (client.Credential, error) {
		fetched.Add(1)
		token, err := client.RequestToken(ctx, accounts, key, client.TokenOptions{})
		// No server gives a token for less than ten minutes. To this client it is good for seconds.
		return client.Credential{Token: token.Token, Expires: time.Now().Add(2 * time.Second)}, err
	})
	reviews := client.For(open(t, cfg), selfReviews)
	seen := map[string]bool{}
	eventually(t, func() error {
		seen[must(reviews.Create(t.Context(), &review{}))(t).credential()] = true
		if len(seen) < 3 {
			return fmt.Errorf("the server has seen %d tokens, want 3", len(seen))
		}
		return nil
	})
	if n := fetched.Load(); n > 4 {
		t.Errorf("%d tokens were got for the 3 that were used", n)
	}
}

// The account is deleted and made again, so its tokens are refused, some seconds later. Who reads the token from a file, and
// who gets it by itself, goes on without an error, as the new account.
func TestATokenThatIsRefusedIsReplaced(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	accounts := client.For(c, serviceAccounts)
	const robot = `{"metadata": {"name": "robot"}}`
	old := create(t, accounts, ns, robot)
	key := meta.KeyOf(old)
	file := filepath.Join(t.TempDir(), "token")
	write := func() {
		t.Helper()
		token := must(client.RequestToken(t.Context(), accounts, key, client.TokenOptions{}))(t)
		if err := os.WriteFile(file, []byte(token.Token+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write()
	fromFile := client.Config{Server: plane.Server, TLS: client.TLS{CAData: client.Secret(plane.CA)}, BearerTokenFile: file}
	byItself := client.Config{Server: plane.Server, TLS: client.TLS{CAData: client.Secret(plane.CA)}}
	byItself.Credentials = client.TokenCredentials(accounts, key, client.TokenOptions{})
	holders := map[string]client.Resource[*review]{
		"from a file": client.For(open(t, fromFile), selfReviews),
		"by itself":   client.For(open(t, byItself), selfReviews),
	}
	for name, r := range holders {
		equal(t, "the uid "+name, must(r.Create(t.Context(), &review{}))(t).Status.UserInfo.UID, old.GetUID())
	}

	if err := accounts.Delete(t.Context(), key, client.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	renewed := create(t, accounts, ns, robot)
	write()
	for name, r := range holders {
		eventually(t, func() error { // the server goes on to accept a token for as long as it remembers it
			if uid := must(r.Create(t.Context(), &review{}))(t).Status.UserInfo.UID; uid != renewed.GetUID() {
				return fmt.Errorf("%s: the uid is %s, want %s", name, uid, renewed.GetUID())
			}
			return nil
		})
	}
}

func TestATokenEndsWithTheObjectThatItIsBoundTo(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	accounts, bound := client.For(c, serviceAccounts), client.For(c, secrets)
	key := meta.KeyOf(create(t, accounts, ns, `{"metadata": {"name": "robot"}}`))
	secret := create(t, bound, ns, `{"metadata": {"name": "rope"}}`)
	token := must(client.RequestToken(t.Context(), accounts, key, client.TokenOptions{
		BoundTo: client.OwnerOf(client.Type[*meta.Unstructured]{Version: "v1", Kind: "Secret", Resource: "secrets"}, secret),
	}))(t)
	reviews := client.For(open(t, tokenConfig(string(token.Token))), selfReviews)
	must(reviews.Create(t.Context(), &review{}))(t)
	if err := bound.Delete(t.Context(), meta.KeyOf(secret), client.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		if _, err := reviews.Create(t.Context(), &review{}); !errors.Is(err, apierrors.Unauthorized) {
			return fmt.Errorf("error is %v, want Unauthorized", err)
		}
		return nil
	})
}
