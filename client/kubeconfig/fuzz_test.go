package kubeconfig

import (
	"errors"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
)

// Whatever the bytes are, Parse returns, without a panic and in bounded time; what it accepts, client.New accepts; and a
// user with a field that is not supported is refused.
func FuzzParse(f *testing.F) {
	cert, key := keyPair(f, "admin")
	for _, seed := range []string{
		"", "{}", "a: b: c", simple("a"), simple("a") + "---\n" + simple("b"), "\ufeff" + simple("a"),
		one(someServer, `token: abc`),
		one(someServer+`certificate-authority-data: `+base(cert), ``),
		one(someServer, `client-certificate-data: `+base(cert)+`, client-key-data: `+base(key)),
		one(someServer+`proxy-url: "socks5://p:1"`, `tokenFile: /t, exec: {command: c}`),
		"<<: [&a {users: [&b {name: u, user: {token: *a}}, *b]}, *a]\n",
		`{"current-context":"x","contexts":[{"name":"x","context":{"cluster":"c"}}],` +
			`"clusters":[{"name":"c","cluster":{"server":"http://s"}}]}`,
		bomb(3), mergeBomb(5), "a:\n  # x\n  - b\n # y\n", "? a\n: - b\n  # c\n#d\n- e",
	} {
		f.Add([]byte(seed), "")
		f.Add([]byte(seed), "a")
	}
	f.Fuzz(func(t *testing.T, data []byte, context string) {
		l, err := Parse(data, Options{Path: "/folder/config", Context: context})
		if err != nil {
			if l.Config.Server != "" || l.Context != "" {
				t.Errorf("%v comes with the error %v", l, err)
			}
			if !errors.As(err, new(*FieldError)) && !errors.As(err, new(*NotFoundError)) && !errors.As(err, new(*EmptyError)) {
				t.Errorf("error %v has none of the documented types", err)
			}
			return
		}
		if l.Namespace == "" || l.Context == "" || l.Origin != "/folder/config" {
			t.Errorf("parsed %v", l)
		}
		if token := l.Config.BearerToken; len(token) > 20 && strings.Contains(l.String(), token) {
			t.Errorf("%v shows its token", l)
		}
		if _, err := client.New(l.Config); err != nil {
			t.Errorf("a client refuses what was parsed: %v", err)
		}
	})
}
