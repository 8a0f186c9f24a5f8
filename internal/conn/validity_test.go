package conn

import (
	"crypto/x509"
	"testing"
	"time"
)

func TestACertificateIsValidFromItsFirstInstantToItsLast(t *testing.T) {
	first := time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("", 3600))
	last := first.Add(time.Hour)
	c := &x509.Certificate{NotBefore: first, NotAfter: last}
	for at, want := range map[time.Time]string{
		first.Add(-time.Nanosecond): "the certificate is not valid before 2026-01-02T02:04:05Z",
		first:                       "",
		last:                        "",
		last.Add(time.Nanosecond):   "the certificate has expired at 2026-01-02T03:04:05Z",
	} {
		got := ""
		if err := Validity(c, at); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("at %v it is %q, want %q", at, got, want)
		}
	}
}
