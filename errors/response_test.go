package errors_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	apierrors "github.com/bowline-go/bowline/errors"
)

func header(kv ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(kv); i += 2 {
		h.Add(kv[i], kv[i+1])
	}
	return h
}

func TestFromResponse(t *testing.T) {
	jsonType := header("Content-Type", "application/json")
	tests := []struct {
		name       string
		code       int
		header     http.Header
		body       string
		method     string
		reason     apierrors.Reason
		statusCode int
		fromStatus bool
		want       string
	}{
		{
			"a Status", 404, jsonType,
			`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"pods \"x\" not found","reason":"NotFound","code":404}`,
			"GET", apierrors.NotFound, 404, true, `server said NotFound (404): pods "x" not found`,
		},
		{
			"a Status under another content type", 404, header("Content-Type", "text/plain"),
			` {"kind":"Status","message":"m","reason":"NotFound"}`,
			"GET", apierrors.NotFound, 404, true, "server said NotFound (404): m",
		},
		{
			"a Status without a reason", 409, jsonType, `{"kind":"Status","status":"Failure","message":"m"}`,
			"PUT", apierrors.Conflict, 409, true, "server said Conflict (409): m",
		},
		{
			"a Status without a reason to a POST", 409, jsonType, `{"kind":"Status","status":"Failure","message":"m"}`,
			"POST", apierrors.AlreadyExists, 409, true, "server said AlreadyExists (409): m", // behaviour 333
		},
		{
			"a Status with a reason to a POST", 409, jsonType, `{"kind":"Status","reason":"Conflict"}`,
			"POST", apierrors.Conflict, 409, true, "server said Conflict (409)",
		},
		{
			"a Status without its kind", 403, jsonType, `{"status":"Failure","reason":"Forbidden"}`,
			"GET", apierrors.Forbidden, 403, false,
			`server said Forbidden (403): the answer is not a Status but application/json: {"status":"Failure","reason":"Forbidden"}`,
		},
		{
			"a reason of something that is no Status", 400, jsonType, `{"status":"Failure","reason":"NotFound","code":404}`,
			"GET", apierrors.BadRequest, 400, false,
			`server said BadRequest (400): the answer is not a Status but application/json: {"status":"Failure","reason":"NotFound","code":404}`,
		},
		{
			"a Status of another answer", 400, jsonType, `{"kind":"Status","status":"Success","reason":"NotFound","code":404}`,
			"GET", apierrors.BadRequest, 400, false,
			`server said BadRequest (400): the answer is not a Status but application/json: ` +
				`{"kind":"Status","status":"Success","reason":"NotFound","code":404}`,
		},
		{
			"a Status with its own code", 502, jsonType, `{"kind":"Status","reason":"ServiceUnavailable","code":503}`,
			"GET", apierrors.ServiceUnavailable, 503, true, "server said ServiceUnavailable (503)",
		},
		{
			"a Status that claims success", 404, jsonType, `{"kind":"Status","status":"Success","code":200}`,
			"GET", apierrors.NotFound, 404, false,
			`server said NotFound (404): the answer is not a Status but application/json: {"kind":"Status","status":"Success","code":200}`,
		},
		{
			"a Status with a field of the wrong type", 404, jsonType,
			`{"kind":"Status","message":"m","code":"404","details":5}`,
			"GET", apierrors.NotFound, 404, true, "server said NotFound (404): m",
		},
		{
			"nothing", 404, nil, "",
			"GET", apierrors.NotFound, 404, false, "server said NotFound (404): the answer has no body",
		},
		{
			"nothing to a POST", 409, nil, "",
			"POST", apierrors.AlreadyExists, 409, false, "server said AlreadyExists (409): the answer has no body",
		},
		{
			"nothing to a PATCH", 409, nil, "",
			"PATCH", apierrors.Conflict, 409, false, "server said Conflict (409): the answer has no body",
		},
		{
			"white space", 500, nil, " \n",
			"GET", apierrors.InternalError, 500, false,
			"server said InternalError (500): the answer is not a Status and has no text",
		},
		{
			"text", 404, header("Content-Type", "text/plain; charset=utf-8"), "404 page not found\n",
			"GET", apierrors.NotFound, 404, false,
			"server said NotFound (404): the answer is not a Status but text/plain; charset=utf-8: 404 page not found",
		},
		{
			"text of no type", 410, nil, "gone\x1b[31m\x00",
			"GET", apierrors.Expired, 410, false, "server said Expired (410): the answer is not a Status: gone",
		},
		{
			"other JSON", 429, jsonType, `{"kind":"Error","message":"m"}`,
			"GET", apierrors.TooManyRequests, 429, false,
			`server said TooManyRequests (429): the answer is not a Status but application/json: {"kind":"Error","message":"m"}`,
		},
		{
			"an array", 422, jsonType, `[]`,
			"GET", apierrors.Invalid, 422, false,
			`server said Invalid (422): the answer is not a Status but application/json: []`,
		},
		{
			"a Status that is cut off", 404, jsonType, `{"kind":"Status","mess`,
			"GET", apierrors.NotFound, 404, false,
			`server said NotFound (404): the answer is not a Status but application/json: {"kind":"Status","mess`,
		},
		{
			"an HTML page with a title", 503, header("Content-Type", "text/html; charset=utf-8"),
			"<html>\n<head><TITLE>503 Service\nUnavailable</TITLE></head><body>é</body></html>",
			"GET", apierrors.ServiceUnavailable, 503, false,
			`server said ServiceUnavailable (503): the answer is not a Status but an HTML page titled "503 Service Unavailable"`,
		},
		{
			"an HTML page without a title", 504, header("Content-Type", "text/html"), "<p>slow</p>",
			"GET", apierrors.Timeout, 504, false,
			"server said Timeout (504): the answer is not a Status but an HTML page: <p>slow</p>",
		},
		{
			"an HTML page under another content type", 502, jsonType,
			"\ufeff \n<!DOCTYPE HTML><title>Bad \x1b[1mGateway</title>",
			"GET", apierrors.InternalError, 502, false,
			`server said InternalError (502): the answer is not a Status but an HTML page titled "Bad Gateway"`,
		},
		{
			"a code that stands for nothing", 418, nil, "I'm a teapot",
			"GET", apierrors.Unknown, 418, false, "server said Unknown (418): the answer is not a Status: I'm a teapot",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := apierrors.FromResponse(tt.code, tt.header, []byte(tt.body), tt.method)
			if got := e.Error(); got != tt.want {
				t.Errorf("Error() = %s\nwant      %s", got, tt.want)
			}
			if !errors.Is(e, tt.reason) || apierrors.ReasonOf(e) != tt.reason || e.Status.Code != tt.statusCode ||
				e.FromStatus != tt.fromStatus {
				t.Errorf("reason %s, code %d, from a Status %v; want %s, %d, %v",
					apierrors.ReasonOf(e), e.Status.Code, e.FromStatus, tt.reason, tt.statusCode, tt.fromStatus)
			}
			if _, ok := apierrors.Cause(e, apierrors.CauseUnexpectedServerResponse); ok == tt.fromStatus {
				t.Errorf("cause of an unexpected response: %v", ok)
			}
			if e.Status.Kind != "Status" {
				t.Errorf("kind %q", e.Status.Kind)
			}
		})
	}
}

// behaviour 336, guarantee S13
func TestFromResponseKeepsAnExcerpt(t *testing.T) {
	for name, body := range map[string]string{
		"long text":            strings.Repeat("a", 10<<20),
		"a long HTML page":     "<html><title>" + strings.Repeat("t", 10<<20) + "</title>",
		"long binary data":     strings.Repeat("\x00\xff\x1b", 1<<20),
		"a long run of blanks": strings.Repeat(" ", 1<<20) + "x",
	} {
		e := apierrors.FromResponse(502, nil, []byte(body), http.MethodGet)
		cause, _ := apierrors.Cause(e, apierrors.CauseUnexpectedServerResponse)
		if len(cause.Message) > apierrors.MaxText || !utf8.ValidString(cause.Message) {
			t.Errorf("%s: an excerpt of %d bytes", name, len(cause.Message))
		}
		if n := len(e.Error()); n > apierrors.MaxText+100 {
			t.Errorf("%s: an error of %d bytes", name, n)
		}
		if strings.ContainsFunc(e.Error(), func(r rune) bool { return r < ' ' }) {
			t.Errorf("%s: the error has control characters", name)
		}
	}
}

// behaviour 334
func TestRetryAfterOfAResponse(t *testing.T) {
	const date = "Mon, 06 May 2024 07:08:09 GMT"
	tests := []struct {
		name   string
		header http.Header
		body   string
		want   time.Duration
		ok     bool
	}{
		{"nothing", nil, "", 0, false},
		{"seconds", header("Retry-After", "7"), "", 7 * time.Second, true},
		{"seconds in white space", header("Retry-After", " 7 "), "", 7 * time.Second, true},
		{"zero seconds", header("Retry-After", "0"), "", 0, true},
		{"more than an hour", header("Retry-After", "99999"), "", time.Hour, true},
		{"more than an int", header("Retry-After", strings.Repeat("9", 100)), "", time.Hour, true},
		{"several", header("Retry-After", "3", "Retry-After", "9", "Retry-After", "5"), "", 9 * time.Second, true},
		{"a negative number", header("Retry-After", "-7"), "", 0, false},
		{"a fraction", header("Retry-After", "1.5"), "", 0, false},
		{"a word", header("Retry-After", "soon"), "", 0, false},
		{"the empty string", header("Retry-After", ""), "", 0, false},
		{"a word beside a number", header("Retry-After", "soon", "Retry-After", "3"), "", 3 * time.Second, true},
		{
			"a date after the server's", header("Date", date, "Retry-After", "Mon, 06 May 2024 07:09:09 GMT"), "",
			time.Minute, true,
		},
		{
			"a date of an older form", header("Date", date, "Retry-After", "Monday, 06-May-24 07:09:09 GMT"), "",
			time.Minute, true,
		},
		{"a date before the server's", header("Date", date, "Retry-After", "Mon, 06 May 2024 07:07:09 GMT"), "", 0, true},
		{
			"a date far after the server's", header("Date", date, "Retry-After", "Mon, 06 May 9999 07:07:09 GMT"), "",
			time.Hour, true,
		},
		{"a date that has passed here, where the server says none", header("Retry-After", date), "", 0, true},
		{"in the Status", nil, `{"kind":"Status","details":{"retryAfterSeconds":4}}`, 4 * time.Second, true},
		{
			"more than an hour in the Status", nil, `{"kind":"Status","details":{"retryAfterSeconds":99999}}`,
			time.Hour, true,
		},
		{"a negative number in the Status", nil, `{"kind":"Status","details":{"retryAfterSeconds":-4}}`, 0, false},
		{"zero in the Status, which means nothing", nil, `{"kind":"Status","details":{"retryAfterSeconds":0}}`, 0, false},
		{
			"the header's is longer", header("Retry-After", "9"),
			`{"kind":"Status","details":{"retryAfterSeconds":4}}`, 9 * time.Second, true,
		},
		{
			"the Status's is longer", header("Retry-After", "1"),
			`{"kind":"Status","details":{"retryAfterSeconds":4}}`, time.Second, true,
		},
		{
			"the header says at once", header("Retry-After", "0"),
			`{"kind":"Status","details":{"retryAfterSeconds":4}}`, 0, true,
		},
		{
			"the header's date is sooner", header("Date", date, "Retry-After", "Mon, 06 May 2024 07:08:11 GMT"),
			`{"kind":"Status","details":{"retryAfterSeconds":4}}`, 2 * time.Second, true,
		},
		{
			"the header's date has passed", header("Date", date, "Retry-After", date),
			`{"kind":"Status","details":{"retryAfterSeconds":4}}`, 0, true,
		},
		{
			"the header says nothing that can be read", header("Retry-After", "soon"),
			`{"kind":"Status","details":{"retryAfterSeconds":4}}`, 4 * time.Second, true,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := apierrors.FromResponse(429, tt.header, []byte(tt.body), http.MethodGet)
			for how, wrap := range wrappings {
				if got, ok := apierrors.RetryAfter(wrap(e)); got != tt.want || ok != tt.ok {
					t.Errorf("%s: RetryAfter = %v, %v; want %v, %v", how, got, ok, tt.want, tt.ok)
				}
			}
			if e.RetryAfter != tt.want || e.HasRetryAfter != tt.ok {
				t.Errorf("fields %v, %v; want %v, %v", e.RetryAfter, e.HasRetryAfter, tt.want, tt.ok)
			}
		})
	}
}

func FuzzFromResponse(f *testing.F) {
	f.Add(404, "application/json", "", []byte(`{"kind":"Status","reason":"NotFound","message":"a\u001b[31m",`+
		`"details":{"causes":[{}],"retryAfterSeconds":5}}`), "GET")
	f.Add(503, "text/html", "5", []byte("<html><title>x</title>"), "POST")
	f.Add(409, "", "Mon, 06 May 2024 07:08:09 GMT", []byte("\x1b]0;a\x1b[\xff"), "POST")
	f.Add(410, "text/plain", "-1", []byte(""), "")
	f.Fuzz(func(t *testing.T, code int, contentType, retryAfter string, body []byte, method string) {
		e := apierrors.FromResponse(code, header("Content-Type", contentType, "Retry-After", retryAfter), body, method)
		text := e.Error()
		if !utf8.ValidString(text) || len(text) > apierrors.MaxText+300 {
			t.Fatalf("the error has %d bytes: %q", len(text), text)
		}
		for _, r := range text {
			if r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u202e' {
				t.Fatalf("the error has the character %U: %q", r, text)
			}
		}
		reason := apierrors.ReasonOf(e)
		if reason == "" || !errors.Is(e, reason) {
			t.Fatalf("the error is not its own reason %q", reason)
		}
		if errors.Is(e, apierrors.Gone) != errors.Is(e, apierrors.Expired) {
			t.Fatal("Gone and Expired differ")
		}
		if wait, ok := apierrors.RetryAfter(e); wait < 0 || wait > apierrors.MaxRetryAfter || wait > 0 && !ok {
			t.Fatalf("RetryAfter = %v, %v", wait, ok)
		}
		cause, ok := apierrors.Cause(e, apierrors.CauseUnexpectedServerResponse)
		if !e.FromStatus && (!ok || len(cause.Message) > apierrors.MaxText) {
			t.Fatalf("cause of %d bytes, %v", len(cause.Message), ok)
		}
		again := apierrors.FromStatus(e.Status)
		if again.Error() != text {
			t.Fatalf("the Status of %q says %q", text, again.Error())
		}
		apierrors.SafeToRetry(e)
		apierrors.IsTooLargeResourceVersion(e)
	})
}

func FuzzRetryAfter(f *testing.F) {
	for _, seed := range []string{
		"", "0", "7", "-7", "1.5", "99999999999999999999", "Mon, 06 May 2024 07:08:09 GMT", " 5", "+5", "٥",
	} {
		f.Add(seed, "Mon, 06 May 2024 07:08:00 GMT")
		f.Add(seed, "")
	}
	f.Fuzz(func(t *testing.T, value, date string) {
		e := apierrors.FromResponse(503, header("Retry-After", value, "Date", date), nil, http.MethodGet)
		wait, ok := apierrors.RetryAfter(e)
		if wait < 0 || wait > apierrors.MaxRetryAfter || wait > 0 && !ok {
			t.Fatalf("Retry-After %q at %q: %v, %v", value, date, wait, ok)
		}
		if apierrors.SafeToRetry(e) != ok {
			t.Fatalf("Retry-After %q at %q is there: %v, but safe to retry: %v", value, date, ok, !ok)
		}
	})
}
