package errors_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// behaviour 336, guarantee S13
func TestErrorIsOneCleanLine(t *testing.T) {
	tests := []struct {
		name   string
		status meta.Status
		want   string
	}{
		{
			"a reason, a code and a message",
			meta.Status{Reason: "NotFound", Code: 404, Message: `pods "x" not found`},
			`server said NotFound (404): pods "x" not found`,
		},
		{"a code alone", meta.Status{Code: 503}, "server said ServiceUnavailable (503)"},
		{"a reason alone", meta.Status{Reason: "Expired", Message: "too old"}, "server said Expired (410): too old"},
		{"nothing", meta.Status{}, "server said Unknown"},
		{"a word of the server's own", meta.Status{Reason: "Mine", Code: 400}, "server said Mine (400)"},
		{
			"lines",
			meta.Status{Code: 422, Message: "a is invalid:\n\t* b\r\n\t* c\n"},
			"server said Invalid (422): a is invalid: * b * c",
		},
		{
			"control characters",
			meta.Status{Code: 404, Message: "a\x00b\x08c\x7fd\u0085e"},
			"server said NotFound (404): abcd e",
		},
		{
			"colours",
			meta.Status{Code: 404, Message: "\x1b[1;31mred\x1b[0m \u009b32mgreen"},
			"server said NotFound (404): red green",
		},
		{
			"a window title",
			meta.Status{Code: 404, Message: "a\x1b]0;title\ab\x1b]2;title\x1b\\c"},
			"server said NotFound (404): abc",
		},
		{
			"an escape sequence without end",
			meta.Status{Code: 404, Message: "a\x1b]0;title"},
			"server said NotFound (404): a0;title",
		},
		{"a lone escape", meta.Status{Code: 404, Message: "a\x1b"}, "server said NotFound (404): a"},
		{
			"two- and three-character escapes",
			meta.Status{Code: 404, Message: "a\x1bcb\x1b(Bc"},
			"server said NotFound (404): abc",
		},
		{
			"text turned round",
			meta.Status{Code: 404, Message: "a\u202eb\u2066c\u200fd"},
			"server said NotFound (404): abcd",
		},
		{
			"invalid UTF-8",
			meta.Status{Code: 404, Message: "a\xff\xfe\xfdb\xc3"},
			"server said NotFound (404): a\ufffdb\ufffd",
		},
		{"other languages", meta.Status{Code: 404, Message: "名前 é 👩‍🚀"}, "server said NotFound (404): 名前 é 👩‍🚀"},
		{"a reason that is none", meta.Status{Reason: "a\x1b[31m\nb", Code: 404}, "server said a b (404)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := apierrors.FromStatus(tt.status).Error(); got != tt.want {
				t.Errorf("Error() = %q\nwant      %q", got, tt.want)
			}
		})
	}
}

// behaviour 336
func TestErrorIsCut(t *testing.T) {
	prefix := len("server said NotFound (404): ")
	for name, message := range map[string]string{
		"one byte too many":             strings.Repeat("a", apierrors.MaxText+1),
		"very long":                     strings.Repeat("a", 10<<20),
		"characters of several bytes":   strings.Repeat("名", apierrors.MaxText),
		"text behind much white space":  strings.Repeat(" ", 1<<20) + "text",
		"text behind control bytes":     strings.Repeat("\x01", 1<<20) + "text",
		"mostly invalid bytes":          strings.Repeat("\xffa", 1<<20),
		"sequences that would not end":  strings.Repeat("\x1b]", 1<<20),
		"sequences that end far behind": strings.Repeat("\x1b[", 1<<20) + "m",
	} {
		got := apierrors.FromStatus(meta.Status{Code: 404, Message: message}).Error()
		if len(got) > prefix+apierrors.MaxText || !strings.HasSuffix(got, "...") || !utf8.ValidString(got) {
			t.Errorf("%s: the error has %d bytes and ends in %q", name, len(got), got[max(0, len(got)-20):])
		}
	}
	exact := strings.Repeat("a", apierrors.MaxText)
	if got := apierrors.FromStatus(meta.Status{Code: 404, Message: exact}).Error(); !strings.HasSuffix(got, ": "+exact) {
		t.Errorf("a message of %d bytes is cut to %d", len(exact), len(got)-prefix)
	}
	long := apierrors.FromStatus(meta.Status{Reason: strings.Repeat("x", 1<<20)})
	if len(long.Error()) > 200 {
		t.Errorf("a long reason makes an error of %d bytes", len(long.Error()))
	}
}

func TestFromStatusFillsInWhatTheServerLeftOut(t *testing.T) {
	e := apierrors.FromStatus(meta.Status{Code: 404})
	if e.Status.Reason != "NotFound" || !e.FromStatus || e.HasRetryAfter {
		t.Errorf("from a code: %+v", e)
	}
	e = apierrors.FromStatus(meta.Status{Reason: "Expired"})
	if e.Status.Code != 410 {
		t.Errorf("from a reason: %+v", e)
	}
	e = apierrors.FromStatus(meta.Status{})
	if e.Status.Reason != "" || e.Status.Code != 0 {
		t.Errorf("from nothing: %+v", e)
	}
}

// behaviour 335, behaviour 341
func TestCauses(t *testing.T) {
	invalid := apierrors.FromStatus(meta.Status{Code: 422, Details: &meta.StatusDetails{Causes: []meta.StatusCause{
		{Reason: "FieldValueRequired", Message: "Required value", Field: "spec.containers[0].image"},
		{Reason: "FieldValueInvalid", Message: "Invalid value", Field: "metadata.name"},
	}}})
	for how, wrap := range wrappings {
		err := wrap(invalid)
		c, ok := apierrors.Cause(err, "FieldValueInvalid")
		if !ok || c.Field != "metadata.name" {
			t.Errorf("%s: cause %v, %v", how, c, ok)
		}
		if c, ok := apierrors.Cause(err, "FieldValueDuplicate"); ok {
			t.Errorf("%s: cause %v that nobody named", how, c)
		}
		var e *apierrors.StatusError
		if !errors.As(err, &e) || len(e.Causes()) != 2 || e.Causes()[0].Field != "spec.containers[0].image" {
			t.Errorf("%s: causes of %v", how, e)
		}
	}
	for _, reason := range []string{
		apierrors.CauseUnexpectedServerResponse, apierrors.CauseResourceVersionTooLarge, apierrors.CauseNamespaceTerminating,
	} {
		first := apierrors.FromStatus(meta.Status{Code: 403})
		second := apierrors.FromStatus(meta.Status{
			Code: 403, Details: &meta.StatusDetails{Causes: []meta.StatusCause{{Reason: reason}}},
		})
		if _, ok := apierrors.Cause(errors.Join(first, fmt.Errorf("create: %w", second)), reason); !ok {
			t.Errorf("cause %s of the second of two joined errors is not found", reason)
		}
	}
}

// fault F9
func TestIsTooLargeResourceVersion(t *testing.T) {
	details := func(reason, message string) *meta.StatusDetails {
		return &meta.StatusDetails{RetryAfterSeconds: 1, Causes: []meta.StatusCause{{Reason: reason, Message: message}}}
	}
	const text = "Timeout: Too large resource version: 105, current: 100"
	tests := []struct {
		name   string
		status meta.Status
		want   bool
	}{
		{
			"the cause",
			meta.Status{
				Code: 504, Reason: "Timeout", Message: text,
				Details: details("ResourceVersionTooLarge", "Too large resource version"),
			},
			true,
		},
		{"the cause alone", meta.Status{Details: details("ResourceVersionTooLarge", "")}, true},
		{
			"a cause with the message",
			meta.Status{Code: 504, Reason: "Timeout", Details: details("", "Too large resource version")},
			true,
		},
		{"the message", meta.Status{Code: 504, Reason: "Timeout", Message: text}, true},
		{"the message with the bare code", meta.Status{Code: 504, Message: text}, true},
		{"the message of another reason", meta.Status{Code: 400, Reason: "BadRequest", Message: text}, false},
		{
			"a cause with the message of another reason",
			meta.Status{Code: 500, Details: details("", "Too large resource version")},
			false,
		},
		{
			"another timeout",
			meta.Status{Code: 504, Reason: "Timeout", Message: "request did not complete", Details: details("", "slow")},
			false,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for how, wrap := range wrappings {
				if got := apierrors.IsTooLargeResourceVersion(wrap(apierrors.FromStatus(tt.status))); got != tt.want {
					t.Errorf("%s: %v, want %v", how, got, tt.want)
				}
			}
		})
	}
}
