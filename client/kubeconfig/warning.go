package kubeconfig

import (
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
)

// Findings that are not errors become warnings: a file may be older or newer than this package, and is often written by
// a tool that its user cannot change.

// ignored returns a warning for each unknown field of s, and the warnings about the content of its fields.
func (s *stanza) ignored() (warnings []string) {
	for _, field := range s.other {
		if !isFieldName(field) {
			field = "a field with a strange name"
		}
		warnings = append(warnings, where(s.src.name, s.path)+": "+field+" is not known, and was ignored")
	}
	return append(warnings, s.within...)
}

// isFieldName reports whether a name may be shown. After a mistake in the file's layout, a secret may stand in the
// place of a name.
func isFieldName(s string) bool {
	return len(s) <= 40 && !strings.ContainsFunc(s, func(r rune) bool {
		return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

// open returns a warning for each file that has a credential of the user s and that more people than its owner may
// read.
func (s *stanza) open() (warnings []string) {
	for _, field := range []string{"token", "password", "client-key-data"} {
		if s.has(field) && othersRead(s.src.mode) {
			warnings = append(warnings, where(s.src.name, s.path)+": "+field+" can be read by others than the file's owner "+
				modeHint(s.src.mode))
			break // one warning about the file's mode is enough
		}
	}
	if !s.src.open {
		return warnings
	}
	for _, field := range []string{"tokenFile", "client-key"} {
		if field == "client-key" && s.has("client-key-data") {
			continue // the file is not used
		}
		file := s.file(field)
		if file == "" {
			continue
		}
		if info, err := os.Stat(file); err == nil && othersRead(info.Mode()) {
			warnings = append(warnings, fmt.Sprintf("%s: %s %q can be read by others than the file's owner %s",
				where(s.src.name, s.path), field, file, modeHint(info.Mode())))
		}
	}
	return warnings
}

// othersRead reports whether the group or everybody may read a file of this mode. On Windows the mode does not show
// that.
func othersRead(mode fs.FileMode) bool {
	return runtime.GOOS != "windows" && mode.IsRegular() && mode.Perm()&0o044 != 0
}

func modeHint(mode fs.FileMode) string {
	return fmt.Sprintf("(mode %04o); 0600 is enough", mode.Perm())
}
