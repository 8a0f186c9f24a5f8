package values

import (
	"net"
	"net/mail"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// formatName returns a format as the server looks it up: date-time is datetime.
func formatName(format string) string { return strings.ReplaceAll(format, "-", "") }

// isFormat reports whether the server checks a format of strings.
func isFormat(name string) bool { return formats[name] != nil }

// matches returns the check of a regular expression, which is compiled when it is first needed.
func matches(expression string) func(string) bool {
	compiled := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
	return func(s string) bool { return compiled().MatchString(s) }
}

// shorter returns a check that also limits the length.
func shorter(most int, check func(string) bool) func(string) bool {
	return func(s string) bool { return len(s) <= most && check(s) }
}

// formats are the checks of the formats, by their names without hyphens. The regular expressions are those of the
// server.
var formats = map[string]func(string) bool{
	"uri":      func(s string) bool { _, err := url.ParseRequestURI(s); return err == nil },
	"email":    func(s string) bool { a, err := mail.ParseAddress(s); return err == nil && a.Address != "" },
	"hostname": isHostname,
	"ipv4":     func(s string) bool { return isIP(s) && strings.Contains(s, ".") },
	"ipv6": func(s string) bool {
		a, err := netip.ParseAddr(s)
		return err == nil && a.Zone() == "" && strings.Contains(s, ":")
	},
	"cidr":     isCIDR,
	"mac":      func(s string) bool { _, err := net.ParseMAC(s); return err == nil },
	"isbn":     func(s string) bool { return isISBN10(s) || isISBN13(s) },
	"isbn10":   isISBN10,
	"isbn13":   isISBN13,
	"password": func(string) bool { return true },
	"date":     isDate,
	"datetime": isDateTime,
	"duration": isDuration,

	"creditcard": isCreditCard,

	"uuid":         matches(`(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$`),
	"uuid3":        matches(`(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$`),
	"uuid4":        matches(`(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$`),
	"uuid5":        matches(`(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$`),
	"ssn":          matches(`^\d{3}[- ]\d{2}[- ]\d{4}$`), // the server wants eleven characters
	"hexcolor":     matches(`^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$`),
	"byte":         matches(`^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$`),
	"bsonobjectid": matches(`^[0-9a-fA-F]{24}$`),
	"k8sshortname": shorter(63, matches(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)),
	"k8slongname":  shorter(253, matches(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)),
	"rgbcolor": matches(`^rgb\(\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*,\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*,` +
		`\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*\)$`),
}

var hostname = matches(`^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9-\p{S}\p{L}]{0,61}` +
	`[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$`)

func isHostname(s string) bool {
	for part := range strings.SplitSeq(s, ".") {
		if len(part) > 63 {
			return false
		}
	}
	return len(s) <= 255 && hostname(s)
}

// isIP reports whether a text is an IP address, in which the numbers of IPv4 may begin with zeros.
func isIP(s string) bool {
	if strings.Contains(s, ":") {
		a, err := netip.ParseAddr(s)
		return err == nil && a.Zone() == ""
	}
	parts := strings.Split(s, ".")
	for _, p := range parts {
		if n, err := strconv.ParseUint(p, 10, 8); err != nil || n > 255 || strings.HasPrefix(p, "+") {
			return false
		}
	}
	return len(parts) == 4
}

func isCIDR(s string) bool {
	address, length, found := strings.Cut(s, "/")
	most := 32
	if strings.Contains(address, ":") {
		most = 128
	}
	n, err := strconv.ParseUint(length, 10, 8)
	return found && isIP(address) && err == nil && int(n) <= most
}

func isDate(s string) bool { _, err := time.Parse(time.DateOnly, s); return err == nil }

var clock = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$`)
})

func isDateTime(s string) bool {
	parts := strings.Split(strings.ToLower(s), "t")
	if len(s) < 4 || len(parts) < 2 || !isDate(parts[0]) {
		return false
	}
	m := clock().FindStringSubmatch(parts[1])
	return m != nil && m[1] <= "23" && m[2] <= "59" && m[3] <= "59"
}

var period = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(\d+)\s*([A-Za-zµ]+)`) })

// isDuration reports whether a text is a duration of Go, or has an amount with a unit such as "3 days".
func isDuration(s string) bool {
	if _, err := time.ParseDuration(s); err == nil {
		return true
	}
	known := false
	for _, m := range period().FindAllStringSubmatch(s, -1) {
		if _, err := strconv.Atoi(m[1]); err != nil {
			return false
		}
		unit := strings.ToLower(m[2])
		switch unit {
		case "ns", "us", "µs", "ms", "s", "m", "h", "hr", "d", "w", "wk":
			known = true
		}
		for _, long := range []string{"nano", "micro", "milli", "sec", "min", "hour", "day", "week"} {
			known = known || strings.HasPrefix(unit, long)
		}
	}
	return known
}

// digits removes the spaces and hyphens that an ISBN may have between its digits.
func digits(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \t\n\v\f\r-", r) {
			return -1
		}
		return r
	}, s)
}

func isISBN10(s string) bool {
	s = digits(s)
	if len(s) != 10 {
		return false
	}
	sum := 0
	for i, c := range []byte(s) {
		switch {
		case c >= '0' && c <= '9':
			sum += (i + 1) * int(c-'0')
		case c == 'X' && i == 9:
			sum += 100
		default:
			return false
		}
	}
	return sum%11 == 0
}

func isISBN13(s string) bool {
	s = digits(s)
	if len(s) != 13 {
		return false
	}
	sum := 0
	for i, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
		sum += int(c-'0') * (1 + i%2*2)
	}
	return sum%10 == 0
}

var card = matches(`^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|` +
	`3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11})$`)

func isCreditCard(s string) bool {
	s = strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, s)
	sum := 0
	for i := range len(s) {
		n := int(s[len(s)-1-i] - '0')
		if i%2 == 1 {
			if n *= 2; n > 9 {
				n -= 9
			}
		}
		sum += n
	}
	return card(s) && sum%10 == 0
}
