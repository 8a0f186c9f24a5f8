package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/client"
	apierrors "github.com/bowline-go/bowline/errors"
)

// badJSON is a field whose own decoding ends too early.
type badJSON struct{}

func (badJSON) MarshalJSON() ([]byte, error) { return []byte("{}"), nil }
func (*badJSON) UnmarshalJSON([]byte) error  { return io.ErrUnexpectedEOF }

// An answer that is complete by HTTP, and not as JSON, was taken for a broken connection, and asked for five times. It is an error at
// once. One that was cut off is asked for again, also where only the end of the connection ends the body.
func TestACompleteAnswerThatIsNotJSONIsNotRetried(t *testing.T) {
	const page = `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[`
	whole, list := object("a", "1"), page+object("a", "1")+"]}"
	unframed := func(body string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			conn, b, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = b.WriteString("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n" + body)
			_ = b.Flush()
			_ = conn.Close()
		})
	}
	get := func(ctx context.Context, r client.Resource[*Slim]) error { return drop(r.Get(ctx, web)) }
	all := func(ctx context.Context, r client.Resource[*Slim]) error {
		return drop(r.List(ctx, client.ListOptions{}))
	}
	table := func(ctx context.Context, r client.Resource[*Slim]) error {
		return drop(r.Table(ctx, client.ListOptions{}, client.TableOptions{}))
	}
	create := func(ctx context.Context, r client.Resource[*Slim]) error {
		return drop(r.Create(ctx, &Slim{Identity: at(web)}))
	}
	apply := func(ctx context.Context, r client.Resource[*Slim]) error {
		return drop(r.With(client.WriteOptions{FieldManager: "me"}).Apply(ctx, web, map[string]any{}, client.ApplyOptions{}))
	}
	for _, test := range []struct {
		name   string
		call   func(context.Context, client.Resource[*Slim]) error
		server http.Handler
		reason client.AnswerReason // empty: the call is sent again
	}{
		{"nothing", get, answers(answer{}), client.BrokenBody},
		{"no content", get, answers(answer{code: 204}), client.BrokenBody},
		{"white space", get, says("\n \n"), client.BrokenBody},
		{"half an object", get, says(whole[:len(whole)/2]), client.BrokenBody},
		{"an object without its last brace", get, says(strings.TrimSuffix(whole, "}")), client.BrokenBody},
		{"no JSON", get, says(`{"kind" "ConfigMap"}`), client.BrokenBody},
		{"no JSON, after a write", create, says(whole[:len(whole)/2]), client.BrokenBody},
		{"no JSON, after an apply", apply, says(whole[:len(whole)/2]), client.BrokenBody},
		{"a list of nothing", all, answers(answer{}), client.BrokenBody},
		{"a list without items", all, says(page[:len(page)-10]), client.BrokenBody},
		{"half a list", all, says(list[:len(list)-10]), client.BrokenBody},
		{"a list without its end", all, says(strings.TrimSuffix(list, "]}")), client.BrokenBody},
		{"half a table", table, says(list[:len(list)-10]), client.BrokenBody},
		{"a connection that breaks", get, answers(answer{body: whole[:20], cut: true}), ""},
		{"a connection that breaks before the body", get, answers(answer{cut: true}), ""},
		{"an apply whose connection breaks", apply, answers(answer{body: whole[:20], cut: true}), ""},
		{"a body that the connection ends", get, unframed(whole[:20]), ""},
		{"nothing, and the end of the connection", get, unframed(""), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sent := 0
				cfg := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					sent++
					test.server.ServeHTTP(w, r)
				}))
				err := test.call(t.Context(), client.For(dial(t, cfg), slims))
				if test.reason == "" {
					if e := is[*client.OpError](t, err); len(e.Before) != 4 || sent != 5 || !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
						t.Errorf("sent %d times: %v", sent, err)
					}
					return
				}
				if !errors.Is(err, test.reason) || apierrors.NetworkOf(err) != apierrors.NetworkFine || sent != 1 {
					t.Errorf("sent %d times: %v", sent, err)
				}
			})
		})
	}
	t.Run("an object that does not fit", func(t *testing.T) {
		type strict struct {
			Slim
			Data badJSON `json:"data"`
		}
		srv := says(object("a", "1", "x"))
		_, err := client.For(dial(t, serve(t, srv)), client.Type[*strict]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}).Get(t.Context(), web)
		is[*client.DecodeError](t, err)
		srv.one(t)
	})
}
