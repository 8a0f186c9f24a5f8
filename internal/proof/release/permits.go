package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/semver"
)

// lists is the folder of the lists of exported names. `go test ./internal/proof/api` compares them with the code.
const lists = "internal/proof/api/testdata"

// permits returns an error if a version must not follow the last one, by semantic versioning.
func (r repository) permits(ctx context.Context, last, version string) error {
	if last == "" {
		return nil
	}
	if semver.Compare(version, last) <= 0 {
		return fmt.Errorf("%s must be greater than the last version, %s", version, last)
	}
	before, err := r.exportsOf(ctx, last)
	if err != nil {
		return err
	}
	now, err := r.exports()
	if err != nil {
		return err
	}
	return compare(before, now, last, version)
}

// compare returns an error if the exported names of version must not follow those of last.
func compare(before, now map[string]bool, last, version string) error {
	gone, added := lacking(before, now), lacking(now, before)
	switch {
	case semver.MajorMinor(version) == semver.MajorMinor(last) && len(gone)+len(added) > 0:
		return fmt.Errorf("the exported names have changed since %s, so %s must not be a patch:\n%s", last, version,
			strings.Join(slices.Concat(gone, added), "\n"))
	case semver.Major(version) == semver.Major(last) && semver.Major(version) != "v0" && len(gone) > 0:
		return fmt.Errorf("names of %s are gone, so %s must be a major version:\n%s", last, version, strings.Join(gone, "\n"))
	}
	return nil
}

// lacking returns the lines of a that b does not have, sorted.
func lacking(a, b map[string]bool) (out []string) {
	for line := range a {
		if !b[line] {
			out = append(out, line)
		}
	}
	slices.Sort(out)
	return out
}

// exports returns the exported names of the work tree, each with the name of its list as a prefix.
func (r repository) exports() (map[string]bool, error) {
	files, err := filepath.Glob(filepath.Join(r.dir, filepath.FromSlash(lists), "*.txt"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, errors.New("there are no lists of exported names")
	}
	out := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		addLines(out, filepath.Base(file), string(text))
	}
	return out, nil
}

// exportsOf returns the exported names of a version, as exports does.
func (r repository) exportsOf(ctx context.Context, version string) (map[string]bool, error) {
	files, err := r.git(ctx, "ls-tree", "--name-only", version, lists+"/")
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for _, file := range strings.Fields(files) {
		text, err := r.git(ctx, "show", version+":"+file)
		if err != nil {
			return nil, err
		}
		addLines(out, path.Base(file), text)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s has no lists of exported names", version)
	}
	return out, nil
}

func addLines(to map[string]bool, list, text string) {
	for line := range strings.Lines(text) {
		to[list+": "+strings.TrimSpace(line)] = true
	}
}

// unreleased is the end of the heading of the next release's section. The release replaces it with the date.
const unreleased = ", not released yet"

// date returns the text of CHANGELOG.md with the date of a version in its heading. A version and its rehearsals have
// one section.
func date(text, version string, on time.Time) (string, error) {
	version, _, _ = strings.Cut(version, "-rehearsal.")
	heading := "\n## " + strings.TrimPrefix(version, "v")
	if strings.Count(text, heading+unreleased+"\n") != 1 {
		return "", fmt.Errorf("CHANGELOG.md must have one section with the heading %q", strings.TrimPrefix(heading, "\n")+unreleased)
	}
	before, after, _ := strings.Cut(text, heading+unreleased+"\n")
	section, _, _ := strings.Cut(after, "\n## ")
	if strings.TrimSpace(section) == "" {
		return "", fmt.Errorf("the section of %s in CHANGELOG.md is empty", version)
	}
	return before + heading + ", " + on.Format(time.DateOnly) + "\n" + after, nil
}
