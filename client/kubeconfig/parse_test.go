package kubeconfig

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
)

// behaviour 93, behaviour 105, behaviour 106
func TestEveryFormOfAFileMeansTheSame(t *testing.T) {
	const plain = `apiVersion: v1
kind: Config
preferences: {}
current-context: "007"
contexts:
- name: "007"
  context:
    cluster: 1e3
    user: 2024-01-01
    namespace: 0x10
clusters:
- name: 1e3
  cluster:
    server: https://s
users:
- name: 2024-01-01
  user:
    token: 12345678901234567890123
`
	wide := func(order binary.AppendByteOrder, text string) string {
		var b []byte
		for _, unit := range utf16.Encode([]rune("\ufeff" + text)) {
			b = order.AppendUint16(b, unit)
		}
		return string(b)
	}
	for _, test := range []struct{ name, data string }{
		{"names that look like numbers stay as they are written", plain},
		{"unquoted too", strings.ReplaceAll(plain, `"`, "")},
		{"with carriage returns", strings.ReplaceAll(plain, "\n", "\r\n")},
		{"UTF-8 with a byte order mark", "\ufeff" + plain},
		{"UTF-16, little end first", wide(binary.LittleEndian, plain)},
		{"UTF-16, big end first", wide(binary.BigEndian, plain)},
		{
			"in several documents",
			strings.NewReplacer("contexts:", "---\ncontexts:", "clusters:", "---\n---\n# nothing\n---\nclusters:").Replace(plain),
		},
		{"the first current context of several documents", plain + "---\ncurrent-context: other\n"},
		{
			"unknown fields are ignored, even if they come twice",
			strings.ReplaceAll(plain, "    server:", "    new: [1, {2: 3}]\n    new: x\n    server:") + "colors: true\ncolors: 1\n",
		},
		{"null is the same as absent", strings.NewReplacer(
			"    token:",
			"    tokenFile: null\n    client-key-data: ~\n    exec: null\n    as: null\n    as-groups:\n    password: null\n    token:",
			"    server:", "    certificate-authority-data: null\n    insecure-skip-tls-verify:\n    proxy-url: ~\n    server:",
			"clusters:\n", "clusters:\n- null\n- ~\n",
		).Replace(plain)},
		{"with anchors and merge keys", strings.NewReplacer(
			"    server: https://s",
			"    &server\n    server: https://s\n- name: other\n  cluster:\n    server: no\n    <<: *server",
			"cluster: 1e3\n    user: 2024-01-01", "<<: [{user: 2024-01-01}, {user: no, cluster: no}]\n    cluster: 1e3",
		).Replace(plain)},
		{"JSON", `{"apiVersion":"v1","kind":"Config","preferences":{},"current-context":"007",` +
			`"contexts":[{"name":"007","context":{"cluster":"1e3","user":"2024-01-01","namespace":"0x10"}}],` +
			`"clusters":[{"name":"1e3","cluster":{"server":"https:\/\/s"}}],` +
			`"users":[{"name":"2024-01-01","user":{"token":"1234567890123456789012\u0033","password":null}}],` +
			`"\ud83d\ude00":1,"` + strings.Repeat("long", 1000) + `":{}}`},
		{"JSON with numbers, and a byte order mark", "\ufeff" + `{"current-context":"007",` +
			`"users":[{"name":"2024-01-01","user":{"token":12345678901234567890123}}],` +
			`"clusters":[{"name":"1e3","cluster":{"server":"https://s","insecure-skip-tls-verify":false}}],` +
			`"contexts":[{"name":"007","context":{"cluster":1e3,"user":"2024-01-01","namespace":"0x10"}}]}`},
		{"JSON with tabs", `{
	"current-context": "007",
	"contexts": [
		{"name": "007", "context": {"cluster":"1e3", "user":	"2024-01-01", "namespace": "0x10"}}
	],
	"clusters": [{"name": "1e3", "cluster": {"server": "https://s"}}],
	"users": [{"name": "2024-01-01", "user": {"token": "12345678901234567890123"}}]
}
`},
		{"YAML that is nearly JSON", `{current-context: "007",
	"contexts": [{"name":"007","context":{"cluster":"1e3","user":	"2024-01-01","namespace":"0x10"}}],
	"clusters": [{"name": "1e3", "cluster": {"server": "https://s"}}],
	"users": [{"name": "2024-01-01", "user": {"token": "12345678901234567890123"}}], # the end
}
`},
	} {
		t.Run(test.name, func(t *testing.T) {
			l, err := Parse([]byte(test.data), Options{})
			if err != nil {
				t.Fatal(err)
			}
			got := [...]string{l.Context, l.Namespace, l.Origin, l.Config.Server, string(l.Config.BearerToken)}
			if want := [...]string{"007", "0x10", "", "https://s", "12345678901234567890123"}; got != want {
				t.Errorf("parsed %q, want %q", got, want)
			}
		})
	}
}

// behaviour 105
func TestAnEmptyFileIsAnEmptyConfiguration(t *testing.T) {
	for _, data := range []string{
		"", "\n", "# nothing\n", "null", "---\n...\n", "---\n---\n", "{}", "\ufeff", "contexts: []\nusers:\nclusters: null\n",
	} {
		t.Run(data, func(t *testing.T) {
			_, err := Parse([]byte(data), Options{Path: "/c"})
			if e := (*EmptyError)(nil); !errors.As(err, &e) || err.Error() != "kubeconfig /c: is empty" {
				t.Errorf("error is %v, want an EmptyError", err)
			}
		})
	}
}

func TestAFileOfTheWrongShapeIsAnErrorThatSaysWhere(t *testing.T) {
	for _, test := range []struct{ name, data, want string }{
		{"not YAML", "a: [", "is not YAML: line 1: did not find expected node content"},
		{"a text", "hello", "must be a mapping"},
		{"a list", "- a", "must be a mapping"},
		{"another kind", "apiVersion: v1\nkind: Pod", `kind must be Config, got "Pod"`},
		{"another version", "apiVersion: v2\nkind: Config", `apiVersion must be v1, got "v2"`},
		{"a second document of another kind", simple("a") + "---\nkind: Secret", `kind must be Config, got "Secret"`},
		{"clusters that are a mapping", "clusters: {a: b}", "clusters must be a list"},
		{
			"a field that is set twice in JSON", `{"current-context": "a", "contexts": [{"name": "a", "context": {}, "name": "a"}]}`,
			"contexts[0]: name is set twice",
		},
		{
			"a body that is set twice", "current-context: a\ncontexts: [{name: a, context: {}, context: {}}]",
			"contexts[0]: context is set twice",
		},
		{"a list in JSON", `[{}]`, "must be a mapping"},
		{"JSON that is cut", `{"users": [{"name": "a"`, "is not YAML: line 1: did not find expected ',' or '}'"},
		{"a field that is set twice", "current-context: a\ncurrent-context: b", "current-context is set twice"},
		{"a merge key with a text", "<<: a", "must have mappings only under the merge key (<<)"},
		{"UTF-8 that is none", "current-context: \xff", "is not YAML: invalid leading UTF-8 octet"},
		// behaviour 92
		{"two clusters of one name", "clusters: [{name: a}, {name: b}, {name: a}]", `clusters[2]: name "a" is used twice`},
		{"two contexts of one name", "contexts: [{name: a}, {name: a}]", `contexts[1]: name "a" is used twice`},
		{"two users of one name", "users: [{name: a}, {name: a}]", `users[1]: name "a" is used twice`},
		{
			"two users of one name in two documents", "users: [{name: a}]\n---\nusers: [{name: a}]",
			`users[0]: name "a" is used twice`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse([]byte(test.data), Options{Path: "/c"})
			if err == nil || err.Error() != "kubeconfig /c: "+test.want {
				t.Errorf("error is\n%v, want\nkubeconfig /c: %v", err, test.want)
			}
			if f := (*FieldError)(nil); !errors.As(err, &f) || f.file != "/c" {
				t.Errorf("error is %#v, want a FieldError of the file", err)
			}
		})
	}
}

// bomb is a chain of lists, each of which holds the one before ten times.
func bomb(links int) string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := range links {
		fmt.Fprintf(&b, "a%d: &a%d [%s*a%d]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 9), i)
	}
	return b.String()
}

// mergeBomb is a chain of mappings, each of which merges the one before twice.
func mergeBomb(links int) string {
	var b strings.Builder
	b.WriteString("a0: &a0 {x: y}\n")
	for i := range links {
		fmt.Fprintf(&b, "a%d: &a%d {<<: [*a%d, *a%d]}\n", i+1, i+1, i, i)
	}
	fmt.Fprintf(&b, "<<: *a%d\n", links)
	return b.String()
}

// One entry without a name, which nobody can use, made every Load fail, of other files too.
func TestAnEntryWithoutANameIsAWarning(t *testing.T) {
	for _, test := range []struct{ name, data, want string }{
		{"a text", "users: [a]", "users[0]: must be a mapping"},
		{"no name", "users: [{name: a}, {user: {token: s3cr3t}}]", "users[1]: name is not set"},
		{"an empty name", `clusters: [{name: ""}]`, "clusters[0]: name is not set"},
		{"a name that is null", `contexts: [{name: null}]`, "contexts[0]: name is not set"},
		{"a name that is a list", "users: [{name: [a]}]", "users[0]: name must be a string"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			first, second := write(t, filepath.Join(dir, "1"), test.data), write(t, filepath.Join(dir, "2"), simple("a"))
			t.Setenv("KUBECONFIG", first+string(filepath.ListSeparator)+second)
			l, err := Load(Options{})
			want := []string{"kubeconfig " + first + ": " + test.want + ", and was ignored"}
			if err != nil || !slices.Equal(l.Warnings, want) {
				t.Errorf("loaded %v, %v, want the warning %q", l, err, want)
			}
			_, err = Load(Options{Path: first})
			if err == nil || !strings.HasPrefix(err.Error(), "kubeconfig "+first+": current-context is not set") {
				t.Errorf("the file alone gives %v", err)
			}
			err = Write(t.Context(), Options{Path: first}, Change{Clusters: map[string]*Cluster{"new": {Server: "https://s"}}})
			if err != nil || !strings.Contains(contentOf(t, first), "https://s") {
				t.Errorf("it was changed to %q, %v", contentOf(t, first), err)
			}
		})
	}
}

// A misspelt name is most probably that of the one that is not there.
func TestNotFoundErrorsMentionEntriesWithoutNames(t *testing.T) {
	data := "current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n" +
		"clusters: [{Name: c, cluster: {server: https://s}}]\nusers: [{name: u, user: {token: s3cr3t}}]"
	_, err := Parse([]byte(data), Options{Path: "/c"})
	want := `kubeconfig /c: contexts["x"]: cluster "c" not found (kubeconfig /c: clusters[0]: name is not set, and was ignored)`
	if err == nil || err.Error() != want {
		t.Errorf("error is\n%v, want\n%v", err, want)
	}
}

// If many entries have no name, the warnings name some of them.
func TestWarningsAboutEntriesWithoutNamesAreBounded(t *testing.T) {
	l, err := Parse([]byte(simple("a")+"---\nusers: ["+strings.Repeat("{},", 1000)+"]"), Options{Path: "/c"})
	if err != nil || len(l.Warnings) != maxOther {
		t.Errorf("%d warnings, %v", len(l.Warnings), err)
	}
}

// tagDirectives returns a document with n directives, of which each is another one.
func tagDirectives(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%%TAG !%d! x\n", i)
	}
	return b.String() + "---\na: b\n"
}

// A line that begins with a percent sign is content within a text, and %YAML is allowed.
func TestOnlyDirectivesAreRefused(t *testing.T) {
	const data = "%YAML 1.1\n---\n" +
		"current-context: \"a\n%TAG !x! y\"\ncontexts:\n- name: \"a %TAG !x! y\"\n  context: {cluster: c}\n" +
		"clusters:\n- name: c\n  cluster:\n    server: https://s\n    certificate-authority-data: |\n      %TAG !x! y\n"
	_, err := Parse([]byte(data), Options{Path: "/c"})
	if want := `kubeconfig /c: clusters["c"]: certificate-authority-data is not base64: `; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error is %v, want %s", err, want)
	}
}

// behaviour 109, guarantee S7 (CVE-2019-11253)
func TestFilesThatNeedTooMuchTimeOrMemoryAreRefused(t *testing.T) {
	const few, many = "has too many values in it, or aliases that expand to too many", 1 << 20
	for _, test := range []struct{ name, data, want string }{
		{"an alias bomb", bomb(20), few},
		{"an alias bomb in JSON's clothes", "{" + strings.ReplaceAll(strings.TrimSpace(bomb(12)), "\n", ", ") + "}", few},
		{"an alias bomb of merge keys", mergeBomb(64), few},
		{"an alias bomb spread over documents", strings.Repeat(bomb(4)+"---\n", 20), few},
		{"aliases of a long text", "a: &a " + strings.Repeat("x", 1<<20) + "\nb: [" + strings.Repeat("*a,", 1000) + "]", few},
		{"an alias within its own anchor", "clusters: &a [*a]", few},
		{"a mapping that merges itself", "users: [&a {<<: *a}]", few},
		{"a very large file", strings.Repeat("#", maxSize+1), "is larger than 16 MiB"},
		{"many small values", "[" + strings.Repeat("a,", many) + "]", few},
		{"many documents", strings.Repeat("---\n", many), few},
		{
			"deep nesting in JSON", strings.Repeat("[", 1<<14) + strings.Repeat("]", 1<<14),
			"is not YAML: exceeded max depth of 10000",
		},
		{"many small values in JSON", "[" + strings.Repeat("1,", many) + "1]", few},
		{"deep nesting", strings.Repeat("[", 1<<17), "is not YAML: exceeded max depth of 10000"},
		// The library compares each with all that come before it.
		{"many tag directives", tagDirectives(1 << 16), "cannot be read: line 1 has a YAML directive other than %YAML, which is not allowed"},
		{
			"many tag directives in a later document", "a: b\r\n...\r\n" + tagDirectives(1<<16),
			"cannot be read: line 3 has a YAML directive other than %YAML, which is not allowed",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			_, err := Parse([]byte(test.data), Options{Path: "/c"})
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			if err == nil || err.Error() != "kubeconfig /c: "+test.want {
				t.Errorf("error is\n%v, want\nkubeconfig /c: %v", err, test.want)
			}
			// Generous, for the race detector and slow machines; a bomb takes terabytes and years.
			if mib := (after.TotalAlloc - before.TotalAlloc) >> 20; mib > 1024 || took > 20*time.Second {
				t.Errorf("took %v and allocated %d MiB", took, mib)
			}
		})
	}
}

// guarantee S7: each unknown field was compared with all others, which took a minute for two megabytes.
func TestWarningsAboutUnknownFieldsAreBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString(simple("a"))
	for i := range 200_000 {
		fmt.Fprintf(&b, "k%06d:\n", i)
	}
	l, err := Parse([]byte(b.String()), Options{})
	if err != nil || len(l.Warnings) != maxOther {
		t.Errorf("there are %d warnings, %v", len(l.Warnings), err)
	}
}

func TestALargeHonestFileIsRead(t *testing.T) {
	cert := strings.Repeat("QUFB", 500)
	var b strings.Builder
	for _, list := range []string{"contexts", "clusters", "users"} {
		fmt.Fprintf(&b, "%s:\n", list)
		for i := range 2000 {
			switch list {
			case "contexts":
				fmt.Fprintf(&b, "- context:\n    cluster: cluster-%d\n    user: admin-%d\n  name: context-%d\n", i, i, i)
			case "clusters":
				const entry = "- cluster:\n    certificate-authority-data: %s\n    server: https://10.0.0.1:%d\n  name: cluster-%d\n"
				fmt.Fprintf(&b, entry, cert, i, i)
			case "users":
				fmt.Fprintf(&b, "- name: admin-%d\n  user:\n    client-certificate-data: %s\n    client-key-data: %s\n", i, cert, cert)
			}
		}
	}
	b.WriteString("- name: last\n  user: {token: abc}\n")
	data := strings.Replace(b.String(), "contexts:\n", "contexts:\n- {name: c, context: {cluster: c, user: last}}\n", 1)
	data = strings.Replace(data, "clusters:\n", "clusters:\n- {name: c, cluster: {server: https://s}}\n", 1)
	l, err := Parse([]byte(data), Options{Context: "c"})
	if err != nil || l.Config.BearerToken != "abc" {
		t.Errorf("parsed %v, %v of %d bytes", l, err, len(data))
	}
}
