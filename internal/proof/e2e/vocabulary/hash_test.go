package vocabulary

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"
	randv2 "math/rand/v2"
	"testing"

	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/proof/histories"
)

// The hash of a template has the form of a Deployment's: the 32 bits of FNV-1a in digits, and these without vowels. The
// number of collisions follows in eight bytes.
func TestHashesHaveTheFormOfADeployments(t *testing.T) {
	for seed := range histories.Seeds(usual) {
		r := randv2.New(randv2.NewPCG(seed, 4))
		template := map[string]any{"a": r.IntN(1000), "b": fmt.Sprint(r.Uint64())}
		text, err := json.Marshal(template)
		if err != nil {
			t.Fatal(err)
		}
		collisions := int32(r.IntN(3))
		h := fnv.New32a()
		h.Write(text)
		if collisions > 0 {
			count := make([]byte, 8)
			binary.LittleEndian.PutUint32(count, uint32(collisions))
			h.Write(count)
		}
		want := rand.SafeEncodeString(fmt.Sprint(h.Sum32()))
		if got, err := meta.HashTemplate(template, collisions); err != nil || got != want {
			t.Fatalf("%s has %s, %v; want %s", text, got, err, want)
		}
	}
}
