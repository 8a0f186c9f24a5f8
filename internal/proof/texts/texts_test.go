package texts

import (
	"flag"
	"strings"
	"testing"
)

// below is the flag -print: a folder, or true for all of them.
type below string

func (b *below) String() string     { return string(*b) }
func (b *below) Set(s string) error { *b = below(s); return nil }
func (b *below) IsBoolFlag() bool   { return true }

var printed below

func TestMain(m *testing.M) {
	flag.Var(&printed, "print", "print the texts of every folder, or of one with -print=client/; needs -v")
	flag.Parse()
	m.Run()
}

func whole(t *testing.T) module {
	t.Helper()
	m, err := shipped()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestThePrintedListHasTextsOfEachPackage(t *testing.T) {
	m := whole(t)
	all, has := collect(m), make(map[string]bool)
	for _, s := range all {
		has[s.file[:strings.LastIndex(s.file, "/")+1]] = true
		if printed == "true" || printed != "" && strings.HasPrefix(s.file, string(printed)) {
			t.Log(s)
		}
	}
	for _, folder := range []string{"client/", "informer/", "informer/controller/", "patch/", "informer/ctrlcache/", "client/clienttest/cel/"} {
		if !has[folder] {
			t.Errorf("the list has no text of %s", folder)
		}
	}
	t.Log(len(all), "texts")
}

func TestEachTextKeepsTheRules(t *testing.T) {
	m := whole(t)
	named, allowed := namesOf(m), newAllowances()
	for _, s := range collect(m) {
		for _, r := range rules {
			if why := r.broken(s, named); why != "" && !allowed.has(s) {
				t.Errorf("%v\n\tThe rule is: %s; but %s.", s, r.name, why)
			}
		}
	}
	allowed.unused(t)
}
