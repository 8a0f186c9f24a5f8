package source

import (
	"errors"
	"fmt"
	"strings"
)

// selection says which members of an object the written struct has. Nil means all.
type selection map[string]selection

// selectFields reads paths such as spec.nodeName.
func selectFields(paths []string) (selection, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	all := selection{}
	for _, path := range paths {
		at := all
		parts := strings.Split(path, ".")
		for i, name := range parts {
			if name == "" {
				return nil, fmt.Errorf("a field must be names with dots between them, such as spec.nodeName, got %q", path)
			}
			below, known := at[name]
			switch {
			case known && below == nil: // the whole of it is selected already
			case i == len(parts)-1:
				at[name] = nil
			case !known:
				below = selection{}
				at[name] = below
			}
			if at[name] == nil {
				break
			}
			at = below
		}
	}
	return all, nil
}

var errNoFields = errors.New("it has no fields of which some could be chosen")
