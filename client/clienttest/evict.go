package clienttest

import (
	"net/http"

	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
)

// serveEviction deletes a pod. The server has no disruption budgets; DisruptionBudget makes the answer of one that refuses.
func serveEviction(c *call) error {
	var e struct {
		meta.ObjectMeta `json:"metadata"`
		DeleteOptions   *deleteOptions `json:"deleteOptions"`
	}
	o, err := c.readFor(&e, &e.ObjectMeta)
	if err != nil {
		return err
	}
	if err := c.checkNamespace(e.Namespace); err != nil {
		return err
	}
	how := e.DeleteOptions
	if how == nil {
		how = &deleteOptions{}
	}
	if err := how.validate(); err != nil {
		return err
	}
	how.dryRun = how.dryRun || o.dryRun
	if _, _, err := c.removeNamed(how); err != nil {
		return err
	}
	return c.accept()
}

// DisruptionBudget returns a handler that answers an eviction like a real server while the PodDisruptionBudget of that name
// allows none, because it needs so many healthy pods and there are no more. Return it from the function of Intercept.
func DisruptionBudget(name string, healthy int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		writeStatus(w, status.Failure(http.StatusTooManyRequests, "TooManyRequests",
			"Cannot evict pod as it would violate the pod's disruption budget.").With(meta.StatusDetails{
			Causes: []meta.StatusCause{{
				Reason:  "DisruptionBudget",
				Message: status.Failure(0, "", "The disruption budget %s needs %d healthy pods and has %d currently", name, healthy, healthy).Status.Message,
			}},
		}).Status)
	}
}
