package strategies

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

// hideChosen replaces what a server chose for a service, and the request does not have. Servers choose at random.
func hideChosen(service object, request string) {
	spec, _ := service["spec"].(object)
	if service["kind"] != "Service" {
		return
	}
	chosen := regexp.MustCompile(`^10\.0\.0\.\d+$|^3[0-2]\d\d\d$`) // the addresses and ports that a server may choose
	hide := func(m object, name string) {
		if v := strings.Trim(text(m[name]), `"`); chosen.MatchString(v) && !strings.Contains(request, v) {
			m[name] = "chosen"
		}
	}
	hide(spec, "clusterIP")
	hide(spec, "healthCheckNodePort")
	if ips, _ := spec["clusterIPs"].([]any); len(ips) > 0 {
		first := object{"ip": ips[0]}
		hide(first, "ip")
		ips[0] = first["ip"]
	}
	ports, _ := spec["ports"].([]any)
	for _, p := range ports {
		hide(p.(object), "nodePort")
	}
}

// hideOrder removes the index of a volume of a stateful set from a field: a server adds the volumes of its claims in any
// order.
func hideOrder(kind, field string) string {
	if kind != "StatefulSet" {
		return field
	}
	return regexp.MustCompile(`^spec\.template\.spec\.volumes\[\d+\]`).ReplaceAllString(field, "spec.template.spec.volumes")
}

// hideControlled removes what a controller of the server writes into an object, at any time: whether the priority level of
// a flow schema exists, and whether a service answers for an API service. Its owners go too.
func hideControlled(obj object) {
	written := map[any]string{"FlowSchema": "Dangling", "APIService": "Available"}[obj["kind"]]
	status, _ := obj["status"].(object)
	metadata, _ := obj["metadata"].(object)
	if spec, _ := obj["spec"].(object); obj["kind"] == "CertificateSigningRequest" {
		delete(spec, "uid") // of the user who made the request
	}
	if written == "" || status == nil {
		return
	}
	conditions, _ := status["conditions"].([]any)
	conditions = slices.DeleteFunc(conditions, func(c any) bool { return c.(object)["type"] == written })
	if status["conditions"] = conditions; len(conditions) == 0 {
		delete(status, "conditions")
	}
	delete(metadata, "managedFields")
}

// hideQuotaStatus removes the status of a quota and its owners: clienttest fills it in, and a kube-apiserver leaves that
// to a controller. Refusals of a status are compared nevertheless.
func hideQuotaStatus(quota object) {
	if quota["kind"] != "ResourceQuota" {
		return
	}
	delete(quota, "status")
	metadata, _ := quota["metadata"].(object)
	owners, _ := metadata["managedFields"].([]any)
	owners = slices.DeleteFunc(owners, func(v any) bool { return v.(object)["subresource"] == "status" })
	if metadata["managedFields"] = owners; len(owners) == 0 {
		delete(metadata, "managedFields")
	}
}

// hideNow returns a value in which "now" is the time of the last minutes: the two servers answer in different seconds.
func hideNow(v any) any {
	switch v := v.(type) {
	case object:
		for name, e := range v {
			v[name] = hideNow(e)
		}
	case []any:
		for i, e := range v {
			v[i] = hideNow(e)
		}
	case string:
		if at, err := time.Parse(time.RFC3339, v); err == nil && time.Since(at).Abs() < 10*time.Minute {
			return "now"
		}
	}
	return v
}
