package meta_test

import (
	"math/big"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
)

func TestCompareVersions(t *testing.T) {
	long := strings.Repeat("9", 40)
	tests := []struct {
		name  string
		a, b  string
		order int
		ok    bool
	}{
		{"equal versions", "12", "12", 0, true},
		{"a smaller number is older", "12", "13", -1, true},
		{"a larger number is newer", "13", "12", 1, true},
		{"a shorter number is older, whatever its digits", "9", "10", -1, true},
		{"a longer number is newer, whatever its digits", "1000", "999", 1, true},
		{"numbers beyond 64 bits are ordered", long, "1" + long, -1, true},
		{"an empty version is not orderable", "", "1", 0, false},
		{"an empty version is not orderable on the right either", "1", "", 0, false},
		{"two empty versions are not orderable", "", "", 0, false},
		{"zero is not a version", "0", "1", 0, false},
		{"a leading zero is not orderable", "012", "13", 0, false},
		{"a letter is not orderable", "12a", "13", 0, false},
		{"a sign is not orderable", "-1", "13", 0, false},
		{"a digit of another script is not orderable", "١", "1", 0, false},
		{"equal text that is no number is not orderable", "abc", "abc", 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			order, ok := meta.CompareVersions(tt.a, tt.b)
			if order != tt.order || ok != tt.ok {
				t.Errorf("CompareVersions(%q, %q) = %d, %v; want %d, %v", tt.a, tt.b, order, ok, tt.order, tt.ok)
			}
		})
	}
}

func FuzzCompareVersions(f *testing.F) {
	f.Add("1", "2")
	f.Add("10", "9")
	f.Add("007", "x")
	f.Fuzz(func(t *testing.T, a, b string) {
		order, ok := meta.CompareVersions(a, b)
		back, okBack := meta.CompareVersions(b, a)
		if ok != okBack || order != -back {
			t.Fatalf("CompareVersions(%q, %q) = %d, %v but the other way round %d, %v", a, b, order, ok, back, okBack)
		}
		if !ok {
			return
		}
		x, _ := new(big.Int).SetString(a, 10)
		y, _ := new(big.Int).SetString(b, 10)
		if x == nil || y == nil || x.Cmp(y) != order {
			t.Fatalf("CompareVersions(%q, %q) = %d, which is not their order as numbers", a, b, order)
		}
	})
}
