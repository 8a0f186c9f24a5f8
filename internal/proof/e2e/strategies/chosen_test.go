package strategies

import (
	"regexp"
	"strings"
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
