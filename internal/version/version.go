// Package version says which version of Bowline a program was built with.
package version

import (
	"runtime/debug"
	"strings"
)

const module = "github.com/bowline-go/bowline"

// Bowline returns the version of this module in the running program; see [Of].
func Bowline() string {
	info, _ := debug.ReadBuildInfo()
	return Of(info)
}

// Of returns the version of this module in a program with that build information, such as "v1.2.3". It is "devel" if
// the program was built from a working copy, and "unknown" without build information. The result has no spaces and no
// control characters.
func Of(info *debug.BuildInfo) string {
	if info == nil {
		return "unknown"
	}
	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		if m.Path != module {
			continue
		}
		if m.Replace != nil {
			m = m.Replace
		}
		if strings.ContainsFunc(m.Version, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '(' || r == ')' }) || m.Version == "" {
			return "devel" // "(devel)", or a version that no release has
		}
		return m.Version
	}
	return "unknown"
}
