package client_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"log/slog"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/kubeconfig"
	"github.com/bowline-go/bowline/internal/conn"
)

// secretive are the types that can hold a secret, and of each the fields that may be shown nevertheless. A field that is
// not named here must not be seen in any way of printing, so a new one has to be looked at.
var secretive = []struct {
	value any // a pointer
	shown []string
}{
	{new(client.Config), []string{
		"Server", "TLS.CAFile", "TLS.CertFile", "TLS.KeyFile", "TLS.ServerName", "BearerTokenFile", "Username", "UserAgent",
		"Impersonate.User", "Impersonate.UID", "Impersonate.Groups", "Impersonate.Extra",
	}},
	{new(client.TLS), []string{"CAFile", "CertFile", "KeyFile", "ServerName"}},
	{new(client.Credential), nil},
	{new(client.RawRequest), []string{"Method", "Path", "Query(key)", "Header(key)"}},
	{new(kubeconfig.Loaded), []string{
		"Config.Server", "Config.TLS.CAFile", "Config.TLS.CertFile", "Config.TLS.KeyFile", "Config.TLS.ServerName",
		"Config.BearerTokenFile", "Config.Username", "Config.UserAgent",
		"Config.Impersonate.User", "Config.Impersonate.UID", "Config.Impersonate.Groups", "Config.Impersonate.Extra",
		"Namespace", "Context", "Origin", "Skipped", "Warnings",
	}},
	{new(kubeconfig.Cluster), []string{"Server", "CAFile", "ServerName"}},
	{new(kubeconfig.User), []string{
		"TokenFile", "Username", "CertFile", "KeyFile", "As", "AsUID", "AsGroups", "AsExtra",
		"Exec.APIVersion", "Exec.Command", "Exec.InteractiveMode", "Exec.InstallHint", "Exec.Env(key)",
	}},
	{new(conn.Options), nil},
	{new(conn.TLS), nil},
	{new(conn.Credential), nil},
	{new(kubeconfig.Exec), []string{"APIVersion", "Command", "InteractiveMode", "InstallHint", "Env(key)"}},
}

// mark sets every string and every slice of bytes in v to a text of its own, and remembers where which is.
func mark(v reflect.Value, path string, marks map[string]string) {
	text := func(path string) string {
		m := fmt.Sprintf("m4rk%04dx", len(marks))
		marks[m] = strings.TrimPrefix(path, ".")
		return m
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(text(path))
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte(text(path)))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		mark(v.Index(0), path, marks)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		mark(key, path+"(key)", marks)
		mark(value, path, marks)
		v.SetMapIndex(key, value)
	case reflect.Pointer:
		if strings.HasPrefix(v.Type().Elem().PkgPath(), "github.com/bowline-go/") || v.Type().Elem().PkgPath() == "crypto/tls" {
			v.Set(reflect.New(v.Type().Elem()))
			mark(v.Elem(), path, marks)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				mark(v.Field(i), path+"."+v.Type().Field(i).Name, marks)
			}
		}
	}
}

// printed returns v in every way that fmt, encoding/json and log/slog have.
func printed(t *testing.T, v any) []string {
	t.Helper()
	encoded, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	shown := []string{string(encoded), fmt.Sprint(v), fmt.Sprintln(v), fmt.Errorf("with %v", v).Error()}
	for _, verb := range "vsqxXdboOcUtgeEfFG" {
		for _, flags := range []string{"", "+", "#", "-20", "020", " ", ".3", "+#"} {
			shown = append(shown, fmt.Sprintf("%"+flags+string(verb), v))
		}
	}
	var text, structured strings.Builder
	slog.New(slog.NewTextHandler(&text, nil)).Info("start", "value", v)
	slog.New(slog.NewJSONHandler(&structured, nil)).Info("start", "value", v)
	return append(shown, text.String(), structured.String())
}

// guarantee S2; behaviours 104, 136 and 142
func TestNoFieldOfAnyTypeShowsASecret(t *testing.T) {
	for _, s := range secretive {
		t.Run(fmt.Sprintf("%T", s.value), func(t *testing.T) {
			marks := make(map[string]string)
			mark(reflect.ValueOf(s.value).Elem(), "", marks)
			if len(marks) == 0 {
				t.Fatal("nothing is marked")
			}
			value := reflect.ValueOf(s.value).Elem().Interface()
			for _, v := range []any{s.value, value, []any{value}, map[string]any{"a": value}, struct{ Inner any }{value}} {
				for _, text := range printed(t, v) {
					lower := strings.ToLower(text)
					for m, path := range marks {
						asBytes := strings.Trim(fmt.Sprint([]byte(m)), "[]")
						if !strings.Contains(text, m) && !strings.Contains(lower, hex.EncodeToString([]byte(m))) && !strings.Contains(text, asBytes) {
							continue
						}
						if path = strings.TrimSuffix(path, "(key)"); !slices.Contains(s.shown, path) && !slices.Contains(s.shown, path+"(key)") {
							t.Fatalf("%s is in %s", path, text)
						}
					}
				}
			}
		})
	}
}

// guarantee S2
func TestCredentialsThatHaveSomethingShowNothing(t *testing.T) {
	cfg := serve(t, says(object("a", "1")))
	m := &mint{}
	cfg.Credentials = client.NewCredentials(m.fetch)
	c := dial(t, cfg)
	must[*Slim](t)(client.For(c, slims).Get(t.Context(), web))
	for _, v := range []any{cfg.Credentials, struct{ C *client.Credentials }{cfg.Credentials}, cfg, c, client.For(c, slims)} {
		shown := []string{fmt.Sprintf("%+v", v), fmt.Sprintf("%#v", v), fmt.Sprintf("%d", v), fmt.Sprintf("%x", v)}
		if _, ok := v.(client.Resource[*Slim]); !ok {
			shown = append(shown, printed(t, v)...)
		}
		for _, text := range shown {
			if strings.Contains(text, "t1") {
				t.Errorf("%T shows its token: %s", v, text)
			}
		}
	}
}

// behaviour 142: whatever the scheme is, what follows it is not shown.
func TestHeadersOfARawRequestAreMasked(t *testing.T) {
	for _, value := range []string{"Bearer s3cr3t", "Basic s3cr3t", "Negotiate s3cr3t", "Other s3cr3t", "s3cr3t"} {
		for _, name := range []string{"Authorization", "authorization", "Proxy-Authorization", "Cookie", "X-Api-Key"} {
			r := client.RawRequest{
				Path: "/version", Query: map[string][]string{"token": {"s3cr3t"}}, Body: []byte("s3cr3t"),
				Header: map[string][]string{name: {value}, "Accept": {"text/plain"}},
			}
			for _, text := range printed(t, r) {
				if strings.Contains(text, "s3cr3t") || !strings.Contains(text, name) || !strings.Contains(text, "text/plain") {
					t.Fatalf("it shows %s", text)
				}
			}
		}
	}
}

// named are fields whose name is that of a secret, and which are none, or which are of a type that cannot hide them.
var named = []string{
	"client/clienttest.Options.Token", // the user's own, of a server in a test
	"internal/jsonstream.Step.Header", // what a list says about itself
	"internal/conn.Progress.Body",     // of an answer; it is a reader, and net/http's own is one of unexported fields
}

// The names of what is to be kept secret.
var secretName = regexp.MustCompile(`(?i)token$|password|secret|credential|certificate$|keydata|authorization|header$|cookie|body$`)

// guarantee S2: a field with the name of a secret is one of a type that hides it.
func TestEveryTypeThatHasASecretHidesIt(t *testing.T) {
	hides := make(map[string]bool)
	for _, s := range secretive {
		typ := reflect.TypeOf(s.value).Elem()
		hides[strings.TrimPrefix(typ.PkgPath(), "github.com/bowline-go/bowline/")+"."+typ.Name()] = true
	}
	packages(t, func(dir string, files []*ast.File) {
		for _, f := range files {
			for _, d := range f.Decls {
				g, ok := d.(*ast.GenDecl)
				if !ok {
					continue
				}
				for _, spec := range g.Specs {
					s, ok := spec.(*ast.TypeSpec)
					if !ok || !s.Name.IsExported() {
						continue
					}
					st, ok := s.Type.(*ast.StructType)
					if !ok || hides[dir+"."+s.Name.Name] {
						continue
					}
					for _, field := range st.Fields.List {
						for _, name := range field.Names {
							full := dir + "." + s.Name.Name + "." + name.Name
							if _, isFunc := field.Type.(*ast.FuncType); name.IsExported() && !isFunc && secretName.MatchString(name.Name) && !slices.Contains(named, full) {
								t.Errorf("%s may hold a secret, and is in none of the lists of this test", full)
							}
						}
					}
				}
			}
		}
	})
}

// packages calls f with the files of each package of the module that is not a test, and its path within the module.
func packages(t *testing.T, f func(dir string, files []*ast.File)) {
	t.Helper()
	root, n := "..", 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		switch d.Name() {
		case "testdata", "examples", "e2e", "bench", "conformance":
			return fs.SkipDir
		}
		if name := d.Name(); strings.HasPrefix(name, ".") && name != ".." {
			return fs.SkipDir
		}
		names, err := filepath.Glob(filepath.Join(path, "*.go"))
		if err != nil {
			return err
		}
		var files []*ast.File
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			if err != nil {
				return err
			}
			files = append(files, file)
		}
		if len(files) > 0 {
			n++
			rel, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			f(filepath.ToSlash(rel), files)
		}
		return nil
	})
	if err != nil || n < 10 {
		t.Errorf("%d packages, %v", n, err)
	}
}
