package strategy

import "strings"

// checkNetwork checks the names and addresses of a pod.
func (p pod) checkNetwork() {
	for _, name := range []string{"hostname", "subdomain"} {
		if v := p.at(name); v.text() != "" {
			v.fits(label(v.text()))
		}
	}
	if v := p.at("hostnameOverride"); v.exists() {
		if p.at("setHostnameAsFQDN").flag() {
			v.forbidden("may not be specified when setHostnameAsFQDN is true")
		}
		if p.at("hostNetwork").flag() {
			v.forbidden("may not be specified when hostNetwork is true")
		}
		if len(v.text()) > 64 {
			v.tooLong(64)
		}
		v.fits(subdomain(v.text()))
	}
	for _, alias := range p.at("hostAliases").items() {
		alias.at("ip").fits(address(alias.at("ip").text()))
		for _, name := range alias.at("hostnames").items() {
			name.fits(subdomain(name.text()))
		}
	}
	p.checkDNS()
	if !p.at("hostNetwork").flag() {
		return
	}
	for _, c := range p.at("containers").items() {
		for _, port := range c.at("ports").items() {
			host := port.at("hostPort")
			if n := host.number(); (p.isPod || n != 0) && n != port.at("containerPort").number() {
				host.invalid("must match `containerPort` when `hostNetwork` is true")
			}
		}
	}
}

// checkDNS checks how a pod looks up names.
func (p pod) checkDNS() {
	v := p.at("dnsConfig")
	servers, searches := v.at("nameservers"), v.at("searches")
	if p.at("dnsPolicy").text() == "None" {
		if !v.exists() {
			v.required("must provide `dnsConfig` when `dnsPolicy` is None")
			return
		}
		if servers.len() == 0 {
			servers.required("must provide at least one DNS nameserver when `dnsPolicy` is None")
			return
		}
	}
	if servers.len() > 3 {
		servers.invalid("must not have more than 3 nameservers")
	}
	for _, server := range servers.items() {
		server.fits(address(server.text()))
	}
	if searches.len() > 32 {
		searches.invalid("must not have more than 32 search paths")
	}
	length := searches.len() - 1
	for _, search := range searches.items() {
		length += len(search.text())
		if search.text() != "." {
			search.fits(underscored(strings.TrimSuffix(search.text(), ".")))
		}
	}
	if length > 2048 {
		searches.invalid("must not have more than 2048 characters (including spaces) in the search list")
	}
	for _, option := range v.at("options").items() {
		if option.at("name").text() == "" {
			option.required("must not be empty")
		}
	}
}

// underscored is subdomain, with underscores.
func underscored(s string) []string {
	why := tooLong(s, 253)
	for part := range strings.SplitSeq(s, ".") {
		if !word(strings.TrimPrefix(part, "_"), lower+digits, lower+digits+"-_", lower+digits) {
			return append(why, "must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an "+
				"alphanumeric character")
		}
	}
	return why
}
