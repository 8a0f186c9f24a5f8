package source

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
)

// initialisms are words that Go writes in upper case.
var initialisms = strings.Fields("acl api ascii ca cidr cpu csi cni crd dns eof fqdn gcp gpu gpg guid html http https id ip ipc iqn jwt json " +
	"lun mac mtls nfs oci oidc os pid ptr pvc qps ram rbac rpc rsa sasl scsi sha sla smtp sni sql srv ssd ssh ssl tcp tls ttl udp ui uid uri url " +
	"uuid vm wwn xml")

// maxName bounds an identifier that is made of a path.
const maxName = 140

// goName returns an exported identifier for a name in JSON. Runes other than ASCII letters and digits separate words; a
// name without letters and digits becomes its bytes in hexadecimal.
func goName(name string) string {
	var b strings.Builder
	for _, word := range words(name) {
		lower := strings.ToLower(word)
		single, isPlural := strings.CutSuffix(lower, "s")
		switch {
		case slices.Contains(initialisms, lower):
			b.WriteString(strings.ToUpper(word))
		case isPlural && slices.Contains(initialisms, single):
			b.WriteString(strings.ToUpper(single) + "s")
		default:
			b.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	out := b.String()
	switch {
	case out == "" && name == "":
		return "Empty"
	case out == "":
		out = fmt.Sprintf("X%x", name)
	case '0' <= out[0] && out[0] <= '9':
		out = "X" + out
	}
	return bounded(out)
}

// bounded shortens a long identifier and appends a hash of the whole.
func bounded(name string) string {
	if len(name) <= maxName {
		return name
	}
	h := fnv.New64a()
	h.Write([]byte(name))
	return name[:maxName-16] + strconv.FormatUint(h.Sum64()|1<<63, 16)
}

// words splits a name before an upper-case letter that does not follow another one, and before the last of several
// upper-case letters if a new word begins there. It also splits at all bytes that are not ASCII letters and digits.
func words(name string) (all []string) {
	start := 0
	cut := func(end int) {
		if end > start {
			all = append(all, name[start:end])
		}
		start = end
	}
	for i := range len(name) {
		c := name[i]
		switch {
		case !isLower(c) && !isUpper(c) && !isDigit(c):
			cut(i)
			start = i + 1
		case isUpper(c) && i > start && !isUpper(name[i-1]):
			cut(i)
		case isUpper(c) && i > start && beginsWord(name[i+1:]):
			cut(i)
		}
	}
	cut(len(name))
	return all
}

// beginsWord reports whether rest begins with lower-case letters, but not only with the s of a plural, as in podIPs.
func beginsWord(rest string) bool {
	if rest == "" || !isLower(rest[0]) {
		return false
	}
	return rest[0] != 's' || len(rest) > 1 && isLower(rest[1])
}

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// singular returns the name of an element of a list, as far as English allows.
func singular(name string) string {
	for _, ending := range []struct{ plural, singular string }{
		{"ies", "y"}, {"sses", "ss"}, {"shes", "sh"}, {"ches", "ch"}, {"xes", "x"}, {"uses", "us"}, {"ss", "ss"}, {"us", "us"}, {"is", "is"}, {"s", ""},
	} {
		if stem, ok := strings.CutSuffix(name, ending.plural); ok && len(stem) > 1 {
			return stem + ending.singular
		}
	}
	return name
}

// pluralOf returns the name of the descriptor of a kind: the resource's name with the upper-case letters of the kind.
func pluralOf(kind, resource string) string {
	n := 0
	for n < len(kind) && n < len(resource) && strings.EqualFold(kind[n:n+1], resource[n:n+1]) {
		n++
	}
	if n < len(kind)-1 || n == 0 {
		return goName(resource)
	}
	return goName(kind[:n]) + strings.TrimPrefix(goName("x"+resource[n:]), "X")
}

// names are the identifiers of a package or of a struct.
type names map[string]bool

// take returns the first of the candidates that is free, or the last one with a number, and takes it.
func (n names) take(candidates ...string) string {
	last := ""
	for _, last = range candidates {
		if !n[last] {
			n[last] = true
			return last
		}
	}
	for i := 2; ; i++ {
		if numbered := last + strconv.Itoa(i); !n[numbered] {
			n[numbered] = true
			return numbered
		}
	}
}
