package histories

// Shorten leaves out steps as long as the rest still fails, first many at a time and then fewer. It returns the rest
// with its faults; why holds the faults of all steps. play plays some steps and returns their faults, none if they
// pass. Shorten calls it at most tries times.
func Shorten[S any](steps []S, why []string, tries int, play func([]S) []string) ([]S, []string) {
	for size := len(steps) / 2; size > 0 && tries > 0; {
		shorter := false
		for at := 0; at < len(steps) && tries > 0; {
			rest := append(append([]S{}, steps[:at]...), steps[min(at+size, len(steps)):]...)
			tries--
			if faults := play(rest); len(faults) > 0 {
				steps, why, shorter = rest, faults, true
				continue
			}
			at += size
		}
		if !shorter || size > len(steps) {
			size /= 2
		}
	}
	return steps, why
}
