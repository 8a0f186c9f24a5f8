package kubeconfig

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/internal/shown"
)

// PluginError says that a credential plugin returned no credential: it is missing, may not run, has failed, took too
// long or printed something else. It shows nothing of the plugin's standard output.
//
// It matches:
//
//   - [fs.ErrPermission] if Options.Plugins or the system does not allow the plugin to run;
//   - [exec.ErrNotFound] or [fs.ErrNotExist] if the plugin is missing;
//   - [os.ErrDeadlineExceeded] if it took too long;
//   - [*exec.ExitError] if it ended with an exit code other than 0;
//   - the error of the context if that ended it.
type PluginError struct {
	Command string // the plugin: an absolute path, or a name in PATH

	// Hint is the kubeconfig's advice on how to install the plugin, if it is missing or cannot be started.
	Hint string

	file, stanza string // where the plugin is named
	stderr       string // empty if the plugin wrote directly to a terminal
	err          error
}

// Error shows the end of the standard error of a plugin that failed, at most 4 KiB, without text that could harm a
// terminal. The values of the stanza's env, and of those arguments whose flags name a secret, are replaced.
func (e *PluginError) Error() string {
	text := fmt.Sprintf("%s: run %q: %v", where(e.file, e.stanza), e.Command, e.err)
	if e.stderr != "" {
		text += ": " + e.stderr
	}
	if e.Hint != "" {
		text += "; to install it: " + e.Hint
	}
	return text
}

// Unwrap returns the cause.
func (e *PluginError) Unwrap() error { return e.err }

// fail wraps err in an error of the plugin.
func (p *plugin) fail(err error) *PluginError {
	return &PluginError{Command: p.command, file: p.file, stanza: p.stanza, err: err}
}

// missing wraps err as fail does, and adds the install hint, because the plugin is perhaps not installed.
func (p *plugin) missing(err error) *PluginError {
	e := p.fail(err)
	e.Hint = p.hint
	return e
}

// maxShown bounds foreign text in an error, in bytes.
const maxShown = 4 << 10

// shortest is the minimum length of a secret that is redacted: to replace each "1" of a text would reveal more than it
// hides.
const shortest = 4

// secretsOf returns the texts to redact in a plugin's output: the values of its environment, and those of flags that
// are named like secrets.
func secretsOf(args, env []string) []string {
	var secrets []string
	add := func(s string) {
		if len(s) >= shortest {
			secrets = append(secrets, s)
		}
	}
	for _, e := range env {
		_, value, _ := strings.Cut(e, "=")
		add(value)
	}
	for i, arg := range args {
		flag, value, has := strings.Cut(arg, "=")
		if !strings.HasPrefix(flag, "-") || !namesSecret(flag) {
			continue
		}
		if has {
			add(value)
		} else if i+1 < len(args) {
			add(args[i+1])
		}
	}
	// The longest secret comes first, because one secret may be part of another.
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	return slices.Compact(secrets)
}

func namesSecret(flag string) bool {
	flag = strings.ToLower(flag)
	return slices.ContainsFunc([]string{"secret", "token", "pass", "key", "credential", "auth"}, func(word string) bool {
		return strings.Contains(flag, word)
	})
}

// withoutSecrets returns a plugin's output for an error. cut says that the beginning is missing, perhaps in the middle
// of a secret.
func (p *plugin) withoutSecrets(s string, cut bool) string {
	if cut {
		rest := 0
		for _, secret := range p.secrets {
			for i := 1; i < len(secret); i++ {
				if strings.HasPrefix(s, secret[i:]) {
					rest = max(rest, len(secret)-i)
				}
			}
		}
		s = "..." + s[rest:]
	}
	return p.redact(shown.Clean(p.redact(s), maxShown)) // again: a secret may have had an escape sequence in it
}

func (p *plugin) redact(s string) string {
	for _, secret := range p.secrets {
		s = strings.ReplaceAll(s, secret, shown.Redacted)
	}
	return s
}
