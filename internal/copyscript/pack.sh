# Pack NONCE NAME
LC_ALL=C; export LC_ALL; unset CDPATH
k=$1
fail() { printf '%s: %s\n' "$1" "$2" >&2; exit 1; }
s=; ! stat -L -c '%a %Y %s' / >/dev/null 2>&1 || s=1
h=; ! head -c 1 </dev/null >/dev/null 2>&1 || h=1
# about MODE NAME prints the mode, time and size of NAME; without stat, MODE is the mode of what is not executable
about() {
	if [ -n "$s" ]; then stat -L -c '%a %Y %s' -- "$2" || exit 1; return; fi
	m=$1; [ ! -x "$2" ] || m=755
	z=0; [ ! -f "$2" ] || z=$(wc -c <"$2") || exit 1
	echo $m - $z
}
file() {
	[ -r "$1" ] || fail "$1" 'it cannot be read'
	a=$(about 644 "$1") || fail "$1" 'its size cannot be read'
	printf '%s f %s\0%s\0' "$k" "$a" "$1"
	# if the file has grown, only the announced bytes are sent; if it has shrunk, the reader notices
	if [ -n "$h" ]; then head -c "${a##* }" -- "$1"; else cat -- "$1"; fi || fail "$1" 'it cannot be read'
}
walk() (
	{ [ -r "$1" ] && [ -x "$1" ]; } || fail "$1" 'it cannot be read'
	for f in "$1"/* "$1"/.*; do
		case ${f##*/} in .|..) continue;; esac
		if [ -L "$f" ]; then
			t=$(readlink -- "$f" && echo x) || fail "$f" 'its target cannot be read'
			printf '%s l 0 - 0\0%s\0%s\0' "$k" "$f" "${t%??}"
		elif [ -d "$f" ]; then
			a=$(about 755 "$f") || fail "$f" 'its mode cannot be read'
			printf '%s d %s\0%s\0' "$k" "$a" "$f"
			walk "$f" || exit 1
		elif [ -f "$f" ]; then
			file "$f"
		elif [ -e "$f" ]; then
			printf '%s o 0 - 0\0%s\0' "$k" "$f"
		fi
	done
)
if [ -d "$2" ]; then
	cd -- "$2" || exit 1
	a=$(about 755 .) || fail "$2" 'its mode cannot be read'
	printf '%s d %s\0.\0' "$k" "$a"
	walk . || exit 1
elif [ -f "$2" ]; then
	file "$2"
else
	fail "$2" 'there is no such file or folder'
fi
printf '%s e 0 - 0\0' "$k"
