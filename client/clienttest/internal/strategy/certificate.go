package strategy

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/meta"
)

// addCertificates adds the kinds of certificates.
func addCertificates(all map[meta.GVK]kind) {
	add := func(name string, k kind) { all[meta.GVK{Group: "certificates.k8s.io", Version: "v1", Kind: name}] = k }
	add("CertificateSigningRequest", kind{check: checkSigningRequest})
	add("ClusterTrustBundle", kind{check: checkTrustBundle})
	add("PodCertificateRequest", kind{check: checkPodRequest, status: checkPodRequestStatus})
}

// addCertificateDefaults adds the defaults of these kinds.
func addCertificateDefaults(all map[string]func(jsontree.Object)) {
	all["certificates.v1.PodCertificateRequest"] = func(m jsontree.Object) {
		setDefault(section(m, "spec"), "maxExpirationSeconds", number(86400))
	}
}

// usages returns the uses that a certificate may be for.
func usages() []string {
	return []string{
		"any", "cert sign", "client auth", "code signing", "content commitment", "crl sign", "data encipherment", "decipher only",
		"digital signature", "email protection", "encipher only", "ipsec end system", "ipsec tunnel", "ipsec user", "key agreement",
		"key encipherment", "microsoft sgc", "netscape sgc", "ocsp signing", "s/mime", "server auth", "signing", "timestamping",
	}
}

// checkSigningRequest checks a new CertificateSigningRequest. Its spec does not change, and the package clienttest
// checks its status.
func checkSigningRequest(v value) {
	if v.updates {
		return
	}
	spec := v.at("spec")
	request, list, signer := spec.at("request"), spec.at("usages"), spec.at("signerName")
	if err := readRequest(request.bytes()); err != nil {
		request.invalid("%v", err)
	}
	list.must()
	for _, usage := range list.items() {
		usage.among(usages()...)
	}
	list.unique(func(usage value) value { return usage })
	if signer.text() == "kubernetes.io/legacy-unknown" {
		signer.invalid("the legacy signerName is not allowed via this API version")
	} else {
		checkSigner(signer)
	}
	if seconds := spec.at("expirationSeconds"); seconds.exists() {
		seconds.atLeast(600)
	}
}

// readRequest reads a request for a certificate in PEM.
func readRequest(text []byte) error {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return errors.New("PEM block type must be CERTIFICATE REQUEST")
	}
	request, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return err
	}
	return request.CheckSignature()
}

// checkTrustBundle checks a ClusterTrustBundle. The name of one for a signer starts with the signer's.
func checkTrustBundle(v value) {
	name, signer, bundle := v.at("metadata", "name"), v.at("spec", "signerName"), v.at("spec", "trustBundle")
	prefix := ""
	if signer.text() != "" {
		prefix = strings.ReplaceAll(signer.text(), "/", ":") + ":"
		checkSigner(signer)
	}
	if rest, found := strings.CutPrefix(name.text(), prefix); found {
		name.fits(subdomain(rest))
	} else {
		name.invalid("must start with %s", prefix)
	}
	if v.creates() || !bundle.unchanged() {
		checkAnchors(bundle)
	}
	signer.immutable()
}

// checkAnchors checks the certificates of a trust bundle: they differ, and each is that of an authority.
func checkAnchors(v value) {
	if v.len() > 1<<20 {
		v.tooLong(1 << 20)
		return
	}
	text := []byte(v.text())
	v.is = "<value omitted>"
	var all [][]byte
	bad, again := false, false
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		c, err := x509.ParseCertificate(block.Bytes)
		if block.Type != "CERTIFICATE" || len(block.Headers) > 0 || err != nil || !c.IsCA || !c.BasicConstraintsValid {
			bad = true
		}
		again = again || slices.ContainsFunc(all, func(other []byte) bool { return bytes.Equal(other, block.Bytes) })
		all = append(all, block.Bytes)
	}
	switch {
	case bad:
		v.invalid("must be certificates of authorities in PEM, without headers")
	case len(all) == 0:
		v.invalid("at least one trust anchor must be provided")
	case again:
		v.invalid("duplicate trust anchor")
	}
}
