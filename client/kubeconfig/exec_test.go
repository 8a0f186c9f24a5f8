package kubeconfig

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
)

const somePlugin = `apiVersion: client.authentication.k8s.io/v1, command: get-token, interactiveMode: Never`

// behaviour 101
func TestAnExecStanzaIsRead(t *testing.T) {
	p := pluginOf(t, someServer, `exec: {`+somePlugin+`, args: [get, "", --format, 1, "a b", $HOME, null-like],
		env: [{name: A, value: x}, {name: B, value: "y=z"}, {name: C}], installHint: "brew\n\e[31minstall it\e[0m", unknown: [1]}`, Plugins{})
	if p.version != v1 || p.command != "get-token" || p.mode != never || p.cluster != nil {
		t.Errorf("read %+v", p)
	}
	if want := []string{"get", "", "--format", "1", "a b", "$HOME", "null-like"}; !reflect.DeepEqual(p.args, want) {
		t.Errorf("arguments are %q, want %q", p.args, want)
	}
	if want := []string{"A=x", "B=y=z", "C="}; !reflect.DeepEqual(p.env, want) {
		t.Errorf("environment is %q, want %q", p.env, want)
	}
	// behaviour 103
	if p.hint != "brew install it" {
		t.Errorf("hint is %q", p.hint)
	}
	for mode, stanza := range map[string]string{
		ifAvailable: `apiVersion: client.authentication.k8s.io/v1beta1, command: c`,
		always:      `apiVersion: client.authentication.k8s.io/v1beta1, command: c, interactiveMode: Always`,
		never:       `apiVersion: client.authentication.k8s.io/v1, command: c, interactiveMode: Never, args: null, env: null`,
	} {
		if p := pluginOf(t, someServer, `exec: {`+stanza+`}`, Plugins{}); p.mode != mode || p.args != nil || p.env != nil {
			t.Errorf("%s is read as %+v", stanza, p)
		}
	}
}

// behaviour 91
func TestACommandWithAFolderStartsAtTheFile(t *testing.T) {
	dir := t.TempDir()
	for command, want := range map[string]string{
		"get-token":         "get-token",
		"./get-token":       filepath.Join(dir, "get-token"),
		"../bin/get-token":  filepath.Join(filepath.Dir(dir), "bin", "get-token"),
		"bin/get-token":     filepath.Join(dir, "bin", "get-token"),
		"/opt/x/../y/token": "/opt/y/token",
	} {
		s := &stanza{src: &source{dir: dir}}
		m, err := parse(s.src, []byte(one(someServer, `exec: {command: `+command+`}`)))
		if err != nil {
			t.Fatal(err)
		}
		s.read(m.users["u"].value("exec"), "command")
		if got := s.command(); got != want || s.err != nil {
			t.Errorf("%s is %s, %v, want %s", command, got, s.err, want)
		}
	}
}

// behaviour 101, behaviour 91
func TestABadExecStanzaIsAnErrorThatNamesTheField(t *testing.T) {
	const v1 = `apiVersion: client.authentication.k8s.io/v1`
	for _, test := range []struct{ name, exec, want string }{
		{"text", `get-token`, `: must be a mapping`},
		{"nothing in it", `{}`, `: apiVersion is not set; it must be client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1`},
		{
			"no version", `{command: c, interactiveMode: Never}`,
			`: apiVersion is not set; it must be client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1`,
		},
		{
			"another group", `{apiVersion: v1, command: c, interactiveMode: Never}`,
			`: apiVersion must be client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1, got "v1"`,
		},
		{"no command", `{` + v1 + `, interactiveMode: Never}`, `: command is not set`},
		{"an empty command", `{` + v1 + `, command: "", interactiveMode: Never}`, `: command is not set`},
		{"a command that is a list", `{` + v1 + `, command: [c], interactiveMode: Never}`, `: command must be a string`},
		{"a command with NUL", `{` + v1 + `, command: "c\0", interactiveMode: Never}`, `: command must have no NUL character`},
		{
			"no mode", `{` + v1 + `, command: c}`,
			`: interactiveMode is not set; it must be Never, IfAvailable or Always`,
		},
		{
			"another mode", `{` + v1 + `, command: c, interactiveMode: never}`,
			`: interactiveMode must be Never, IfAvailable or Always, got "never"`,
		},
		{
			"another mode in v1beta1", `{` + v1 + `beta1, command: c, interactiveMode: Sometimes}`,
			`: interactiveMode must be Never, IfAvailable or Always, got "Sometimes"`,
		},
		{"arguments that are text", `{` + somePlugin + `, args: s3cr3t}`, `: args must be a list`},
		{"an argument that is a list", `{` + somePlugin + `, args: [[s3cr3t]]}`, `: args must be a list of strings`},
		{"an argument that is null", `{` + somePlugin + `, args: [null]}`, `: args must be a list of strings`},
		{"an argument with NUL", `{` + somePlugin + `, args: ["s3cr3t\0"]}`, `: args must have no NUL character`},
		{"an environment that is a mapping", `{` + somePlugin + `, env: {A: s3cr3t}}`, `: env must be a list`},
		{"an entry that is text", `{` + somePlugin + `, env: [A=s3cr3t]}`, `.env[0]: must be a mapping`},
		{"an entry without a name", `{` + somePlugin + `, env: [{name: A}, {value: s3cr3t}]}`, `.env[1]: name is not set`},
		{
			"a name with =", `{` + somePlugin + `, env: [{name: A=s3cr3t, value: b}]}`,
			`.env[0]: name must have no = and no NUL character`,
		},
		{
			"a name with NUL", `{` + somePlugin + `, env: [{name: "A\0", value: b}]}`,
			`.env[0]: name must have no = and no NUL character`,
		},
		{"a value with NUL", `{` + somePlugin + `, env: [{name: A, value: "s3cr3t\0"}]}`, `.env[0]: value must have no NUL character`},
		{"a value that is a list", `{` + somePlugin + `, env: [{name: A, value: [s3cr3t]}]}`, `.env[0]: value must be a string`},
		{"a hint that is a list", `{` + somePlugin + `, installHint: [s3cr3t]}`, `: installHint must be a string`},
		{"no boolean", `{` + somePlugin + `, provideClusterInfo: s3cr3t}`, `: provideClusterInfo must be true or false`},
		{"a field twice", `{` + somePlugin + `, command: s3cr3t}`, `: command is set twice`},
	} {
		t.Run(test.name, func(t *testing.T) {
			l, err := Parse([]byte(one(someServer, `exec: `+test.exec)), Options{Path: "/c"})
			if want := `kubeconfig /c: users["u"].exec` + test.want; err == nil || err.Error() != want {
				t.Fatalf("error is\n%v, want\n%v", err, want)
			}
			if !errors.As(err, new(*FieldError)) || l.Config.Credentials != nil {
				t.Errorf("parsed %v, %#v", l, err)
			}
			if strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), "s3cr3t") {
				t.Errorf("error shows a secret: %v", err)
			}
		})
	}
	t.Run("a version that is gone", func(t *testing.T) {
		_, err := Parse([]byte(one(someServer, `exec: {`+v1+`alpha1, command: c}`)), Options{})
		const want = `kubeconfig: users["u"].exec: apiVersion client.authentication.k8s.io/v1alpha1 is not supported: use a plugin of v1 or v1beta1`
		if err == nil || err.Error() != want || !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("error is\n%v, want\n%v", err, want)
		}
	})
	t.Run("a relative command in bytes without a file", func(t *testing.T) {
		_, err := Parse([]byte(one(someServer, `exec: {`+v1+`, command: bin/c, interactiveMode: Never}`)), Options{})
		const want = `kubeconfig: users["u"].exec: command must be a name or an absolute path, because it is not in a file, got "bin/c"`
		if err == nil || err.Error() != want {
			t.Errorf("error is\n%v, want\n%v", err, want)
		}
	})
}

// behaviour 95, behaviour 101: what is fixed takes the place of a plugin, as in client-go.
func TestAPluginBesideOtherWaysToAuthenticate(t *testing.T) {
	cert, key := keyPair(t, "admin")
	for user, want := range map[string]string{
		`token: abc`:                             "exec excludes token",
		`tokenFile: /t`:                          "exec excludes tokenFile",
		`username: a, password: b`:               "exec excludes username",
		`client-certificate: /c, client-key: /k`: "exec excludes client-certificate",
		`client-certificate-data: ` + base(cert) + `, client-key-data: ` + base(key): "exec excludes client-certificate-data",
	} {
		// It does not run, so it need not be allowed.
		l, err := Parse([]byte(one(someServer, user+`, exec: {`+somePlugin+`}`)), Options{Plugins: Plugins{Restricted: true}})
		want = `kubeconfig: users["u"]: ` + want + `: only one authentication method is allowed: the plugin is not used`
		if err != nil || l.Config.Credentials != nil || !slices.Equal(l.Warnings, []string{want}) {
			t.Errorf("%s: parsed %v, %v", user, l, err)
		}
		if _, err := client.New(l.Config); err != nil {
			t.Errorf("%s: %v", user, err)
		}
		if _, err := Parse([]byte(one(someServer, user+`, exec: {command: c}`)), Options{}); err == nil {
			t.Errorf("%s: a plugin that is wrong is accepted", user)
		}
	}
	if l, err := Parse([]byte(one(someServer, `auth-provider: {name: gcp}, exec: {`+somePlugin+`}`)), Options{}); err == nil {
		t.Errorf("a provider beside a plugin is %v", l)
	}
	for _, user := range []string{`token: "", tokenFile: null`, `password: p`, `client-key: /k`, `client-key-data: YQ==`} {
		l, err := Parse([]byte(one(someServer, user+`, exec: {`+somePlugin+`}`)), Options{})
		if err != nil || l.Config.Credentials == nil {
			t.Errorf("%s: %v, %v", user, l, err)
		}
	}
	l, err := Parse([]byte(one(someServer, `token: abc, exec: null`)), Options{})
	if err != nil || l.Config.Credentials != nil || len(l.Warnings) != 0 {
		t.Errorf("a null plugin: %v, %v", l, err)
	}
}

// behaviour 125: what is loaded once has one Credentials, whatever is copied; what is loaded twice has two.
func TestACopyOfAConfigSharesItsCredentials(t *testing.T) {
	data := []byte(one(someServer, `exec: {`+somePlugin+`}`))
	first, err := Parse(data, Options{})
	if err != nil {
		t.Fatal(err)
	}
	second, err := Parse(data, Options{})
	if err != nil {
		t.Fatal(err)
	}
	copied := first.Config
	copied.UserAgent = "other"
	if copied.Credentials == nil || copied.Credentials != first.Config.Credentials {
		t.Error("a copy has credentials of its own")
	}
	if first.Config.Credentials == second.Config.Credentials {
		t.Error("two calls have one Credentials")
	}
	for _, c := range []client.Config{first.Config, copied} {
		c, err := client.New(c)
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
	}
}

// guarantee S2
func TestPrintingShowsNothingOfAPlugin(t *testing.T) {
	l, err := Parse([]byte(one(someServer, `exec: {`+somePlugin+`, args: [--secret=s3cr3t], env: [{name: A, value: s3cr3t}]}`)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	asJSON, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	shown := []string{string(asJSON)}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		shown = append(shown, fmt.Sprintf(verb, l), fmt.Sprintf(verb, l.Config.Credentials))
	}
	for _, text := range shown {
		if strings.Contains(text, "s3cr3t") || strings.Contains(text, fmt.Sprintf("%x", "s3cr3t")) {
			t.Errorf("it shows a secret: %s", text)
		}
	}
}
