package client

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"unicode"
	"unicode/utf8"
)

// WriteOptions hold for every write of a handle, also through its subresources; see [Resource.With].
type WriteOptions struct {
	// FieldManager is the name under which the server records who set which field: at most 128 bytes of printable text.
	// Empty leaves it to the server, which makes it up from Config.UserAgent; [Resource.Apply] needs it.
	FieldManager string
	// DryRun makes the server do everything but store the result.
	DryRun bool
	// FieldValidation says what the server does with fields that it does not know.
	FieldValidation FieldValidation
}

// FieldValidation says what the server does with unknown and duplicate fields of a write.
type FieldValidation string

const (
	// ValidateDefault leaves it to the server, which warns.
	ValidateDefault FieldValidation = ""
	// ValidateIgnore drops them silently.
	ValidateIgnore FieldValidation = "Ignore"
	// ValidateWarn drops them and answers with a warning; see Hooks.Warning.
	ValidateWarn FieldValidation = "Warn"
	// ValidateStrict refuses the write.
	ValidateStrict FieldValidation = "Strict"
)

// maxFieldManager is the API's limit, in bytes.
const maxFieldManager = 128

// with returns o with what other sets.
func (o WriteOptions) with(other WriteOptions) WriteOptions {
	o.FieldManager = cmp.Or(other.FieldManager, o.FieldManager)
	o.DryRun = o.DryRun || other.DryRun
	o.FieldValidation = cmp.Or(other.FieldValidation, o.FieldValidation)
	return o
}

func (o WriteOptions) validate() error {
	var errs []error
	switch o.FieldValidation {
	case ValidateDefault, ValidateIgnore, ValidateWarn, ValidateStrict:
	default:
		errs = append(errs, fmt.Errorf("client.WriteOptions: FieldValidation must be Ignore, Warn, Strict or empty, got %q", o.FieldValidation))
	}
	switch {
	case len(o.FieldManager) > maxFieldManager:
		errs = append(errs, fmt.Errorf("client.WriteOptions: FieldManager must have at most %d bytes, got %d", maxFieldManager, len(o.FieldManager)))
	case !isPrintable(o.FieldManager):
		errs = append(errs, fmt.Errorf("client.WriteOptions: FieldManager must be printable text, got %q", o.FieldManager))
	}
	return errors.Join(errs...)
}

func isPrintable(s string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

func (o WriteOptions) query() url.Values {
	q := url.Values{}
	set(q, "fieldManager", o.FieldManager)
	set(q, "fieldValidation", string(o.FieldValidation))
	if o.DryRun {
		q.Set("dryRun", "All")
	}
	return q
}
