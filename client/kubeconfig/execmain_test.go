package kubeconfig

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// The plugin of these tests is the test program itself, with this variable in its environment.
const pluginMode = "BOWLINE_TEST_PLUGIN"

func TestMain(m *testing.M) {
	if mode := os.Getenv(pluginMode); mode != "" {
		os.Exit(beAPlugin(mode))
	}
	os.Exit(m.Run())
}

// report is what a plugin has seen.
type report struct {
	Args  []string
	Info  json.RawMessage
	Value string // of the variable FROM_STANZA
	Home  string // of the variable FROM_PROCESS
	Stdin string
}

func beAPlugin(mode string) int {
	switch mode {
	case "print": // what its arguments say: standard output, standard error, and so on in turns
		for i, text := range os.Args[1:] {
			fmt.Fprint([]io.Writer{os.Stdout, os.Stderr}[i%2], text)
		}
		return 0
	case "fail":
		fmt.Fprint(os.Stdout, os.Args[1])
		fmt.Fprint(os.Stderr, os.Args[2])
		return 73
	case "flood":
		for {
			if _, err := fmt.Fprint(os.Stdout, strings.Repeat("s3cr3t", 1000)); err != nil {
				return 1
			}
		}
	case "report": // to the file that its first argument names
		stdin, _ := io.ReadAll(os.Stdin)
		b, err := json.Marshal(report{
			Args: os.Args[2:], Info: json.RawMessage(os.Getenv(execInfo)), Stdin: string(stdin),
			Value: os.Getenv("FROM_STANZA"), Home: os.Getenv("FROM_PROCESS"),
		})
		if err != nil || os.WriteFile(os.Args[1], b, 0o600) != nil {
			return 1
		}
		fmt.Print(printToken(v1, "reported"))
		return 0
	case "answers": // the file in the folder whose name is the number of the run, beginning with 1
		runs := filepath.Join(os.Args[1], "runs")
		done, _ := os.ReadFile(runs)
		done = append(done, '.')
		answer, err := os.ReadFile(filepath.Join(os.Args[1], strconv.Itoa(len(done))))
		if err != nil || os.WriteFile(runs, done, 0o600) != nil {
			fmt.Fprintln(os.Stderr, "no answer", len(done))
			return 1
		}
		fmt.Print(string(answer))
		return 0
	case "session":
		if !leadsSession() {
			return 1
		}
		fmt.Print(printToken(v1, "alone"))
		return 0
	case "wait": // until the test at the address hangs up or says to go on
		return call(os.Args[1], "child")
	case "parent", "escape": // starts one that waits, waits, and then prints a credential
		child := exec.Command(os.Args[0], os.Args[1])
		child.Env = append(os.Environ(), pluginMode+"=wait")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		if mode == "escape" {
			leaveGroup(child)
		}
		if child.Start() != nil || call(os.Args[1], "plugin") != 0 {
			return 1
		}
		fmt.Print(printToken(v1, "parent"))
		return 0
	}
	return 2
}

// call tells the test at an address who is there, and waits for a line from it.
func call(address, name string) int {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return 1
	}
	fmt.Fprintln(conn, name)
	if _, err := bufio.NewReader(conn).ReadString('\n'); err != nil {
		return 1
	}
	return 0
}

func printToken(version, token string) string {
	return fmt.Sprintf(`{"apiVersion":%q,"kind":"ExecCredential","status":{"token":%q}}`, version, token)
}

// stanzaOf returns the user of a kubeconfig whose plugin is this program in the given mode, with more fields of exec that
// begin with a comma.
func stanzaOf(t testing.TB, mode, more string, args ...string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	list, err := json.Marshal(append([]string{}, args...))
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`exec: {apiVersion: %s, interactiveMode: Never, command: %q, args: %s,
env: [{name: %s, value: %s}, {name: FROM_STANZA, value: from-the-stanza}]%s}`, v1, self, list, pluginMode, mode, more)
}

// pluginOf returns the plugin of the user u in a kubeconfig with the given fields.
func pluginOf(t testing.TB, cluster, user string, o Plugins) *plugin {
	t.Helper()
	m, err := parse(&source{name: "/c", dir: "/"}, []byte(one(cluster, user)))
	if err != nil {
		t.Fatal(err)
	}
	x := &stanza{src: m.users["u"].src, path: `users["u"].exec`}
	x.read(m.users["u"].value("exec"),
		"apiVersion", "command", "args", "env", "installHint", "provideClusterInfo", "interactiveMode")
	p := x.plugin(o)
	if x.err != nil {
		t.Fatal(x.err)
	}
	if p.cluster != nil {
		c := m.clusters["c"]
		p.tell(c, []byte(c.data("certificate-authority-data")), c.file("certificate-authority"))
		if c.err != nil {
			t.Fatal(c.err)
		}
	}
	return p
}
