package kubeconfig

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// behaviour 119
func TestAPluginGetsTheClusterOnlyIfTheStanzaAsksForIt(t *testing.T) {
	dir := t.TempDir()
	ca, _ := keyPair(t, "ca")
	file := write(t, filepath.Join(dir, "ca"), string(ca))
	const all = `tls-server-name: api.example, proxy-url: "socks5://u:p@h:1", disable-compression: true,
		extensions: [{name: other, extension: x}, {name: client.authentication.k8s.io/exec, extension: {audience: abc}}]`
	for _, test := range []struct {
		name          string
		cluster, more string
		version       string
		interactive   bool
		want          string // the spec
	}{
		{"not asked for", all, ``, "v1", false, `{"interactive":false}`},
		{"so many words", all, `, provideClusterInfo: false`, "v1", true, `{"interactive":true}`},
		{
			"a server alone", ``, `, provideClusterInfo: true`, "v1", false,
			`{"cluster":{"server":"https://s:6443"},"interactive":false}`,
		},
		{
			"everything", all + `, certificate-authority-data: ` + base(ca), `, provideClusterInfo: true`, "v1beta1", true,
			`{"cluster":{"server":"https://s:6443","tls-server-name":"api.example","certificate-authority-data":"` + base(ca) +
				`","proxy-url":"socks5://u:p@h:1","disable-compression":true,"config":{"audience":"abc"}},"interactive":true}`,
		},
		{
			"the content of a file", `certificate-authority: ` + file, `, provideClusterInfo: true`, "v1", false,
			`{"cluster":{"server":"https://s:6443","certificate-authority-data":"` + base(ca) + `"},"interactive":false}`,
		},
		{
			"no verification", `insecure-skip-tls-verify: true`, `, provideClusterInfo: true`, "v1", false,
			`{"cluster":{"server":"https://s:6443","insecure-skip-tls-verify":true},"interactive":false}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := pluginOf(t, someServer+test.cluster,
				`exec: {apiVersion: client.authentication.k8s.io/`+test.version+`, command: c, interactiveMode: Never`+test.more+`}`, Plugins{})
			got, err := p.info(test.interactive)
			want := `{"apiVersion":"client.authentication.k8s.io/` + test.version + `","kind":"ExecCredential","spec":` + test.want + `}`
			if err != nil || got != want {
				t.Errorf("it is told\n%s, %v, want\n%s", got, err, want)
			}
		})
	}
	// Such as /dev/zero, which a kubeconfig may name too.
	t.Run("a file that has no end", func(t *testing.T) {
		endless := write(t, filepath.Join(dir, "endless"), "")
		if err := os.Truncate(endless, 1<<40); err != nil {
			t.Fatal(err)
		}
		p := pluginOf(t, someServer+`certificate-authority: `+endless, `exec: {`+somePlugin+`, provideClusterInfo: true}`, Plugins{})
		_, err := p.info(false)
		if want := `read certificate-authority "` + endless + `": is larger than 16 MiB`; err == nil || err.Error() != want {
			t.Errorf("error is %v, want %s", err, want)
		}
	})
	t.Run("a file that is gone", func(t *testing.T) {
		p := pluginOf(t, someServer+`certificate-authority: /nowhere/ca`, `exec: {`+somePlugin+`, provideClusterInfo: true}`, Plugins{})
		_, err := p.info(false)
		if err == nil || !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), `read certificate-authority "/nowhere/ca": `) {
			t.Errorf("error is %v", err)
		}
	})
}

func TestAnExtensionBecomesJSON(t *testing.T) {
	for _, test := range []struct{ name, extension, want string }{
		{"text", `a`, `"a"`},
		{"nothing", `null`, ``},
		{
			"values", `[1, -2.5, 0x1F, 1_000, 1e3, true, no, null, 2026-01-02, "3", 12345678901234567890, ~]`,
			`[1,-2.5,31,1000,1e3,true,"no",null,"2026-01-02","3",12345678901234567890,null]`,
		},
		{"mappings", `{b: {c: []}, a: {}, 1: x}`, `{"1":"x","a":{},"b":{"c":[]}}`},
		{
			"aliases and merge keys", `{a: &a {x: 1, y: 2}, b: *a, c: {<<: *a, y: 3}, d: {<<: [{x: 5}, *a]}}`,
			`{"a":{"x":1,"y":2},"b":{"x":1,"y":2},"c":{"x":1,"y":3},"d":{"x":5,"y":2}}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := pluginOf(t, someServer+`extensions: [{name: client.authentication.k8s.io/exec, extension: `+test.extension+`}]`,
				`exec: {`+somePlugin+`, provideClusterInfo: true}`, Plugins{})
			if got := string(p.cluster.Config); got != test.want || (got != "" && !json.Valid([]byte(got))) {
				t.Errorf("it is %s, want %s", got, test.want)
			}
		})
	}
	const name = `name: client.authentication.k8s.io/exec`
	const stanza = `kubeconfig: clusters["c"]`
	for _, test := range []struct{ name, extensions, want string }{
		{"no list", `{a: b}`, stanza + `: extensions must be a list`},
		{"an entry that is text", `[a]`, stanza + `.extensions[0]: must be a mapping`},
		{
			"twice", `[{` + name + `, extension: 1}, {` + name + `, extension: 2}]`,
			stanza + `.extensions[1]: name "client.authentication.k8s.io/exec" is used twice`,
		},
		{
			"no number", `[{` + name + `, extension: [.inf]}]`,
			stanza + `: extensions["client.authentication.k8s.io/exec"] has a value that JSON cannot express`,
		},
		{
			"a key that is a list", `[{` + name + `, extension: {[a]: b}}]`,
			stanza + `: extensions["client.authentication.k8s.io/exec"] has a value that JSON cannot express`,
		},
		{
			"a key twice", `[{` + name + `, extension: {a: b, "a": c}}]`,
			stanza + `: extensions["client.authentication.k8s.io/exec"] sets a key twice`,
		},
		{
			"a merge key with text", `[{` + name + `, extension: {<<: b}}]`,
			stanza + `: extensions["client.authentication.k8s.io/exec"] must have mappings only under the merge key (<<)`,
		},
		{
			"too large", `[{` + name + `, extension: ` + strings.Repeat("a", maxExtension+1) + `}]`,
			stanza + `: extensions["client.authentication.k8s.io/exec"] is larger than 64 KiB`,
		},
		{
			"too large once expanded", `[{` + name + `, extension: [&a ` + strings.Repeat("a", 10000) + strings.Repeat(`, *a`, 10) + `]}]`,
			stanza + `: extensions["client.authentication.k8s.io/exec"] is larger than 64 KiB`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			data := []byte(one(someServer+`extensions: `+test.extensions, `exec: {`+somePlugin+`, provideClusterInfo: true}`))
			if _, err := Parse(data, Options{}); err == nil || err.Error() != test.want {
				t.Errorf("error is\n%v, want\n%v", err, test.want)
			}
			data = []byte(one(someServer+`extensions: `+test.extensions, `exec: {`+somePlugin+`}`))
			if _, err := Parse(data, Options{}); err != nil {
				t.Errorf("nobody wants it, and the error is %v", err)
			}
		})
	}
}
