package definitions

import (
	"fmt"
	"strings"
	"testing"
)

// defined returns a definition of the group example.com that has accepted its names.
func defined(n Names) *Definition {
	return &Definition{Name: n.Plural + ".example.com", Group: "example.com", Names: n, Accepted: n}
}

func TestNamesThatOthersHaveAreNotAccepted(t *testing.T) {
	pages := Names{Plural: "pages", Singular: "page", ShortNames: []string{"pg"}, Kind: "Page", ListKind: "PageList"}
	sites := Names{Plural: "sites", Singular: "site", Kind: "Site", ListKind: "SiteList", Categories: []string{"all"}}
	with := func(change func(n *Names)) Names {
		n := sites
		change(&n)
		return n
	}
	const (
		accepted    = "NamesAccepted True NoConflicts: no conflicts found"
		ready       = "Established True InitialNamesAccepted: the initial names have been accepted"
		notAccepted = "Established False NotAccepted: not all names are accepted"
	)
	for _, test := range []struct {
		name  string
		wants Names
		has   Names
		was   []Condition
		gets  Names
		want  []string
	}{
		{"new", sites, Names{}, nil, sites, []string{accepted, ready}},
		{
			"another resource's short name as the singular", with(func(n *Names) { n.Singular = "pg" }),
			Names{},
			nil,
			with(func(n *Names) { n.Singular = "" }),
			[]string{`NamesAccepted False SingularConflict: "pg" is already in use`, notAccepted},
		},
		{
			"another resource's names as short names", with(func(n *Names) { n.ShortNames = []string{"page", "st", "pages"} }),
			Names{},
			nil, sites,
			[]string{`NamesAccepted False ShortNamesConflict: ["page" is already in use, "pages" is already in use]`, notAccepted},
		},
		{
			"another kind", with(func(n *Names) { n.Kind, n.ListKind = "Page", "PageList" }),
			Names{},
			nil,
			with(func(n *Names) { n.Kind, n.ListKind = "", "" }),
			[]string{`NamesAccepted False ListKindConflict: "PageList" is already in use`, notAccepted},
		},
		{
			"a conflict after the names were accepted", with(func(n *Names) { n.ShortNames = []string{"pg"} }), sites,
			[]Condition{{"NamesAccepted", "True", "NoConflicts", "no conflicts found"}, {"Established", "True", "R", "m"}},
			sites,
			[]string{`NamesAccepted False ShortNamesConflict: "pg" is already in use`, "Established True R: m"},
		},
		{
			"the end of a conflict", sites, with(func(n *Names) { n.Kind = "" }),
			[]Condition{{"NamesAccepted", "False", "KindConflict", "m"}, {"Established", "False", "NotAccepted", "m"}},
			sites,
			[]string{accepted, ready},
		},
		{
			"no change", sites, sites,
			[]Condition{{"Other", "True", "", ""}, {"Established", "True", "R", "m"}, {"NamesAccepted", "True", "R", "m"}},
			sites,
			[]string{"Other True : ", "Established True R: m", "NamesAccepted True R: m"},
		},
	} {
		d := &Definition{Name: "sites.example.com", Group: "example.com", Names: test.wants, Accepted: test.has, Conditions: test.was}
		stranger := defined(sites)
		stranger.Name, stranger.Group = "sites.other.com", "other.com"
		gets, conditions := d.Accept([]*Definition{defined(pages), stranger, d})
		var got []string
		for _, c := range conditions {
			got = append(got, fmt.Sprintf("%s %s %s: %s", c.Type, c.Status, c.Reason, c.Message))
		}
		if !sameNames(gets, test.gets) || strings.Join(got, "\n") != strings.Join(test.want, "\n") {
			t.Errorf("%s: accepted %+v, conditions\n%s\nwant %+v\n%s", test.name, gets, strings.Join(got, "\n"), test.gets, strings.Join(test.want, "\n"))
		}
	}
}

func TestAnInvalidCABundlePreventsTheUseOfADefinition(t *testing.T) {
	d := defined(Names{Plural: "pages", Kind: "Page"})
	d.Accepted, d.Conversion.CABundle = Names{}, []byte("a")
	_, conditions := d.Accept(nil)
	if want := (Condition{"Established", "False", "InvalidCABundle", "The conversion webhook CABundle is invalid"}); conditions[1] != want {
		t.Errorf("conditions %v", conditions)
	}
}

func TestTheApprovalOfAProtectedGroupIsACondition(t *testing.T) {
	for annotation, want := range map[string]Condition{
		"https://example.com/1": {approved, "True", "ApprovedAnnotation", "approved in https://example.com/1"},
		"unapproved, a test":    {approved, "False", "UnapprovedAnnotation", `not approved: "unapproved, a test"`},
	} {
		d := &Definition{Group: "x.k8s.io", Names: Names{Plural: "pages"}, approval: annotation}
		if _, conditions := d.Accept(nil); len(conditions) != 3 || conditions[2] != want {
			t.Errorf("%s: conditions %v", annotation, conditions)
		}
	}
}
