package crd

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// This file checks names as a server does.

var (
	label     = regexp.MustCompile(`^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$`)
	subdomain = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$`)
)

const labelRule = "1 to 63 lower-case letters, digits and dashes, the first a letter and the last a letter or digit"

// checkNames checks the names of a resource.
func checkNames(d *Definition) error {
	var errs []error
	names := d.Spec.Names
	if group := d.Spec.Group; len(group) > 253 || !subdomain.MatchString(group) {
		errs = append(errs, fmt.Errorf("client.Type: Group must be a domain of lower-case letters, digits and dashes with at least one dot, got %q", group))
	}
	isLabel := func(what, name string) {
		if !label.MatchString(name) {
			errs = append(errs, fmt.Errorf("%s must have %s, got %q", what, labelRule, name))
		}
	}
	isLabel("client.Type: Resource", names.Plural)
	isKind := func(what, kind string) {
		if !label.MatchString(strings.ToLower(kind)) {
			errs = append(errs, fmt.Errorf("%s must have 1 to 63 letters, digits and dashes, the first a letter and the last a letter or digit, got %q", what, kind))
		}
	}
	isKind("client.Type: Kind", names.Kind)
	isKind("client.Type: ListKind", names.ListKind)
	if names.Kind == names.ListKind {
		errs = append(errs, fmt.Errorf("client.Type: ListKind must differ from Kind, which is %q", names.Kind))
	}
	isLabel("crd.Options: Singular", names.Singular)
	for i, name := range names.ShortNames {
		isLabel(fmt.Sprintf("crd.Options: ShortNames[%d]", i), name)
	}
	for i, name := range names.Categories {
		isLabel(fmt.Sprintf("crd.Options: Categories[%d]", i), name)
	}
	return errors.Join(errs...)
}

// checkConversion checks how the server reaches a webhook; c may be nil.
func checkConversion(c *WebhookClient) error {
	if c == nil {
		return nil
	}
	if (c.URL == "") == (c.Service == nil) {
		return errors.New("crd.Options: Conversion must have a URL or a Service, and not both")
	}
	if c.Service != nil {
		if c.Service.Name == "" || c.Service.Namespace == "" {
			return errors.New("crd.Options: Conversion.Service must have a Namespace and a Name")
		}
		return nil
	}
	if at, err := url.Parse(c.URL); err != nil || at.Scheme != "https" || at.Host == "" || at.User != nil || at.RawQuery != "" || at.Fragment != "" {
		return fmt.Errorf("crd.Options: Conversion.URL must be an https URL without user, query and fragment, got %q", c.URL)
	}
	return nil
}
