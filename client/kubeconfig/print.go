package kubeconfig

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bowline-go/bowline/internal/shown"
	"go.yaml.in/yaml/v3"
)

// Types with credentials are printed without them, for every verb.

// String returns c for people; it shows that there is a proxy but not its URL, which may contain a password.
func (c Cluster) String() string { return show(c.fields()) }

// GoString returns the same as String.
func (c Cluster) GoString() string { return "kubeconfig.Cluster" + c.String() }

// Format prints String or GoString for every verb.
func (c Cluster) Format(f fmt.State, verb rune) { shown.Format(f, verb, c) }

// MarshalJSON encodes c for people, as String does.
func (c Cluster) MarshalJSON() ([]byte, error) { return json.Marshal(c.String()) }

// String returns u for people, without credentials.
func (u User) String() string { return show(u.fields()) }

// GoString returns the same as String.
func (u User) GoString() string { return "kubeconfig.User" + u.String() }

// Format prints String or GoString for every verb.
func (u User) Format(f fmt.State, verb rune) { shown.Format(f, verb, u) }

// MarshalJSON encodes u for people, as String does.
func (u User) MarshalJSON() ([]byte, error) { return json.Marshal(u.String()) }

// String returns e for people: its command. Arguments and environment may hold secrets.
func (e Exec) String() string { return fmt.Sprintf("{command:%q}", e.Command) }

// GoString returns the same as String.
func (e Exec) GoString() string { return "kubeconfig.Exec" + e.String() }

// Format prints String or GoString for every verb.
func (e Exec) Format(f fmt.State, verb rune) { shown.Format(f, verb, e) }

// MarshalJSON encodes e for people, as String does.
func (e Exec) MarshalJSON() ([]byte, error) { return json.Marshal(e.String()) }

// show returns the fields that are set, without secrets.
func show(fields []field) string {
	var b strings.Builder
	for _, f := range fields {
		switch {
		case f.value == nil:
			continue
		case b.Len() > 0:
			b.WriteByte(' ')
		}
		switch {
		case f.secret:
			fmt.Fprintf(&b, "%s:"+shown.Redacted, f.name)
		case strings.HasSuffix(f.name, "-data"):
			data, _ := base64.StdEncoding.DecodeString(f.value.Value) // it was encoded here
			fmt.Fprintf(&b, "%s:[%d bytes]", f.name, len(data))
		case f.value.Kind == yaml.ScalarNode:
			fmt.Fprintf(&b, "%s:%q", f.name, f.value.Value)
		default:
			fmt.Fprintf(&b, "%s:[%d]", f.name, len(f.value.Content))
		}
	}
	return "{" + b.String() + "}"
}
