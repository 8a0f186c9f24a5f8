package client_test

import (
	"crypto/tls"
	"net/http"
	"reflect"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/protobuf"
)

// The table says what Anonymous does with each field of Config and TLS. A new field must be in it.
var anonymous = map[string]bool{
	"Server": true, "UserAgent": true, "Limiter": true, "MaxObject": true, "Uncompressed": true, "Dial": true, "Proxy": true,
	"Hooks": true, "Logger": true, "Retry": true, "StallTimeout": true, "Protobuf": true,
	"BearerToken": false, "BearerTokenFile": false, "Username": false, "Password": false, "Credentials": false,
	"Impersonate": false, "Wrap": false,
	"TLS.CAFile": true, "TLS.CAData": true, "TLS.ServerName": true, "TLS.Insecure": true,
	"TLS.CertFile": false, "TLS.CertData": false, "TLS.KeyFile": false, "TLS.KeyData": false,
}

// fill sets v to something that is not its zero value.
func fill(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64, reflect.Int32:
		v.SetInt(1)
	case reflect.Uint8:
		v.SetUint(1)
	case reflect.Float64:
		v.SetFloat(1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
	case reflect.Func:
		v.Set(reflect.MakeFunc(v.Type(), func([]reflect.Value) []reflect.Value { panic("called") }))
	case reflect.Interface:
		v.Set(reflect.ValueOf(protobuf.New()))
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(t, v.Field(i))
			}
		}
	default:
		t.Fatalf("no value of type %v", v.Type())
	}
}

// guarantee S4, behaviour 137
func TestAnAnonymousConfigHasNoIdentity(t *testing.T) {
	var cfg client.Config
	fill(t, reflect.ValueOf(&cfg).Elem())
	check := func(prefix string, before, after reflect.Value) {
		for i := range before.NumField() {
			name := prefix + before.Type().Field(i).Name
			if name == "TLS" || !before.Type().Field(i).IsExported() {
				continue
			}
			kept, known := anonymous[name]
			if !known {
				t.Errorf("nobody has said what Anonymous does with %s", name)
				continue
			}
			a := after.Field(i)
			if same := a.Kind() == reflect.Func && !a.IsNil() || reflect.DeepEqual(before.Field(i).Interface(), a.Interface()) ||
				name == "Hooks"; kept && !same {
				t.Errorf("%s is not kept", name)
			}
			if !kept && !a.IsZero() {
				t.Errorf("%s is kept", name)
			}
		}
	}
	anon := cfg.Anonymous()
	check("", reflect.ValueOf(cfg), reflect.ValueOf(anon))
	check("TLS.", reflect.ValueOf(cfg.TLS), reflect.ValueOf(anon.TLS))
}

// guarantee S4, behaviour 137
func TestAnAnonymousClientSendsNoIdentity(t *testing.T) {
	ca := newAuthority(t)
	cert, key := ca.issue(t, "me")
	srv := &people{}
	var got http.Header
	cfg, _ := serveOver(t, http2, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header
		srv.ServeHTTP(w, r)
	}), func(s *http.Server) { s.TLSConfig.ClientAuth = tls.RequestClientCert })
	cfg.BearerToken, cfg.TLS.CertData, cfg.TLS.KeyData = "t0k3n", client.Secret(cert), client.Secret(key)
	cfg.Impersonate = &client.Subject{User: "jane"}
	cfg.Wrap = func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			r = r.Clone(r.Context())
			r.Header.Set("X-Api-Key", "s3cr3t")
			return next.RoundTrip(r)
		})
	}
	for _, test := range []struct {
		cfg  client.Config
		user string
		want int
	}{{cfg, "me", 3}, {cfg.Anonymous(), "nobody", 0}} {
		must[*Slim](t)(client.For(dial(t, test.cfg), slims).Get(t.Context(), web))
		n := 0
		for _, name := range []string{"Authorization", "Impersonate-User", "X-Api-Key"} {
			if got.Get(name) != "" {
				n++
			}
		}
		if user := srv.all(); user != test.user || n != test.want {
			t.Errorf("the server met %s, with %v", user, got)
		}
	}
}
