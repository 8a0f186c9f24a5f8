package strategy

// checkSelector checks a LabelSelector.
func checkSelector(v value) {
	checkLabels(v.at("matchLabels"))
	for _, e := range v.at("matchExpressions").items() {
		if !checkOperator(e) {
			e.at("operator").invalid("not a valid selector operator")
		}
		e.at("key").fits(qualified(e.at("key").text()))
		for _, text := range e.at("values").items() {
			text.fits(labelValue(text.text()))
		}
	}
}

// checkOperator checks that an expression has values if its operator needs some, and none otherwise. It returns false
// if the operator is not one of those that all selectors have.
func checkOperator(e value) bool {
	values := e.at("values")
	switch e.at("operator").text() {
	case "In", "NotIn":
		if values.len() == 0 {
			values.required("must be specified when `operator` is 'In' or 'NotIn'")
		}
	case "Exists", "DoesNotExist":
		if values.len() > 0 {
			values.forbidden("may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
		}
	default:
		return false
	}
	return true
}

// checkLabels checks a map of labels.
func checkLabels(v value) {
	for _, name := range v.keys() {
		v.fits(qualified(name))
		v.fits(labelValue(v.key(name).text()))
	}
}

// isEmptySelector reports whether a LabelSelector selects everything.
func isEmptySelector(v value) bool {
	return v.at("matchLabels").len()+v.at("matchExpressions").len() == 0
}

// selects reports whether a LabelSelector selects a map of labels.
func selects(v, labels value) bool {
	for _, name := range v.at("matchLabels").keys() {
		if !labels.key(name).exists() || labels.key(name).text() != v.at("matchLabels").key(name).text() {
			return false
		}
	}
	for _, e := range v.at("matchExpressions").items() {
		label := labels.key(e.at("key").text())
		listed := false
		for _, text := range e.at("values").items() {
			listed = listed || label.exists() && text.text() == label.text()
		}
		fits := false
		switch e.at("operator").text() {
		case "In":
			fits = listed
		case "NotIn":
			fits = !listed
		case "Exists":
			fits = label.exists()
		case "DoesNotExist":
			fits = !label.exists()
		}
		if !fits {
			return false
		}
	}
	return true
}
