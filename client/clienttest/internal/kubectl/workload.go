package kubectl

import (
	"fmt"
	"strings"
	"time"
)

// workloadPrinters are the printers of pods and of the kinds that make pods.
func workloadPrinters() map[string]Printer {
	return map[string]Printer{
		"pods": printPod,
		"podtemplates": func(o *Object) []any {
			names, images := o.at("template.spec").containers()
			return []any{o.name(), names, images, o.at("template.metadata.labels").labels()}
		},
		"replicationcontrollers": func(o *Object) []any {
			return o.withContainers("spec.template.spec", o.at("spec.selector").labels(),
				o.at("spec.replicas").number(), o.at("status.replicas").number(), o.at("status.readyReplicas").number())
		},
		"replicasets.apps": func(o *Object) []any {
			return o.withContainers("spec.template.spec", o.at("spec.selector").selector(),
				o.at("spec.replicas").number(), o.at("status.replicas").number(), o.at("status.readyReplicas").number())
		},
		"deployments.apps": func(o *Object) []any {
			selector := o.at("spec.selector").selector()
			if selector == none {
				selector = ""
			}
			return o.withContainers("spec.template.spec", selector, o.ready(),
				o.at("status.updatedReplicas").number(), o.at("status.availableReplicas").number())
		},
		"statefulsets.apps": func(o *Object) []any {
			cells := o.withContainers("spec.template.spec", nil, o.ready())
			return cells[:len(cells)-1]
		},
		"daemonsets.apps": func(o *Object) []any {
			return o.withContainers("spec.template.spec", o.at("spec.selector").selector(),
				o.at("status.desiredNumberScheduled").number(), o.at("status.currentNumberScheduled").number(),
				o.at("status.numberReady").number(), o.at("status.updatedNumberScheduled").number(),
				o.at("status.numberAvailable").number(), o.at("spec.template.spec.nodeSelector").labels())
		},
		"jobs.batch": func(o *Object) []any {
			return o.withContainers("spec.template.spec", o.at("spec.selector").selector(), o.jobState(), o.completions(), o.duration())
		},
		"cronjobs.batch": func(o *Object) []any {
			last := none
			if o.has("status.lastScheduleTime") {
				last = o.since(o.at("status.lastScheduleTime"))
			}
			suspend := unset
			if o.has("spec.suspend") {
				suspend = map[bool]string{true: "True", false: "False"}[o.at("spec.suspend").isTrue()]
			}
			return o.withContainers("spec.jobTemplate.spec.template.spec", o.at("spec.jobTemplate.spec.selector").selector(),
				o.at("spec.schedule").text(), o.at("spec.timeZone").or(none), suspend, o.at("status.active").size(), last)
		},
		"poddisruptionbudgets.policy": func(o *Object) []any {
			return []any{
				o.name(), o.at("spec.minAvailable").or("N/A"), o.at("spec.maxUnavailable").or("N/A"),
				o.at("status.disruptionsAllowed").number(), o.age(),
			}
		},
		"horizontalpodautoscalers.autoscaling": printAutoscaler,
	}
}

// withContainers returns a row: the name, the cells, the age, the names and images of the containers, and the
// selector.
func (o *Object) withContainers(spec string, selector any, cells ...any) []any {
	names, images := o.at(spec).containers()
	return append(append([]any{o.name()}, cells...), o.age(), names, images, selector)
}

// ready prints how many of the wanted replicas are ready.
func (o *Object) ready() any {
	return fmt.Sprintf("%d/%d", o.at("status.readyReplicas").number(), o.at("spec.replicas").number())
}

func (o *Object) jobState() any {
	is := func(typ string) bool { return o.condition(typ) == "True" }
	switch {
	case is("Complete"):
		return "Complete"
	case is("Failed"):
		return "Failed"
	case o.meta.DeletionTimestamp != nil:
		return "Terminating"
	case is("Suspended"):
		return "Suspended"
	case is("FailureTarget"):
		return "FailureTarget"
	case is("SuccessCriteriaMet"):
		return "SuccessCriteriaMet"
	}
	return "Running"
}

func (o *Object) completions() any {
	succeeded, parallelism := o.at("status.succeeded").number(), o.at("spec.parallelism").number()
	switch {
	case o.has("spec.completions"):
		return fmt.Sprintf("%d/%d", succeeded, o.at("spec.completions").number())
	case parallelism > 1:
		return fmt.Sprintf("%d/1 of %d", succeeded, parallelism)
	}
	return fmt.Sprintf("%d/1", succeeded)
}

func (o *Object) duration() any {
	switch {
	case !o.has("status.startTime"):
		return ""
	case !o.has("status.completionTime"):
		return o.since(o.at("status.startTime"))
	}
	return Age(o.at("status.startTime").time(), o.at("status.completionTime").time())
}

// podRow is the content of a pod's row, read from its containers.
type podRow struct {
	reason          string
	total, ready    int
	restarts        int64
	last            time.Time // when a container last ended
	initializing    bool
	sidecarRestarts int64
	sidecarLast     time.Time
}

func printPod(o *Object) []any {
	status := o.at("status")
	r := &podRow{reason: status.at("reason").or(status.at("phase").text()), total: o.at("spec.containers").size()}
	for _, c := range status.at("conditions").list() {
		if c.at("type").text() == "PodScheduled" && c.at("reason").text() == "SchedulingGated" {
			r.reason = "SchedulingGated"
		}
	}
	r.initContainers(o)
	if !r.initializing || o.condition("Initialized") == "True" {
		r.containers(o)
	}
	phase := status.at("phase").text()
	switch {
	case o.meta.DeletionTimestamp == nil:
	case status.at("reason").text() == "NodeLost":
		r.reason = "Unknown"
	case phase != "Failed" && phase != "Succeeded":
		r.reason = "Terminating"
	}
	restarts := fmt.Sprint(r.restarts)
	if r.restarts != 0 && !r.last.IsZero() {
		restarts = fmt.Sprintf("%d (%s ago)", r.restarts, Age(r.last, o.now))
	}
	ip := none
	if ips := status.at("podIPs").list(); len(ips) > 0 {
		ip = ips[0].at("ip").or(none)
	}
	gates := none
	if wanted := o.at("spec.readinessGates").list(); len(wanted) > 0 {
		met := 0
		for _, g := range wanted {
			if o.condition(g.at("conditionType").text()) == "True" {
				met++
			}
		}
		gates = fmt.Sprintf("%d/%d", met, len(wanted))
	}
	return []any{
		o.name(), fmt.Sprintf("%d/%d", r.ready, r.total), r.reason, restarts, o.age(),
		ip, o.at("spec.nodeName").or(none), status.at("nominatedNodeName").or(none), gates,
	}
}

// ended returns the later of last and the time at which the last run of a container ended.
func ended(last time.Time, container value) time.Time {
	if t := container.at("lastState.terminated.finishedAt").time(); t.After(last) {
		return t
	}
	return last
}

// stopped returns how a container ended.
func stopped(terminated value) string {
	switch {
	case terminated.at("reason").text() != "":
		return terminated.at("reason").text()
	case terminated.at("signal").number() != 0:
		return fmt.Sprintf("Signal:%d", terminated.at("signal").number())
	}
	return fmt.Sprintf("ExitCode:%d", terminated.at("exitCode").number())
}

// initContainers reads the containers that run first, up to the one that the pod waits for.
func (r *podRow) initContainers(o *Object) {
	sidecar := map[string]bool{}
	specs := o.at("spec.initContainers").list()
	for _, c := range specs {
		if c.at("restartPolicy").text() == "Always" {
			sidecar[c.at("name").text()] = true
			r.total++
		}
	}
	for i, c := range o.at("status.initContainerStatuses").list() {
		r.restarts += c.at("restartCount").number()
		r.last = ended(r.last, c)
		is := sidecar[c.at("name").text()]
		if is {
			r.sidecarRestarts += c.at("restartCount").number()
			r.sidecarLast = ended(r.sidecarLast, c)
		}
		terminated, waiting := c.at("state.terminated"), c.at("state.waiting.reason").text()
		switch {
		case terminated.v != nil && terminated.at("exitCode").number() == 0:
			continue
		case is && c.at("started").isTrue():
			if c.at("ready").isTrue() {
				r.ready++
			}
			continue
		case terminated.v != nil:
			r.reason = "Init:" + stopped(terminated)
		case waiting != "" && waiting != "PodInitializing":
			r.reason = "Init:" + waiting
		default:
			r.reason = fmt.Sprintf("Init:%d/%d", i, len(specs))
		}
		r.initializing = true
		return
	}
}

// containers reads the containers of a pod that is initialized. If several of them give the pod a reason, that of the
// first one counts.
func (r *podRow) containers(o *Object) {
	r.restarts, r.last = r.sidecarRestarts, r.sidecarLast
	statuses := o.at("status.containerStatuses").list()
	running := false
	for i := len(statuses) - 1; i >= 0; i-- {
		c := statuses[i]
		r.restarts += c.at("restartCount").number()
		r.last = ended(r.last, c)
		switch waiting := c.at("state.waiting.reason").text(); {
		case waiting != "":
			r.reason = waiting
		case c.has("state.terminated"):
			r.reason = stopped(c.at("state.terminated"))
		case c.at("ready").isTrue() && c.has("state.running"):
			running = true
			r.ready++
		}
	}
	if r.reason == "Completed" && running {
		if r.reason = "NotReady"; o.condition("Ready") == "True" {
			r.reason = "Running"
		}
	}
}

func printAutoscaler(o *Object) []any {
	var targets []string
	statuses := o.at("status.currentMetrics").list()
	for i, m := range o.at("spec.metrics").list() {
		var status value
		if i < len(statuses) {
			status = statuses[i]
		}
		targets = append(targets, metric(m, status))
	}
	return []any{
		o.name(), o.at("spec.scaleTargetRef.kind").text() + "/" + o.at("spec.scaleTargetRef.name").text(), some(targets, 2, ", ", none),
		o.at("spec.minReplicas").or(unset), o.at("spec.maxReplicas").number(), o.at("status.currentReplicas").number(), o.age(),
	}
}

// metric prints an autoscaler's measured value and its target.
func metric(spec, status value) string {
	typ := spec.at("type").text()
	if typ == "" {
		return "<unknown type>"
	}
	name := strings.ToLower(typ[:1]) + typ[1:]
	spec, status = spec.at(name), status.at(name+".current")
	target := spec.at("target")
	switch typ {
	case "Pods":
		return status.at("averageValue").or(unknown) + "/" + target.at("averageValue").or(unknown)
	case "Object", "External":
		if target.has("averageValue") {
			return fmt.Sprintf("%s/%s (avg)", status.at("averageValue").or(unknown), target.at("averageValue").scalar())
		}
		return status.at("value").or(unknown) + "/" + target.at("value").or(unknown)
	case "Resource", "ContainerResource":
		what := spec.at("name").text() + ": "
		if target.has("averageValue") {
			return what + status.at("averageValue").or(unknown) + "/" + target.at("averageValue").scalar()
		}
		is, wanted := unknown, "<auto>"
		if status.has("averageUtilization") {
			is = status.at("averageUtilization").scalar() + "%"
		}
		if target.has("averageUtilization") {
			wanted = target.at("averageUtilization").scalar() + "%"
		}
		return what + is + "/" + wanted
	}
	return "<unknown type>"
}
