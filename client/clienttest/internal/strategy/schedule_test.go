package strategy

import (
	"testing"
)

func TestSchedulesOfCron(t *testing.T) {
	for text, valid := range map[string]bool{
		"* * * * *":                 true,
		"*/5 0-23/2 1,15 jan-mar ?": true,
		"0 0 * * SUN":               true,
		"@hourly":                   true,
		"@every 1h30m":              true,
		"TZ=UTC 0 0 * * *":          true,
		"":                          false,
		"* * * *":                   false,
		"* * * * * *":               false,
		"60 * * * *":                false,
		"* * 0 * *":                 false,
		"* * * 13 *":                false,
		"* * * * 7":                 false,
		"5-1 * * * *":               false,
		"1-2-3 * * * *":             false,
		"*/0 * * * *":               false,
		"1/2/3 * * * *":             false,
		"-1 * * * *":                false,
		"@sometimes":                false,
		"@every never":              false,
		"TZ=Nowhere/Land * * * * *": false,
		"TZ=UTC":                    false,
	} {
		if err := parseSchedule(text); (err == nil) != valid {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestTimeZonesOfCronJobs(t *testing.T) {
	for zone, valid := range map[string]bool{
		"UTC": true, "Europe/Zurich": true, "Etc/GMT+1": true,
		"local": false, "": false, "../etc": false, "Europe//Zurich": false, "-UTC": false,
	} {
		r := &report{}
		checkTimeZone(value{to: r, is: zone})
		if (len(r.causes) == 0) != valid {
			t.Errorf("%q: %v", zone, r.causes)
		}
	}
}

func TestIndexesOfJobs(t *testing.T) {
	for text, want := range map[string]int64{
		"": 0, "0": 1, "0,2-4": 4, "1-1": -1, "3-1": -1, "2,1": -1, "5": -1, "a": -1, "1-2-3": -1,
	} {
		all, err := parseIndexes(text, 5)
		if n := countIndexes(all); err == nil && n != want || err != nil && want >= 0 {
			t.Errorf("%q: %d, %v; want %d", text, n, err, want)
		}
	}
}
