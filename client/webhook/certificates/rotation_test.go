package certificates_test

import (
	"bytes"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"maps"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/webhook/certificates"
	apierrors "github.com/bowline-go/bowline/errors"
)

func unbase64(t *testing.T, text string) []byte {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// count returns the number of certificates in a text.
func count(text []byte) (n int) {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		n++
	}
	return n
}

const day = 24 * time.Hour

// play runs a test with two replicas that have started.
func play(t *testing.T, f func(w *world, a, b *certificates.Issuer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, clienttest.Options{})
		a, b := w.replica("a"), w.replica("b")
		w.look(a, b)
		if !same(a, b) || w.trusts(a) != nil {
			t.Fatalf("the replicas do not agree: %v", w.trusts(a))
		}
		f(w, a, b)
	})
}

func TestACertificateIsRenewedUnderItsAuthority(t *testing.T) {
	play(t, func(w *world, a, b *certificates.Issuer) {
		first, by := a.Served()
		if left := time.Until(first.NotAfter).Round(time.Hour); left != 90*day {
			t.Errorf("the certificate is valid for %v", left)
		}
		if left := time.Until(by.NotAfter).Round(time.Hour); left != 720*day {
			t.Errorf("the authority is valid for %v", left)
		}
		time.Sleep(59 * day)
		w.look(a, b)
		if is, _ := a.Served(); !is.Equal(first) {
			t.Error("the certificate is renewed too early")
		}
		time.Sleep(2 * day)
		w.look(b, a)
		is, still := a.Served()
		if is.Equal(first) || !still.Equal(by) || !same(a, b) || w.trusts(a) != nil || w.authorities() != 1 {
			t.Errorf("after 61 days: renewed %v, by the same authority %v, trusted: %v", !is.Equal(first), still.Equal(by), w.trusts(a))
		}
	})
}

// The order of a rotation: both authorities everywhere, then the certificate, then the old authority goes.
func TestARotationOfTheAuthority(t *testing.T) {
	play(t, func(w *world, a, b *certificates.Issuer) {
		_, old := a.Served()
		for time.Until(old.NotAfter) > 185*day {
			w.pass(5*day, a, b)
		}
		if n := w.authorities(); n != 1 || a.Status().Rotating {
			t.Fatalf("%d authorities before the rotation", n)
		}
		w.pass(8*day, a, b)
		for i := range 50 {
			if err := errors.Join(w.trusts(a), w.trusts(b)); err != nil {
				t.Fatalf("after %d steps: %v", i, err)
			}
			w.pass(5*day, b, a)
			if i == 1 {
				if _, by := a.Served(); by.Equal(old) || w.authorities() != 2 || !same(a, b) {
					t.Errorf("the certificate has not changed, or the old authority has gone: there are %d", w.authorities())
				}
			}
		}
		if n := w.authorities(); n != 1 || count(w.secret().Data["ca.crt"]) != 1 {
			t.Errorf("%d authorities are trusted after the old one has expired", n)
		}
	})
}

// A certificate does not change before all configurations have had its authority for five minutes.
func TestTheNextAuthorityIsUsedOnceItIsKnownEverywhere(t *testing.T) {
	play(t, func(w *world, a, b *certificates.Issuer) {
		refused := &counter{}
		w.server.Intercept(refused.see)
		time.Sleep(541 * day)
		refuse := func(is clienttest.Request) http.HandlerFunc {
			if is.Verb == "patch" && is.Resource.Resource == "customresourcedefinitions" {
				return clienttest.Answer(meta.Status{Code: 403, Reason: "Forbidden", Message: "no"})
			}
			return nil
		}
		w.look(a) // the certificate has expired: it is renewed first
		refused.refuse = refuse
		_ = b.Look(w.quiet())
		for range 10 {
			if err := a.Look(w.quiet()); !errors.Is(err, apierrors.Forbidden) {
				t.Fatalf("got %v, want that the definition cannot be written", err)
			}
			time.Sleep(10 * time.Minute)
		}
		_, old := a.Served()
		if s := a.Status(); !s.Rotating || !s.Configurations[2].Trusts || s.Configurations[2].Err == nil {
			t.Errorf("the status is %+v", s)
		}
		if err := errors.Join(w.trusts(a), a.Look(w.quiet())); !errors.Is(err, apierrors.Forbidden) || strings.Contains(err.Error(), "unknown authority") {
			t.Errorf("got %v", err)
		}
		refused.refuse = nil
		w.look(a)
		time.Sleep(certificates.SettleTime - time.Second)
		w.look(a)
		if _, by := a.Served(); !by.Equal(old) {
			t.Error("the next authority is used although it was not known for long")
		}
		time.Sleep(time.Second)
		w.look(a)
		if _, by := a.Served(); by.Equal(old) || w.trusts(a) != nil {
			t.Errorf("the next authority is not used: %v", w.trusts(a))
		}
		// The other replica has not looked. Its certificate is still trusted.
		if err := w.trusts(b); err != nil || same(a, b) {
			t.Errorf("the old certificate: %v", err)
		}
	})
}

func TestADeletedSecretIsReplacedWithoutAGap(t *testing.T) {
	play(t, func(w *world, a, b *certificates.Issuer) {
		_, old := a.Served()
		w.deleteSecret()
		for range 30 {
			w.look(b, a)
			if err := errors.Join(w.trusts(a), w.trusts(b)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(20 * time.Second)
		}
		if _, by := a.Served(); by.Equal(old) || !same(a, b) {
			t.Error("the authority was not replaced")
		}
	})
}

// A replica that has just started knows nothing of the deleted Secret. Those that run go on with the old certificate.
func TestADeletedSecretIsReplacedByAReplicaThatDoesNotKnowIt(t *testing.T) {
	play(t, func(w *world, a, b *certificates.Issuer) {
		w.deleteSecret()
		fresh := w.replica("c")
		w.look(fresh)
		if n := w.authorities(); n != 2 || w.trusts(fresh) != nil {
			t.Errorf("%d authorities, the new one: %v", n, w.trusts(fresh))
		}
		for range 40 {
			if err := errors.Join(w.trusts(a), w.trusts(b), w.trusts(fresh)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Second)
			w.look(a, b, fresh)
		}
		if !same(a, fresh) || !same(b, fresh) {
			t.Error("the replicas do not agree")
		}
	})
}

func TestARestoredBackupDoesNotBreakRunningReplicas(t *testing.T) {
	play(t, func(w *world, a, b *certificates.Issuer) {
		backup := maps.Clone(w.secret().Data)
		w.deleteSecret()
		w.look(a, b)
		w.pass(time.Hour, a, b)
		_, now := a.Served()
		w.replace(backup)
		fresh := w.replica("c")
		for range 40 {
			w.look(fresh, a, b)
			if err := errors.Join(w.trusts(a), w.trusts(b), w.trusts(fresh)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Second)
		}
		if _, by := fresh.Served(); by.Equal(now) || !same(a, fresh) || !same(b, fresh) {
			t.Error("the replicas do not agree on what the backup says")
		}
	})
}

// After an outage of years everything has expired, and something new is made at once.
func TestALongOutage(t *testing.T) {
	play(t, func(w *world, a, b *certificates.Issuer) {
		time.Sleep(1000 * day)
		if err := a.Ready(); err == nil {
			t.Error("a replica that does not run is ready")
		}
		w.look(a, b)
		if !same(a, b) || w.trusts(a) != nil || w.authorities() != 1 {
			t.Errorf("after the outage: %v, %d authorities", w.trusts(a), w.authorities())
		}
		fresh := w.replica("c")
		w.look(fresh)
		if !same(a, fresh) {
			t.Error("a new replica does not agree")
		}
	})
}

func TestABundleThatAnotherProgramOverwritesIsWrittenAgain(t *testing.T) {
	foreign, _, err := certificates.NewAuthority(meta.Key{Namespace: "other", Name: "other"}, time.Now(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"empty": {}, "a placeholder": []byte("\n"), "another authority": foreign} {
		t.Run(name, func(t *testing.T) {
			play(t, func(w *world, a, b *certificates.Issuer) {
				w.overwrite(text)
				w.look(b, a)
				if err := w.trusts(a); err != nil || w.authorities() != 1 {
					t.Errorf("it is not written again: %v, %d", err, w.authorities())
				}
			})
		})
	}
}

func TestOtherFieldsAndOtherWebhooksStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, clienttest.Options{Objects: []string{"testdata/mixed.yaml"}})
		a := w.replica("a", func(o *certificates.Options) {
			o.Validating, o.Mutating, o.Definitions, o.Names = []string{"mixed"}, nil, nil, []string{"hooks.example.com", "10.0.0.9"}
		})
		key := meta.Key{Name: "mixed"}
		before, err := client.For(w.c, validate).Get(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		w.look(a)
		after, err := client.For(w.c, validate).Get(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []bool{true, false, true, false, true} {
			at := after.Webhooks[i]["clientConfig"].(map[string]any)
			if _, has := at["caBundle"]; has != want {
				t.Errorf("webhook %v has a bundle: %v", after.Webhooks[i]["name"], has)
			}
			delete(at, "caBundle")
			if got, was := shown(t, after.Webhooks[i]), shown(t, before.Webhooks[i]); !bytes.Equal(got, was) {
				t.Errorf("a webhook has become\n%s and was\n%s", got, was)
			}
		}
	})
}

// Two replicas with different names, as while a Deployment is rolled out, do not undo each other's writes.
func TestReplicasWithDifferentNamesAgree(t *testing.T) {
	play(t, func(w *world, a, b *certificates.Issuer) {
		more := w.replica("c", func(o *certificates.Options) { o.Names = []string{"hooks.example.com", "10.0.0.9"} })
		w.look(more, a, b)
		leaf, _ := a.Served()
		if leaf.VerifyHostname("10.0.0.9") != nil || leaf.VerifyHostname("hooks.example.com") != nil || leaf.VerifyHostname(host) != nil {
			t.Errorf("the certificate is for %q, %q", leaf.DNSNames, leaf.IPAddresses)
		}
		other := w.replica("d", func(o *certificates.Options) { o.Names = []string{"more.example.com"} })
		w.look(other, more, a, b)
		version := w.secret().ResourceVersion
		w.look(other, more, a, b)
		if w.secret().ResourceVersion != version || !same(other, more) || !same(a, b) || !same(a, more) {
			t.Error("the replicas go on writing")
		}
	})
}

func TestAWrongSecretIsReplaced(t *testing.T) {
	for name, change := range map[string]func(map[string][]byte){
		"empty":                     func(m map[string][]byte) { clear(m); m["tls.crt"], m["tls.key"] = nil, nil },
		"no key":                    func(m map[string][]byte) { delete(m, "authority.key") },
		"the key of something else": func(m map[string][]byte) { m["tls.key"] = m["authority.key"] },
		"no PEM":                    func(m map[string][]byte) { m["authority.crt"], m["tls.crt"] = []byte("x"), []byte{0xff} },
		"no bundle":                 func(m map[string][]byte) { delete(m, "ca.crt") },
		"another certificate": func(m map[string][]byte) {
			m["tls.crt"], m["tls.key"], _ = certificates.NewAuthority(meta.Key{}, time.Now(), time.Hour)
		},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(w *world, a, b *certificates.Issuer) {
				data := w.secret().Data
				change(data)
				data["foreign"] = []byte("kept")
				w.replace(data)
				for range 40 {
					w.look(a, b)
					if err := errors.Join(w.trusts(a), w.trusts(b)); err != nil {
						t.Fatal(err)
					}
					time.Sleep(10 * time.Second)
				}
				s := w.secret()
				if !same(a, b) || string(s.Data["foreign"]) != "kept" {
					t.Errorf("agreed: %v, the foreign key is %q", same(a, b), s.Data["foreign"])
				}
				fresh := w.replica("c")
				w.look(fresh)
				if !same(fresh, a) || w.secret().ResourceVersion != s.ResourceVersion {
					t.Error("the Secret is not in order")
				}
			})
		})
	}
}

// Clocks that differ by less than a day do no harm. A wrong clock is named, and nothing is changed then.
func TestAnAuthorityFromTheFutureIsLeftAlone(t *testing.T) {
	play(t, func(w *world, a, b *certificates.Issuer) {
		data := w.secret().Data
		var err error
		data["authority.crt"], data["authority.key"], err = certificates.NewAuthority(secretKey, time.Now().Add(2*day), 100*day)
		if err != nil {
			t.Fatal(err)
		}
		w.replace(data)
		version := w.secret().ResourceVersion
		if err := a.Look(w.quiet()); err == nil || !strings.Contains(err.Error(), "the clock of this replica is wrong") {
			t.Errorf("got %v", err)
		}
		if err := errors.Join(w.trusts(a), w.trusts(b)); err != nil || w.secret().ResourceVersion != version {
			t.Errorf("the certificate: %v", err)
		}
		time.Sleep(day + time.Hour)
		w.look(a, b)
		if err := errors.Join(w.trusts(a), w.trusts(b)); err != nil {
			t.Error(err)
		}
	})
}

// Another replica, whose authority this one does not know, writes a bundle between the read and the write of this one.
func TestABundleThatChangesAfterTheReadLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newSmallWorld(t, clienttest.Options{})
		a := w.replica("a", oneConfiguration)
		other, _, err := certificates.NewAuthority(secretKey, time.Now(), day)
		if err != nil {
			t.Fatal(err)
		}
		patches := 0
		w.server.Intercept(func(r *http.Request) http.HandlerFunc {
			if r.UserAgent() != "a" || r.Method != http.MethodPatch {
				return nil
			}
			if patches++; patches == 1 {
				w.overwrite(other)
			}
			return nil
		})
		w.look(a)
		if text := w.bundle(validate); patches != 2 || count(text) != 2 || !bytes.Contains(text, other) {
			t.Errorf("after %d patches the bundle has %d authorities", patches, count(text))
		}
		// It leaves a day after it has expired.
		time.Sleep(47 * time.Hour)
		w.look(a)
		if n := count(w.bundle(validate)); n != 2 {
			t.Errorf("%d authorities before the end", n)
		}
		time.Sleep(2 * time.Hour)
		w.look(a)
		w.server.Intercept(nil)
		w.overwrite(append(w.bundle(validate), '\n')) // the next write drops it
		w.look(a)
		if n := count(w.bundle(validate)); n != 1 {
			t.Errorf("%d authorities after the end", n)
		}
	})
}

// After the switch the Secret names the old authority, so any replica can restore it for those that still show it.
func TestTheOldAuthorityIsRestoredWhileAReplicaShowsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newSmallWorld(t, clienttest.Options{})
		a, b := w.replica("a", oneConfiguration), w.replica("b", oneConfiguration)
		announce(w, a, b, 540*day+time.Hour)
		w.look(a, b)
		time.Sleep(certificates.SettleTime)
		w.look(a)
		w.overwrite(nil)
		w.look(a)
		leaf, _ := b.Served()
		if err := trusted(leaf, map[string][]byte{"sites": w.bundle(validate)}); err != nil || same(a, b) {
			t.Errorf("the replica that has not looked: %v", err)
		}
	})
}

// The Secret is another one, which does not name the authority that a replica shows. The replica restores it.
func TestAReplicaRestoresTheAuthorityThatItShows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newSmallWorld(t, clienttest.Options{})
		a, fresh := w.replica("a", oneConfiguration), w.replica("b", oneConfiguration)
		w.look(a)
		w.deleteSecret()
		w.look(fresh)
		w.overwrite(nil)
		w.look(fresh, a, fresh)
		for _, i := range []*certificates.Issuer{a, fresh} {
			leaf, _ := i.Served()
			if err := trusted(leaf, map[string][]byte{"sites": w.bundle(validate)}); err != nil || same(a, fresh) {
				t.Error(err)
			}
		}
	})
}
