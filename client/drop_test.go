package client_test

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

const wanted = "drop=metadata.managedFields"

func TestTheServerIsAskedToLeaveOutManagedFields(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, drops := range []bool{false, true} {
			server := clienttest.Start(t, clienttest.Options{DropManagedFields: drops})
			var mu sync.Mutex
			var accept []string
			bodies := new(strings.Builder)
			server.Intercept(func(r *http.Request) http.HandlerFunc {
				mu.Lock()
				defer mu.Unlock()
				accept = append(accept, r.Header.Get("Accept"))
				return func(w http.ResponseWriter, r *http.Request) {
					server.ServeHTTP(&tee{w, &mu, bodies}, r)
				}
			})
			r := client.For(dial(t, server.Config()), configMaps).In("default")
			made := must[*ConfigMap](t)(r.Create(t.Context(), &ConfigMap{ObjectMeta: meta.ObjectMeta{Name: "a"}, Data: map[string]string{"k": "v"}}))
			read := must[*ConfigMap](t)(r.Get(t.Context(), made.Key()))
			if len(made.ManagedFields) == 0 || len(read.ManagedFields) == 0 {
				t.Errorf("an object without managedFields: %v, %v", made, read)
			}
			for _, a := range accept {
				if strings.Contains(a, "drop") {
					t.Errorf("a single object is asked for with %s", a)
				}
			}
			for _, keep := range []bool{false, true} {
				for name, call := range map[string]func() (fields int){
					"a list": func() int {
						return len(must[meta.List[*ConfigMap]](t)(r.List(t.Context(), client.ListOptions{KeepManagedFields: keep})).Items[0].ManagedFields)
					},
					"a list of metadata": func() int {
						return len(must[meta.List[*meta.Partial]](t)(client.Metadata(r).List(t.Context(), client.ListOptions{KeepManagedFields: keep})).Items[0].ManagedFields)
					},
					"a watch": func() int {
						for event, err := range r.Watch(t.Context(), client.WatchOptions{KeepManagedFields: keep}) {
							if err != nil {
								t.Fatal(err)
							}
							return len(event.Object.ManagedFields)
						}
						return 0
					},
					"a table": func() int {
						return len(must[client.Table](t)(r.Table(t.Context(), client.ListOptions{KeepManagedFields: keep}, client.TableOptions{})).Rows[0].Object.ManagedFields)
					},
					"a watch of tables": func() int {
						for event, err := range r.WatchTable(t.Context(), client.WatchOptions{KeepManagedFields: keep}, client.TableOptions{}) {
							if err != nil {
								t.Fatal(err)
							}
							return len(event.Table.Rows[0].Object.ManagedFields)
						}
						return 0
					},
				} {
					mu.Lock()
					accept = nil
					bodies.Reset()
					mu.Unlock()
					if fields := call(); (fields > 0) != keep {
						t.Errorf("%s that keeps managedFields (%t) has %d", name, keep, fields)
					}
					synctest.Wait()
					mu.Lock()
					if len(accept) != 1 || strings.Contains(accept[0], wanted) == keep {
						t.Errorf("%s that keeps managedFields (%t) was asked for with %q", name, keep, accept)
					}
					if sent := strings.Contains(bodies.String(), "managedFields"); sent != (keep || !drops) {
						t.Errorf("%s: the server that leaves them out (%t) has sent managedFields: %t", name, drops, sent)
					}
					mu.Unlock()
				}
			}
		}
	})
}

// tee copies what a server sends.
type tee struct {
	http.ResponseWriter
	mu   *sync.Mutex
	sent *strings.Builder
}

func (t *tee) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sent.Write(b)
	return t.ResponseWriter.Write(b)
}

func (t *tee) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// A server may refuse types with parameters that it does not know. It is asked once.
func TestAServerThatRefusesTheParameter(t *testing.T) {
	var accept []string
	s := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		accept = append(accept, r.Header.Get("Accept"))
		if strings.Contains(r.Header.Get("Accept"), "drop") {
			answer{code: 406, body: status(406, "NotAcceptable", "no")}.write(w)
			return
		}
		answer{body: listOf("1", "", object("a", "1"))}.write(w)
	})
	r := client.For(connect(t, s), slims)
	for range 3 {
		must[meta.List[*Slim]](t)(r.List(t.Context(), client.ListOptions{}))
	}
	if want := []string{"application/json;" + wanted, "application/json", "application/json", "application/json"}; !slices.Equal(accept, want) {
		t.Errorf("the requests accept %q", accept)
	}
}
