package carry

import (
	"strings"
	"testing"

	"github.com/bowline-go/bowline/internal/patch/tree"
	"github.com/bowline-go/bowline/internal/proof/hostile"
)

func nodeOf(t *testing.T, text string) *tree.Node {
	t.Helper()
	s, err := tree.Read("it", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	root := s.Root()
	return &root
}

// Security: Carry took 4 to 6 s for a document 9,000 deep, and 2 to 5 s for 60,000 elements of one name.
func TestCarryingAHostileChangeCostsNoMoreThanItsLength(t *testing.T) {
	for name, documents := range hostile.Changes() {
		t.Run(name, func(t *testing.T) {
			hostile.Grows(t, func(n int) int {
				before, after := documents(n)
				c := newCarrier()
				c.carry(nodeOf(t, before), nodeOf(t, before), nodeOf(t, after))
				return c.prints.looked + c.run.Compared + c.candidates
			})
		})
	}
}

func BenchmarkHostileCarry(b *testing.B) {
	for name, documents := range hostile.Changes() {
		n := 9_000
		if strings.HasPrefix(name, "one name") {
			n = 60_000
		}
		before, after := documents(n)
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			b.SetBytes(int64(len(before)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Change([]byte(before), []byte(before), []byte(after)); err != nil && len(before) < 1<<20 {
					b.Fatal(err)
				}
			}
		})
	}
}
