// Package setting has the ways in which Bowline's sides read a list: those of client-go's side.
package setting

import (
	"fmt"

	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/compact"
)

// Options returns the options of a setting, and their name in the report. In all of them managedFields are cut on the
// wire, which is the default.
func Options(name string) (o informer.Options, told string, err error) {
	switch name {
	case "pages":
		return informer.Options{Mode: informer.Paged}, "informer.Options{Mode: Paged}, which is pages of 500", nil
	case "whole":
		return informer.Options{Mode: informer.Paged, PageSize: -1}, "informer.Options{Mode: Paged, PageSize: -1}", nil
	case "stream":
		return informer.Options{Mode: informer.Streaming}, "informer.Options{Mode: Streaming}", nil
	case "compact":
		return informer.Options{Mode: informer.Paged, Compact: compact.New()}, "informer.Options{Mode: Paged, Compact: compact.New()}", nil
	}
	return o, "", fmt.Errorf("no setting is called %q", name)
}
