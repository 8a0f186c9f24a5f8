package remote

import (
	"errors"
	"strings"

	apierrors "github.com/bowline-go/bowline/errors"
)

// isMissing reports whether err means that the container does not have the program, or cannot run it. Runtimes report
// this in different ways: containerd as an error of the server, others as a shell's exit code, 126 or 127. The programs
// of this package do not end with these codes for other reasons.
func isMissing(program string, err error) bool {
	if exit, ok := errors.AsType[*ExitError](err); ok {
		return exit.Code == 126 || exit.Code == 127
	}
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok {
		return false
	}
	text := strings.ToLower(status.Status.Message)
	if strings.Contains(text, "executable file") && strings.Contains(text, "not found") || strings.Contains(text, "failed to find executable") {
		return true
	}
	for _, where := range []string{`exec: "` + program + `"`, "stat " + program, "exec " + program, "'" + program + "'"} {
		if _, rest, ok := strings.Cut(text, where); ok &&
			(strings.Contains(rest, "not found") || strings.Contains(rest, "no such file") || strings.Contains(rest, "permission denied")) {
			return true
		}
	}
	return false
}
