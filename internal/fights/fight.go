package fights

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// Fight says that the reconciles of a key write the same values to an object again and again, because another writer
// changes these fields each time.
type Fight struct {
	// Key is the key of the reconciles.
	Key any
	// Resource, Kind, Object and UID identify the object. Kind is the kind in the server's answers.
	Resource meta.GVR
	Kind     string
	Object   meta.Key
	UID      string
	// Fields are the fields that both write, as the last undone write shows them: at most 16.
	Fields []Field
	// Count is how many undone writes were seen. Since and Last are the times at which the reconciles repeated the
	// first and the last of them.
	Count       int
	Since, Last time.Time
	// Delay is how long the key waits after each such write.
	Delay time.Duration
	// Over says that no write has been undone for ten minutes, or that the object is gone.
	Over bool
}

// Field is a field that the reconciles and another writer write. Path is spelled as the server spells it in conflicts.
// Other is empty if the server has recorded no other writer.
type Field struct {
	Path, Ours, Other         string
	OursRemoves, OtherRemoves bool
}

// Texts returns descriptions of who does what to the fields. Fields with the same writers share one text.
func Texts(fields []Field) (texts []string) {
	done := make([]bool, len(fields))
	for _, one := range fields {
		var paths []string
		for j, same := range fields {
			if same.Path = one.Path; same == one && !done[j] {
				done[j] = true
				paths = append(paths, fields[j].Path)
			}
		}
		if paths != nil {
			texts = append(texts, one.text(paths))
		}
	}
	return texts
}

// text describes who does what to fields that have the same writers.
func (f Field) text(paths []string) string {
	const most = 3
	rest := ""
	if len(paths) > most {
		rest = fmt.Sprintf(" and %d more", len(paths)-most)
		paths = paths[:most]
	}
	fields, them := strings.Join(paths, ", ")+rest, "it"
	if len(paths) > 1 {
		them = "them"
	}
	ours, other := strconv.Quote(f.Ours), "another writer"
	if f.Ours == "" {
		ours = "the controller"
	}
	switch {
	case f.Other != "" && f.Other == f.Ours:
		other = "another writer of that name"
	case f.Other != "":
		other = strconv.Quote(f.Other)
	}
	switch {
	case f.OursRemoves:
		return fmt.Sprintf("%s sets %s and %s removes %s", other, fields, ours, them)
	case f.OtherRemoves:
		return fmt.Sprintf("%s sets %s and %s removes %s", ours, fields, other, them)
	}
	if f.Other != "" && f.Other < f.Ours {
		return fmt.Sprintf("%s and %s both write %s", other, ours, fields)
	}
	return fmt.Sprintf("%s and %s both write %s", ours, other, fields)
}
