# Sums FOLDER NONCE
LC_ALL=C; export LC_ALL; unset CDPATH
cd -- "$1" || exit 1
sha256sum </dev/null >/dev/null || { echo 'sha256sum: it is needed to verify' >&2; exit 83; }
while IFS= read -r n && [ -n "$n" ]; do
	case $n in *\\*) n=$(printf '%bx' "$n"); n=${n%x};; esac
	sha256sum <"$n" || exit 1
done
printf %s "$2"
