package client

import (
	"regexp"
	"testing"
)

func TestTheUserAgentNamesTheModulesVersion(t *testing.T) {
	if agent := defaultUserAgent(); !regexp.MustCompile(`^bowline/(devel|v\S+) \([a-z0-9]+/[a-z0-9]+\)$`).MatchString(agent) {
		t.Errorf("the User-Agent is %q", agent)
	}
}
