package kubectlscript

import (
	"regexp"
	"slices"
	"strings"
)

// rewrites replace the texts that differ between two servers, and between two runs against one server. They are applied
// in this order.
var rewrites = []struct {
	pattern *regexp.Regexp
	by      string
}{
	// Tokens of service accounts.
	{regexp.MustCompile(`eyJ[\w-]+\.[\w-]+\.[\w-]*`), "TOKEN"},
	{regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`), "UID"},
	// Times as in JSON, as diff prints them, and as kubectl describe does.
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| \+0000)`), "TIME"},
	{regexp.MustCompile(`\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d\d:\d\d:\d\d \+0000`), "TIME"},
	// Resource versions, in YAML, in JSON, which may be quoted itself, and in kubectl's own words.
	{regexp.MustCompile(`(resourceVersion\\?"?: ?\\?)"\d+`), `$1"VERSION`},
	{regexp.MustCompile(`(Resource ?Version:\s+)\d+`), "${1}VERSION"},
	// Files that kubectl makes.
	{regexp.MustCompile(`\b(LIVE|MERGED|kubectl-edit)-\d+`), "$1"},
	// The addresses and node ports of services, which a real server chooses at random.
	{regexp.MustCompile(`\b10\.0\.0\.\d+\b`), "ADDRESS"},
	{regexp.MustCompile(`\b3[0-2]\d{3}\b`), "NODEPORT"},
	// Names that the server generates from the prefix that the scripts use.
	{regexp.MustCompile(`\bgenerated-[a-z0-9]{5}\b`), "generated-RANDOM"},
	// Ages in tables, which come after spaces, or at a line's start with a custom column.
	{regexp.MustCompile(`(?m)( {2,}|^)(\d+[smhd])+( ago)?( {2,}|$)`), "${1}AGE${3}${4}"},
	// The lines that kubectl logs about its watches depend on the moment when its patience ends.
	{regexp.MustCompile(`(?m)^[EWI]\d{4} \d\d:\d\d:\d\d\.\d+ .* reflector="[^\n]*\n`), ""},
	// Other lines of its log have the time and the place in its source.
	{regexp.MustCompile(`(?m)^([EWI])\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ \S+\]`), "$1 LOG]"},
}

// gap is the space between two columns of a table, which is as wide as the widest age.
var gap = regexp.MustCompile(`(\S) {2,}`)

// normalise replaces the texts that differ between two servers with the same text: uids, times, ages, resource
// versions, the names that a server generates, tokens, the address of the server and the working directory.
func (s *Server) normalise(text string) string {
	_, port, _ := strings.Cut(s.address, ":")
	text = strings.NewReplacer(s.address, "SERVER", s.dir, "DIRECTORY", `"targetPort":`+port, `"targetPort":PORT`).Replace(text)
	for _, r := range rewrites {
		text = r.pattern.ReplaceAllString(text, r.by)
	}
	text = gap.ReplaceAllString(text, "$1  ")
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	sortReasons(lines)
	return strings.Join(lines, "\n")
}

// withoutDescriptions returns the output of kubectl explain without the descriptions of kinds and fields, which
// clienttest does not have. The headings, and the lines of fields and of the values to choose from, stay.
func withoutDescriptions(text string) string {
	var kept []string
	for line := range strings.Lines(text) {
		words := strings.TrimLeft(line, " ")
		if line == words || strings.Contains(line, "\t") || strings.HasPrefix(words, "enum:") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// sortReasons orders the reasons why an object is invalid, which kubectl prints one below the other: a server finds
// those of labels and annotations in any order.
func sortReasons(lines []string) {
	for i := 0; i < len(lines); i++ {
		begin := i
		for i < len(lines) && strings.HasPrefix(lines[i], "* ") {
			i++
		}
		slices.Sort(lines[begin:i])
	}
}
