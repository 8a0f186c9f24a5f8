package fieldset

import (
	"cmp"
	"testing"
)

func TestPlainKeysHaveTheOrderOfTheirMembers(t *testing.T) {
	texts := []string{"", "-", "-a", ".", "/", "0", "10", "9", "A", "Z", "_", "a", "a-b", "a.b", "a/b", "ab", "b", "z"}
	var keys []string
	for _, name := range texts[1:] {
		for _, value := range texts {
			keys = append(keys, `k:{"`+name+`":"`+value+`"}`)
		}
	}
	for _, a := range keys {
		for _, b := range keys {
			x, _ := Members(a)
			y, _ := Members(b)
			if !sortsAsText(a) || cmp.Compare(a, b) != compare(x, y) {
				t.Fatalf("%s and %s have another order than their members", a, b)
			}
		}
	}
}
