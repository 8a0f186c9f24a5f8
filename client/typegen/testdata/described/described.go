// Package described has comments in each place that can have one.
package described

import (
	"encoding/json"
	"net/netip"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/crd"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/typegen/testdata/described/inner"
)

// Forts is the resource.
var Forts = client.Type[*Fort]{Group: "example.com", Version: "v1", Kind: "Fort", Resource: "forts"}

// Fort is a place that is
// hard to take.
//
// It has "walls", a `gate` and é:
//   - some high
//   - some low
//
// +instruction=for a generator
type Fort struct {
	// This is not written, because the server has a text of its own.
	meta.ObjectMeta `json:"metadata"`
	Spec            FortSpec `json:"spec"`
	// Status is what is seen.
	Status *FortStatus `json:"status,omitempty"`
}

// FortSpec is what is wanted.
type FortSpec struct {
	Common    `json:",inline"`
	*Optional `json:",inline"`
	// Walls are in order, and Walls are walls.
	Walls []Wall `json:"walls,omitempty"`
	// towers have no comment of their type.
	Towers map[string]*Wall `json:"towers,omitempty"`
	Gate   inner.Gate       `json:"gate,omitzero"` // Gate is the way in.
	Color  Color            `json:"color,omitempty" crd:"enum=red,green"`
	// Bytes has no elements.
	Bytes []byte `json:"bytes,omitempty"`
	// Grid is known by its place.
	Grid [][]struct {
		// A is at the bottom.
		A int `json:"a"`
	} `json:"grid,omitempty"`
	// Anything has a type that crd does not look into.
	Anything Wall `json:"anything,omitzero" crd:"pattern=^;;type;;$; type=string"`
	// Kept is looked into.
	Kept Open `json:"kept,omitzero" crd:"preserveUnknown"`
	// Address has a text.
	Address netip.Addr `json:"address,omitzero"`
	// Tree ends.
	Tree    *Tree          `json:"tree,omitempty"`
	Raw     map[string]any `json:"raw,omitempty" crd:"preserveUnknown"`
	Skipped Wall           `json:"-"`
	Same    string         `json:"same,omitempty"`
	_       Wall
}

// Common is embedded.
type Common struct {
	// Owner owns it.
	Owner string `json:"owner,omitempty"`
	// Same is hidden.
	Same int `json:"same"`
}

// Optional is embedded by pointer.
type Optional struct {
	// Note says more.
	Note string `json:"note"`
}

type (
	// Wall is a wall.
	Wall struct {
		// Height is in meters.
		Height int `json:"height"`
	}
	// Color is a color.
	Color string
)

// Tree has trees.
type Tree struct {
	// Children are trees.
	Children []Tree `json:"children,omitempty" crd:"items.type=object; items.preserveUnknown"`
}

// Open keeps what it does not know.
type Open struct {
	// Known is known.
	Known   string                     `json:"known,omitempty"`
	Unknown map[string]json.RawMessage `json:"-"`
}

func (o Open) MarshalJSON() ([]byte, error) { return json.Marshal(o.Unknown) }

func (o *Open) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &o.Unknown) }

// FortStatus is what is there.
type FortStatus struct {
	// Conditions say how it is.
	Conditions []meta.Condition `json:"conditions,omitempty"`
	// Moment has a type of client/meta.
	Moment meta.Time `json:"moment,omitzero"`
}

// hut is a small Fort.
type hut struct {
	meta.ObjectMeta `json:"metadata"`
	// Door is shut.
	Door bool `json:"door,omitempty"`
}

// Huts is the definition of a type that is not exported.
func Huts() (*crd.Definition, error) {
	huts := client.Type[*hut]{Group: "example.com", Version: "v1", Kind: "Hut", Resource: "huts"}
	return crd.Of(huts, crd.Options{Descriptions: hutDescriptions()})
}
