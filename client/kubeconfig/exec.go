package kubeconfig

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/internal/shown"
)

// A user's stanza may name a credential plugin under exec: a program that prints a credential. This file reads the
// stanza; execpolicy.go decides which plugins may run, execrun.go and process_*.go run one, execinfo.go has its input,
// execoutput.go its output. The Kubernetes documentation describes the protocol in "Authenticating", section "client-go
// credential plugins", and in the reference of client.authentication.k8s.io.

// Plugins says which credential plugins may run, and how. The zero value runs any plugin of the kubeconfig, as kubectl
// does.
//
// A plugin gets the environment of this process, the variables that the kubeconfig adds, and KUBERNETES_EXEC_INFO. Its
// arguments are passed unchanged, without a shell. A batch file of Windows always runs in a shell, so it runs only with
// arguments that have no meaning to that shell. Processes that a plugin starts are ended when it ends, unless they have
// left the plugin's process group, or the plugin is interactive, or there are no process groups, as on Windows.
type Plugins struct {
	// Restricted says that only the plugins of Allowed may run, with the variables of AllowedEnv. If Allowed is then
	// empty, no plugin may run. If Restricted is not set, any plugin may run, and both lists must be nil.
	Restricted bool

	// Allowed are the plugins that may run if Restricted is set. An entry is a clean absolute path, such as
	// "/usr/bin/aws", or a bare name, such as "aws", which stands for the file of that name in PATH. It is compared
	// with the file that would be executed, as the kubeconfig or PATH names it. So an entry does not allow a symbolic
	// link to its file, and an entry that is a link allows its target. Case is significant on every system.
	//
	// AllowedEnv restricts the variables that the kubeconfig adds to a plugin's environment; nothing restricts the
	// arguments. So do not allow a program that its arguments or variables can make run another program, such as a
	// shell or an interpreter. The environment of this process, including PATH, is trusted: all plugins get it.
	Allowed []string

	// AllowedEnv are the names of the variables that a kubeconfig may set for a plugin (env) if Restricted is set, such
	// as "AWS_PROFILE", whatever their values. Nil means none: a kubeconfig that sets any other is refused when it is
	// loaded.
	//
	// Many variables make a program run something else, so allow only those that you know to be harmless. Never allow
	// one from which the loader, a language or the program takes a file or an option: LD_PRELOAD and the others of LD_
	// and DYLD_, PATH, HOME, BASH_ENV, PYTHONPATH, PYTHONSTARTUP, NODE_OPTIONS, JAVA_TOOL_OPTIONS, PERL5OPT, RUBYOPT,
	// AWS_CONFIG_FILE. Case is ignored on Windows only.
	AllowedEnv []string

	// Timeout bounds each run; 0 means a minute, or ten minutes for a plugin that receives Stdin. A client waits for a
	// credential for at most 15 minutes, whatever the Timeout.
	Timeout time.Duration

	// Unattended says that nobody can answer: no plugin gets an input, and one that needs it (interactiveMode Always)
	// fails.
	Unattended bool

	// Stdin is the terminal that an interactive plugin reads from; nil means os.Stdin. A file that is not a terminal is
	// never passed on. On Unix, a plugin that does not receive a terminal cannot open one. Plugins use the terminal one
	// at a time, in the whole process, whatever Stdin each has.
	Stdin *os.File

	// Stderr receives what plugins write to their standard error, unaltered and without delay; it should not block.
	// Several plugins may write to it at once. If it is nil, up to 4 KiB are kept for the error of a plugin that fails,
	// and a plugin that receives Stdin writes to os.Stderr. If it is an *os.File, a plugin that receives Stdin gets it
	// as its own standard error.
	Stderr io.Writer
}

// The timeouts that a Plugins.Timeout of 0 stands for.
const (
	defaultTimeout     = time.Minute
	interactiveTimeout = 10 * time.Minute
)

// The versions of the protocol.
const (
	execGroup  = "client.authentication.k8s.io/"
	v1         = execGroup + "v1"
	v1beta1    = execGroup + "v1beta1"
	v1alpha1   = execGroup + "v1alpha1" // Kubernetes removed it in 1.24
	execConfig = execGroup + "exec"     // the extension of a cluster for plugins
)

// The interactive modes.
const (
	never       = "Never"
	ifAvailable = "IfAvailable"
	always      = "Always"
)

// plugin is a credential plugin that can be run. It does not change.
type plugin struct {
	file, stanza string // where it is declared, for messages
	version      string // v1 or v1beta1
	command      string // an absolute path, clean, or a bare name
	args         []string
	env          []string // "NAME=value"
	hint         string   // how to install the plugin, cleaned
	mode         string
	cluster      *clusterInfo // the cluster to pass on; nil for none
	caFile       string       // the file of the cluster's CA, if any
	secrets      []string     // texts to redact in the plugin's standard error
	plugins      Plugins
	terminal     func(*os.File) bool
}

// exec sets the credential plugin of a user's stanza, if it names one that is used.
func (s *stanza) exec(c *client.Config, cluster *stanza, o Plugins) {
	n := s.value("exec")
	if n == nil || unencrypted(c.Server) {
		return
	}
	x := &stanza{src: s.src, path: s.path + ".exec"}
	x.read(n, "apiVersion", "command", "args", "env", "installHint", "provideClusterInfo", "interactiveMode")
	used := !s.fixed(c)
	if !used {
		o = Plugins{} // the plugin does not run, so it need not be allowed
	}
	p := x.plugin(o)
	s.within = append(s.within, x.ignored()...)
	if x.err == nil && !used {
		return
	}
	if x.err == nil && p.cluster != nil {
		p.tell(cluster, []byte(c.TLS.CAData), c.TLS.CAFile)
		x.err = cluster.err
	}
	if x.err != nil {
		s.err = x.err
		return
	}
	c.Credentials = client.NewCredentials(p.fetch).Named(p.name())
}

// name describes the plugin in errors of callers that wait for it.
func (p *plugin) name() string {
	return fmt.Sprintf("the plugin %q of %s", p.command, where(p.file, p.stanza))
}

// plugin returns the plugin of an exec stanza; it is usable only if s has no error afterwards.
func (s *stanza) plugin(o Plugins) *plugin {
	p := &plugin{
		file: s.src.name, stanza: s.path, plugins: o, terminal: isTerminal,
		version: s.apiVersion(), command: s.command(), args: s.arguments(), env: s.environment(o),
		hint: shown.Clean(s.text("installHint"), maxShown),
		mode: s.interactiveMode(),
	}
	p.plugins.Allowed, p.plugins.AllowedEnv = slices.Clone(o.Allowed), slices.Clone(o.AllowedEnv)
	if s.flag("provideClusterInfo") {
		p.cluster = &clusterInfo{}
	}
	p.secrets = secretsOf(p.args, p.env)
	if s.err == nil {
		if err := o.permits(p.command); err != nil {
			s.fail("command", err)
		}
	}
	return p
}

func (s *stanza) apiVersion() string {
	switch version := s.text("apiVersion"); version {
	case v1, v1beta1:
		return version
	case v1alpha1:
		s.fail("apiVersion", unsupported(v1alpha1+" is not supported: use a plugin of v1 or v1beta1"))
	case "":
		s.fail("apiVersion", fmt.Errorf("is not set; it must be %s or %s", v1, v1beta1))
	default:
		s.fail("apiVersion", fmt.Errorf("must be %s or %s, got %q", v1, v1beta1, version))
	}
	return ""
}

// command returns an absolute path, or a name to be looked up in PATH. Any other command is relative to the file's
// folder.
func (s *stanza) command() string {
	command := s.text("command")
	switch {
	case s.err != nil:
	case command == "":
		s.fail("command", errors.New("is not set"))
	case strings.ContainsRune(command, 0):
		s.fail("command", errNUL)
	case filepath.IsAbs(command):
		return filepath.Clean(command)
	case isBare(command):
		return command
	case s.src.dir == "":
		s.fail("command", fmt.Errorf("must be a name or an absolute path, because it is not in a file, got %q", command))
	default:
		return filepath.Join(s.src.dir, command)
	}
	return ""
}

// isBare reports whether a command is a name without a folder.
func isBare(command string) bool { return filepath.Base(command) == command }

var errNUL = errors.New("must have no NUL character")

func (s *stanza) arguments() []string {
	var args []string
	for _, n := range s.sequence("args") {
		if n = follow(n); n.Kind != yaml.ScalarNode || isNull(n) {
			s.fail("args", errors.New("must be a list of strings"))
			return nil
		}
		if strings.ContainsRune(n.Value, 0) {
			s.fail("args", errNUL)
			return nil
		}
		args = append(args, n.Value)
	}
	return args
}

// environment returns the variables of a plugin; o must permit each of them.
func (s *stanza) environment(o Plugins) []string {
	var env []string
	for i, n := range s.sequence("env") {
		entry := &stanza{src: s.src, path: fmt.Sprintf("%s.env[%d]", s.path, i)}
		entry.read(follow(n), "name", "value")
		name, value := entry.text("name"), entry.text("value")
		switch {
		case entry.err != nil:
		case name == "":
			entry.fail("name", errors.New("is not set"))
		case strings.ContainsAny(name, "=\x00"):
			entry.fail("name", errors.New("must have no = and no NUL character"))
		case strings.ContainsRune(value, 0):
			entry.fail("value", errNUL)
		default:
			if err := o.permitsEnv(name); err != nil {
				entry.fail("name", err)
			}
		}
		if entry.err != nil {
			s.err = cmp.Or(s.err, entry.err)
			return nil
		}
		env = append(env, name+"="+value)
		s.within = append(s.within, entry.ignored()...)
	}
	return env
}

func (s *stanza) interactiveMode() string {
	mode := s.text("interactiveMode")
	switch {
	case s.err != nil:
	case mode == never || mode == ifAvailable || mode == always:
		return mode
	case mode != "":
		s.fail("interactiveMode", fmt.Errorf("must be Never, IfAvailable or Always, got %q", mode))
	case s.text("apiVersion") == v1beta1:
		return ifAvailable
	default:
		s.fail("interactiveMode", errors.New("is not set; it must be Never, IfAvailable or Always"))
	}
	return ""
}

// sequence returns the items of a list; nil if it is not set.
func (s *stanza) sequence(field string) []*yaml.Node {
	n := s.value(field)
	switch {
	case n == nil:
		return nil
	case n.Kind != yaml.SequenceNode:
		s.fail(field, errors.New("must be a list"))
		return nil
	}
	return n.Content
}
