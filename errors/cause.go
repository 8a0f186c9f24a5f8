package errors

import (
	"strings"

	"github.com/bowline-go/bowline/client/meta"
)

// The reasons of causes that a client acts on. Servers, webhooks and controllers send others too.
const (
	// CauseUnexpectedServerResponse marks an answer that was not a Status. The cause's message is an excerpt of the
	// answer's text, or the title of an HTML page.
	CauseUnexpectedServerResponse = "UnexpectedServerResponse"
	// CauseResourceVersionTooLarge marks a request for a version that the server has not reached.
	CauseResourceVersionTooLarge = "ResourceVersionTooLarge"
	// CauseNamespaceTerminating marks a create in a namespace that is being deleted.
	CauseNamespaceTerminating = "NamespaceTerminating"
	// CauseFieldManagerConflict marks a field that another manager owns, in the answer to an apply.
	CauseFieldManagerConflict = "FieldManagerConflict"
	// CauseDisruptionBudget marks an eviction that a disruption budget does not allow now.
	CauseDisruptionBudget = "DisruptionBudget"
)

// Cause returns the first cause with this reason in the answers that err wraps or joins.
func Cause(err error, reason string) (meta.StatusCause, bool) {
	for e := range all(err) {
		for _, cause := range e.Causes() {
			if cause.Reason == reason {
				return cause, true
			}
		}
	}
	return meta.StatusCause{}, false
}

// IsTooLargeResourceVersion reports whether the server was asked for a version that it has not reached: it lags behind
// the server that gave the version, or has been restored from a backup. The server waits for a while before it gives
// this answer. Retry after [RetryAfter], or list without a version. For joined errors, one such error is enough.
//
// The function recognizes the three forms that servers have used:
//
//   - the cause [CauseResourceVersionTooLarge] (since 1.18.6);
//   - a Timeout with a cause whose message is "Too large resource version" (1.17);
//   - a Timeout whose own message contains these words (before 1.17).
func IsTooLargeResourceVersion(err error) bool {
	const message = "Too large resource version"
	for e := range all(err) {
		timeout := e.Is(Timeout)
		for _, cause := range e.Causes() {
			if cause.Reason == CauseResourceVersionTooLarge || timeout && cause.Message == message {
				return true
			}
		}
		if timeout && strings.Contains(e.Status.Message, message) {
			return true
		}
	}
	return false
}
