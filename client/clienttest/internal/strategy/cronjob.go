package strategy

import (
	"regexp"
	"strings"
	"time"
)

func checkCronJob(v value) {
	spec := v.at("spec")
	schedule, zone := spec.at("schedule"), spec.at("timeZone")
	if schedule.must() {
		checkSchedule(schedule, zone.exists())
	}
	spec.at("startingDeadlineSeconds").natural()
	if zone.exists() && !zone.unchanged() {
		checkTimeZone(zone)
	}
	spec.at("concurrencyPolicy").oneOf("Allow", "Forbid", "Replace")
	job := spec.at("jobTemplate", "spec")
	checkJobSpec(job)
	if selector := job.at("selector"); selector.exists() {
		selector.invalid("`selector` will be auto-generated")
	}
	if manual := job.at("manualSelector"); manual.flag() {
		manual.unsupported("nil", "false")
	}
	naturals(spec, "successfulJobsHistoryLimit", "failedJobsHistoryLimit")
	if name := v.at("metadata", "name"); v.creates() && name.len() > 52 { // a job adds eleven characters, up to 63
		name.invalid("must be no more than 52 characters")
	}
}

// checkSchedule checks a schedule of cron. An update may keep the old form with a time zone.
func checkSchedule(v value, zone bool) {
	if err := parseSchedule(v.text()); err != nil {
		v.invalid("%v", err)
	}
	if !strings.Contains(v.text(), "TZ") {
		return
	}
	switch old := strings.Contains(before(v).text(), "TZ"); {
	case !old:
		v.invalid("cannot use TZ or CRON_TZ in schedule, use timeZone field instead")
	case zone:
		v.invalid("cannot use both timeZone field and TZ or CRON_TZ in schedule")
	}
}

func checkTimeZone(v value) {
	form := regexp.MustCompile(`^[A-Za-z0-9_.+][A-Za-z0-9_.+-]{0,13}$`)
	for part := range strings.SplitSeq(v.text(), "/") {
		if part == "." || part == ".." || !form.MatchString(part) {
			v.invalid("unknown time zone %s", v.text())
			return
		}
	}
	if _, err := time.LoadLocation(v.text()); err != nil || strings.EqualFold(v.text(), "Local") {
		v.invalid("must be a time zone as defined in https://www.iana.org/time-zones")
	}
}
