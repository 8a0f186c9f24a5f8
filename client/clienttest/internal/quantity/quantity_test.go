package quantity

import (
	"strconv"
	"testing"
)

// Quantities are written as the documentation of the type resource.Quantity says.
func TestCanonicalForm(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "0.0": "0", "0Gi": "0", "1": "1", "-1": "-1", "0.5": "500m", "1000m": "1", "1500m": "1500m", "1000": "1k",
		"1024Mi": "1Gi", "1500Mi": "1500Mi", "1.5Gi": "1536Mi", "1024": "1024", "1Ki": "1Ki", "0.5Ki": "512", "1e3": "1e3",
		"1e2": "100", "12E6": "12e6", "1E": "1E", "5n": "5n", "0.1n": "1n", "100u": "100u", ".5": "500m", "1.": "1", "0.5Gi": "512Mi",
	} {
		q, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if got := q.String(); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
	if q, _ := Parse("100u"); q.RoundUp().String() != "1m" {
		t.Errorf("got %s, want 1m", q.RoundUp())
	}
	for _, text := range []string{"", "x", "1x", "1 Gi", "i", "1mi", "1e", "--1", "1.2.3", "10.0.0.1"} {
		if q, err := Parse(text); err == nil {
			t.Errorf("%s: got %s, want an error", text, q)
		}
	}
}

func TestShortQuantitiesAreCanonical(t *testing.T) {
	short := 0
	for number := range 1200 {
		for _, suffix := range []string{"", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "mi", "ki", "ii", "i", "mm", "MM", "x"} {
			text := strconv.Itoa(number) + suffix
			if !IsShort(text) {
				continue
			}
			short++
			if q, err := Parse(text); err != nil || q.RoundUp().String() != text {
				t.Errorf("%s is short, and its canonical form is %s: %v", text, q, err)
			}
		}
	}
	if short != 999*11 {
		t.Errorf("got %d short quantities, want %d", short, 999*11)
	}
	for _, text := range []string{"", "i", "m", "01", "-1", "+1", "1.5", "1 ", " 1", "1e3"} {
		if IsShort(text) {
			t.Errorf("%q is short", text)
		}
	}
}
