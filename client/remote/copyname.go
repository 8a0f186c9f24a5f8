package remote

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
)

// The limits of a name. The first two are those of Linux.
const (
	maxName  = 4096 // bytes
	maxPart  = 255  // bytes between slashes
	maxDepth = 255  // parts
)

// entryName returns the cleaned name of an entry within a tree: its parts joined by slashes, or "" for the tree itself.
// A name that is not within the tree is an error.
func entryName(name string) (string, error) {
	switch {
	case name == "":
		return "", errors.New("its name is empty")
	case len(name) > maxName:
		return "", fmt.Errorf("its name has %d bytes, more than %d", len(name), maxName)
	case name[0] == '/':
		return "", errors.New("its name is absolute")
	case strings.ContainsRune(name, 0):
		return "", errors.New("its name has a zero byte")
	}
	var parts []string
	for part := range strings.SplitSeq(name, "/") {
		switch {
		case part == "" || part == ".":
			continue
		case part == "..":
			return "", errors.New(`its name has ".."`)
		case len(part) > maxPart:
			return "", fmt.Errorf("a part of its name has %d bytes, more than %d", len(part), maxPart)
		}
		if runtime.GOOS == "windows" {
			if err := windowsPart(part); err != nil {
				return "", err
			}
		}
		if parts = append(parts, part); len(parts) > maxDepth {
			return "", fmt.Errorf("its name has more than %d parts", maxDepth)
		}
	}
	return strings.Join(parts, "/"), nil
}

// within returns the name of an entry relative to base, the name that was requested. A name outside base is an error.
func within(name, base string) (string, error) {
	name, err := entryName(name)
	if err != nil || base == "" || name == base {
		return strings.TrimPrefix(name, base), err
	}
	rest, ok := strings.CutPrefix(name, base+"/")
	if !ok {
		return "", fmt.Errorf("it is not in %q, which the container was asked for", base)
	}
	return rest, nil
}

// linkTarget checks the target of a symbolic link. A target that passes stays within the tree, whatever other links the
// tree has: it has ".." only at its start, where it leaves the folders of its own name, which are real folders; and
// each link that it passes on its way down keeps the same rule. "a/../b" breaks the rule, because a may be a link to a
// folder further up.
func linkTarget(name, target string) error {
	switch {
	case target == "":
		return errors.New("it is a link with an empty target")
	case len(target) > maxName:
		return fmt.Errorf("it is a link to a name of %d bytes, more than %d", len(target), maxName)
	case strings.ContainsRune(target, 0):
		return errors.New("it is a link to a name with a zero byte")
	case target[0] == '/':
		return fmt.Errorf("it is a link to an absolute name, %s", brief(target))
	}
	depth, down := strings.Count(name, "/"), false
	for part := range strings.SplitSeq(target, "/") {
		switch {
		case part == "" || part == ".":
		case part != "..":
			if down = true; runtime.GOOS == "windows" {
				if err := windowsPart(part); err != nil {
					return fmt.Errorf("it is a link to %s: %w", brief(target), err)
				}
			}
		case down:
			return fmt.Errorf(`it is a link to %s, which has ".." after another part`, brief(target))
		default:
			if depth--; depth < 0 {
				return fmt.Errorf("it is a link to %s, which is not in the folder", brief(target))
			}
		}
	}
	return nil
}

// windowsPart returns why a part of a name is not valid on Windows.
func windowsPart(part string) error {
	for i := range len(part) {
		if c := part[i]; c < ' ' || strings.IndexByte(`\:*?"<>|`, c) >= 0 {
			return fmt.Errorf("a name on Windows cannot have %q", c)
		}
	}
	if last := part[len(part)-1]; last == '.' || last == ' ' {
		return fmt.Errorf("a name on Windows cannot end in %q", last)
	}
	stem, _, _ := strings.Cut(part, ".")
	stem = strings.ToUpper(strings.TrimRight(stem, " "))
	switch stem {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return fmt.Errorf("%s is a device on Windows", stem)
	}
	if device, ok := strings.CutPrefix(stem, "COM"); ok || strings.HasPrefix(stem, "LPT") {
		if !ok {
			device = stem[len("LPT"):]
		}
		if len(device) == 1 && device[0] >= '0' && device[0] <= '9' || device == "¹" || device == "²" || device == "³" {
			return fmt.Errorf("%s is a device on Windows", stem)
		}
	}
	return nil
}
