package strategy

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"time"
)

// checkPodRequest checks a PodCertificateRequest. Its spec does not change.
func checkPodRequest(v value) {
	spec := v.at("spec")
	if v.updates {
		spec.immutable()
		return
	}
	checkSigner(spec.at("signerName"))
	checkUserAnnotations(spec.at("unverifiedUserAnnotations"))
	for _, of := range []string{"pod", "serviceAccount", "node"} {
		name, uid := spec.at(of+"Name"), spec.at(of+"UID")
		name.fits(subdomain(name.text()))
		switch n := uid.len(); {
		case n == 0:
			uid.invalid("must not be empty")
		case n > 128:
			uid.tooLong(128)
		}
	}
	spec.at("maxExpirationSeconds").between(3600, longestFor(spec.at("signerName").text()))
	checkStub(spec)
}

// checkStub checks the request for a certificate, which proves that the pod has a key.
func checkStub(spec value) {
	stub := spec.at("stubPKCS10Request")
	if stub.len() == 0 {
		spec.is = nil
		spec.invalid("exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set")
		return
	}
	raw := stub.bytes()
	if len(raw) > 10<<10 {
		stub.tooLong(10 << 10)
		return
	}
	request, err := x509.ParseCertificateRequest(raw)
	switch {
	case err != nil:
		stub.invalid("must be a valid PKCS#10 CSR")
	case !strong(request.PublicKey):
		stub.invalid("must be an Ed25519, a P256, P384 or P521, or a 3072 or 4096 bit RSA key")
	case request.CheckSignature() != nil:
		stub.invalid("invalid signature")
	}
}

// strong reports whether pods may have certificates for a key.
func strong(key any) bool {
	switch key := key.(type) {
	case ed25519.PublicKey:
		return true
	case *ecdsa.PublicKey:
		return key.Params().BitSize >= 256
	case *rsa.PublicKey:
		return key.Size() == 3072/8 || key.Size() == 4096/8
	}
	return false
}

// podRequestEnds are the conditions with which a PodCertificateRequest ends.
func podRequestEnds() []string { return []string{"Issued", "Denied", "Failed"} }

// ending returns the condition with which a PodCertificateRequest has ended; empty if it has not.
func ending(status value) string {
	for _, name := range podRequestEnds() {
		if hasTrue(status.at("conditions"), name) {
			return name
		}
	}
	return ""
}

// checkPodRequestStatus checks the status of a PodCertificateRequest. It changes once.
func checkPodRequestStatus(v value) {
	status := v.at("status")
	if status.at("conditions").reports(checkEnds) {
		return
	}
	old, end := ending(before(status)), ending(status)
	switch {
	case old != "":
		if !status.unchanged() {
			status.invalid("immutable after PodCertificateRequest is issued, denied, or failed")
		}
	case end == "":
		if !status.unchanged() {
			status.invalid("status is immutable unless transitioning to \"Issued\", \"Denied\", or \"Failed\"")
		}
	case end != "Issued":
		if !same(lacking(status.is, "conditions"), nil) {
			status.invalid("non-condition status fields must be empty when denying or failing the PodCertificateRequest")
		}
	default:
		checkIssued(v.at("spec"), status)
	}
}

// checkEnds checks the conditions of a PodCertificateRequest.
func checkEnds(list value) {
	ends := 0
	for _, c := range list.items() {
		name, is := c.at("type"), c.at("status")
		list := list.path
		name.path, is.path = strings.Replace(name.path, list+"[", list+".[", 1), strings.Replace(is.path, list+"[", list+".[", 1)
		if !name.among(podRequestEnds()...) {
			continue
		}
		if ends++; ends > 1 {
			name.invalid("there may be at most one condition")
		}
		is.among("True")
	}
	checkStatusConditions(list)
}

// checkIssued checks the certificate of a PodCertificateRequest, and its times.
func checkIssued(spec, status value) {
	chain := status.at("certificateChain")
	if chain.len() > 100<<10 {
		chain.tooLong(100 << 10)
		return
	}
	leaf, err := readChain([]byte(chain.text()))
	if err != nil {
		chain.invalid("%v", err)
		return
	}
	request, err := x509.ParseCertificateRequest(spec.at("stubPKCS10Request").bytes())
	if err != nil {
		return // it was checked
	}
	if key, ok := request.PublicKey.(interface{ Equal(x crypto.PublicKey) bool }); ok && !key.Equal(leaf.PublicKey) {
		chain.invalid("leaf certificate was not issued to the requested public key")
		return
	}
	from, to, refresh := status.at("notBefore"), status.at("notAfter"), status.at("beginRefreshAt")
	missing := false
	for _, at := range []value{from, to, refresh} {
		if !at.exists() {
			at.required("must be present and consistent with the issued certificate")
			missing = true
		}
	}
	const margin = 10 * time.Minute
	longest := time.Duration(spec.at("maxExpirationSeconds").number()) * time.Second
	switch lifetime := leaf.NotAfter.Sub(leaf.NotBefore); {
	case missing:
	case !from.time().Equal(leaf.NotBefore) || time.Since(leaf.NotBefore).Abs() > 5*time.Minute:
		from.invalid("must be the time in the leaf certificate, and within 5 minutes of now")
	case !to.time().Equal(leaf.NotAfter):
		to.invalid("must be the time in the leaf certificate")
	case lifetime < time.Hour || lifetime > longest:
		chain.invalid("leaf certificate lifetime must be at least an hour and at most %v", longest)
	case refresh.time().Before(leaf.NotBefore.Add(margin)) || refresh.time().After(leaf.NotAfter.Add(-margin)):
		refresh.invalid("must be at least 10 minutes after notBefore and before notAfter")
	}
}

// readChain reads certificates in PEM, and returns the first.
func readChain(text []byte) (leaf *x509.Certificate, _ error) {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		c, err := x509.ParseCertificate(block.Bytes)
		switch {
		case block.Type != "CERTIFICATE":
			return nil, fmt.Errorf("must consist entirely of CERTIFICATE PEM blocks, found %q", block.Type)
		case err != nil:
			return nil, err
		case leaf == nil:
			leaf = c
		}
	}
	if leaf == nil {
		return nil, errors.New("must contain at least one certificate")
	}
	return leaf, nil
}
