package kubeconfig

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// guarantee S5; behaviour 118: no shell, the environment is the process's and the stanza's, and there is no input.
func TestAPluginGetsItsArgumentsAndEnvironment(t *testing.T) {
	t.Setenv("FROM_PROCESS", "from-the-process")
	t.Setenv("FROM_STANZA", "to be replaced")
	t.Setenv(execInfo, "of another plugin, which has started this program")
	file := filepath.Join(t.TempDir(), "report")
	args := []string{"", "a b", "$HOME", "`id`", "*", ";exit 1", `"`}
	p := pluginOf(t, someServer, stanzaOf(t, "report", "", append([]string{file}, args...)...), Plugins{})
	c, err := p.fetch(t.Context())
	if err != nil || c.Token != "reported" {
		t.Fatalf("fetched %v, %v", c, err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got report
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	want := report{
		Args: args, Value: "from-the-stanza", Home: "from-the-process",
		Info: json.RawMessage(`{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","spec":{"interactive":false}}`),
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("it has seen %+v, want %+v", got, want)
	}
}

// behaviour 117
func TestAPluginThatFailsSaysWhy(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	dir := t.TempDir()
	text := write(t, filepath.Join(dir, "text"), "no program")
	if err := os.Chmod(text, 0o700); err != nil {
		t.Fatal(err)
	}
	const hint = `, installHint: "brew\n\e[1minstall\e[0m \e]0;title\a get-token"`
	const shownHint = "; to install it: brew install get-token"
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, command string
		mode          string
		args          []string
		want          string
		is            error
		code          int
	}{
		{
			"a name that PATH has not", "get-token", "print", nil,
			`run "get-token": not in PATH: executable file not found in $PATH` + shownHint, exec.ErrNotFound, -1,
		},
		{
			"a file that is not there", dir + "/get-token", "print", nil,
			`run "` + dir + `/get-token": no such file or directory` + shownHint, fs.ErrNotExist, -1,
		},
		{
			"a file that is no program", text, "print", nil,
			`run "` + text + `": cannot be started: exec format error` + shownHint, nil, -1,
		},
		{
			"an exit code", self, "fail",
			[]string{printToken(v1, "s3cr3t"), "cannot sign in:\r\n\x1b[31mno network\x1b[0m\n"},
			`run "` + self + `": ended with exit status 73: cannot sign in: no network`, nil, 73,
		},
		{
			"an exit code without a word", self, "fail",
			[]string{"s3cr3t", ""},
			`run "` + self + `": ended with exit status 73`, nil, 73,
		},
		{
			"what its environment holds, and its flags for secrets", self, "fail",
			[]string{"", "using from-the-stanza, abcdef and ghi=jkl", "--client-secret=abcdef", "--token", "ghi=jkl", "--client-secret", "-1"},
			`run "` + self + `": ended with exit status 73: using [redacted], [redacted] and [redacted]`, nil, 73,
		},
		{
			"more than can be shown", self, "fail",
			[]string{"", "from-the-stanza" + strings.Repeat("a", maxShown-5)},
			`run "` + self + `": ended with exit status 73: ...` + strings.Repeat("a", maxShown-5)[:maxShown-5], nil, 73,
		},
		{
			"something else than a credential", self, "print",
			[]string{"s3cr3t", "warning"},
			`run "` + self + `": printed something other than one ExecCredential in JSON`, nil, -1,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := pluginOf(t, someServer, stanzaOf(t, test.mode, hint, test.args...), Plugins{})
			p.command = test.command
			c, err := p.fetch(t.Context())
			if want := `kubeconfig /c: users["u"].exec: ` + test.want; err == nil || err.Error() != want {
				t.Fatalf("error is\n%v, want\n%v", err, want)
			}
			failed := (*PluginError)(nil)
			code := -1
			if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
				code = exit.ExitCode()
			}
			if !errors.As(err, &failed) || code != test.code || failed.Command != test.command || c.Token != "" {
				t.Errorf("fetched %v, %#v", c, err)
			}
			if test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("error is not %v", test.is)
			}
			if text := fmt.Sprintf("%v %+v %#v %#v", err, err, err, *failed); strings.Contains(text, "s3cr3t") || strings.Contains(text, "from-the-stanza") {
				t.Errorf("error shows a secret: %s", text)
			}
		})
	}
}

// behaviour 117
func TestThePluginsStderrIsNotPartOfItsToken(t *testing.T) {
	var said bytes.Buffer
	p := pluginOf(t, someServer,
		stanzaOf(t, "print", "", printToken(v1, "abc")[:20], "\x1b[31mwarning", printToken(v1, "abc")[20:], " again\n"), Plugins{Stderr: &said})
	if c, err := p.fetch(t.Context()); err != nil || c.Token != "abc" {
		t.Errorf("fetched %v, %v", c, err)
	}
	if got := said.String(); got != "\x1b[31mwarning again\n" {
		t.Errorf("it said %q", got)
	}
	p.plugins.Stderr = failing{}
	if c, err := p.fetch(t.Context()); err != nil || c.Token != "abc" {
		t.Errorf("with a writer that fails: %v, %v", c, err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("full") }

// behaviour 124
func TestAPluginThatPrintsWithoutEndIsEnded(t *testing.T) {
	p := pluginOf(t, someServer, stanzaOf(t, "flood", ""), Plugins{})
	_, err := p.fetch(t.Context())
	if err == nil || !strings.HasSuffix(err.Error(), ": printed more than 1024 KiB") || strings.Contains(err.Error(), "s3cr3t") {
		t.Errorf("error is %v", err)
	}
}

// family is a plugin that has started another process, and both wait.
type family struct {
	conns  map[string]net.Conn // by name: plugin and child
	result chan error          // what fetch returns
	token  string              // what it has fetched, once there is a result
}

// startFamily starts a plugin and returns when both of its processes have called.
func startFamily(t *testing.T, ctx context.Context, mode string, o Plugins) *family {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	p := pluginOf(t, someServer, stanzaOf(t, mode, "", l.Addr().String()), o)
	f := &family{conns: map[string]net.Conn{}, result: make(chan error, 1)}
	go func() {
		c, err := p.fetch(ctx)
		f.token = string(c.Token)
		f.result <- err
	}()
	for range 2 {
		conn, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		name, err := bufio.NewReader(conn).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		f.conns[strings.TrimSpace(name)] = conn
	}
	return f
}

// ended waits for the end of a process.
func (f *family) ended(t *testing.T, name string) {
	t.Helper()
	if b := make([]byte, 1); f.conns[name] == nil {
		t.Errorf("%s has not called", name)
	} else if n, err := f.conns[name].Read(b); n > 0 || err == nil {
		t.Errorf("%s said %q", name, b)
	}
}

// guarantee S5; behaviour 123
func TestAPluginThatHangsIsEndedWithItsGroup(t *testing.T) {
	t.Run("by the caller", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		f := startFamily(t, ctx, "parent", Plugins{})
		why := errors.New("the program ends")
		cancel(why)
		if err := <-f.result; !errors.Is(err, why) || !strings.HasSuffix(err.Error(), ": the program ends") {
			t.Errorf("error is %v", err)
		}
		f.ended(t, "plugin")
		f.ended(t, "child")
	})
	t.Run("by its time", func(t *testing.T) {
		p := pluginOf(t, someServer, stanzaOf(t, "wait", "", listener(t)), Plugins{Timeout: 50 * time.Millisecond})
		_, err := p.fetch(t.Context())
		if !errors.Is(err, os.ErrDeadlineExceeded) || !strings.HasSuffix(err.Error(), ": did not end within 50ms and was killed") {
			t.Errorf("error is %v", err)
		}
		if errors.Is(err, context.DeadlineExceeded) {
			t.Error("the caller's context has not ended")
		}
	})
	t.Run("before it begins", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		p := pluginOf(t, someServer, stanzaOf(t, "print", "", printToken(v1, "abc")), Plugins{})
		if _, err := p.fetch(ctx); !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "install") {
			t.Errorf("error is %v", err)
		}
	})
}

// listener returns the address of a listener that answers nobody.
func listener(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}

// behaviour 123: what a plugin leaves behind has its standard output, and does not hold the credential up.
func TestAPluginMayLeaveAProcessBehind(t *testing.T) {
	for mode, ends := range map[string]bool{"parent": true, "escape": false} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel() // it waits for the output of a process that stays
			f := startFamily(t, t.Context(), mode, Plugins{})
			fmt.Fprintln(f.conns["plugin"])
			if err := <-f.result; err != nil || f.token != "parent" {
				t.Errorf("fetched %q, %v", f.token, err)
			}
			if ends {
				f.ended(t, "child")
			}
		})
	}
}

// behaviour 118: a plugin that is given no terminal has none that it could open. One that did was stopped by the system,
// and ended when its time was over.
func TestAPluginWithoutATerminalRunsInANewSession(t *testing.T) {
	p := pluginOf(t, someServer, stanzaOf(t, "session", ""), Plugins{})
	if c, err := p.fetch(t.Context()); err != nil || c.Token != "alone" {
		t.Errorf("fetched %v, %v", c, err)
	}
}

// behaviour 118
func TestAPluginGetsATerminalByItsMode(t *testing.T) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	file, err := os.Open(write(t, filepath.Join(t.TempDir(), "in"), "typed"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if isTerminal(null) || isTerminal(file) {
		t.Error("the null device or a file is a terminal")
	}
	const noTerminal = "needs a terminal (interactiveMode Always), but standard input is not one"
	const nobody = "needs a user to answer (interactiveMode Always), but Options.Plugins.Unattended is set"
	for _, test := range []struct {
		mode     string
		terminal bool
		o        Plugins
		given    bool
		fails    string
	}{
		{never, true, Plugins{}, false, ""},
		{never, false, Plugins{Unattended: true}, false, ""},
		{ifAvailable, true, Plugins{}, true, ""},
		{ifAvailable, false, Plugins{}, false, ""},
		{ifAvailable, true, Plugins{Unattended: true}, false, ""},
		{always, true, Plugins{}, true, ""},
		{always, false, Plugins{}, false, noTerminal},
		{always, true, Plugins{Unattended: true}, false, nobody},
	} {
		t.Run(fmt.Sprintf("%s/%t/%t", test.mode, test.terminal, test.o.Unattended), func(t *testing.T) {
			if _, err := file.Seek(0, 0); err != nil {
				t.Fatal(err)
			}
			out := filepath.Join(t.TempDir(), "report")
			test.o.Stdin = file
			p := pluginOf(t, someServer, stanzaOf(t, "report", "", out), test.o)
			p.mode, p.terminal = test.mode, func(*os.File) bool { return test.terminal }
			_, err := p.fetch(t.Context())
			if test.fails != "" {
				if err == nil || !strings.HasSuffix(err.Error(), ": "+test.fails) {
					t.Errorf("error is %v, want %v", err, test.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got report
			if b, err := os.ReadFile(out); err != nil || json.Unmarshal(b, &got) != nil {
				t.Fatal(err)
			}
			if (got.Stdin == "typed") != test.given || strings.Contains(string(got.Info), `"interactive":true`) != test.given {
				t.Errorf("it has seen %+v", got)
			}
		})
	}
}

// An interactive plugin has the terminal, or the file that stands for it, as its standard error.
func TestAnInteractivePluginWritesToTheTerminal(t *testing.T) {
	said, err := os.Create(filepath.Join(t.TempDir(), "terminal"))
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	var copied bytes.Buffer
	p := pluginOf(t, someServer, stanzaOf(t, "fail", "", "", "password: "), Plugins{Stderr: said})
	p.mode, p.terminal = always, func(*os.File) bool { return true }
	if _, err := p.fetch(t.Context()); err == nil || strings.Contains(err.Error(), "password") {
		t.Errorf("error is %v", err)
	}
	if b, err := os.ReadFile(said.Name()); err != nil || string(b) != "password: " {
		t.Errorf("the terminal shows %q, %v", b, err)
	}
	p.plugins.Stderr = &copied
	if _, err := p.fetch(t.Context()); err == nil || !strings.Contains(err.Error(), "password") || copied.String() != "password: " {
		t.Errorf("error is %v, copied is %q", err, copied.String())
	}
	p.plugins.Stderr = nil
	if p.terminalFor(said) != os.Stderr || p.terminalFor(nil) != nil {
		t.Error("the terminal is not os.Stderr, or a plugin without input has it")
	}
	if p.timeout(true) != interactiveTimeout || p.timeout(false) != defaultTimeout {
		t.Error("the time is not that of the mode")
	}
}

// Two plugins never share a terminal: whoever waits for it does so no longer than its context.
func TestPluginsTakeTurnsAtTheTerminal(t *testing.T) {
	terminal := func(*os.File) bool { return true }
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	turn <- struct{}{} // somebody types
	p := pluginOf(t, someServer, stanzaOf(t, "print", "", printToken(v1, "abc")), Plugins{Stdin: null})
	p.mode, p.terminal = always, terminal
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error)
	go func() {
		_, err := p.fetch(ctx)
		result <- err
	}()
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
	go func() {
		_, err := p.fetch(t.Context())
		result <- err
	}()
	select {
	case err := <-result:
		t.Errorf("it does not wait: %v", err)
	default:
	}
	<-turn
	if err := <-result; err != nil {
		t.Error(err)
	}
	if len(turn) != 0 {
		t.Error("the turn was not given back")
	}
}

// guarantee S5: the shell of Windows that runs a batch file takes a quote in an argument for one of its own, and what
// follows for a command. An allowlist with az, which is az.cmd there, would allow everything.
func TestABatchFileGetsNoArgumentThatItsShellWouldChange(t *testing.T) {
	for path, want := range map[string]bool{
		`C:\bin\az.cmd`: true, `C:\bin\az.BAT`: true, `C:\bin\az.cmd. .`: true,
		`C:\bin\az.exe`: false, `C:\az.cmd\az`: false, `C:\bin\az`: false, `C:\bin\cmd`: false,
	} {
		if got := isBatch(path); got != want {
			t.Errorf("%s is a batch file: %t, want %t", path, got, want)
		}
	}
	if !survivesBatch([]string{"get-token", "--server-id=6dae42f8-4368", "-x", `C:\Program Files\a`, "é"}) {
		t.Error("arguments of every day are refused")
	}
	for _, arg := range []string{`"&calc.exe`, "%PATH%", "!x!", "a&b", "a|b", "a>b", "a<b", "(", ")", "^", "a\nb", "a\rb"} {
		if survivesBatch([]string{"get-token", arg}) {
			t.Errorf("%q is not refused", arg)
		}
	}
}
