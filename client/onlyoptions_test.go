package client_test

import (
	"errors"
	"testing"

	"github.com/bowline-go/bowline/client"
)

// A second struct of options would be ignored.
func TestOptionsOfReadsAreGivenAtMostOnce(t *testing.T) {
	r := client.For(dial(t, client.Config{Server: "http://127.0.0.1:1"}), slims)
	errs := map[string]error{}
	_, errs["Get"] = r.Get(t.Context(), web, client.GetOptions{}, client.GetOptions{})
	_, errs["Sub.Get"] = r.Status().Get(t.Context(), web, client.GetOptions{}, client.GetOptions{})
	_, errs["Table"] = r.Table(t.Context(), client.ListOptions{}, client.TableOptions{}, client.TableOptions{})
	_, errs["TableOf"] = r.TableOf(t.Context(), web, client.TableOptions{}, client.TableOptions{})
	for _, err := range r.WatchTable(t.Context(), client.WatchOptions{}, client.TableOptions{}, client.TableOptions{}) {
		errs["WatchTable"] = err
	}
	for call, err := range errs {
		if !errors.As(err, new(*client.UsageError)) {
			t.Errorf("%s: %v, want a UsageError", call, err)
		}
	}
	if len(errs) != 5 {
		t.Errorf("%d calls were made, want 5", len(errs))
	}
}
