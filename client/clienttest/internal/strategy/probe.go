package strategy

// checkProbes checks the probes of a container.
func (p pod) checkProbes(c value) {
	for _, name := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
		v := c.at(name)
		if !v.exists() {
			continue
		}
		p.checkHandler(v, "exec", "httpGet", "tcpSocket", "grpc")
		for _, field := range []string{"initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"} {
			v.at(field).natural()
		}
		grace := v.at("terminationGracePeriodSeconds")
		if grace.exists() && grace.number() <= 0 {
			grace.invalid("must be greater than 0")
		}
		switch {
		case name != "readinessProbe" && v.at("successThreshold").number() != 1:
			v.at("successThreshold").invalid("must be 1")
		case name == "readinessProbe" && grace.exists():
			grace.invalid("must not be set for readinessProbes")
		}
	}
}

// checkLifecycle checks the hooks of a container, and the signal that stops it.
func (p pod) checkLifecycle(c value) {
	for _, name := range []string{"postStart", "preStop"} {
		if hook := c.at("lifecycle", name); hook.exists() {
			p.checkHandler(hook, "exec", "httpGet", "tcpSocket", "sleep")
		}
	}
}

// checkHandler checks the one action of a probe or of a hook.
func (p pod) checkHandler(v value, kinds ...string) {
	found := false
	for _, name := range kinds {
		action := v.at(name)
		switch {
		case !action.exists():
		case found:
			action.forbidden("may not specify more than 1 handler type")
		default:
			found = true
			p.checkAction(name, action)
		}
	}
	if !found {
		v.required("must specify a handler type")
	}
}

// checkAction checks an action of a kind.
func (p pod) checkAction(kind string, v value) {
	switch kind {
	case "exec":
		v.at("command").must()
	case "httpGet":
		v.at("path").must()
		checkPort(v.at("port"))
		v.at("scheme").among("HTTP", "HTTPS")
		for _, header := range v.at("httpHeaders").items() {
			header.at("name").as(v.at("httpHeaders")).fits(headerName(header.at("name").text()))
		}
	case "tcpSocket":
		checkPort(v.at("port"))
	case "grpc":
		v.at("port").between(1, 65535)
	case "sleep":
		if grace := p.at("terminationGracePeriodSeconds"); grace.exists() {
			if n := v.at("seconds").number(); n < 0 || n > grace.number() {
				v.invalid("must be non-negative and less than terminationGracePeriodSeconds (%d)", grace.number())
			}
		}
	}
}

// checkPort checks the number or the name of a port.
func checkPort(v value) {
	if v.isText() {
		v.fits(portName(v.text()))
	} else {
		v.between(1, 65535)
	}
}
