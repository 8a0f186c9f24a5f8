package client

import "time"

// CredentialStatus says how old the credential of a client is, for people who look for the cause of refusals. It
// contains no part of the credential itself.
type CredentialStatus struct {
	// From says where the credential comes from, such as "a token file and a client certificate", or the name of
	// [Credentials.Named]. It is empty for an anonymous client.
	From string
	// Obtained is when the credential was fetched or its file was last read. It is zero before the first request, and
	// for a credential that Config holds.
	Obtained time.Time
	// Expires is when the credential expires: the earliest of Credential.Expires, the expiry of the certificate, and
	// that of the token if the token is a JSON Web Token (RFC 7519). It is zero if it is not known.
	Expires time.Time
	// Err is why the last attempt to get or read another credential failed, while this one stays in use. It is nil if
	// the attempt succeeded. It is also set if the attempt brought a credential that had already expired by this
	// machine's clock, and that credential is in use.
	Err error
}

// CredentialStatus returns the status of the credential in force. It reads no file, sends nothing and waits for
// nothing.
func (c *Client) CredentialStatus() CredentialStatus { return CredentialStatus(c.transport.State()) }
