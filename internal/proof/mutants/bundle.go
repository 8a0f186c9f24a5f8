package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// bundle is the code of a package with many mutants in it, all of them off. A number in the environment turns one on,
// so that the package and its tests are compiled once for all of them: some take longer to compile than to run.
type bundle struct {
	root, dir, tmp string
	mutants        []mutant
	out            []bool // by number: the mutant does not compile within the bundle
}

// variable is the environment variable that says which mutant is on, by its number, counted from 1.
const variable = "BOWLINE_MUTANT"

// switches is a file that is added to the package.
const switches = `package %s

import (
	"os"
	"strconv"
)

var mutant, _ = strconv.Atoi(os.Getenv("` + variable + `"))

func mutantOn(id int) bool { return mutant == id }

func mutantNumber[T any](id int, wrong, right T) T {
	if mutant == id {
		return wrong
	}
	return right
}

func mutantError(id int, err error) error {
	if mutant == id {
		return nil
	}
	return err
}
`

// settle finds out which mutants can be compiled together, and writes the overlay of those.
func (b *bundle) settle(ctx context.Context) error {
	b.out = make([]bool, len(b.mutants)+1)
	for i, m := range b.mutants {
		b.out[i+1] = m.prefix == ""
	}
	for range 20 {
		places, err := b.write()
		if err != nil {
			return err
		}
		// -e: all errors, and not only the first ten.
		check := exec.CommandContext(ctx, "go", "build", "-gcflags=-e", "-overlay", b.overlay(), ".")
		check.Dir = filepath.Join(b.root, filepath.FromSlash(b.dir)) // which may belong to a nested module
		out, err := check.CombinedOutput()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !b.blame(string(out), places) {
			return fmt.Errorf("mutants of %s do not compile, and it is not clear which:\n%s", b.dir, out)
		}
	}
	return fmt.Errorf("mutants of %s do not compile", b.dir)
}

func (b *bundle) overlay() string { return filepath.Join(b.tmp, "bundle.json") }

// place is where a mutant lies in the changed text of its file.
type place struct{ id, start, end int }

// changed is the text of a file with its mutants, and their places, the inner ones before the outer ones.
type changed struct {
	text   string
	places []place
}

// write writes the changed files and the overlay, and returns what it wrote by the name of the file.
func (b *bundle) write() (map[string]changed, error) {
	files := map[string][]int{}
	for i, m := range b.mutants {
		if !b.out[i+1] {
			files[m.file] = append(files[m.file], i+1)
		}
	}
	replace, all := map[string]string{}, map[string]changed{}
	name := filepath.Base(b.dir)
	for file, ids := range files {
		original := filepath.Join(b.root, filepath.FromSlash(file))
		text, err := os.ReadFile(original)
		if err != nil {
			return nil, err
		}
		c := b.change(text, ids)
		temporary := filepath.Join(b.tmp, "bundle_"+filepath.Base(file))
		if err := os.WriteFile(temporary, []byte(c.text), 0o600); err != nil {
			return nil, err
		}
		replace[original] = temporary
		all[filepath.Base(file)] = c
		all[filepath.Base(temporary)] = c // the compiler may name either
		if found := packageClause.FindSubmatch(text); found != nil {
			name = string(found[1])
		}
	}
	added := filepath.Join(b.tmp, "switches.go")
	if err := os.WriteFile(added, fmt.Appendf(nil, switches, name), 0o600); err != nil {
		return nil, err
	}
	replace[filepath.Join(b.root, filepath.FromSlash(b.dir), "mutant_switches.go")] = added
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, err
	}
	return all, os.WriteFile(b.overlay(), overlay, 0o600)
}

var packageClause = regexp.MustCompile(`(?m)^package (\w+)`)

// change puts the prefixes and suffixes of mutants into a text. Mutants lie beside or within one another, as
// expressions do.
func (b *bundle) change(text []byte, ids []int) changed {
	m := func(id int) mutant { return b.mutants[id-1] }
	opening, closing := slices.Clone(ids), slices.Clone(ids)
	slices.SortFunc(opening, func(x, y int) int { // the outer first
		return cmp.Or(cmp.Compare(m(x).start, m(y).start), cmp.Compare(m(y).end, m(x).end), cmp.Compare(x, y))
	})
	slices.SortFunc(closing, func(x, y int) int { // the inner first
		return cmp.Or(cmp.Compare(m(x).end, m(y).end), cmp.Compare(m(y).start, m(x).start), cmp.Compare(y, x))
	})
	var out strings.Builder
	starts := map[int]int{}
	var places []place
	at := 0
	for len(closing) > 0 {
		next, isOpening := closing[0], false
		if len(opening) > 0 && m(opening[0]).start < m(next).end {
			next, isOpening = opening[0], true
		}
		to := m(next).end
		if isOpening {
			to = m(next).start
		}
		out.Write(text[at:to])
		at = to
		if isOpening {
			opening = opening[1:]
			starts[next] = out.Len()
			out.WriteString(numbered(m(next).prefix, next))
		} else {
			closing = closing[1:]
			out.WriteString(numbered(m(next).suffix, next))
			places = append(places, place{next, starts[next], out.Len()})
		}
	}
	out.Write(text[at:])
	return changed{out.String(), places}
}

// numbered puts a mutant's number into its prefix or suffix.
func numbered(s string, id int) string {
	for _, open := range []string{"mutantOn(", "mutantNumber(", "mutantError("} {
		s = strings.ReplaceAll(s, open+"ID", open+strconv.Itoa(id))
	}
	return s
}

var (
	compilerError = regexp.MustCompile(`(?m)^(\S+\.go):(\d+):(\d+): (.*)$`)
	mutantInError = regexp.MustCompile(`mutant(?:On|Number|Error)\((\d+)`)
)

// blame takes out the mutants at the places of the compiler's errors, the innermost mutant at each place, and reports
// whether there were any. The compiler may place an error at an expression around the mutant. Then blame takes out a
// mutant in that expression whose text the error shows. The error shows no such text if the compiler names an argument
// beside a number that has become an int, as in max(0, d). Then blame takes out the mutants of the numbers in the line.
func (b *bundle) blame(output string, all map[string]changed) (found bool) {
	out := func(id int) bool {
		isNew := id < len(b.out) && !b.out[id]
		if isNew {
			b.out[id], found = true, true
		}
		return isNew
	}
	for _, e := range compilerError.FindAllStringSubmatch(output, -1) {
		c, ok := all[filepath.Base(e[1])]
		line, err := strconv.Atoi(e[2])
		column, err2 := strconv.Atoi(e[3])
		if !ok || errors.Join(err, err2) != nil {
			continue
		}
		offset := offsetOf(c.text, line, column)
		blamed := slices.ContainsFunc(c.places, func(p place) bool { // inner ones come first, because they end first
			return p.start <= offset && offset < p.end && out(p.id)
		})
		for _, shown := range mutantInError.FindAllStringSubmatch(e[4], -1) {
			if id, err := strconv.Atoi(shown[1]); err == nil && !blamed {
				blamed = out(id)
			}
		}
		start := offsetOf(c.text, line, 1)
		end := start + len(firstLine(c.text[start:]))
		for _, p := range c.places {
			if !blamed && start <= p.start && p.start < end && strings.HasPrefix(b.mutants[p.id-1].prefix, "mutantNumber(") {
				out(p.id)
			}
		}
	}
	return found
}

func offsetOf(text string, line, column int) int {
	offset := 0
	for range line - 1 {
		offset += strings.IndexByte(text[offset:], '\n') + 1
	}
	return offset + column - 1
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
