package client

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/bowline-go/bowline/internal/conn"
)

const module = "github.com/bowline-go/bowline"

// defaultUserAgent is the User-Agent of clients without Config.UserAgent, which is the same for the whole program.
var defaultUserAgent = sync.OnceValue(func() string {
	info, _ := debug.ReadBuildInfo()
	return userAgent(info)
})

// userAgent returns the User-Agent of a program with that build information; nil if it has none. Servers make the field
// manager of a write from the text before the slash, so that must not depend on the version.
func userAgent(info *debug.BuildInfo) string {
	return fmt.Sprintf("bowline/%s (%s/%s)", moduleVersion(info), runtime.GOOS, runtime.GOARCH)
}

// moduleVersion returns the version of this module in a program, such as "v1.2.3", or "devel" if the program was built
// from a working copy, and "unknown" without build information.
func moduleVersion(info *debug.BuildInfo) string {
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
		if version := strings.Trim(m.Version, "()"); version != "" && !conn.BreaksHeader(version) && !strings.ContainsAny(version, " ()") {
			return version
		}
		return "devel"
	}
	return "unknown"
}
