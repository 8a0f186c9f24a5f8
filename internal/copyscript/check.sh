# Check FOLDER NONCE
LC_ALL=C; export LC_ALL; unset CDPATH
{ mkdir -p -- "$1" && cd -- "$1"; } || exit 1
while IFS= read -r n && [ -n "$n" ]; do
	case $n in *\\*) n=$(printf '%bx' "$n"); n=${n%x};; esac
	if [ -e "$n" ] || [ -L "$n" ]; then printf '%s: it exists\n' "$n" >&2; exit 81; fi
done
printf %s "$2"
