package strategy

func checkDaemonSet(v value) {
	spec := v.at("spec")
	selector, template := spec.at("selector"), spec.at("template")
	broken := selector.reports(checkSelector)
	if selector.exists() && isEmptySelector(selector) {
		selector.invalid("empty selector is invalid for daemonset")
	}
	checkTemplate(template, broken || selectsTemplate(spec))
	spec.at("minReadySeconds").natural()
	checkDaemonSetStrategy(spec.at("updateStrategy"))
	if limit := spec.at("revisionHistoryLimit"); limit.exists() {
		limit.natural()
	}
	selector.immutable()
}

func checkDaemonSetStrategy(v value) {
	switch v.at("type").text() {
	case "OnDelete":
	case "RollingUpdate":
		unavailable, surge := v.at("rollingUpdate", "maxUnavailable"), v.at("rollingUpdate", "maxSurge")
		unavailable.share(true)
		surge.share(true)
		switch has, hasSurge := unavailable.shareNumber() != 0, surge.shareNumber() != 0; {
		case has && hasSurge:
			surge.invalid("may not be set when maxUnavailable is non-zero")
		case !has && !hasSurge:
			unavailable.required("cannot be 0 when maxSurge is 0")
		}
	default:
		v.unsupported("RollingUpdate", "OnDelete")
	}
}
