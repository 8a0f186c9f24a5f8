package build

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

//go:embed module lifeline/lifeline.go
var embedded embed.FS

// names are the programs that can be built.
func names() []string {
	return []string{"etcd", "kube-apiserver", "kube-controller-manager", "kubectl"}
}

// Minors returns the minor releases of Kubernetes whose programs can be built, such as "1.37", the newest first.
func Minors() []string { return minorsIn(embedded) }

func minorsIn(files fs.FS) []string {
	found, _ := fs.Glob(files, "module/*.mod.txt") // the pattern is valid
	minors := make([]string, 0, len(found))
	for _, path := range found {
		minors = append(minors, strings.TrimSuffix(strings.TrimPrefix(path, "module/"), ".mod.txt"))
	}
	slices.SortFunc(minors, func(a, b string) int { return cmp.Compare(number(b), number(a)) })
	return minors
}

// number returns the second number of a minor release.
func number(minor string) int {
	_, after, _ := strings.Cut(minor, ".")
	n, _ := strconv.Atoi(after) // the names of the embedded files are numbers
	return n
}

// Resolve returns the minor release that Programs builds for a name: the newest if the name is empty.
func Resolve(minor string) (string, error) {
	known := Minors()
	if minor == "" {
		return known[0], nil
	}
	if !slices.Contains(known, minor) {
		return "", fmt.Errorf("minor release of Kubernetes %q: must be one of %q, or empty for the newest", minor, known)
	}
	return minor, nil
}

// Release returns the release whose programs are built for a minor release of Minors, such as "1.37.2" for "1.37".
func Release(minor string) string { return releaseIn(embedded, minor) }

func releaseIn(files fs.FS, minor string) string {
	text, _ := fs.ReadFile(files, "module/"+minor+".mod.txt")
	found := regexp.MustCompile(`(?m)^\s+k8s\.io/kubernetes v(\S+)`).FindSubmatch(text)
	if found == nil {
		return minor
	}
	return string(found[1])
}
