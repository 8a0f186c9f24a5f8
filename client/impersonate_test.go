package client_test

import (
	"context"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/patch"
)

// understood returns whom the headers of a request name, as an API server reads them.
func understood(t *testing.T, h http.Header) (i client.Subject) {
	t.Helper()
	for name, values := range h {
		name = strings.ToLower(name)
		switch rest, ok := strings.CutPrefix(name, "impersonate-"); {
		case !ok:
		case rest == "user":
			i.User = strings.Join(values, " and ")
		case rest == "uid":
			i.UID = strings.Join(values, " and ")
		case rest == "group":
			i.Groups = values
		case strings.HasPrefix(rest, "extra-"):
			key, err := url.PathUnescape(strings.TrimPrefix(rest, "extra-"))
			if err != nil {
				t.Error(err)
			}
			if i.Extra == nil {
				i.Extra = make(map[string][]string)
			}
			i.Extra[key] = values
		default:
			t.Errorf("header %s", name)
		}
	}
	return i
}

// behaviour 126
func TestImpersonationArrivesAsItIs(t *testing.T) {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	for _, i := range []client.Subject{
		{User: "jane"},
		{User: "system:serviceaccount:web:default", UID: "1-2", Groups: []string{"a", "b", "system:authenticated"}},
		{User: "jané doe", Groups: []string{"über uns"}},
		{User: "jane", Extra: map[string][]string{
			"scopes": {"view", "dev elopment"}, "acme.com/project": {"a"}, "Acme.com/Project": {"b"}, "a%2fb": {"c"}, "a/b": {""},
			"a b:c": {"d"}, string(every): {"e"}, "ü": {"f"},
		}},
	} {
		srv := says(object("a", "1"))
		cfg := serve(t, srv)
		cfg.Impersonate = &i
		must[*Slim](t)(client.For(dial(t, cfg), slims).Get(t.Context(), web))
		if got := understood(t, srv.one(t).header); !reflect.DeepEqual(got, i) {
			t.Errorf("the server understood %+v, want %+v", got, i)
		}
	}
}

// behaviour 126; guarantee S22: nothing that an object says changes for whom a request is made.
func TestEveryRequestOfAHandleActsForItsUser(t *testing.T) {
	jane := client.Subject{User: "jane", Groups: []string{"dev"}}
	evil := &Slim{Identity: at(web), Data: map[string]string{
		"Impersonate-User": "admin", "impersonate": "admin", "x\r\nImpersonate-Group": "system:masters",
	}}
	for name, do := range map[string]func(ctx context.Context, r client.Resource[*Slim]) error{
		"get": func(ctx context.Context, r client.Resource[*Slim]) error { return drop(r.Get(ctx, web)) },
		"list": func(ctx context.Context, r client.Resource[*Slim]) error {
			_, err := r.List(ctx, client.ListOptions{})
			return err
		},
		"create": func(ctx context.Context, r client.Resource[*Slim]) error { return drop(r.Create(ctx, evil)) },
		"update": func(ctx context.Context, r client.Resource[*Slim]) error { return drop(r.Update(ctx, evil)) },
		"patch": func(ctx context.Context, r client.Resource[*Slim]) error {
			return drop(r.Patch(ctx, web, patch.Merge(map[string]any{"Impersonate-User": "admin"})))
		},
		"delete": func(ctx context.Context, r client.Resource[*Slim]) error {
			return r.Delete(ctx, web, client.DeleteOptions{})
		},
		"status": func(ctx context.Context, r client.Resource[*Slim]) error { return drop(r.Status().Update(ctx, evil)) },
		"watch":  func(ctx context.Context, r client.Resource[*Slim]) error { return watch(ctx, r, client.WatchOptions{}) },
		"options": func(ctx context.Context, r client.Resource[*Slim]) error {
			return drop(r.With(client.WriteOptions{FieldManager: "m"}).Create(ctx, evil))
		},
	} {
		t.Run(name, func(t *testing.T) {
			srv := answers(answer{body: object("a", "1")})
			cfg := serve(t, srv)
			cfg.Impersonate = &client.Subject{User: "anybody", UID: "7", Groups: []string{"all"}}
			r := client.For(dial(t, cfg), slims)
			_ = do(t.Context(), r)
			_ = do(t.Context(), r.As(jane))
			_ = do(t.Context(), r) // As has not changed it
			calls := srv.all()
			if len(calls) != 3 {
				t.Fatalf("the server got %v", calls)
			}
			for n, want := range []client.Subject{*cfg.Impersonate, jane, *cfg.Impersonate} {
				if got := understood(t, calls[n].header); !reflect.DeepEqual(got, want) {
					t.Errorf("request %d was for %+v, want %+v", n, got, want)
				}
			}
		})
	}
}

// A tenant whose name is empty made the client act with its own rights: As(Impersonation{}) was the client itself, and took back
// the user before it.
func TestAnEmptyUserIsNotTheClientItself(t *testing.T) {
	jane := client.Subject{User: "jane"}
	for name, do := range map[string]func(ctx context.Context, r client.Resource[*Slim]) error{
		"get": func(ctx context.Context, r client.Resource[*Slim]) error { return drop(r.Get(ctx, web)) },
		"list": func(ctx context.Context, r client.Resource[*Slim]) error {
			_, err := r.List(ctx, client.ListOptions{})
			return err
		},
		"all": func(ctx context.Context, r client.Resource[*Slim]) (err error) {
			for _, err = range r.All(ctx, client.ListOptions{}) {
				break
			}
			return err
		},
		"watch": func(ctx context.Context, r client.Resource[*Slim]) error { return watch(ctx, r, client.WatchOptions{}) },
		"create": func(ctx context.Context, r client.Resource[*Slim]) error {
			return drop(r.Create(ctx, &Slim{Identity: at(web)}))
		},
		"update": func(ctx context.Context, r client.Resource[*Slim]) error {
			return drop(r.Update(ctx, &Slim{Identity: at(web)}))
		},
		"patch": func(ctx context.Context, r client.Resource[*Slim]) error {
			return drop(r.Patch(ctx, web, patch.Merge(map[string]any{})))
		},
		"apply": func(ctx context.Context, r client.Resource[*Slim]) error {
			return drop(r.With(client.WriteOptions{FieldManager: "m"}).Apply(ctx, web, map[string]any{}, client.ApplyOptions{}))
		},
		"modify": func(ctx context.Context, r client.Resource[*Slim]) error {
			return drop(r.Modify(ctx, web, func(*Slim) error { return nil }))
		},
		"delete": func(ctx context.Context, r client.Resource[*Slim]) error {
			return r.Delete(ctx, web, client.DeleteOptions{})
		},
		"status": func(ctx context.Context, r client.Resource[*Slim]) error {
			return drop(r.Status().Update(ctx, &Slim{Identity: at(web)}))
		},
		"metadata": func(ctx context.Context, r client.Resource[*Slim]) error {
			return drop(client.Metadata(r).Get(ctx, web))
		},
		"in": func(ctx context.Context, r client.Resource[*Slim]) error {
			return drop(r.In(web.Namespace).Get(ctx, web))
		},
		"as again": func(ctx context.Context, r client.Resource[*Slim]) error { return drop(r.As(jane).Get(ctx, web)) },
	} {
		t.Run(name, func(t *testing.T) {
			srv := says(object("a", "1"))
			r := client.For(connect(t, srv), slims)
			for _, r := range []client.Resource[*Slim]{r.As(client.Subject{}), r.As(jane).As(client.Subject{})} {
				err := do(t.Context(), r)
				wantErr(t, err, "client.Subject: User is empty; it must name a user")
				is[*client.UsageError](t, err)
			}
			if calls := srv.all(); len(calls) != 0 {
				t.Errorf("the server got %v", calls)
			}
		})
	}
}

func TestImpersonationIsSentOnlyByThisPackage(t *testing.T) {
	srv := says("{}")
	c := connect(t, srv)
	for _, name := range []string{"Impersonate-User", "impersonate-group", "IMPERSONATE-EXTRA-a"} {
		_, err := c.Raw(t.Context(), client.RawRequest{Path: "/version", Header: http.Header{name: {"admin"}}})
		wantErr(t, err, `client.RawRequest: Header must not have `+http.CanonicalHeaderKey(name)+`; use As`)
		is[*client.UsageError](t, err)
	}
	if calls := srv.all(); len(calls) != 0 {
		t.Errorf("the server got %v", calls)
	}
}

// behaviour 26
func TestAHandleSharesNoMemoryWithItsImpersonation(t *testing.T) {
	srv := says(object("a", "1"))
	cfg := serve(t, srv)
	i := client.Subject{User: "jane", Groups: []string{"dev"}, Extra: map[string][]string{"k": {"v"}}}
	want := client.Subject{User: "jane", Groups: []string{"dev"}, Extra: map[string][]string{"k": {"v"}}}
	cfg.Impersonate = &i
	r := client.For(dial(t, cfg), slims)
	cfg.Impersonate = nil
	as := client.For(dial(t, cfg), slims).As(i)
	i.Groups[0], i.Extra["k"][0], i.Extra["other"] = "admin", "admin", []string{"admin"}
	must[*Slim](t)(r.Get(t.Context(), web))
	must[*Slim](t)(as.Get(t.Context(), web))
	for _, c := range srv.all() {
		if got := understood(t, c.header); !reflect.DeepEqual(got, want) {
			t.Errorf("the server understood %+v", got)
		}
	}
}

// guarantee S9, and that HTTP drops spaces around a value
func TestAnImpersonationThatCannotBeSent(t *testing.T) {
	for _, test := range []struct {
		name string
		i    client.Subject
		want []string
	}{
		{"nobody at all", client.Subject{}, []string{"User is empty; it must name a user"}},
		{"no user, and a group", client.Subject{Groups: []string{"a"}}, []string{"User is empty; it must name a user"}},
		{"no user, and a uid", client.Subject{UID: "a"}, []string{"User is empty; it must name a user"}},
		{
			"no user, and something else",
			client.Subject{Extra: map[string][]string{"a": nil}},
			[]string{"User is empty; it must name a user"},
		},
		{"a line break in the user", client.Subject{User: "a\r\nX: y"}, []string{"User must have no control characters"}},
		{"a line break in the uid", client.Subject{User: "a", UID: "b\n"}, []string{"UID must have no control characters"}},
		{"a line break in a group", client.Subject{User: "a", Groups: []string{"b", "c\x00"}}, []string{"Groups must have no control characters"}},
		{
			"a line break in a value",
			client.Subject{User: "a", Extra: map[string][]string{"k": {"v\x7f"}}},
			[]string{`Extra["k"] must have no control characters`},
		},
		{"a space before the user", client.Subject{User: " admin"}, []string{"User must not start or end with a space"}},
		{"an empty group", client.Subject{User: "a", Groups: []string{""}}, []string{"Groups must not have an empty name"}},
		{"an empty key", client.Subject{User: "a", Extra: map[string][]string{"": {"v"}}}, []string{"Extra must not have an empty key"}},
		{
			"several at once",
			client.Subject{UID: "\n", Groups: []string{""}},
			[]string{"User is empty; it must name a user", "UID must have no control characters", "Groups must not have an empty name"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := client.New(client.Config{Server: "http://h", Impersonate: &test.i})
			if want := "client.Config: Impersonate: " + strings.Join(test.want, "\nclient.Config: Impersonate: "); err == nil || err.Error() != want {
				t.Errorf("error is %v, want %s", err, want)
			}
			srv := says(object("a", "1"))
			_, err = client.For(connect(t, srv), slims).As(test.i).Get(t.Context(), web)
			wantErr(t, err, "client.Subject: "+strings.Join(test.want, "; "))
			is[*client.UsageError](t, err)
			if len(srv.all()) != 0 {
				t.Error("it was sent")
			}
		})
	}
}

func TestHandlesForTheSameUserCanBeCompared(t *testing.T) {
	r := client.For(connect(t, says("{}")), slims)
	as := r.As(client.Subject{User: "a", Extra: map[string][]string{"k": nil}})
	if other := as; as == r || as != other {
		t.Error("they are not what they are")
	}
}
