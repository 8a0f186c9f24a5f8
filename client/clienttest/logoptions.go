package clienttest

import (
	"net/url"
	"strconv"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
)

// checkLogOptions returns the refusal of a log's options, which are the API's PodLogOptions.
func checkLogOptions(pod string, q url.Values) error {
	numbers := map[string]int64{}
	for _, name := range []string{"sinceSeconds", "tailLines", "limitBytes"} {
		if text := q.Get(name); q.Has(name) {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return status.BadRequest("%v", err)
			}
			numbers[name] = n
		}
	}
	if text := q.Get("sinceTime"); text != "" {
		if _, err := time.Parse(time.RFC3339, text); err != nil {
			return status.BadRequest("%v", err)
		}
	}
	var causes []meta.StatusCause
	tail, tailed := numbers["tailLines"]
	if tail < 0 {
		causes = append(causes, status.InvalidValue("tailLines", tail, "must be greater than or equal to 0"))
	}
	if limit, limited := numbers["limitBytes"]; limited && limit < 1 {
		causes = append(causes, status.InvalidValue("limitBytes", limit, "must be greater than 0"))
	}
	since, sinceSet := numbers["sinceSeconds"]
	switch {
	case sinceSet && q.Has("sinceTime"):
		causes = append(causes, status.ForbiddenValue("", "at most one of `sinceTime` or `sinceSeconds` may be specified"))
	case sinceSet && since < 1:
		causes = append(causes, status.InvalidValue("sinceSeconds", since, "must be greater than 0"))
	}
	switch stream := q.Get("stream"); stream {
	case "", "All":
	case "Stdout", "Stderr":
		if tailed {
			causes = append(causes, status.ForbiddenValue("", "`tailLines` and specific `stream` are mutually exclusive for now"))
		}
	default:
		causes = append(causes, status.UnsupportedValue("stream", stream, "All", "Stderr", "Stdout"))
	}
	if len(causes) > 0 {
		return status.Invalid("", "PodLogOptions", pod, causes)
	}
	return nil
}
