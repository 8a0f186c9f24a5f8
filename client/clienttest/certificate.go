package clienttest

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/rbac"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/clienttest/internal/store"
	"github.com/bowline-go/bowline/client/meta"
)

// A certificate signing request is approved or denied by a condition, which only the approval subresource sets. The
// signer writes the certificate into its status. Neither the conditions nor the certificate can be removed.

const (
	approved = "Approved"
	denied   = "Denied"
	failed   = "Failed"
)

// completeRequest records the creator of a request.
func completeRequest(d *object.Draft, by User) {
	spec := d.Member("spec")
	for _, name := range []string{"username", "uid", "groups", "extra"} {
		delete(spec, name)
	}
	maps.Copy(spec, jsontree.Of(by).(jsontree.Object))
	d.Content["spec"], d.Content["status"] = spec, jsontree.Object{}
}

// refuseRequest refuses a request for a certificate whose user may do everything.
func refuseRequest(c *call, _ store.Tx, d *object.Draft) error {
	spec := d.Member("spec")
	if spec["signerName"] != "kubernetes.io/kube-apiserver-client" {
		return nil
	}
	text, _ := spec["request"].(string)
	raw, _ := base64.StdEncoding.DecodeString(text) // it was checked
	block, _ := pem.Decode(raw)
	if block == nil {
		return nil // the server is lenient
	}
	request, err := x509.ParseCertificateRequest(block.Bytes)
	if err == nil && slices.Contains(request.Subject.Organization, rbac.Masters) {
		err = status.Forbidden(c.res, d.Meta.Name, "use of %s signer with %s group is not allowed", spec["signerName"], rbac.Masters)
	}
	return err
}

// approvalPart returns the part of a request that the approval subresource writes.
func approvalPart(old, d *object.Draft) *object.Draft {
	d = memberPart("status", "conditions")(old, d)
	setConditions(d, old, conditionsOf(d))
	return d
}

// certificatePart returns the part of a request that the status subresource writes. It keeps the conditions that
// decide about the request, unless their number changes, which checkRequest then refuses.
func certificatePart(old, d *object.Draft) *object.Draft {
	d = statusPart(old, d)
	conditions := conditionsOf(d)
	for _, name := range []string{approved, denied} {
		was := ofType(conditionsOf(old), name)
		if len(was) != len(ofType(conditions, name)) {
			continue
		}
		for i, c := range conditions {
			if c["type"] == name {
				conditions[i], was = was[0], was[1:]
			}
		}
	}
	setConditions(d, old, conditions)
	return d
}

// conditionsOf returns the conditions of an object.
func conditionsOf(d *object.Draft) (conditions []jsontree.Object) {
	status, _ := d.Content["status"].(jsontree.Object)
	list, _ := status["conditions"].([]any)
	for _, v := range list {
		m, _ := v.(jsontree.Object)
		conditions = append(conditions, m)
	}
	return conditions
}

func ofType(conditions []jsontree.Object, name string) []jsontree.Object {
	return slices.DeleteFunc(slices.Clone(conditions), func(c jsontree.Object) bool { return c["type"] != name })
}

// setConditions sets the conditions of an object, with the times of their last changes.
func setConditions(d, old *object.Draft, conditions []jsontree.Object) {
	present := timeText(timestamp())
	var list []any
	for _, c := range conditions {
		if c = maps.Clone(c); c == nil {
			c = jsontree.Object{}
		}
		if c["lastUpdateTime"] == nil {
			c["lastUpdateTime"] = present
		}
		if c["lastTransitionTime"] == nil {
			c["lastTransitionTime"] = present
			for _, was := range conditionsOf(old) {
				if was["type"] == c["type"] && was["status"] == c["status"] {
					c["lastTransitionTime"] = was["lastTransitionTime"]
					break
				}
			}
		}
		list = append(list, c)
	}
	status := d.Member("status")
	delete(status, "conditions")
	if len(list) > 0 {
		status["conditions"] = list
	}
	d.Content["status"] = status
}

// checkRequest returns the causes for which a change of a request is refused.
func checkRequest(old, d *object.Draft, subresource string) []meta.StatusCause {
	const field = "status.conditions"
	conditions := conditionsOf(d)
	causes := status.Causes(checkConditions(field, conditions))
	certificate, before := certificateOf(d), certificateOf(old)
	if err := checkCertificate(certificate); err != nil {
		causes = append(causes, status.InvalidValue("status.certificate", "<certificate data>", err.Error()))
	}
	for _, name := range []string{approved, denied, failed} {
		causes.If(len(ofType(conditions, name)) < len(ofType(conditionsOf(old), name)), status.ForbiddenValue(field, fmt.Sprintf("updates may not remove a condition of type %q", name)))
	}
	if subresource != "approval" {
		for _, name := range []string{approved, denied} {
			causes.If(len(ofType(conditions, name)) > len(ofType(conditionsOf(old), name)), status.ForbiddenValue(field, fmt.Sprintf("updates may not add a condition of type %q", name)))
		}
	}
	causes.If(certificate != before && before != "", status.ForbiddenValue("status.certificate", "updates may not modify existing certificate content"))
	return causes
}

func checkConditions(field string, conditions []jsontree.Object) (causes status.Causes) {
	const yes, no = `conditions[{"type": "Approved"}]`, `conditions[{"type": "Denied"}]`
	seen := map[any]bool{}
	for i, c := range conditions {
		at := fmt.Sprintf("%s[%d]", field, i)
		name, _ := c["type"].(string)
		is, _ := c["status"].(string)
		causes.If(name == "", missingValue(at+".type"))
		allowed := []string{"True"}
		if name != approved && name != denied && name != failed {
			allowed = []string{"False", "True", "Unknown"}
		}
		switch {
		case is == "":
			causes = append(causes, missingValue(at+".status"))
		case !slices.Contains(allowed, is):
			causes = append(causes, status.UnsupportedValue(at+".status", is, allowed...))
		}
		causes.If(name == approved && seen[denied] || name == denied && seen[approved], status.InvalidValue(field, "{"+yes+", "+no+"}", "must specify at most one of: `"+yes+"`, `"+no+"`"))
		if seen[name] {
			causes = append(causes, meta.StatusCause{
				Reason: "FieldValueDuplicate", Field: at + ".type", Message: "Duplicate value: " + status.Shown(name),
			})
		}
		seen[name] = true
	}
	return causes
}

func missingValue(field string) meta.StatusCause {
	return meta.StatusCause{Reason: "FieldValueRequired", Field: field, Message: "Required value"}
}

// certificateOf returns the certificate of a request in base64, as in its JSON.
func certificateOf(d *object.Draft) string {
	status, _ := d.Content["status"].(jsontree.Object)
	text, _ := status["certificate"].(string)
	return text
}

// checkCertificate returns an error unless text is empty, or base64 of PEM with certificates.
func checkCertificate(text string) error {
	rest, err := base64.StdEncoding.DecodeString(text)
	if err != nil || text == "" {
		return err
	}
	blocks := 0
	for block, rest := pem.Decode(rest); block != nil; block, rest = pem.Decode(rest) {
		switch certificates, err := x509.ParseCertificates(block.Bytes); {
		case block.Type != "CERTIFICATE":
			return fmt.Errorf("only CERTIFICATE PEM blocks are allowed, found %q", block.Type)
		case len(block.Headers) > 0:
			return errors.New("no PEM block headers are permitted")
		case err != nil:
			return err
		case len(certificates) == 0:
			return errors.New("found CERTIFICATE PEM block containing 0 certificates")
		}
		blocks++
	}
	if blocks == 0 {
		return errors.New("must contain at least one CERTIFICATE PEM block")
	}
	return nil
}
