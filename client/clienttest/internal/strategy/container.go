package strategy

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
)

// addContainerDefaults adds the defaults of the types in a container.
func addContainerDefaults(all map[string]func(jsontree.Object)) {
	all["core.v1.Container"] = completeContainer
	all["core.v1.EphemeralContainer"] = completeContainer
	all["core.v1.ContainerPort"] = func(m jsontree.Object) { setText(m, "protocol", "TCP") }
	all["core.v1.ObjectFieldSelector"] = func(m jsontree.Object) { setText(m, "apiVersion", "v1") }
	all["core.v1.FileKeySelector"] = func(m jsontree.Object) { setDefault(m, "optional", false) }
	all["core.v1.HTTPHeader"] = func(m jsontree.Object) { setDefault(m, "value", "") }
	all["core.v1.Sysctl"] = func(m jsontree.Object) { setDefault(m, "value", "") }
	all["core.v1.SleepAction"] = func(m jsontree.Object) { setDefault(m, "seconds", number(0)) }
	all["core.v1.ResourceFieldSelector"] = func(m jsontree.Object) { setDefault(m, "divisor", "0") }
	all["core.v1.GRPCAction"] = func(m jsontree.Object) { setDefault(m, "service", "") }
	all["core.v1.HTTPGetAction"] = func(m jsontree.Object) {
		setText(m, "path", "/")
		setText(m, "scheme", "HTTP")
	}
	all["core.v1.Probe"] = func(m jsontree.Object) {
		setNumber(m, "timeoutSeconds", 1)
		setNumber(m, "periodSeconds", 10)
		setNumber(m, "successThreshold", 1)
		setNumber(m, "failureThreshold", 3)
	}
}

// completeContainer sets the defaults of a container.
func completeContainer(m jsontree.Object) {
	image, _ := m["image"].(string)
	setText(m, "imagePullPolicy", pullPolicy(image))
	setText(m, "terminationMessagePath", "/dev/termination-log")
	setText(m, "terminationMessagePolicy", "File")
}

// imageForm is the form of the name of an image: a path, and perhaps a tag.
var imageForm = sync.OnceValue(func() *regexp.Regexp {
	const (
		host    = `(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?`
		segment = `[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*`
		tag     = `[\w][\w.-]{0,127}`
	)
	return regexp.MustCompile(`^((?:` + host + `/)?` + segment + `(?:/` + segment + `)*)(?::(` + tag + `))?$`)
})

// pullPolicy returns when an image is pulled by default: always if its tag is "latest" or missing.
func pullPolicy(image string) string {
	parts := imageForm().FindStringSubmatch(image)
	if parts == nil || len(parts[1]) > 255-len("library/") || parts[2] != "" && parts[2] != "latest" {
		return "IfNotPresent"
	}
	return "Always"
}

// checkContainers checks the containers that are neither init nor ephemeral containers.
func (p pod) checkContainers() {
	if !p.at("containers").must() {
		return
	}
	seen := names{empty: true}
	for _, c := range p.at("containers").items() {
		p.checkContainer(c)
		seen.add(c.at("name"))
		p.checkLifecycle(c)
		p.checkProbes(c)
		checkRestart(c)
	}
	checkHostPorts(p.at("containers"), p.at("containers").items())
}

// checkInitContainers checks the init containers. One that always restarts may have most of the fields that a container
// may have.
func (p pod) checkInitContainers() {
	seen := namesOf(p.at("containers"))
	list := p.at("initContainers")
	for _, c := range list.items() {
		p.checkContainer(c)
		if c.at("restartPolicy").exists() {
			checkRestart(c)
		} else if c.at("restartPolicyRules").len() > 0 {
			c.at("restartPolicy").required("must specify restartPolicy when restart rules are used")
		}
		seen.add(c.at("name"))
		checkHostPorts(list, []value{c})
		if c.at("restartPolicy").text() == "Always" {
			p.checkLifecycle(c)
			p.checkProbes(c)
			continue
		}
		for _, name := range []string{"lifecycle", "livenessProbe", "readinessProbe", "startupProbe"} {
			if c.at(name).exists() {
				c.at(name).forbidden("may not be set for init containers without restartPolicy=Always")
			}
		}
		for _, policy := range c.at("resizePolicy").items() {
			if restart := policy.at("restartPolicy"); restart.text() == "RestartContainer" {
				restart.invalid("must not be set to 'RestartContainer' for non-sidecar initContainers")
			}
		}
	}
}

// checkEphemeralContainers checks the ephemeral containers, which may have few fields.
func (p pod) checkEphemeralContainers() {
	other := namesOf(p.at("containers"))
	other.all = append(other.all, namesOf(p.at("initContainers")).all...)
	seen := names{all: slices.Clone(other.all), empty: true}
	for _, c := range p.at("ephemeralContainers").items() {
		p.checkContainer(c)
		checkImageSpace(c)
		seen.add(c.at("name"))
		if target := c.at("targetContainerName"); target.text() != "" && !slices.Contains(other.all, target.text()) {
			target.notFound()
		}
		for _, name := range []string{
			"ports", "resources", "lifecycle", "livenessProbe", "readinessProbe", "startupProbe", "restartPolicyRules", "resizePolicy",
			"restartPolicy",
		} {
			if field := c.at(name); field.len() > 0 || field.exists() && (strings.HasSuffix(name, "Probe") || name == "lifecycle") {
				field.forbidden("cannot be set for an Ephemeral Container")
			}
		}
		for _, mount := range c.at("volumeMounts").items() {
			for _, name := range []string{"subPath", "subPathExpr"} {
				if mount.at(name).text() != "" {
					mount.at(name).forbidden("cannot be set for an Ephemeral Container")
				}
			}
		}
	}
}

// checkContainer checks the fields that containers of all lists have.
func (p pod) checkContainer(c value) {
	if c.at("name").must() {
		c.at("name").fits(label(c.at("name").text()))
	}
	c.at("image").must()
	c.at("terminationMessagePolicy").oneOf("File", "FallbackToLogsOnError")
	c.at("imagePullPolicy").oneOf("Always", "IfNotPresent", "Never")
	checkPorts(c.at("ports"))
	checkEnv(c)
	p.checkMounts(c)
	p.checkDevices(c)
	p.checkResources(c)
	p.checkResizePolicy(c.at("resizePolicy"))
	p.checkSecurity(c.at("securityContext"))
}

// checkImageSpace refuses an image with space around it, which a template may have.
func checkImageSpace(c value) {
	if image := c.at("image"); image.text() != strings.TrimSpace(image.text()) {
		image.invalid("must not have leading or trailing whitespace")
	}
}

// checkPorts checks the ports of a container.
func checkPorts(v value) {
	var seen names
	for _, p := range v.items() {
		if name := p.at("name"); name.text() != "" && name.fits(portName(name.text())) {
			seen.add(name)
		}
		if port := p.at("containerPort"); port.number() == 0 {
			port.required("")
		} else {
			port.between(1, 65535)
		}
		if port := p.at("hostPort"); port.number() != 0 {
			port.between(1, 65535)
		}
		p.at("protocol").oneOf("SCTP", "TCP", "UDP")
	}
}

// checkHostPorts refuses two uses of a port of the node. As in a real server, the index of an init container is 0.
func checkHostPorts(list value, containers []value) {
	seen := map[[3]string]bool{}
	for i, c := range containers {
		for j, port := range c.at("ports").items() {
			host := port.at("hostPort")
			if host.number() == 0 {
				continue
			}
			key := [3]string{port.at("protocol").text(), port.at("hostIP").text(), string(number(int(host.number())))}
			if seen[key] {
				list.item(i).at("ports").item(j).at("hostPort").duplicate()
			}
			seen[key] = true
		}
	}
}

// checkRestart checks when a container restarts.
func checkRestart(c value) {
	policy, rules := c.at("restartPolicy"), c.at("restartPolicyRules")
	switch {
	case policy.exists():
		policy.among("Always", "Never", "OnFailure")
	case rules.len() > 0:
		policy.required("must specify restartPolicy when restart rules are used")
	}
	if rules.len() > 20 {
		rules.tooMany(20)
	}
	if !policy.exists() && rules.len() == 0 {
		return
	}
	for _, rule := range rules.items() {
		rule.at("action").among("Restart", "RestartAllContainers")
		codes := rule.at("exitCodes")
		if !codes.exists() {
			codes.required("must be specified")
			continue
		}
		codes.at("operator").among("In", "NotIn")
		if codes.at("values").len() > 255 {
			codes.at("values").tooMany(255)
		}
	}
}

// checkResizePolicy checks what happens to a container whose resources change.
func (p pod) checkResizePolicy(v value) {
	seen := map[string]bool{}
	for i, e := range v.items() {
		name, policy := e.at("resourceName").text(), e.at("restartPolicy").text()
		if seen[name] {
			v.item(i).duplicate()
		}
		seen[name] = true
		e.at("resourceName").as(v).oneOf("cpu", "memory")
		e.at("restartPolicy").as(v).oneOf("NotRequired", "RestartContainer")
		if p.at("restartPolicy").text() == "Never" && policy != "NotRequired" {
			v.invalid("must be 'NotRequired' when pod `restartPolicy` is 'Never'")
		}
	}
}
