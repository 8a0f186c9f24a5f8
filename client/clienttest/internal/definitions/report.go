package definitions

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
)

// report collects what is wrong.
type report struct{ causes status.Causes }

func (r *report) invalid(at string, value any, why string) {
	r.causes = append(r.causes, invalid(at, value, why))
}

func invalid(at string, value any, why string) meta.StatusCause {
	value = jsontree.GoValue(value)
	c := status.InvalidValue(at, value, why)
	if f, ok := value.(float64); ok {
		c.Message = fmt.Sprintf("Invalid value: %v: %s", f, why)
	}
	return c
}

// asJSON returns a string in JSON. The server shows optional strings in that form.
func asJSON(text string) json.RawMessage { return jsontree.AppendString(nil, text) }

func (r *report) required(at, why string) {
	c := meta.StatusCause{Reason: "FieldValueRequired", Field: at, Message: "Required value"}
	if why != "" {
		c = status.RequiredValue(at, why)
	}
	r.causes = append(r.causes, c)
}

func (r *report) forbidden(at, why string) {
	r.causes = append(r.causes, status.ForbiddenValue(at, why))
}

func (r *report) unsupported(at string, value any, supported ...string) {
	r.causes = append(r.causes, status.UnsupportedValue(at, value, slices.Clone(supported)...))
}

// mustBe reports a value of the field type, which should be another one.
func (r *report) mustBe(at, typ, why string) {
	if typ == "" {
		r.required(at, why)
	} else {
		r.invalid(at, typ, why)
	}
}

const (
	labelRule = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic " +
		"character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is " +
		"'[a-z]([-a-z0-9]*[a-z0-9])?')"
	subdomainRule = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and " +
		"must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is " +
		`'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`
)

var isLabel = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`) })

var isSubdomain = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
})

// wrongLabel returns what is wrong with a label of DNS-1035.
func wrongLabel(s string) (why []string) {
	if len(s) > 63 {
		why = append(why, "must be no more than 63 characters")
	}
	if !isLabel().MatchString(s) {
		why = append(why, labelRule)
	}
	return why
}

// wrongSubdomain returns what is wrong with a domain name.
func wrongSubdomain(s string) (why []string) {
	if len(s) > 253 {
		why = append(why, "must be no more than 253 characters")
	}
	if !isSubdomain().MatchString(s) {
		why = append(why, subdomainRule)
	}
	return why
}

// label reports a value that is not a label.
func (r *report) label(at, value string) {
	if why := wrongLabel(value); len(why) > 0 {
		r.invalid(at, value, strings.Join(why, ","))
	}
}
