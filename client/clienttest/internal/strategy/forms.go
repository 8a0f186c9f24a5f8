package strategy

import (
	"fmt"
	"net/netip"
	"regexp"
	"strings"
)

// Each function below returns why a text does not have the form that the function is named after. The forms of names
// are those of RFC 1123 and RFC 1035, narrowed by the Kubernetes documentation "Object Names and IDs".

const (
	lower   = "abcdefghijklmnopqrstuvwxyz"
	digits  = "0123456789"
	letters = lower + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// word reports whether a text has only characters of inner, starts with one of first and ends with one of last.
func word(s, first, inner, last string) bool {
	return s != "" && strings.Trim(s, inner) == "" && strings.Contains(first, s[:1]) && strings.Contains(last, s[len(s)-1:])
}

func tooLong(s string, limit int) []string {
	if len(s) > limit {
		return []string{fmt.Sprintf("must be no more than %d bytes", limit)}
	}
	return nil
}

// label is the form of a label of a DNS name.
func label(s string) []string {
	why := tooLong(s, 63)
	if !word(s, lower+digits, lower+digits+"-", lower+digits) {
		why = append(why, "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end "+
			"with an alphanumeric character")
	}
	return why
}

// label1035 is label, without a digit at the start.
func label1035(s string) []string {
	why := tooLong(s, 63)
	if !word(s, lower, lower+digits+"-", lower+digits) {
		why = append(why, "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "+
			"and end with an alphanumeric character")
	}
	return why
}

// subdomain is the form of a DNS name.
func subdomain(s string) []string {
	why := tooLong(s, 253)
	for part := range strings.SplitSeq(s, ".") {
		if !word(part, lower+digits, lower+digits+"-", lower+digits) {
			return append(why, "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must "+
				"start and end with an alphanumeric character")
		}
	}
	return why
}

// wildcard is a DNS name whose first label is "*".
func wildcard(s string) []string {
	rest, found := strings.CutPrefix(s, "*.")
	if !found || len(subdomain(rest)) > 0 {
		return []string{"a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain"}
	}
	return tooLong(s, 253)
}

// segment is the form of a name that becomes a segment of a path.
func segment(s string) (why []string) {
	if s == "." || s == ".." {
		return []string{fmt.Sprintf("may not be '%s'", s)}
	}
	for _, c := range []string{"/", "%"} {
		if strings.Contains(s, c) {
			why = append(why, fmt.Sprintf("may not contain '%s'", c))
		}
	}
	return why
}

// qualified is the form of a name that may have a DNS name as its prefix, such as the key of a label.
func qualified(s string) (why []string) {
	prefix, name, found := strings.Cut(s, "/")
	switch {
	case strings.Contains(name, "/"):
		return []string{"a qualified name must consist of a name with an optional DNS subdomain prefix and '/'"}
	case !found:
		name = prefix
	case prefix == "":
		why = append(why, "prefix part must be non-empty")
	default:
		for _, w := range subdomain(prefix) {
			why = append(why, "prefix part "+w)
		}
	}
	if name == "" {
		why = append(why, "name part must be non-empty")
	}
	for _, w := range tooLong(name, 63) {
		why = append(why, "name part "+w)
	}
	if !word(name, letters+digits, letters+digits+"-_.", letters+digits) {
		why = append(why, "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character")
	}
	return why
}

// labelValue is the form of the value of a label.
func labelValue(s string) []string {
	why := tooLong(s, 63)
	if s != "" && !word(s, letters+digits, letters+digits+"-_.", letters+digits) {
		why = append(why, "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "+
			"end with an alphanumeric character")
	}
	return why
}

// configKey is the form of a key of a config map or a secret.
func configKey(s string) []string {
	why := tooLong(s, 253)
	if !word(s, letters+digits+"-_.", letters+digits+"-_.", letters+digits+"-_.") {
		why = append(why, "a valid config key must consist of alphanumeric characters, '-', '_' or '.'")
	}
	switch {
	case s == ".":
		why = append(why, "must not be '.'")
	case strings.HasPrefix(s, ".."):
		why = append(why, "must not start with '..'")
	}
	return why
}

// envName is the form of the name of a variable of the environment.
func envName(s string) []string {
	if s == "" {
		return []string{"environment variable names must not be empty"}
	}
	for _, r := range s {
		if r < ' ' || r > '~' || r == '=' {
			return []string{"a valid environment variable name must consist only of printable ASCII characters other than '='"}
		}
	}
	return nil
}

// portName is the form of the name of a port (RFC 6335).
func portName(s string) (why []string) {
	if len(s) > 15 {
		why = append(why, "must be no more than 15 characters")
	}
	if strings.Trim(s, lower+digits+"-") != "" {
		why = append(why, "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
	}
	if !strings.ContainsAny(s, lower) {
		why = append(why, "must contain at least one letter (a-z)")
	}
	if strings.Contains(s, "--") {
		why = append(why, "must not contain consecutive hyphens")
	}
	if s != "" && (s[0] == '-' || s[len(s)-1] == '-') {
		why = append(why, "must not begin or end with a hyphen")
	}
	return why
}

// headerName is the form of the name of an HTTP header.
func headerName(s string) []string {
	if word(s, letters+digits+"-", letters+digits+"-", letters+digits+"-") {
		return nil
	}
	return []string{"a valid HTTP header must consist of alphanumeric characters or '-'"}
}

// address is the form of an IP address.
func address(s string) []string {
	a, err := netip.ParseAddr(s)
	if err != nil || a.Zone() != "" {
		return []string{"must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"}
	}
	return nil
}

// block is the form of a range of IP addresses.
func block(s string) []string {
	if _, err := netip.ParsePrefix(s); err != nil {
		return []string{"must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"}
	}
	return nil
}

// matching is the form of a regular expression.
func matching(form *regexp.Regexp) func(string) []string {
	return func(s string) []string {
		if form.MatchString(s) {
			return nil
		}
		return []string{"must match the regex " + form.String()}
	}
}
