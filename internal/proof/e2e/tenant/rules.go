package tenant

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/webhook"
)

// tenantLabel is on each namespace of a tenant and on what the controller makes there; it names the tenant.
const tenantLabel = Group + "/tenant"

// ownedBy reports whether a user is an owner, or in a group that is.
func (t *Tenant) ownedBy(u webhook.User) bool {
	return slices.ContainsFunc(t.Spec.Owners, func(o Owner) bool {
		if o.Kind == UserGroup {
			return slices.Contains(u.Groups, o.Name)
		}
		return o.Name == u.Name // a service account is the user of that name
	})
}

// has reports whether a text is allowed. A regular expression matches the whole text; a wrong one matches nothing.
func (a *Allowed) has(text string) bool {
	return slices.Contains(a.Allowed, text) || matches(a.AllowedRegex, text)
}

func (a *Allowed) String() string { return list(a.Allowed, a.AllowedRegex) }

// has reports whether a key is forbidden.
func (f *Forbidden) has(key string) bool {
	return slices.Contains(f.Denied, key) || matches(f.DeniedRegex, key)
}

// newIn returns errors about the forbidden keys of a map that another one does not have with the same value.
func (f *Forbidden) newIn(field string, now, before map[string]string) error {
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(now)) {
		if value, had := before[key]; f.has(key) && (!had || value != now[key]) {
			errs = append(errs, webhook.Invalid(field, "must not have %q, which the tenant forbids: %s", key, list(f.Denied, f.DeniedRegex)))
		}
	}
	return errors.Join(errs...)
}

// list says in an error what is allowed or forbidden.
func list(names []string, regex string) string {
	var all []string
	if len(names) > 0 {
		all = append(all, strings.Join(names, ", "))
	}
	if regex != "" {
		all = append(all, "what matches "+regex)
	}
	return cmp.Or(strings.Join(all, ", and "), "nothing")
}

func matches(regex, text string) bool {
	if regex == "" {
		return false
	}
	re, err := compile(regex)
	return err == nil && re.MatchString(text)
}

func compile(regex string) (*regexp.Regexp, error) { return regexp.Compile("^(?:" + regex + ")$") }

// prefixOfAccounts is the beginning of the user name of a service account.
const prefixOfAccounts = "system:serviceaccount:"

// check returns the mistakes of a tenant that its definition cannot find.
func (t *Tenant) check() error {
	s, errs := &t.Spec, []error(nil)
	wrong := func(field, format string, args ...any) { errs = append(errs, webhook.Invalid(field, format, args...)) }
	if err := labelOfDNS(t.Name); err != nil {
		wrong("metadata.name", "%v, because names of objects in its namespaces begin with it", err)
	}
	for field, regex := range s.regexes() {
		if _, err := compile(regex); err != nil {
			wrong(field, "must be a regular expression: %v", err)
		}
	}
	for i, o := range s.Owners {
		if account, found := strings.CutPrefix(o.Name, prefixOfAccounts); o.Kind == ServiceAccount && (!found || strings.Count(account, ":") != 1) {
			wrong(fmt.Sprintf("spec.owners[%d].name", i), "must be %sNAMESPACE:NAME for a service account, got %q", prefixOfAccounts, o.Name)
		}
	}
	for i, b := range s.AdditionalRoleBindings {
		for j, subject := range b.Subjects {
			if (subject.Kind == string(ServiceAccount)) != (subject.Namespace != "") {
				wrong(fmt.Sprintf("spec.additionalRoleBindings[%d].subjects[%d].namespace", i, j), "must be set for a ServiceAccount, and for no other kind")
			}
		}
	}
	if ips := s.ServiceOptions.ExternalIPs; ips != nil {
		for i, text := range ips.Allowed {
			if _, err := network(text); err != nil {
				wrong(fmt.Sprintf("spec.serviceOptions.externalIPs.allowed[%d]", i), "must be an address or a network: %v", err)
			}
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

// regexes returns the regular expressions by their fields.
func (s *Spec) regexes() map[string]string {
	all := map[string]string{
		"spec.namespaceOptions.forbiddenLabels.deniedRegex":      s.NamespaceOptions.ForbiddenLabels.DeniedRegex,
		"spec.namespaceOptions.forbiddenAnnotations.deniedRegex": s.NamespaceOptions.ForbiddenAnnotations.DeniedRegex,
		"spec.serviceOptions.forbiddenLabels.deniedRegex":        s.ServiceOptions.ForbiddenLabels.DeniedRegex,
		"spec.serviceOptions.forbiddenAnnotations.deniedRegex":   s.ServiceOptions.ForbiddenAnnotations.DeniedRegex,
	}
	for field, a := range map[string]*Allowed{"containerRegistries": s.ContainerRegistries, "ingressOptions.allowedHostnames": s.IngressOptions.AllowedHostnames} {
		all["spec."+field+".allowedRegex"] = value(a).AllowedRegex
	}
	for field, c := range map[string]*Classes{
		"storageClasses": s.StorageClasses, "priorityClasses": s.PriorityClasses, "runtimeClasses": s.RuntimeClasses, "ingressOptions.allowedClasses": s.IngressOptions.AllowedClasses,
	} {
		all["spec."+field+".allowedRegex"] = value(c).AllowedRegex
	}
	return all
}

// labelOfDNS returns an error unless a name is a DNS label.
func labelOfDNS(name string) error {
	if len(name) > 63 || strings.Contains(name, ".") || meta.ValidLabelValue(name) != nil {
		return errors.New("must have at most 63 lower-case letters, digits and -")
	}
	return nil
}

// network parses an address or a network.
func network(text string) (netip.Prefix, error) {
	if !strings.Contains(text, "/") {
		address, err := netip.ParseAddr(text)
		if err != nil {
			return netip.Prefix{}, err
		}
		return address.Prefix(address.BitLen())
	}
	return netip.ParsePrefix(text)
}
