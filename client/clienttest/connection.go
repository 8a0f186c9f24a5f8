package clienttest

// SwapCertificate gives the server another certificate and key of the same CA. Handshakes from now on use it, and open
// connections are not touched; [Server.GoAway] and [Server.Freeze] are for those. It does nothing without Options.TLS.
func (s *Server) SwapCertificate() {
	if s.authority != nil {
		s.authority.Swap(false)
	}
}

// SwapCA gives the server another CA, and a certificate of that. Config then carries the new CA; who trusts the old one
// alone, or has a client certificate of it, fails at the next handshake. It does nothing without Options.TLS.
func (s *Server) SwapCA() {
	if s.authority != nil {
		s.authority.Swap(true)
	}
}

// ClientCertificate returns a new certificate of the server's present CA for a user, and its key, as PEM. A request on a
// connection with such a certificate needs no token. Both are nil without Options.TLS.
func (s *Server) ClientCertificate(user string) (certPEM, keyPEM []byte) {
	if s.authority == nil {
		return nil, nil
	}
	return s.authority.ClientCertificate(user)
}

// Connections returns how many connections are open, frozen ones included until the server gives them up.
func (s *Server) Connections() int { return len(s.door.Open()) }

// Freeze makes every open connection half-open, as when a firewall has forgotten it or the host of the other end has
// lost its power: nothing arrives any more, in either direction, and neither side is told, not even of an end. It
// returns how many there were. New connections work.
//
// The server itself notices when the client closes its end, so that what a test has given up does not stay.
func (s *Server) Freeze() int {
	all := s.door.Open()
	for _, c := range all {
		c.Freeze()
	}
	return len(all)
}

// BlackHole makes the server accept connections and stay silent on them, until it is called with false. What was
// accepted meanwhile stays silent, and connections that were open before are not touched; [Server.Freeze] is for those.
func (s *Server) BlackHole(on bool) {
	s.door.Silence(on)
}

// Refuse makes dials through the Dial of Config fail with err, such as syscall.ECONNREFUSED, syscall.EMFILE or a
// *net.DNSError, until it is called with nil. Open connections live on.
func (s *Server) Refuse(err error) {
	s.door.Refuse(err)
}

// GoAway makes the server tell its clients to use other connections, as one does that is about to stop: GOAWAY on HTTP/2
// (RFC 9113, section 6.8), whose streams that are under way go on, and on HTTP/1.1 the end of each connection after its
// request. Idle connections are closed. It returns how many were open.
//
// A GOAWAY that is sent so names the newest stream, so no request is lost by it. For one that names an older stream
// there is no way through net/http.
func (s *Server) GoAway() int {
	n := s.Connections()
	if !s.door.GoAway() {
		return 0
	}
	return n
}
