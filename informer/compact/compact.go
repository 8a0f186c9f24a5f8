package compact

import (
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/internal/packed"
	"github.com/bowline-go/bowline/internal/packing"
)

// New returns the value for informer.Options.Compact. Several informers may share the value; each learns its own
// dictionaries.
func New() informer.Compact { return zstd{} }

type zstd struct{}

// NewPacker implements informer.Compact.
func (zstd) NewPacker() packed.Packer { return packing.New() }
