package clienttest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/status"
)

// continueToken is the position where a list goes on. It has the form that a real server uses, but clients must not read it.
type continueToken struct {
	V       string `json:"v"`
	Version int64  `json:"rv"` // -1 means the present version
	Path    string `json:"start"`
}

const tokenForm = "meta.k8s.io/v1"

// String returns the token of a position below a prefix of paths.
func (t continueToken) String() string {
	t.V = tokenForm
	return base64.RawURLEncoding.EncodeToString(encoded(t))
}

// parseToken reads a token for a list below a prefix of paths. A token cannot name a path outside of the prefix.
func parseToken(s, prefix string) (from string, version int64, err error) {
	bad := func(format string, args ...any) error {
		return status.BadRequest("invalid continue token: continue key is not valid: %s", fmt.Sprintf(format, args...))
	}
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return "", 0, bad("%v", err)
	}
	var t continueToken
	if err := json.Unmarshal(b, &t); err != nil {
		return "", 0, bad("%v", err)
	}
	start := "/" + strings.TrimPrefix(t.Path, "/")
	switch {
	case t.V != tokenForm:
		return "", 0, bad("server does not recognize this encoded version %s", t.V)
	case t.Version == 0:
		return "", 0, bad("incorrect encoded start resourceVersion (version %s)", tokenForm)
	case t.Path == "":
		return "", 0, bad("encoded start key empty (version %s)", tokenForm)
	case path.Clean(start) != start:
		return "", 0, bad("%s", t.Path)
	}
	return prefix + start[1:], t.Version, nil
}
