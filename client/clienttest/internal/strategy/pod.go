package strategy

import (
	"math"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/meta"
)

// addPods adds the rules of pods and of their templates.
func addPods(all map[meta.GVK]kind) {
	all[meta.GVK{Version: "v1", Kind: "Pod"}] = kind{check: checkPod, status: checkPodStatus}
	all[meta.GVK{Version: "v1", Kind: "PodTemplate"}] = kind{check: func(v value) { checkPodTemplate(v.at("template")) }}
}

// pod is the spec of a pod or of a template, with the facts that the rules of one part need about another.
type pod struct {
	value
	metadata value // of a pod; absent in a template
	isPod    bool
	volumes  map[string]value // the valid ones, by name
}

// checkPod checks a pod.
func checkPod(v value) {
	p := pod{value: v.at("spec"), metadata: v.at("metadata"), isPod: true}
	p.check()
	p.checkOnlyPod()
	switch {
	case v.creates():
		p.checkNew()
	case v.to.subresource == "ephemeralcontainers":
		p.checkEphemeralChange()
	case v.to.subresource == "resize":
		p.checkResize()
	default:
		p.checkChange()
	}
}

// checkNew checks what a new pod must not have.
func (p pod) checkNew() {
	if v := p.at("ephemeralContainers"); v.len() > 0 {
		v.forbidden("cannot be set on create")
	}
	if v := p.at("nodeName"); v.text() != "" && p.at("schedulingGates").len() > 0 {
		v.forbidden("cannot be set until all schedulingGates have been cleared")
	}
}

// checkPodTemplate checks the template of a workload. As on a real server, the field paths of its labels and
// annotations lack "metadata". The caller checks the restartPolicy that its kind allows.
func checkPodTemplate(v value) {
	checkLabels(v.at("metadata", "labels").as(v.at("labels")))
	checkAnnotations(v.at("metadata", "annotations").as(v.at("annotations")))
	p := pod{value: v.at("spec")}
	p.check()
	if ephemeral := p.at("ephemeralContainers"); ephemeral.len() > 0 {
		ephemeral.forbidden("ephemeral containers not allowed in pod template")
	}
}

// checkAnnotations checks the names of annotations. Those of an object itself are checked elsewhere.
func checkAnnotations(v value) {
	for _, name := range v.keys() {
		v.fits(qualified(lowered(name)))
	}
}

// checkOnlyPod checks the rules of a pod that a template need not keep.
func (p pod) checkOnlyPod() {
	if p.at("serviceAccountName").text() == "" {
		for _, volume := range p.at("volumes").items() {
			for _, source := range volume.at("projected", "sources").items() {
				if token := source.at("serviceAccountToken"); token.exists() {
					token.forbidden("must not be specified when serviceAccountName is not set")
				}
			}
		}
	}
	p.at("terminationGracePeriodSeconds").natural()
	for _, list := range []string{"containers", "initContainers"} {
		for _, c := range p.at(list).items() {
			checkImageSpace(c)
		}
	}
}

// check checks all of a spec.
func (p pod) check() {
	p.volumes = checkVolumes(p)
	p.checkContainers()
	p.checkInitContainers()
	p.checkEphemeralContainers()
	p.checkFileKeys()
	p.checkPodResources()
	p.checkFields()
	p.checkNetwork()
	p.checkPodSecurity()
	p.checkOS()
	p.checkAffinity()
	p.checkSpread()
	p.checkGates()
	checkTolerations(p.at("tolerations"))
	checkLabels(p.at("nodeSelector"))
	checkAmounts(p.at("overhead").as(p.at("overhead", "limits")), containerResource)
}

// checkFields checks the fields whose rules are about one field alone.
func (p pod) checkFields() {
	p.at("restartPolicy").oneOf("Always", "OnFailure", "Never")
	p.at("dnsPolicy").oneOf("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
	for _, name := range []string{"serviceAccountName", "nodeName", "priorityClassName"} {
		if v := p.at(name); v.text() != "" {
			v.fits(subdomain(v.text()))
		}
	}
	if v := p.at("runtimeClassName"); v.exists() {
		v.fits(subdomain(v.text()))
	}
	if v := p.at("activeDeadlineSeconds"); v.exists() {
		v.between(1, math.MaxInt32)
	}
	if v := p.at("preemptionPolicy"); v.exists() {
		v.oneOf("PreemptLowerPriority", "Never")
	}
}

// containers returns the containers of all lists.
func (p pod) containers() (all []value) {
	for _, list := range []string{"initContainers", "containers", "ephemeralContainers"} {
		all = append(all, p.at(list).items()...)
	}
	return all
}

// hostUsers reports whether the pod runs in the user namespace of its node.
func (p pod) hostUsers() bool { return !p.at("hostUsers").exists() || p.at("hostUsers").flag() }

// addPodDefaults adds the defaults of the types in a pod.
func addPodDefaults(all map[string]func(jsontree.Object)) {
	all["core.v1.Pod"] = completePod
	all["core.v1.PodSpec"] = completePodSpec
	all["core.v1.PodStatus"] = completePodStatus
	all["core.v1.PodTemplate"] = func(m jsontree.Object) { setDefault(m, "template", jsontree.Object{}) }
	all["core.v1.PodTemplateSpec"] = func(m jsontree.Object) { setDefault(m, "spec", jsontree.Object{}) }
	all["io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference"] = func(m jsontree.Object) { // in the metadata of a template
		for _, name := range []string{"apiVersion", "kind", "name", "uid"} {
			setDefault(m, name, "")
		}
	}
	addContainerDefaults(all)
	addVolumeDefaults(all)
}

// completePod sets the defaults of a pod that a template does not get.
func completePod(m jsontree.Object) {
	spec := inner(m, "spec")
	if spec == nil {
		spec = jsontree.Object{}
		m["spec"] = spec
	}
	if grace := (value{is: spec["terminationGracePeriodSeconds"]}); grace.number() < 0 {
		spec["terminationGracePeriodSeconds"] = number(1)
	}
	setDefault(spec, "enableServiceLinks", true)
	for _, list := range []string{"containers", "initContainers"} {
		containers, _ := spec[list].([]any)
		for _, c := range containers {
			if c, ok := c.(jsontree.Object); ok {
				requestLimits(c)
				if spec["hostNetwork"] == true {
					useHostPorts(c)
				}
			}
		}
	}
}

// completePodStatus makes the address of a pod the first of its addresses.
func completePodStatus(m jsontree.Object) {
	list, _ := m["podIPs"].([]any)
	switch one, _ := m["podIP"].(string); {
	case one != "" && (value{is: list}).item(0).at("ip").text() != one:
		m["podIPs"] = []any{jsontree.Object{"ip": one}}
	case one == "" && len(list) > 0:
		m["podIP"] = (value{is: list}).item(0).at("ip").is
	}
}

// useHostPorts sets the host ports of a container in the network of its node.
func useHostPorts(c jsontree.Object) {
	ports, _ := c["ports"].([]any)
	for _, p := range ports {
		if p, ok := p.(jsontree.Object); ok && (value{is: p["hostPort"]}).number() == 0 {
			p["hostPort"] = p["containerPort"]
		}
	}
}

// completePodSpec sets the defaults of the spec of a pod or of a template.
func completePodSpec(m jsontree.Object) {
	if account, _ := m["serviceAccount"].(string); account != "" {
		setText(m, "serviceAccountName", account)
	}
	if name, _ := m["serviceAccountName"].(string); name != "" {
		m["serviceAccount"] = name
	}
	setText(m, "dnsPolicy", "ClusterFirst")
	setText(m, "restartPolicy", "Always")
	setText(m, "schedulerName", "default-scheduler")
	setDefault(m, "securityContext", jsontree.Object{})
	setDefault(m, "terminationGracePeriodSeconds", number(30))
}
