package client

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"

	"github.com/bowline-go/bowline/client/meta"
)

// DefaultPageSize is how many objects a page of a list has when ListOptions.PageSize is 0.
const DefaultPageSize = 500

// ListOptions choose what a list returns. The zero value lists every object of the resource, in all namespaces, as the
// server has it now.
type ListOptions struct {
	// Namespace limits the list to one namespace; empty means all of them.
	Namespace string
	// LabelSelector and FieldSelector are the API's selectors, such as "app=web,tier!=cache"; empty selects everything.
	LabelSelector string
	FieldSelector string
	// PageSize is how many objects the server is asked for at a time, the API's limit; 0 means DefaultPageSize, and a
	// negative number asks for everything in one answer. Every call reads all pages, whatever the size.
	PageSize int
	// ResourceVersion and ResourceVersionMatch relax how fresh the list must be, as "Resource versions" in the Kubernetes API
	// concepts has it. Empty means what the server has now, and "0" whatever it has at hand, however old. Any other version
	// is one that a server has sent, and ResourceVersionMatch says how it is meant; empty means NotOlderThan, which is then
	// sent, because servers otherwise take the same version for the one or the other, depending on the limit.
	ResourceVersion      string
	ResourceVersionMatch ResourceVersionMatch
	// KeepManagedFields leaves metadata.managedFields in the objects. By default it is cut before they are decoded.
	KeepManagedFields bool
	// OnPage, where it is set, is called with the metadata of each page as soon as it is known, before the page's objects if
	// the server sends it before them. Its RemainingItemCount says how many objects there are after the page, where the
	// server knows. It is called by the goroutine that lists.
	OnPage func(meta.ListMeta)
}

// ResourceVersionMatch says how ListOptions.ResourceVersion is meant.
type ResourceVersionMatch string

const (
	// NotOlderThan asks for data at least as new as the version. A server older than 1.19 takes it for Exact where the list
	// has pages; if it then says that the version is too old (410), the list is asked for as the server has it now, which is
	// not older either.
	NotOlderThan ResourceVersionMatch = "NotOlderThan"
	// Exact asks for the data at exactly the version, and gets an [*AnswerError] of reason [WrongVersion] from a server that sends another one, as
	// those before 1.19 do where the list has no pages. One that has been forgotten meanwhile is an Expired error (410).
	Exact ResourceVersionMatch = "Exact"
)

// match returns what is sent as resourceVersionMatch.
func (o ListOptions) match() ResourceVersionMatch {
	if o.ResourceVersionMatch == "" && o.ResourceVersion != "" && o.ResourceVersion != "0" {
		return NotOlderThan
	}
	return o.ResourceVersionMatch
}

// checkVersion returns an error if a list came at another version than the one that it had to come at.
func (o ListOptions) checkVersion(version string) error {
	if o.ResourceVersionMatch == Exact && version != o.ResourceVersion {
		return &AnswerError{Reason: WrongVersion, Got: version, Want: o.ResourceVersion}
	}
	return nil
}

// isFloor reports whether the version is the least that the list may have, so that the present one will do as well.
func (o ListOptions) isFloor() bool { return o.ResourceVersion != "" && o.match() == NotOlderThan }

func (o ListOptions) validate() error {
	switch {
	case o.ResourceVersionMatch == "":
	case o.ResourceVersionMatch != NotOlderThan && o.ResourceVersionMatch != Exact:
		return fmt.Errorf("client.ListOptions: ResourceVersionMatch must be NotOlderThan, Exact or empty, got %q", o.ResourceVersionMatch)
	case o.ResourceVersion == "":
		return fmt.Errorf("client.ListOptions: ResourceVersion must be set where ResourceVersionMatch is %s", o.ResourceVersionMatch)
	case o.ResourceVersionMatch == Exact && o.ResourceVersion == "0":
		return errors.New(`client.ListOptions: ResourceVersion must be a version that a server has sent where ResourceVersionMatch is Exact, got "0"`)
	}
	return nil
}

// query returns the parameters of the first page.
func (o ListOptions) query() url.Values {
	q := o.pageQuery()
	set(q, "resourceVersion", o.ResourceVersion)
	set(q, "resourceVersionMatch", string(o.match()))
	return q
}

// pageQuery returns what every page's request carries.
func (o ListOptions) pageQuery() url.Values {
	q := url.Values{}
	set(q, "labelSelector", o.LabelSelector)
	set(q, "fieldSelector", o.FieldSelector)
	switch {
	case o.PageSize == 0:
		q.Set("limit", strconv.Itoa(DefaultPageSize))
	case o.PageSize > 0:
		q.Set("limit", strconv.Itoa(o.PageSize))
	}
	return q
}

// nextQuery returns the parameters of the page that a continue token leads to. The server refuses a resource version there:
// the token holds it. Selectors go along.
func (o ListOptions) nextQuery(token string) url.Values {
	q := o.pageQuery()
	q.Set("continue", token)
	return q
}

func set(q url.Values, key, value string) {
	if value != "" {
		q.Set(key, value)
	}
}
