package strategy

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// checkID checks the number of a user or of a group.
func checkID(v value) {
	if v.exists() {
		v.between(0, math.MaxInt32)
	}
}

// checkSecurity checks the security context of a container. clienttest allows privileged containers, as a
// kube-apiserver of a cluster does.
func (p pod) checkSecurity(v value) {
	if !v.exists() {
		return
	}
	checkID(v.at("runAsUser"))
	checkID(v.at("runAsGroup"))
	if mount := v.at("procMount"); mount.exists() {
		mount.among("Default", "Unmasked")
		if mount.text() == "Unmasked" && p.hostUsers() {
			mount.invalid("`hostUsers` must be false to use `Unmasked`")
		}
	}
	checkProfiles(v)
	if escalation := v.at("allowPrivilegeEscalation"); escalation.exists() && !escalation.flag() {
		if v.at("privileged").flag() {
			v.invalid("cannot set `allowPrivilegeEscalation` to false and `privileged` to true")
		}
		if slices.Contains(v.at("capabilities", "add").list(), any("CAP_SYS_ADMIN")) {
			v.invalid("cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN")
		}
	}
}

// checkPodSecurity checks the security context of a pod.
func (p pod) checkPodSecurity() {
	v := p.at("securityContext")
	for _, name := range []string{"fsGroup", "runAsUser", "runAsGroup"} {
		checkID(v.at(name))
	}
	for _, group := range v.at("supplementalGroups").items() {
		checkID(group)
	}
	p.checkSysctls(v.at("sysctls"))
	for name, values := range map[string][]string{
		"fsGroupChangePolicy":      {"Always", "OnRootMismatch"},
		"supplementalGroupsPolicy": {"Merge", "Strict"},
		"seLinuxChangePolicy":      {"MountOption", "Recursive"},
	} {
		if v.at(name).exists() {
			v.at(name).among(values...)
		}
	}
	checkProfiles(v)
	if share := p.at("shareProcessNamespace"); share.flag() && p.at("hostPID").flag() {
		share.invalid("ShareProcessNamespace and HostPID cannot both be enabled")
	}
	if p.at("hostUsers").exists() && !p.hostUsers() {
		for name, shown := range map[string]string{"hostNetwork": "hostNetwork", "hostPID": "HostPID", "hostIPC": "HostIPC"} {
			if p.at(name).flag() {
				p.at(shown).forbidden("when `hostUsers` is false")
			}
		}
		for _, c := range p.containers() {
			if c.at("volumeDevices").len() > 0 {
				c.at("volumeDevices").forbidden("when `hostUsers` is false")
			}
		}
	}
}

var sysctlForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`)
})

// checkSysctls checks the parameters of the kernel.
func (p pod) checkSysctls(v value) {
	var seen names
	for _, s := range v.items() {
		name := s.at("name")
		if name.must() && name.fits(append(tooLong(name.text(), 253), matching(sysctlForm())(name.text())...)) {
			seen.add(name)
		}
		dotted := strings.ReplaceAll(name.text(), "/", ".")
		if p.at("hostNetwork").flag() && strings.HasPrefix(dotted, "net.") {
			name.invalid("may not be specified when 'hostNetwork' is true")
		}
		if p.at("hostIPC").flag() && (strings.HasPrefix(dotted, "fs.mqueue.") || slices.ContainsFunc(
			strings.Fields("kernel.shm kernel.msg kernel.sem"), func(start string) bool { return strings.HasPrefix(dotted, start) })) {
			name.invalid("may not be specified when 'hostIPC' is true")
		}
	}
}

// checkProfiles checks the members that the security contexts of pods and of containers have in common.
func checkProfiles(v value) {
	if p := v.at("seccompProfile"); p.exists() {
		p.at("type").oneOf("Localhost", "RuntimeDefault", "Unconfined")
		file := p.at("localhostProfile")
		switch local := p.at("type").text() == "Localhost"; {
		case local && !file.exists():
			file.required("must be set when seccomp type is Localhost")
		case local:
			file.fits(descending(file.text()))
		case file.exists():
			file.invalid("can only be set when seccomp type is Localhost")
		}
	}
	checkAppArmor(v.at("appArmorProfile"))
	checkWindowsOptions(v.at("windowsOptions"))
}

// checkAppArmor checks an AppArmor profile.
func checkAppArmor(v value) {
	if !v.exists() || !v.at("type").oneOf("Localhost", "RuntimeDefault", "Unconfined") {
		return
	}
	file := v.at("localhostProfile")
	if v.at("type").text() != "Localhost" {
		if file.exists() {
			file.invalid("can only be set when AppArmor type is Localhost")
		}
		return
	}
	switch text := file.text(); {
	case strings.TrimSpace(text) != text:
		file.invalid("must not be padded with whitespace")
	case text == "":
		file.required("must be set when AppArmor type is Localhost")
	case len(text) > 4095:
		file.tooLong(4095)
	}
}

// checkWindowsOptions checks the options of a Windows container.
func checkWindowsOptions(v value) {
	if name := v.at("gmsaCredentialSpecName"); name.exists() {
		name.fits(subdomain(name.text()))
	}
	if spec := v.at("gmsaCredentialSpec"); spec.exists() && (spec.text() == "" || len(spec.text()) > 64<<10) {
		spec.invalid("gmsaCredentialSpec must have 1 to 65536 bytes")
	}
	user := v.at("runAsUserName")
	if !user.exists() {
		return
	}
	domain, name, found := strings.Cut(user.text(), `\`)
	if !found {
		domain, name = "", domain
	}
	netbios := regexp.MustCompile(`^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$`)
	dns := regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(\.[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$`)
	switch {
	case len(domain) >= 256, found && !netbios.MatchString(domain) && !dns.MatchString(domain), name == "", len(name) > 104,
		strings.Trim(name, ". ") == "", strings.ContainsAny(name, `"/\:;|=,+*?<>@[]`), regexp.MustCompile(`[[:cntrl:]]`).MatchString(user.text()):
		user.invalid(`must be a user, or a domain, a backslash and a user`)
	}
}

// checkOS checks the operating system of a pod, and that a pod has only the fields of that system.
func (p pod) checkOS() {
	p.checkHostProcess()
	v := p.at("os")
	if !v.exists() {
		return
	}
	if !v.at("name").must() {
		return
	}
	contexts := []value{p.at("securityContext")}
	for _, c := range p.containers() {
		contexts = append(contexts, c.at("securityContext"))
	}
	switch v.at("name").text() {
	case "linux":
		for _, c := range contexts {
			if options := c.at("windowsOptions"); options.exists() {
				options.forbidden("windows options cannot be set for a linux pod")
			}
		}
	case "windows":
		p.checkWindows(contexts)
	default:
		v.unsupported("linux", "windows")
	}
}

// checkWindows refuses the fields that a Windows pod cannot have.
func (p pod) checkWindows(contexts []value) {
	fields := []value{p.at("hostUsers"), p.at("shareProcessNamespace")}
	for _, name := range []string{"hostPID", "hostIPC"} {
		if p.at(name).flag() {
			fields = append(fields, p.at(name))
		}
	}
	for i, c := range contexts {
		for _, name := range strings.Fields("appArmorProfile seLinuxOptions seccompProfile runAsUser runAsGroup") {
			fields = append(fields, c.at(name))
		}
		names := "capabilities readOnlyRootFilesystem privileged allowPrivilegeEscalation procMount"
		if i == 0 {
			names = "fsGroup fsGroupChangePolicy sysctls supplementalGroups supplementalGroupsPolicy seLinuxChangePolicy"
		}
		for _, name := range strings.Fields(names) {
			if list, isList := c.at(name).is.([]any); !isList || len(list) > 0 {
				fields = append(fields, c.at(name))
			}
		}
	}
	for _, f := range fields {
		if f.exists() {
			f.forbidden("cannot be set for a windows pod")
		}
	}
}

// checkHostProcess checks the containers that are processes of a Windows node: either all of them are, or none.
func (p pod) checkHostProcess() {
	all := p.containers()
	whole := p.at("securityContext", "windowsOptions", "hostProcess")
	count := 0
	for _, c := range all {
		own := c.at("securityContext", "windowsOptions", "hostProcess")
		if whole.exists() && own.exists() && whole.flag() != own.flag() {
			own.invalid("pod hostProcess value must be identical if both are specified, was %v", whole.flag())
		}
		if own.flag() || !own.exists() && whole.flag() {
			count++
		}
	}
	if count == 0 {
		return
	}
	if count != len(all) {
		p.invalid("If pod contains any hostProcess containers then all containers must be HostProcess containers")
	}
	if !p.at("hostNetwork").flag() {
		p.at("hostNetwork").invalid("hostNetwork must be true if pod contains any hostProcess containers")
	}
}
