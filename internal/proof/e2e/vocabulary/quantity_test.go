package vocabulary

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/proof/histories"
)

// usual is how many histories a run of the tests plays.
const usual = 5000

// Random texts have the same amount and the same canonical form in both, through random calculations.
func TestQuantitiesAreThoseOfApimachinery(t *testing.T) {
	parsed, refused, calculated := 0, 0, 0
	for seed := range histories.Seeds(usual) {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		ours, theirs, ok := bothQuantities(t, r)
		if !ok {
			refused++
			continue
		}
		parsed++
		story := theirs.String()
		for range r.IntN(6) {
			calculated++
			before := ours
			switch r.IntN(5) {
			case 0:
				by := r.Int64N(2000) - 1000
				if r.IntN(3) == 0 {
					by = int64(r.Uint64())
				}
				ours = ours.Scale(by)
				theirs.Mul(by)
				story += fmt.Sprintf(" * %d", by)
			case 1:
				// There, the Value of -960m is 1, and that of a negative amount may have lost its high bits.
				if a, b := ours.Value(), theirs.Value(); theirs.CmpInt64(math.MaxInt64) < 0 && theirs.Sign() >= 0 && a != b {
					t.Fatalf("seed %d: %s is %d, and %d there", seed, story, a, b)
				}
			default:
				a, b, ok := bothQuantities(t, r)
				if !ok {
					continue
				}
				if x, y := ours.Cmp(a), theirs.Cmp(b); x != y {
					t.Fatalf("seed %d: %s compared with %s is %d, and %d there", seed, story, a, x, y)
				}
				if r.IntN(2) == 0 {
					ours = ours.Add(a)
					theirs.Add(b)
					story += " + " + b.String()
				} else {
					ours = ours.Sub(a)
					theirs.Sub(b)
					story += " - " + b.String()
				}
			}
			if !same(ours, theirs) {
				t.Fatalf("seed %d: %s is %v, and %s there; it was %v", seed, story, ours, theirs.String(), before)
			}
		}
	}
	if parsed < refused || calculated < parsed {
		t.Errorf("only %d of %d texts were quantities, with %d calculations", parsed, parsed+refused, calculated)
	}
}

// FuzzQuantityText compares what both read in any text.
func FuzzQuantityText(f *testing.F) {
	for _, text := range []string{"1", "1.5Gi", "9Ei", "-3.001n", "1e21", "12345678901234567890123k", "0.000000000001Ki", "1e-9"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { compareText(t, text) })
}

// bothQuantities returns a random quantity, if both take its text.
func bothQuantities(t *testing.T, r *rand.Rand) (meta.Quantity, resource.Quantity, bool) {
	t.Helper()
	return compareText(t, randomText(r))
}

func compareText(t *testing.T, text string) (ours meta.Quantity, theirs resource.Quantity, ok bool) {
	t.Helper()
	if beyond(text) {
		return ours, theirs, false
	}
	theirs, err := resource.ParseQuantity(text)
	ours, mine := meta.ParseQuantity(text)
	switch {
	case !hasNumber(text), len(text) > 1024:
		if mine == nil {
			t.Fatalf("%q is %v, want an error", text, ours)
		}
		return ours, theirs, false
	case (err == nil) != (mine == nil):
		t.Fatalf("%q: %v, and there %v", text, mine, err)
	case err != nil:
		return ours, theirs, false
	}
	theirs.Neg() // it forgets the text, which may not be the canonical form: "+1" stays "+1"
	theirs.Neg()
	if !same(ours, theirs) {
		t.Fatalf("%q is %v, and %s there", text, ours, theirs.String())
	}
	inJSON, _ := json.Marshal(ours)
	again := theirs.DeepCopy()
	if err := json.Unmarshal(inJSON, &again); err != nil || again.Cmp(theirs) != 0 && ours.Value() < math.MaxInt64 && ours.Value() > math.MinInt64 {
		t.Fatalf("%q is written as %s, which is %s there, %v", text, inJSON, again.String(), err)
	}
	return ours, theirs, true
}

// hasNumber reports whether a text has a digit before its unit. Without one, it is 0 there, and an error here.
func hasNumber(text string) bool {
	if text != "" && (text[0] == '+' || text[0] == '-') {
		text = text[1:]
	}
	text = strings.TrimPrefix(text, ".")
	return text != "" && '0' <= text[0] && text[0] <= '9'
}

// beyond reports whether a text has an exponent that only apimachinery takes, and for which it may need an hour.
func beyond(text string) bool {
	at := strings.LastIndexAny(text, "eE")
	if at < 0 {
		return false
	}
	digits := strings.TrimLeft(strings.TrimLeft(text[at+1:], "+-"), "0")
	return len(digits) > 3
}

// same reports whether both are the same amount, in the same text. apimachinery leaves out the unit of decimal amounts
// that are a multiple of 10^21, and of binary ones that are a multiple of 2^70: there, only the amounts are compared.
func same(ours meta.Quantity, theirs resource.Quantity) bool {
	amount := theirs.DeepCopy()
	dec := amount.AsDec().String()
	parsed, err := meta.ParseQuantity(dec)
	if err != nil || parsed.Cmp(ours) != 0 {
		return false
	}
	text := theirs.String()
	if text == ours.String() {
		return true
	}
	lost, err := resource.ParseQuantity(text)
	return err == nil && lost.Cmp(theirs) != 0 && ours.Float64() != 0 && math.Abs(ours.Float64()) >= 1e21
}

// randomText returns a text that is a quantity, or nearly.
func randomText(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString([]string{"", "", "", "-", "+"}[r.IntN(5)])
	digits := func(n int) {
		for range n {
			b.WriteByte(byte('0' + r.IntN(10)*r.IntN(2)))
		}
	}
	switch r.IntN(8) {
	case 0:
		digits(r.IntN(40))
	case 1:
		fmt.Fprint(&b, int64(1)<<r.IntN(63)-int64(r.IntN(2)))
	case 2:
		fmt.Fprint(&b, math.MaxInt64-int64(r.IntN(3)))
	default:
		fmt.Fprint(&b, r.IntN(2000))
	}
	if r.IntN(3) == 0 {
		b.WriteByte('.')
		digits(r.IntN(15))
	}
	units := strings.Split("n u m k M G T P E Ki Mi Gi Ti Pi Ei K i e x mi", " ")
	switch r.IntN(6) {
	case 0:
		fmt.Fprintf(&b, "e%d", r.IntN(60)-30)
	case 1:
		fmt.Fprintf(&b, "%c%+d", "eE"[r.IntN(2)], r.IntN(30)-15)
	case 2:
	default:
		b.WriteString(units[r.IntN(len(units)-5*r.IntN(2))])
	}
	return b.String()
}
