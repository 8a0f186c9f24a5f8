package texts

import (
	"strings"
	"testing"
)

// imitated are the files and folders of package clienttest and below it that say what a real server, kubelet or
// controller says, word for word. The tests of internal/proof compare many of them with the real ones.
var imitated = []string{
	"client/clienttest/apply.go",
	"client/clienttest/bind.go",
	"client/clienttest/budget.go",
	"client/clienttest/containers/port.go",
	"client/clienttest/containers/process.go",
	"client/clienttest/controllers/contents.go",
	"client/clienttest/controllers/deploymentstatus.go",
	"client/clienttest/controllers/jobrun.go",
	"client/clienttest/controllers/podtemplate.go",
	"client/clienttest/controllers/revision.go",
	"client/clienttest/dispatch.go",
	"client/clienttest/draft.go",
	"client/clienttest/held.go",
	"client/clienttest/hooks.go",
	"client/clienttest/insert.go",
	"client/clienttest/internal/admission/",
	"client/clienttest/internal/definitions/",
	"client/clienttest/internal/jsonpath/",
	"client/clienttest/internal/jsontree/",
	"client/clienttest/internal/kubectl/",
	"client/clienttest/internal/object/",
	"client/clienttest/internal/patching/",
	"client/clienttest/internal/quantity/",
	"client/clienttest/internal/sharding/",
	"client/clienttest/internal/status/",
	"client/clienttest/internal/strategy/",
	"client/clienttest/page.go",
	"client/clienttest/patching.go",
	"client/clienttest/scale.go",
	"client/clienttest/selector.go",
	"client/clienttest/services.go",
	"client/clienttest/update.go",
}

// An exception is a text that breaks a rule for a reason.
type exception struct{ file, text, why string }

const (
	predicate = "the cause is the rest of the sentence, and never stands alone"
	list      = "the text is made step by step, and each step wraps the last one"
	foreign   = "programs that move from controller-runtime may compare its words"
)

var exceptions = []exception{
	{"client/crd/value.go", "the length of %q %w", predicate},
	{"client/discovery/catalog.go", "found no Kubernetes API at %s; check the URL's path: %v", "it must not match NotFound, which would say that a kind is missing"},
	{"client/kubeconfig/execoutput.go", "printed an ExecCredential that cannot be used: %s%w", "the field stands before the cause, with its own colon"},
	{"client/kubeconfig/execrun.go", "ended with %w", predicate},
	{"client/kubeconfig/incluster.go", "in-cluster: %s and %s must name a server: the URL %w", predicate},
	{"client/recorder/record.go", "recorder.Record: Regarding %w", predicate},
	{"client/recorder/record.go", "recorder.Record: Related %w", predicate},
	{"client/remote/copyto.go", "the container has no sh, which is needed unless CopyOptions.Overwrite is set: %v", "isMissing must not find the cause"},
	{"client/remote/session.go", "the server speaks %s, %w", predicate},
	{"client/webhook/answer.go", "%s %q is invalid: %s", "the words of a kube-apiserver, which shows them to users"},
	{"client/webhook/certificates/plan.go", "its authority is valid only from %s on: the clock of this replica is wrong, or was that of another one; if the clocks are right, delete the Secret", "a wrong clock is the diagnosis"},
	{"informer/ctrlcache/reader.go", "unable to get: %v because of unknown namespace for the cache", foreign},
	{"informer/ctrlcache/reader.go", "unable to list: %v because of unknown namespace for the cache", foreign},
	{"informer/debug/options.go", "debug.Options: Hosts[%d] %w", predicate},
	{"informer/namespaces.go", "follow %s: an index function, a Filter or OnError %w", predicate},
	{"informer/wait.go", "%w%s%q", list},
	{"informer/wait.go", "%w%s%q (%s, last error: %w)", list},
	{"informer/wait.go", "%w%s%q (%s)", list},
	{"informer/warm.go", "%T %w; they are kept again in the next Run", predicate},
	{"internal/conn/lease.go", "Bearer %v", "a header of requests, which no text shows"},
	{"internal/patch/strategic/openapi.go", "the document %w", predicate},
	{"internal/patch/tree/token.go", "%s is %w: it has %d bytes, and %d are allowed", predicate},
	{"internal/patch/tree/token.go", "%s has %w", predicate},
	{"internal/patch/tree/token.go", "%s is %w: it nests deeper than %d", predicate},
	{"patch/error.go", "malformed patch", "a sentinel, whose users add what is allowed"},
}

// allowances say which texts may break a rule, and which entries have been used.
type allowances struct {
	files map[string]bool
	texts map[exception]bool
}

func newAllowances() *allowances {
	return &allowances{make(map[string]bool), make(map[exception]bool)}
}

func (a *allowances) has(t text) bool {
	for _, f := range imitated {
		if t.file == f || strings.HasSuffix(f, "/") && strings.HasPrefix(t.file, f) {
			a.files[f] = true
			return true
		}
	}
	for _, e := range exceptions {
		if e.file == t.file && e.text == t.text {
			a.texts[e] = true
			return true
		}
	}
	return false
}

// unused fails the test for each entry without a text that breaks a rule.
func (a *allowances) unused(t *testing.T) {
	t.Helper()
	for _, f := range imitated {
		if !a.files[f] {
			t.Errorf("no text of %s breaks a rule: take it out of imitated", f)
		}
	}
	for _, e := range exceptions {
		if !a.texts[e] {
			t.Errorf("the text %q of %s is gone, or breaks no rule: take it out of exceptions", e.text, e.file)
		}
	}
}
