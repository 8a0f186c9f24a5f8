# Check FOLDER NONCE REPLACE
LC_ALL=C; export LC_ALL; unset CDPATH
fail() { printf '%s: %s\n' "$2" "$3" >&2; exit "$1"; }
{ mkdir -p -- "$1" && cd -- "$1"; } || exit 1
while IFS= read -r n && [ -n "$n" ]; do
	case $n in *\\*) n=$(printf '%bx' "$n"); n=${n%x};; esac
	m=${n#?}
	[ -e "$m" ] || [ -L "$m" ] || continue
	case $n in
	d*) { [ -d "$m" ] && [ ! -L "$m" ]; } || fail 81 "$m" 'it is not a folder';;
	*)
		[ -L "$m" ] || [ ! -d "$m" ] || fail 81 "$m" 'it is a folder'
		[ "$3" = 1 ] || fail 81 "$m" 'it exists'
		;;
	esac
done
printf %s "$2"
