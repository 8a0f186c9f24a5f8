package clienttest

import (
	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/clienttest/internal/store"
)

// settleLease drops the fields that need the feature gate CoordinatedLeaderElection.
func settleLease(c *call, _ store.Tx, _, d *object.Draft, _ bool) error {
	if spec, found := d.Content["spec"].(jsontree.Object); found && !c.options.Lenient {
		delete(spec, "strategy")
		delete(spec, "preferredHolder")
	}
	return nil
}

// settlePriorityClass refuses a second default class.
func settlePriorityClass(c *call, tx store.Tx, _, d *object.Draft, _ bool) error {
	if isDefault, _ := d.Content["globalDefault"].(bool); !isDefault {
		return nil
	}
	for v := range tx.Objects(c.res.objects, "") {
		if isDefault, _ := v.Draft().Content["globalDefault"].(bool); isDefault && v.Key.Name != d.Meta.Name {
			return status.Forbidden(c.res, d.Meta.Name,
				"PriorityClass %s is already marked as default. Only one default can exist", v.Key.Name)
		}
	}
	return nil
}
