package informer_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
)

// Three types of a Secret: one that has its data, one that has none, and one that loses them to a Transform.
type (
	wholeSecret struct {
		meta.Identity `json:"metadata"`
		Type          string            `json:"type"`
		Data          map[string][]byte `json:"data"`
	}
	secretType struct {
		meta.Identity `json:"metadata"`
		Type          string `json:"type"`
	}
)

var wholeSecrets = client.Type[*wholeSecret]{Version: "v1", Kind: "Secret", Resource: "secrets"}

// vault is a server of secrets that holds none of them as they are: they are put together where they are sent.
type vault struct {
	sealed []byte // each byte one less
}

// plain returns what the n-th secret holds.
func (v *vault) plain(n int) []byte {
	out := fmt.Appendf(nil, "%03d", n)
	for _, b := range v.sealed {
		out = append(out, b+1)
	}
	return out
}

func (v *vault) secret(n, version int) string {
	return fmt.Sprintf(`{"kind":"Secret","apiVersion":"v1","metadata":{"namespace":"default","name":"s%d","uid":"u%d","resourceVersion":"%d"},`+
		`"type":"Opaque","data":{"password":%q}}`, n, n, version, base64.StdEncoding.EncodeToString(v.plain(n)))
}

// ServeHTTP lists 100 secrets, and tells of a change of each to whoever watches. Who asks for metadata gets no more.
func (v *vault) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	say := func(n, version int) string {
		if !strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadata") {
			return v.secret(n, version)
		}
		return fmt.Sprintf(`{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",`+
			`"metadata":{"namespace":"default","name":"s%d","uid":"u%d","resourceVersion":"%d"}}`, n, n, version)
	}
	if r.URL.Query().Get("watch") != "" {
		for n := range 100 {
			_, _ = fmt.Fprintf(w, `{"type":"MODIFIED","object":%s}`+"\n", say(n, 200+n))
		}
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		return
	}
	kind := `"kind":"SecretList","apiVersion":"v1"`
	if strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadataList") {
		kind = `"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1"`
	}
	_, _ = fmt.Fprintf(w, `{%s,"metadata":{"resourceVersion":"100"},"items":[`, kind)
	for n := range 100 {
		if n > 0 {
			_, _ = fmt.Fprint(w, ",")
		}
		_, _ = fmt.Fprint(w, say(n, n+1))
	}
	_, _ = fmt.Fprint(w, "]}")
}

// guarantee S23: of a Secret whose data the program's type leaves out, or a Transform drops, or whose metadata alone is asked
// for, no byte of the data is in the memory of the cache: neither in a field nor behind a string that is a part of a larger
// one. The whole heap is searched while the cache is in use, and nothing else is.
func TestACacheKeepsNoDataOfSecretsThatItDoesNotNeed(t *testing.T) {
	t.Run("whole", func(t *testing.T) { // the search finds what is there
		if found := inHeap(t, func(c *client.Client) informer.Source[*wholeSecret] { return client.For(c, wholeSecrets) }); found != 100 {
			t.Errorf("%d of 100 secrets are in memory", found)
		}
	})
	for name, found := range map[string]func(t *testing.T) int{
		"a type without data": func(t *testing.T) int {
			return inHeap(t, func(c *client.Client) informer.Source[*secretType] {
				return client.For(c, client.Type[*secretType]{Version: "v1", Kind: "Secret", Resource: "secrets"})
			})
		},
		"a Transform that drops the data": func(t *testing.T) int {
			return inHeap(t, func(c *client.Client) informer.Source[*wholeSecret] {
				return informer.Transform(client.For(c, wholeSecrets), func(s *wholeSecret) *wholeSecret { s.Data = nil; return s })
			})
		},
		"a Filter that takes none": func(t *testing.T) int {
			return inHeap(t, func(c *client.Client) informer.Source[*wholeSecret] {
				return informer.Filter(client.For(c, wholeSecrets), func(*wholeSecret) bool { return false })
			})
		},
		"metadata": func(t *testing.T) int {
			return inHeap(t, func(c *client.Client) informer.Source[*meta.Partial] {
				return client.Metadata(client.For(c, wholeSecrets))
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			if n := found(t); n != 0 {
				t.Errorf("the data of %d secrets are in memory", n)
			}
		})
	}
}

// inHeap caches secrets, and returns of how many the data are in memory when there is nothing left but the cache.
func inHeap[T meta.Object](t *testing.T, of func(*client.Client) informer.Source[T]) (found int) {
	t.Helper()
	random := make([]byte, 12)
	if _, err := rand.Read(random); err != nil {
		t.Fatal(err)
	}
	v := &vault{sealed: []byte(hex.EncodeToString(random))}
	reader := secretsOf(t, v, of)
	dump, err := os.Create(t.TempDir() + "/heap")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = dump.Close() }()
	for range 3 { // pools keep what is in them for two
		runtime.GC()
	}
	debug.WriteHeapDump(dump.Fd())
	runtime.KeepAlive(reader)
	heap, err := os.ReadFile(dump.Name())
	if err != nil {
		t.Fatal(err)
	}
	for n := range 100 {
		plain := v.plain(n)
		if bytes.Contains(heap, plain) || bytes.Contains(heap, []byte(base64.StdEncoding.EncodeToString(plain))) {
			found++
		}
	}
	return found
}

// secretsOf returns a cache that has seen each secret twice. Server, client and informer have ended.
func secretsOf[T meta.Object](t *testing.T, v *vault, of func(*client.Client) informer.Source[T]) cache.Reader[T] {
	t.Helper()
	srv := httptest.NewServer(v)
	defer srv.Close()
	c, err := client.New(client.Config{Server: srv.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	i := informer.New(of(c), informer.Options{Mode: informer.Paged})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- i.Run(ctx) }()
	if err := i.WaitFor(ctx, meta.Key{Namespace: "default", Name: "s99"}, "299"); err != nil {
		t.Error(err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	return i.Reader()
}
