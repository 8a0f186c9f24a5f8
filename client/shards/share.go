package shards

import (
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// shareAnnotation is the annotation of a lease with the share of its replica, in the form of [share.text].
const shareAnnotation = "shards.bowline-go.github.io/share"

// share is what a replica says of itself in its lease.
type share struct {
	// ranges are those that it works on, and those that it is ready for and waits for.
	ranges meta.Ranges
	weight int
	// leaving says that it is about to end, and keeps its ranges only until others take them.
	leaving bool
	// up is for how long it has been a replica of the group, by its own clock.
	up time.Duration
}

const shareForm = "v1 ranges=%s weight=%d leaving=%t up=%ds"

// text returns the share as an annotation of the lease with that name. It ends with a sum, so that an edit by hand is noticed.
func (s share) text(lease string) string {
	ranges, _ := s.ranges.MarshalText() // never fails
	text := fmt.Sprintf(shareForm, ranges, s.weight, s.leaving, int64(s.up/time.Second))
	return text + " sum=" + sum(text, lease)
}

// parseShare reads an annotation of text.
func parseShare(text, lease string) (share, error) {
	body, check, ok := strings.Cut(text, " sum=")
	if !ok || check != sum(body, lease) {
		return share{}, fmt.Errorf("annotation %s is not as the replica has written it: %q", shareAnnotation, text)
	}
	var (
		s       share
		ranges  string
		seconds int64
	)
	if _, err := fmt.Sscanf(body, shareForm, &ranges, &s.weight, &s.leaving, &seconds); err != nil {
		return share{}, fmt.Errorf("annotation %s: %w: %q", shareAnnotation, err, text)
	}
	if err := s.ranges.UnmarshalText([]byte(ranges)); err != nil {
		return share{}, fmt.Errorf("annotation %s: %w: %q", shareAnnotation, err, text)
	}
	if s.weight < 1 || s.weight > maxWeight || seconds < 0 {
		return share{}, fmt.Errorf("annotation %s: weight and up are out of bounds: %q", shareAnnotation, text)
	}
	s.up = time.Duration(seconds) * time.Second
	return s, nil
}

func sum(text, lease string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(lease + " " + text))
	return fmt.Sprintf("%08x", h.Sum32())
}
