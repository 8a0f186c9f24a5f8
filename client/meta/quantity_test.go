package meta_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
)

// The texts, and what kube-apiserver makes of them.
func quantityForms() map[string]string {
	return map[string]string{
		// zero
		"0": "0", "0n": "0", "0Ki": "0", "0.000": "0", "-0": "0", "+0": "0", "00": "0", "0e5": "0", "0Ti": "0", ".0": "0",
		// canonical
		"1": "1", "5n": "5n", "4u": "4u", "3m": "3m", "9": "9", "8k": "8k", "50k": "50k", "7M": "7M", "6G": "6G", "5T": "5T",
		"40T": "40T", "300T": "300T", "2P": "2P", "1E": "1E", "1Ki": "1Ki", "8Ki": "8Ki", "7Mi": "7Mi", "6Gi": "6Gi",
		"5Ti": "5Ti", "4Pi": "4Pi", "3Ei": "3Ei", "100Ti": "100Ti", "1001Gi": "1001Gi", "80e-3": "80e-3", "1e-9": "1e-9",
		"300e6": "300e6", "1e12": "1e12", "1234567m": "1234567m", "1080u": "1080u", "12E": "12E",
		// the largest unit that loses nothing
		"1024Mi": "1Gi", "307200Ki": "300Mi", "1000M": "1G", "0.001T": "1G", "5000m": "5", "0.5": "500m", "1.08": "1080m",
		"1080000000n": "1080m", "1000u": "1m", "1E-3": "1e-3", "1E6": "1e6", "1e14": "100e12", "1e13": "10e12",
		".001e12": "1e9", "0.001e0": "1e-3", "1000e-12": "1e-9", "1.3E+6": "1300e3", "1.53E12": "1530e9", "0.5e-1": "50e-3",
		"100.035k": "100035", "0.0005k": "500m", "10.035M": "10035k", "7.123456M": "7123456", "6.987654321G": "6987654321",
		"5.444T": "5444G", "1.01E": "1010P", "9.01": "9010m", "0.00500": "5m", "1000E": "1000E", "1e21": "1e21",
		// binary units that need no fraction, and those that do
		"0.5Mi": "512Ki", "1.5Gi": "1536Mi", "0.05Gi": "53687091200m", "0.025Ti": "27487790694400m", "100.035Ki": "102435840m",
		"1025Ki": "1025Ki", "0.0009765625Ki": "1", "1000.9765625Ki": "1025000", ".001Ki": "1024m", ".000000001Ki": "1024n",
		// rounded away from zero to a billionth
		"3.001n": "4n", "1.1E-9": "2e-9", "0.0000000001": "1n", "0.5e-9": "1e-9", "0.9n": "1n", "0.00000012345": "124n",
		"0.00000012354": "124n", "0.000000000001Ki": "2n", "1e-999": "1e-9",
		// at most 2^63-1 in binary units
		"9Ei": "9223372036854775807", "9223372036854775807Ki": "9223372036854775807",
		// odd, but read
		".001": "1m", ".0001k": "100m", "1.": "1", "1.G": "1G", "007": "7",
		// too long for 63 bits
		"9223372036854775808": "9223372036854775808", "123456789012345678901234567890": "123456789012345678901234567890",
		"12345678901234567890123456789000": "12345678901234567890123456789k", "0.123456789012345678901": "123456790n",
		"18446744073709551616000": "18446744073709551616k", "18446744073709551615": "18446744073709551615",
	}
}

func TestAQuantityIsWrittenInItsCanonicalForm(t *testing.T) {
	forms := quantityForms()
	for text, want := range forms {
		for _, sign := range []string{"", "+", "-"} {
			if sign != "" && strings.ContainsAny(text[:1], "+-") {
				continue
			}
			want := want
			if sign == "-" && want != "0" {
				want = "-" + want
			}
			q, err := meta.ParseQuantity(sign + text)
			if err != nil || q.String() != want {
				t.Errorf("ParseQuantity(%q) = %v, %v; want %s", sign+text, q, err, want)
				continue
			}
			again, err := meta.ParseQuantity(q.String())
			if err != nil || again.Cmp(q) != 0 {
				t.Errorf("%s is read back as %v, %v", want, again, err)
			}
		}
	}
}

func TestParseQuantitySaysWhatIsAllowed(t *testing.T) {
	for text, want := range map[string]string{
		"": "begin with a number", "-": "begin with a number", ".": "begin with a number", "Ki": "begin with a number",
		"aoeu": "begin with a number", " 1": "begin with a number", "1 ": "unit must be", "1.1.M": "unit must be",
		"1+1.0M": "unit must be", "0.1mi": "unit must be", "0.1am": "unit must be", ".5i": "unit must be", "1i": "unit must be",
		"-3.01e-": "unit must be", "1Kii": "unit must be", "1K": "unit must be", "1ki": "unit must be", "1e1.5": "unit must be",
		"1e": "unit must be", "1e1001": "from -1000 to 1000, got 1001", "1E-1001": "from -1000 to 1000, got -1001",
		"1e99999999999999999999": "unit must be", strings.Repeat("1", 1025): "at most 1024 bytes, got 1025", "--1": "begin with a number",
	} {
		q, err := meta.ParseQuantity(text)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "parse quantity \"") || len(err.Error()) > 400 {
			t.Errorf("ParseQuantity(%.40q) = %v, %v; want an error with %q", text, q, err, want)
		}
		if q != (meta.Quantity{}) {
			t.Errorf("ParseQuantity(%.40q) returns %v with its error", text, q)
		}
	}
}

func TestQuantitiesAreEqualIfAmountAndUnitsAre(t *testing.T) {
	for _, test := range []struct {
		a, b  string
		equal bool
		order int
	}{
		{"1Gi", "1024Mi", true, 0},
		{"0.5", "500m", true, 0},
		{"0", "0Ki", true, 0},
		{"1024", "1Ki", false, 0},
		{"1e3", "1k", false, 0},
		{"123456789012345678901", "123456789012345678.901k", true, 0},
		{"10000T", "100Gi", false, 1},
		{"50m", "100m", false, -1},
		{"-1", "1n", false, -1},
		{"-1E", "-1n", false, -1},
		{"1e1000", "1n", false, 1},
		{"9223372036854775807", "9223372036854775806.9", false, 1},
		{"9223372036854775808", "9223372036854775807", false, 1},
		{"-9223372036854775808", "-9223372036854775807", false, -1},
		{"9223372036.854775807", "9223372036.854775806", false, 1},
		{"900P", "123456789.123456789", false, 1},
	} {
		a, b := meta.MustQuantity(test.a), meta.MustQuantity(test.b)
		if (a == b) != test.equal || a.Cmp(b) != test.order || b.Cmp(a) != -test.order {
			t.Errorf("%s and %s: == is %v, Cmp %d and %d; want %v, %d", test.a, test.b, a == b, a.Cmp(b), b.Cmp(a), test.equal, test.order)
		}
	}
}

func TestQuantitiesAreCalculatedExactly(t *testing.T) {
	q := meta.MustQuantity
	for _, test := range []struct {
		got  meta.Quantity
		want string
	}{
		{q("1").Add(q("250m")), "1250m"},
		{q("0").Add(q("1Gi")), "1Gi"}, // zero takes the units of the other
		{q("1Gi").Sub(q("0")), "1Gi"},
		{q("0").Sub(q("100m")), "-100m"},
		{q("1Ki").Sub(q("1019")), "5"},
		{q("1Ki").Sub(q("1019")).Add(q("1019")), "1Ki"},
		{q("1Ki").Sub(q("1Ki")).Add(q("1024")), "1024"},
		{q("9223372036854775807").Add(q("1")), "9223372036854775808"},
		{q("9223372036854775807").Add(q("1")).Sub(q("1")), "9223372036854775807"},
		{q("-9223372036854775807").Sub(q("1")), "-9223372036854775808"},
		{q("1E").Add(q("1n")), "1000000000000000000000000001n"},
		{q("1m").Scale(250), "250m"},
		{q("1Mi").Scale(1024), "1Gi"},
		{q("9Ei").Scale(2), "18446744073709551614"},
		{q("7").Scale(0), "0"},
		{q("7").Scale(math.MinInt64), "-64563604257983430656"},
		{q("-1").Scale(math.MinInt64), "9223372036854775808"},
		{meta.SumQuantities(), "0"},
		{meta.SumQuantities(q("0"), q("512Mi"), q("0.5Gi")), "1Gi"},
	} {
		if test.got.String() != test.want || test.got.Cmp(q(test.want)) != 0 {
			t.Errorf("got %v, want %s", test.got, test.want)
		}
	}
	if text := q("4Ei").Scale(512).String(); text != "2048Ei" { // more than a text may have
		t.Errorf("got %s", text)
	}
	if a, b := q("9223372036854775807").Add(q("1")).Sub(q("1")), q("9223372036854775807"); a != b {
		t.Errorf("%v has two representations", a)
	}
}

func TestTheNumbersOfAQuantity(t *testing.T) {
	for text, want := range map[string]struct {
		value, milli int64
		float        float64
	}{
		"0": {0, 0, 0}, "1n": {1, 1, 1e-9}, "-1n": {-1, -1, -1e-9}, "1500m": {2, 1500, 1.5}, "-1500m": {-2, -1500, -1.5},
		"1Gi": {1 << 30, 1 << 30 * 1000, 1 << 30}, "250.0001m": {1, 251, 0.2500001}, "9Ei": {math.MaxInt64, math.MaxInt64, 1 << 63},
		"10E": {math.MaxInt64, math.MaxInt64, 1e19}, "-10E": {math.MinInt64, math.MinInt64, -1e19}, "1e400": {math.MaxInt64, math.MaxInt64, math.Inf(1)},
		"12345678901.23456789012": {12345678902, 12345678901235, 12345678901.234567891}, "123456789012345678901": {math.MaxInt64, math.MaxInt64, 123456789012345678901},
		"-9223372036854775808": {math.MinInt64, math.MinInt64, -1 << 63},
	} {
		q := meta.MustQuantity(text)
		if q.Value() != want.value || q.Milli() != want.milli || q.Float64() != want.float {
			t.Errorf("%s: %d, %d, %v; want %v", text, q.Value(), q.Milli(), q.Float64(), want)
		}
	}
}

func TestAQuantityInJSON(t *testing.T) {
	type limits struct {
		CPU    meta.Quantity            `json:"cpu,omitzero"`
		Others map[string]meta.Quantity `json:"others,omitempty"`
	}
	for text, want := range map[string]string{
		`{"cpu":"0.5"}`: `{"cpu":"500m"}`, `{"cpu":" 1 "}`: `{"cpu":"1"}`, `{"cpu":2}`: `{"cpu":"2"}`, `{"cpu":0.25}`: `{"cpu":"250m"}`,
		`{"cpu":-1e3}`: `{"cpu":"-1e3"}`, `{"cpu":null}`: `{}`, `{"cpu":"\u0031\u004bi"}`: `{"cpu":"1Ki"}`, `{"others":{"a":"1024Mi"}}`: `{"others":{"a":"1Gi"}}`,
	} {
		l := limits{CPU: meta.MustQuantity("7")}
		if !strings.Contains(text, "cpu") {
			l.CPU = meta.Quantity{}
		}
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if out, err := json.Marshal(l); err != nil || string(out) != want {
			t.Errorf("%s becomes %s, %v; want %s", text, out, err, want)
		}
	}
	for _, text := range []string{`true`, `{}`, `["1"]`, `"1x"`, `""`} {
		q := meta.MustQuantity("7")
		if err := json.Unmarshal([]byte(text), &q); err == nil || !strings.Contains(err.Error(), "quantity") || q.String() != "7" {
			t.Errorf("%s: %v, and the quantity is %v", text, err, q)
		}
	}
}

func TestUsualQuantitiesAreParsedAndCalculatedWithoutAllocations(t *testing.T) {
	one, texts := meta.MustQuantity("1500m"), []string{"250m", "2Gi", "1", "0", "1.5", "100k", "0.125Gi", "1e3", "-3Ti"}
	var sum meta.Quantity
	if n := testing.AllocsPerRun(100, func() {
		for _, text := range texts {
			q, err := meta.ParseQuantity(text)
			if err != nil {
				t.Fatal(err)
			}
			sum = q.Add(one).Scale(3).Sub(one)
			if sum.Cmp(one) == 0 || sum.Value() == sum.Milli() {
				t.Fatal(sum)
			}
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
	raw := []byte(`"128974848"`)
	if n := testing.AllocsPerRun(100, func() {
		if err := sum.UnmarshalJSON(raw); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations of UnmarshalJSON", n)
	}
}

func TestMustQuantityPanicsWithTheReason(t *testing.T) {
	defer func() {
		if text, ok := recover().(string); !ok || !strings.Contains(text, `parse quantity "1x"`) {
			t.Errorf("it panics with %q", text)
		}
	}()
	meta.MustQuantity("1x")
}

// A quantity that is written is read back to the same amount, and to an equal quantity if its text shows its units.
func FuzzQuantity(f *testing.F) {
	for text := range quantityForms() {
		f.Add(text, "1Ki", int64(3))
	}
	f.Fuzz(func(t *testing.T, a, b string, n int64) {
		p, err := meta.ParseQuantity(a)
		if err != nil {
			return
		}
		again, err := meta.ParseQuantity(p.String())
		if err != nil || again.Cmp(p) != 0 {
			t.Fatalf("%q is %v, and read back %v, %v", a, p, again, err)
		}
		q, err := meta.ParseQuantity(b)
		if err != nil {
			return
		}
		if p.Cmp(q) != -q.Cmp(p) || (p == q) && p.Cmp(q) != 0 {
			t.Fatalf("%v and %v compare as %d and %d", p, q, p.Cmp(q), q.Cmp(p))
		}
		if back := p.Add(q).Sub(q); back.Cmp(p) != 0 {
			t.Fatalf("%v + %v - %v = %v", p, q, q, back)
		}
		if scaled, sum := p.Scale(n).Add(p), p.Scale(1).Add(p.Scale(n)); scaled.Cmp(sum) != 0 {
			t.Fatalf("%v * %d + %v is %v and %v", p, n, p, scaled, sum)
		}
	})
}

func BenchmarkParseQuantity(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := meta.ParseQuantity("1536Mi"); err != nil {
			b.Fatal(err)
		}
	}
}
