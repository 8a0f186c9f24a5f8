# Sums FOLDER NONCE
LC_ALL=C; export LC_ALL; unset CDPATH
cd -- "$1" || exit 1
sha256sum </dev/null >/dev/null || { echo 'sha256sum: it is needed to verify' >&2; exit 83; }
k=$2
set --
all() { [ $# = 0 ] || sha256sum -- "$@" || exit 1; }
while IFS= read -r n && [ -n "$n" ]; do
	case $n in
	*\\*)
		# sha256sum would escape this name in its output, so the name is not given to it
		all "$@"; set --
		n=$(printf '%bx' "$n"); n=${n%x}
		sha256sum <"$n" || exit 1
		;;
	*)
		set -- "$@" "$n"
		[ $# -lt 100 ] || { all "$@"; set --; }
		;;
	esac
done
all "$@"
printf %s "$k"
