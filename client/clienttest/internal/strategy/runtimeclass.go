package strategy

// checkRuntimeClass checks a RuntimeClass.
func checkRuntimeClass(v value) {
	handler := v.at("handler")
	handler.immutable()
	if handler.must() && v.creates() {
		handler.fits(label(handler.text()))
	}
	overhead := v.at("overhead", "podFixed")
	overhead.path = "overhead.limits" // as in a real server's errors
	checkAmounts(overhead, containerResource)
	scheduling := v.at("scheduling")
	checkLabels(scheduling.at("nodeSelector"))
	tolerations := scheduling.at("tolerations")
	checkTolerations(tolerations)
	seen := map[[4]string]bool{}
	for _, t := range tolerations.items() {
		key := [4]string{t.at("key").text(), t.at("operator").text(), t.at("value").text(), t.at("effect").text()}
		if seen[key] {
			t.duplicate()
		}
		seen[key] = true
	}
}
