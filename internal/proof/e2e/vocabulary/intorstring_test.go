package vocabulary

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/proof/histories"
)

func TestIntsAndStringsAreThoseOfApimachinery(t *testing.T) {
	percentages := 0
	for seed := range histories.Seeds(usual) {
		r := rand.New(rand.NewPCG(seed, 2))
		text := []string{
			fmt.Sprint(r.IntN(100)), fmt.Sprintf("%q", fmt.Sprint(r.IntN(300)-50, "%")), fmt.Sprintf("%q", fmt.Sprint(r.IntN(300)-50)+"%"),
			`"http"`, `""`, `"%"`, `"1.5%"`, fmt.Sprint(r.Uint64()), "1.0", "true",
		}[r.IntN(10)]
		var ours meta.IntOrString
		var theirs intstr.IntOrString
		mine, err := json.Unmarshal([]byte(text), &ours), json.Unmarshal([]byte(text), &theirs)
		if (mine == nil) != (err == nil) {
			t.Fatalf("%s: %v, and there %v", text, mine, err)
		}
		if err != nil {
			continue
		}
		a, _ := json.Marshal(ours)
		b, _ := json.Marshal(theirs)
		if string(a) != string(b) || ours.String() != theirs.String() {
			t.Fatalf("%s is %s, and %s there", text, a, b)
		}
		total := r.IntN(2000) - 100
		for up, of := range map[bool]func(int) (int, error){false: ours.Floor, true: ours.Ceil} {
			got, mine := of(total)
			want, err := intstr.GetScaledValueFromIntOrPercent(&theirs, total, up)
			if got != want || (mine == nil) != (err == nil) {
				t.Fatalf("%s of %d, up %v: %d, %v, and there %d, %v", text, total, up, got, mine, want, err)
			}
			if err == nil && theirs.Type == intstr.String {
				percentages++
			}
		}
	}
	if percentages < histories.Count(usual)/20 {
		t.Errorf("only %d percentages", percentages)
	}
}

func TestDurationsAreThoseOfApimachinery(t *testing.T) {
	for seed := range histories.Seeds(usual) {
		d := time.Duration(rand.New(rand.NewPCG(seed, 3)).Uint64())
		a, _ := json.Marshal(meta.Duration{Duration: d})
		b, _ := json.Marshal(metav1.Duration{Duration: d})
		var back meta.Duration
		if err := json.Unmarshal(b, &back); err != nil || back.Duration != d || string(a) != string(b) {
			t.Fatalf("%v is %s, and %s there, and read back %v, %v", d, a, b, back, err)
		}
	}
}
