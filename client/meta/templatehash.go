package meta

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strconv"
)

// HashTemplate returns a label value that differs for templates with different JSON, as the label pod-template-hash of
// a Deployment's ReplicaSets and the end of their names do. It has 1 to 10 lower-case letters and digits, and no
// vowels. It depends on the content alone: not on the order of members, and not on whether the template is a struct, a
// map or JSON. A member with an empty value and a missing member give different values.
//
// The value has 32 bits, so different templates can have the same one. If an object of that name exists and has another
// template, count the collision in the status of its owner, and hash again with the new number of collisions. The first
// hash has 0 collisions.
//
// A Deployment hashes the Go value of its template, so its values differ from these. The error is that of the JSON
// encoder.
func HashTemplate(template any, collisions int32) (string, error) {
	text, err := json.Marshal(template)
	if err != nil {
		return "", fmt.Errorf("hash a template: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var content any
	if err = d.Decode(&content); err == nil {
		text, err = json.Marshal(content) // with the members sorted
	}
	if err != nil {
		return "", fmt.Errorf("hash a template: %w", err)
	}
	h := fnv.New32a()
	_, _ = h.Write(text) // never fails
	if collisions != 0 {
		_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, uint64(uint32(collisions))))
	}
	return withoutVowels(strconv.FormatUint(uint64(h.Sum32()), 10)), nil
}

// withoutVowels replaces each byte by one of the characters that the API uses in generated names, which spell no word.
func withoutVowels(s string) string {
	const alphabet = "bcdfghjklmnpqrstvwxz2456789"
	out := make([]byte, len(s))
	for i := range out {
		out[i] = alphabet[int(s[i])%len(alphabet)]
	}
	return string(out)
}
