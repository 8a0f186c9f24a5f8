// Package inner has a type that another package uses.
package inner

// Gate is a gate.
type Gate struct {
	// Open says whether it is open.
	//
	//nolint:all
	Open bool `json:"open"`
	// Keepers are called by their names,
	// one each.
	Keepers []string `json:"keepers,omitempty"`
}
