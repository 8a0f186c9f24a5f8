# Unpack NONCE FOLDER REPLACE
LC_ALL=C; export LC_ALL; unset CDPATH
fail() { printf '%s\n' "$2" >&2; exit "$1"; }
{ mkdir -p -- "$2" && cd -- "$2"; } || exit 1
[ "$(printf abcd | dd bs=2 count=3 iflag=fullblock,count_bytes 2>/dev/null)" = abc ] || fail 83 'dd: it must support iflag=fullblock,count_bytes'
t=./.bowline-$1
trap 'rm -f "$t"' EXIT
name() {
	IFS= read -r n || fail 1 'the input ends early'
	case $n in *\\*) n=$(printf '%bx' "$n"); n=${n%x};; esac
}
about() { chmod "$m" "$1" || exit 1; TZ=UTC0 touch -t "$d" "$1" || :; }
while read -r k m d s; do
	[ "$k" != e ] || { printf %s "$1"; exit 0; }
	name
	case $k in
	d) { [ -d "$n" ] && [ ! -L "$n" ]; } || mkdir -- "$n" || exit 81; continue;;
	m) about "$n"; continue;;
	esac
	[ -L "$n" ] || [ ! -d "$n" ] || fail 81 "$n: it is a folder"
	if [ -e "$n" ] || [ -L "$n" ]; then
		[ "$3" = 1 ] || fail 81 "$n: it exists"
		[ ! -L "$n" ] || rm -f "$n" || exit 1
	fi
	if [ "$k" = l ]; then
		l=$n; name
		rm -f "$l" && ln -s -- "$n" "$l" || exit 1
		continue
	fi
	: >"$t" || exit 1
	[ "$s" = 0 ] || o=$(dd bs=65536 count="$s" iflag=fullblock,count_bytes of="$t" 2>&1) || fail 1 "$n: $o"
	{ read -r z && [ "$z" = . ]; } || fail 1 'the input ends early'
	about "$t"
	mv -f "$t" "$n" || exit 1
done
fail 1 'the input ends early'
