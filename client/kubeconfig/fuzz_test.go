package kubeconfig

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

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
		if m, err := parse(&source{name: "/folder/config", dir: "/folder"}, data); err == nil {
			if list := m.list(Options{}); len(list) != len(m.contexts) {
				t.Errorf("%d of %d contexts are listed", len(list), len(m.contexts))
			}
		}
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
		if token := l.Config.BearerToken; len(token) > 20 && strings.Contains(fmt.Sprint(l), string(token)) {
			t.Errorf("%v shows its token", l)
		}
		if _, err := client.New(l.Config); err != nil {
			t.Errorf("a client refuses what was parsed: %v", err)
		}
	})
}

// meaning returns what a file says, to a decoder that has nothing to do with this package's: each document but the empty ones.
// The stanza of the given list and name is left out, and a list that is then empty.
func meaning(data []byte, list, name string) (all []map[any]any, ok bool) {
	for d := yaml.NewDecoder(strings.NewReader(string(data))); ; {
		var node yaml.Node
		if err := d.Decode(&node); err != nil {
			return all, err.Error() == "EOF"
		}
		items := own(node.Content[0], list)
		if items != nil && items.Kind == yaml.SequenceNode {
			items.Content = slices.DeleteFunc(items.Content, func(item *yaml.Node) bool {
				n := own(follow(item), "name")
				return n != nil && follow(n).Value == name
			})
		}
		var doc map[any]any
		if err := node.Decode(&doc); err != nil {
			return nil, false
		}
		if value := reflect.ValueOf(doc[list]); doc[list] == nil || value.Kind() == reflect.Slice && value.Len() == 0 {
			delete(doc, list)
		}
		if len(doc) > 0 {
			all = append(all, doc)
		}
	}
}

// changed is what Write makes of a file, without the disk.
func changed(data []byte, c Change) ([]byte, error) {
	d := &document{src: &source{name: "/folder/config", dir: "/folder"}, data: data}
	if err := errors.Join(c.validate(), d.open()); err != nil {
		return nil, err
	}
	if err := c.apply([]*document{d}, ""); err != nil || !d.edited {
		return data, err
	}
	return d.encode()
}

// behaviour 105: whatever the file is, Write changes the stanza that it is told to change and nothing else, or nothing at all.
// To change it back gives a file that says what it said.
func FuzzWrite(f *testing.F) {
	for _, seed := range []string{
		"", "{}", "null", simple("a"), simple("a") + "---\n" + simple("b"), "\ufeff" + commented, strings.ReplaceAll(commented, "\n", "\r\n"),
		"users: []\n", "users:\n# here\n", "a: &a [b]\nc: *a\n", "users: [{name: n, user: &a {x: y}}]\nz: *a",
		`{"a":[1,true,{"b":null}],"users":[{"name":"n","user":{"x":"y"}}]}`, "a: |\n  b\n\n  c\nd: >-\n  e\n  f\n", "? a\n: - b\n",
		"users:\n- user: {token: yes, x: 0o17, y: 1:30, z: 2001-01-01}\n  name: n\n", "a: !x b\n", "%YAML 1.1\n---\na: yes\n", bomb(3),
	} {
		f.Add([]byte(seed), "n", "s3cr3t")
		f.Add([]byte(seed), "0x1f", "1:30")
	}
	f.Fuzz(func(t *testing.T, data []byte, name, token string) {
		before, comparable := meaning(data, "users", name)
		after, err := changed(data, Change{Users: map[string]*User{name: {Token: client.Secret(token)}}})
		if err != nil {
			if len(token) > 20 && strings.Contains(err.Error(), token) {
				t.Errorf("error shows the token: %v", err)
			}
			return
		}
		m, err := parse(&source{name: "/folder/config"}, after)
		if err != nil {
			t.Fatalf("what was written is refused: %v", err)
		}
		if s := m.users[name].clone(); s == nil || s.text("token") != token || s.err != nil {
			t.Errorf("the user is not as it was written: %q", after)
		}
		if now, ok := meaning(after, "users", name); comparable && (!ok || !alike(before, now)) {
			t.Errorf("all else has become\n%#v, was\n%#v", now, before)
		}
		last, err := changed(after, Change{Users: map[string]*User{name: nil}})
		if err != nil {
			t.Fatalf("what was written cannot be deleted: %v", err)
		}
		if now, ok := meaning(last, "users", name); comparable && (!ok || !alike(before, now)) {
			t.Errorf("without it, the file says\n%#v, was\n%#v", now, before)
		}
	})
}

// alike compares what two files say. A file without anything gets the two fields that say of what kind it is.
func alike(before, after []map[any]any) bool {
	if len(before) == 0 && len(after) == 1 {
		return reflect.DeepEqual(after[0], map[any]any{"apiVersion": "v1", "kind": "Config"})
	}
	return reflect.DeepEqual(before, after)
}
