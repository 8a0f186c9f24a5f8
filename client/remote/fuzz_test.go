package remote

import (
	"errors"
	"io"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
)

// FuzzEnding gives the status of a command's end in two parts, as a server may send anything.
func FuzzEnding(f *testing.F) {
	for _, s := range []string{
		`{"status":"Success"}`, `{"status":"Failure","message":"m","reason":"InternalError","code":500}`, "", "null", "[]", "it broke", `{"status":`,
		`{"status":"Failure","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"3"}]}}`,
		`{"status":"Failure","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"0"}]}}`,
	} {
		f.Add([]byte(s), 5, true)
	}
	f.Fuzz(func(t *testing.T, text []byte, cut int, modern bool) {
		protocol := v1
		if modern {
			protocol = v5
		}
		c := &Cmd{what: "exec", key: meta.Key{Namespace: "n", Name: "p"}}
		cut = min(max(cut, 0), len(text))
		var e ending
		err := e.add(c, protocol, text[:cut])
		if err == nil && cut < len(text) {
			err = e.add(c, protocol, text[cut:])
		}
		if err != nil {
			return
		}
		whole, cutOff := e.result(protocol, nil), e.result(protocol, io.ErrUnexpectedEOF)
		if modern && !e.said && whole == nil || cutOff == nil && !e.said {
			t.Errorf("%q is taken for success", text)
		}
		if exit := (*ExitError)(nil); errors.As(whole, &exit) && exit.Code == 0 {
			t.Errorf("%q is an ExitError of 0", text)
		}
	})
}
