package shards

import (
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/bowline-go/bowline/client/meta"
)

// shareAnnotation is the annotation of a lease with the share of its replica, in the form of [share.text].
const shareAnnotation = "shards.bowline-go.github.io/share"

// share is what a replica says about itself in its lease.
type share struct {
	// ranges are the replica's claims: ranges that it owns, and ranges that it is ready for and waits for.
	ranges meta.Ranges
	// owned are the ranges that the replica has owned since it last claimed them. If such a range is no longer in
	// ranges, the replica owned the range until it removed the claim.
	owned  meta.Ranges
	weight int
	by     meta.ShardBy // the replica's Options.By
	// leaving says that the replica is about to end, and keeps its ranges only until others take them.
	leaving bool
	// joining says that the replica does not know yet who owns what, so it takes only ranges that others own now.
	joining bool
}

const shareForm = "v1 ranges=%s owned=%s weight=%d by=%s leaving=%t joining=%t"

// text returns the share as an annotation of the lease with that name. The text ends with a checksum, so that replicas
// notice an edit by hand.
func (s share) text(lease string) string {
	ranges, _ := s.ranges.MarshalText() // never fails
	owned, _ := s.owned.MarshalText()
	text := fmt.Sprintf(shareForm, ranges, owned, s.weight, s.by, s.leaving, s.joining)
	return text + " sum=" + sum(text, lease)
}

// parseShare reads an annotation that [share.text] has made.
func parseShare(text, lease string) (share, error) {
	body, check, ok := strings.Cut(text, " sum=")
	if !ok || check != sum(body, lease) {
		return share{}, fmt.Errorf("annotation %s is not what the replica of this lease wrote: its sum does not match: %q", shareAnnotation, text)
	}
	var (
		s             share
		ranges, owned string
	)
	if _, err := fmt.Sscanf(body, shareForm, &ranges, &owned, &s.weight, &s.by, &s.leaving, &s.joining); err != nil {
		return share{}, fmt.Errorf("read annotation %s, %q: %w", shareAnnotation, text, err)
	}
	if err := s.ranges.UnmarshalText([]byte(ranges)); err != nil {
		return share{}, fmt.Errorf("read annotation %s, %q: %w", shareAnnotation, text, err)
	}
	if err := s.owned.UnmarshalText([]byte(owned)); err != nil {
		return share{}, fmt.Errorf("read annotation %s, %q: %w", shareAnnotation, text, err)
	}
	if s.weight < 1 || s.weight > maxWeight {
		return share{}, fmt.Errorf("read annotation %s, %q: the weight must be from 1 to %d, got %d", shareAnnotation, text, maxWeight, s.weight)
	}
	if err := s.by.Validate(); err != nil {
		return share{}, fmt.Errorf("read annotation %s, %q: %w", shareAnnotation, text, err)
	}
	return s, nil
}

func sum(text, lease string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(lease + " " + text))
	return fmt.Sprintf("%08x", h.Sum32())
}
