package clienttest

// SwapCertificate gives the server another certificate and key of the same CA. It affects later handshakes; for open
// connections, use [Server.GoAway] and [Server.Freeze]. It does nothing without Options.TLS.
func (s *Server) SwapCertificate() { s.authority.Swap(false) }

// SwapCA gives the server another CA, and a certificate of that CA. Config then has the new CA. A client that trusts
// only the old CA, or whose certificate is from the old CA, fails at the next handshake. SwapCA does nothing without
// Options.TLS.
func (s *Server) SwapCA() { s.authority.Swap(true) }

// ClientCertificate returns a new certificate of the server's present CA for a user, and its key, as PEM. A request on
// a connection with such a certificate needs no token. Both are nil without Options.TLS.
func (s *Server) ClientCertificate(user string) (certPEM, keyPEM []byte) {
	return s.authority.ClientCertificate(user)
}

// Connections returns the number of open connections, including frozen ones until the server gives up on them.
func (s *Server) Connections() int { return len(s.door.Open()) }

// Freeze makes every open connection half-open, as when a firewall has forgotten it or the host of the other end has
// lost power: nothing arrives any more, in either direction, and neither side notices, even if the other end closes.
// Freeze returns the number of these connections. New connections work.
//
// The server itself notices when the client closes its end, so a connection that the test closes does not stay open.
func (s *Server) Freeze() int {
	all := s.door.Open()
	for _, c := range all {
		c.Freeze()
	}
	return len(all)
}

// BlackHole makes the server accept connections and stay silent on them, until it is called with false. Connections
// that were accepted before that call stay silent after it. BlackHole does not affect connections that were open
// before; use [Server.Freeze] for those.
func (s *Server) BlackHole(on bool) { s.door.Silence(on) }

// Refuse makes dials through the Dial of Config fail with err, such as syscall.ECONNREFUSED, syscall.EMFILE or a
// *net.DNSError, until it is called with nil. Open connections stay open.
func (s *Server) Refuse(err error) { s.door.Refuse(err) }

// GoAway makes the server tell its clients to use other connections, like a server that is about to stop. HTTP/2
// connections get GOAWAY (RFC 9113, section 6.8), and their streams in progress go on. HTTP/1.1 connections end after
// their request. Idle connections are closed. GoAway returns the number of connections that were open.
//
// The GOAWAY names the newest stream, so no request is lost. net/http cannot send one that names an older stream.
func (s *Server) GoAway() int {
	n := s.Connections()
	if !s.door.GoAway() {
		return 0
	}
	return n
}
