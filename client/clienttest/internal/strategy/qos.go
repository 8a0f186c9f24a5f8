package strategy

import "github.com/bowline-go/bowline/client/clienttest/internal/jsontree"

// qosClass returns the quality of service of the spec of a pod.
func qosClass(spec any) string {
	p := pod{value: value{to: &report{}, is: spec}}
	if own := p.at("resources"); own.exists() && podLevel(own) {
		return qosOf(own)
	}
	class := ""
	for _, list := range []string{"initContainers", "containers"} {
		for _, c := range p.at(list).items() {
			switch of := qosOf(c.at("resources")); {
			case class == "":
				class = of
			case class != of:
				return "Burstable"
			}
		}
	}
	if class == "" {
		return "BestEffort"
	}
	return class
}

// podLevel reports whether a pod has resources for the pod as a whole.
func podLevel(v value) bool {
	for _, list := range []value{v.at("requests"), v.at("limits")} {
		for _, name := range list.keys() {
			if forPods(name) {
				return true
			}
		}
	}
	return false
}

// qosOf returns the quality of service of requests and limits.
func qosOf(v value) string {
	class := ""
	for _, name := range []string{"cpu", "memory"} {
		request, limit := v.at("requests").key(name).amount(), v.at("limits").key(name).amount()
		of := "Guaranteed"
		switch {
		case request.Cmp(limit) != 0:
			return "Burstable"
		case request.Sign() == 0:
			of = "BestEffort"
		}
		if class != "" && class != of {
			return "Burstable"
		}
		class = of
	}
	return class
}

// QOSClass returns the quality of service of a pod.
func QOSClass(content jsontree.Object) string { return qosClass(content["spec"]) }
