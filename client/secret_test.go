package client_test

import (
	"crypto/ed25519"
	"crypto/tls"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"log/slog"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	"go.yaml.in/yaml/v3"

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
	{new(client.RawRequest), []string{
		"Method", "Path", "Query(key)", "Header(key)", "As.User", "As.UID", "As.Groups", "As.Extra",
	}},
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
	{new(conn.Options), []string{
		"CA.File", "Cert.File", "Key.File", "ServerName", "TokenFile", "Username", "Impersonate", "Impersonate(key)",
	}},
	{new(conn.PEM), []string{"File"}},
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

// logged returns v as the sink of logr that reads the fields of a struct by itself shows it.
func logged(v any) string {
	var b strings.Builder
	funcr.New(func(_, args string) { b.WriteString(args) }, funcr.Options{}).Info("start", "value", v)
	return b.String()
}

// guarantee S2: the type by itself, and in a type of a user's.
func TestASecretIsNotShown(t *testing.T) {
	const s client.Secret = "s3cr3t"
	type Login struct {
		Name     string
		Password client.Secret `json:"password,omitempty"`
		Old      []client.Secret
		Others   map[string]*client.Secret
	}
	in := Login{Name: "ann", Password: s, Old: []client.Secret{s}, Others: map[string]*client.Secret{"a": new(s)}}
	for _, v := range []any{s, new(s), []client.Secret{s}, map[string]client.Secret{"a": s}, in, &in, []any{in}, struct{ Login }{in}} {
		asYAML, err := yaml.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range append(printed(t, v), logged(v), string(asYAML)) {
			if lower := strings.ToLower(text); strings.Contains(text, "s3cr3t") || strings.Contains(lower, hex.EncodeToString([]byte(s))) ||
				strings.Contains(text, strings.Trim(fmt.Sprint([]byte(s)), "[]")) || strings.Contains(text, "czNjcjN0") {
				t.Fatalf("%T is shown as %s", v, text)
			}
		}
	}
	if got := slog.AnyValue(s).Resolve(); got.Kind() != slog.KindString || got.String() != "[redacted]" {
		t.Errorf("a handler of log/slog gets %v", got)
	}
	if got := fmt.Sprintf("%v %d", s, client.Secret("")); got != "[redacted] " {
		t.Errorf("a secret and an empty one are %q", got)
	}
	var out Login
	if err := json.Unmarshal([]byte(`{"password": "s3cr3t"}`), &out); err != nil || out.Password != s || string(out.Password) != "s3cr3t" {
		t.Errorf("decoded %q, %v", string(out.Password), err)
	}
}

// guarantee S2: fmt, encoding/json and logr would print the bytes of an Ed25519 key behind the pointer.
func TestThePrivateKeyOfACredentialIsNotShown(t *testing.T) {
	key := ed25519.NewKeyFromSeed([]byte("0123456789abcdef0123456789abcdef"))
	c := client.Credential{Token: "t", Certificate: &tls.Certificate{PrivateKey: key}}
	asNumbers, asBase64 := strings.Trim(fmt.Sprint([]byte(key[:16])), "[]"), base64.StdEncoding.EncodeToString(key[:15])
	for _, v := range []any{c, &c, []any{c}, map[string]any{"a": &c}, struct{ C *client.Credential }{&c}} {
		for _, text := range append(printed(t, v), logged(v)) {
			if strings.Contains(text, asNumbers) || strings.Contains(text, asBase64) || strings.Contains(strings.ToLower(text), hex.EncodeToString(key[:16])) {
				t.Fatalf("the key is in %s", text)
			}
		}
	}
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
				for _, text := range append(printed(t, v), logged(v)) {
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
func TestFetchedCredentialsAreNotShown(t *testing.T) {
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
			if text := fmt.Sprint(r); !strings.Contains(text, name) || !strings.Contains(text, "Accept") {
				t.Errorf("it does not show the names: %s", text)
			}
			for _, text := range append(printed(t, r), logged(r)) {
				if strings.Contains(text, "s3cr3t") {
					t.Fatalf("it shows %s", text)
				}
			}
		}
	}
}

// named are fields whose name is that of a secret, and which are none, or which are of a type that cannot hide them.
var named = []string{
	"client/clienttest.RecordOptions.Secrets", "client/clienttest/internal/recording.File.Header",
	"client/clienttest/internal/recording.Header.Secrets", "client/clienttest/internal/recording.Plan.Header",
	"client/clienttest/internal/recording.Reader.Header",                                           // how values of Secrets are recorded, and the head of a file
	"internal/controlplane.ControlPlane.Token", "internal/controlplane.ControlPlane.OutsiderToken", // of a server that a test starts
	"internal/jsonstream.Step.Header",            // what a list says about itself
	"informer/warm.Options.PlainSecrets",         // a bool
	"client/webhook/certificates.Options.Secret", // the key of one
	"internal/conn.Progress.Body",                // of an answer; it is a reader, and net/http's own is one of unexported fields
}

// The names of what is to be kept secret.
var secretName = regexp.MustCompile(`(?i)token$|password|secret|credential|certificate$|keydata|authorization|header$|cookie|body$`)

// guarantee S2: a field with the name of a secret is a Secret, or one of a type that hides it.
func TestEveryTypeThatHasASecretHidesIt(t *testing.T) {
	hides := make(map[string]bool)
	for _, s := range secretive {
		typ := reflect.TypeOf(s.value).Elem()
		hides[strings.TrimPrefix(typ.PkgPath(), "github.com/bowline-go/bowline/")+"."+typ.Name()] = true
	}
	packages(t, func(dir string, files []*ast.File) {
		if strings.HasPrefix(dir, "client/builtin/") { // objects of the API: a Secret has its data as the server sends it
			return
		}
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
							_, isFunc := field.Type.(*ast.FuncType)
							isSecret := strings.HasSuffix(types.ExprString(field.Type), "Secret")
							if name.IsExported() && !isFunc && !isSecret && secretName.MatchString(name.Name) && !slices.Contains(named, full) {
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
