package client

import (
	"fmt"
	"runtime"
	"sync"

	"github.com/bowline-go/bowline/internal/version"
)

// defaultUserAgent is the User-Agent of clients without Config.UserAgent, which is the same for the whole program.
// Servers make the field manager of a write from the text before the slash, so the field manager does not depend on the
// version.
var defaultUserAgent = sync.OnceValue(func() string {
	return fmt.Sprintf("bowline/%s (%s/%s)", version.Bowline(), runtime.GOOS, runtime.GOARCH)
})
