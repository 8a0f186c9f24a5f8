package shards

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// rule is a rule of the decisions, where it is in the code, and the code without it.
type rule struct {
	name         string
	file         string
	code, mutant string
	scenario     string // in which it is needed
}

func rulesOfDecisions() []rule {
	return []rule{
		{"work begins only when no other replica claims the range", "plan.go", "case rivals > 0 || c.others || !t.observed", "case c.others || !t.observed", "the second one is to have the range"},
		{"the watch has come to the claim", "plan.go", "rivals > 0 || c.others || !t.observed.ranges.Has(n) ||", "rivals > 0 || c.others ||", "two begin"},
		{"a list counts for a lease duration", "replica.go", "	if now >= q.asked+r.lease {", "	if false {", "prompt, and both watches are held up"},
		{"a lease that has gone unseen may have been renewed", "view.go", "m.gone, m.unsure, m.noticed = true, true, now", "m.gone = true", "prompt, and a lease is deleted"},
		{"a deleted lease counts until it had run out", "view.go", "	if m := v.members[place]; m.hasEnded() {\n		delete(v.members, place)", "	if m := v.members[place]; true {\n		delete(v.members, place)", "one of two leases is deleted"},
		{"a replica that starts in a group that works waits", "view.go", "			v.fresh = false\n", "			v.fresh = true\n", "who joins, and a lease is deleted"},
		{"a lease counts for its whole duration", "view.go", "	return m.seen + m.lasts\n", "	return m.seen + m.lasts/3\n", "a process is stopped"},
		{"an edited lease counts with its last claims", "view.go", "			next.share = m.share\n", "			_ = m.share\n", "prompt, and leases are edited"},
		{"a lost lease says nothing about who owned what", "replica.go", "	if lost {\n		r.owned = meta.Ranges{}\n	}\n", "	_ = lost\n", "prompt, and leases are deleted"},
		{"who should not own a range takes its claim away", "plan.go", "case better || c.first || t.leaving || !t.have.Has(n):", "case c.first || t.leaving || !t.have.Has(n):", "two begin"},
	}
}

var rulesTried = flag.Int("rules", 0, "how many rules TestEachRuleIsNeeded takes away, one at a time; -1 means all")

// Each rule is needed: without it, the exhaustive check tells a story that breaks a guarantee. Each rule costs a build of the
// package, so by default the test only finds them all in the code.
//
//	go test ./client/shards -run EachRule -rules -1
func TestEachRuleIsNeeded(t *testing.T) {
	names := make(map[string]bool)
	for _, s := range scenarios() {
		names[s.name] = true
	}
	for i, r := range rulesOfDecisions() {
		code, err := os.ReadFile(r.file)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(code), r.code); n != 1 || !names[r.scenario] {
			t.Errorf("%s: %s has its code %d times, and the scenario %q exists: %t", r.name, r.file, n, r.scenario, names[r.scenario])
		}
		if i >= *rulesTried && *rulesTried >= 0 {
			continue
		}
		t.Run(r.name, func(t *testing.T) {
			dir := t.TempDir()
			mutant, overlay := filepath.Join(dir, r.file), filepath.Join(dir, "overlay.json")
			replace := map[string]map[string]string{"Replace": {r.file: mutant}}
			text, err := json.Marshal(replace)
			if err != nil {
				t.Fatal(err)
			}
			for name, content := range map[string]string{mutant: strings.Replace(string(code), r.code, r.mutant, 1), overlay: string(text)} {
				if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			out, err := exec.CommandContext(t.Context(), "go", "test", "-overlay", overlay, "-count=1", "-run", "^TestNothingThatCanHappen",
				"-scenario", r.scenario, "-worlds", strconv.Itoa(mostWithoutARule), ".").CombinedOutput()
			if err == nil || !strings.Contains(string(out), "moves to a broken guarantee") {
				t.Errorf("without this rule no guarantee breaks in %q: %v\n%s", r.scenario, err, out)
			}
		})
	}
}

// mostWithoutARule is how many worlds the check visits at most without a rule.
const mostWithoutARule = 300_000
