# Write TEMPORARY NAME REPLACE SUM
fail() { printf '%s: %s\n' "$2" "$3" >&2; rm -f -- "$t"; exit "$1"; }
t=$1
[ ! -d "$2" ] || fail 1 "$2" 'it is a folder'
if [ "$3" != 1 ] && { [ -e "$2" ] || [ -L "$2" ]; }; then fail 81 "$2" 'it exists'; fi
[ "$4" != 1 ] || sha256sum </dev/null >/dev/null || fail 83 sha256sum 'it is needed to verify'
: >"$t" || fail 1 "$2" 'it cannot be written'
echo ready
cat >"$t" || fail 1 "$2" 'it cannot be written'
wc -c <"$t" || fail 83 wc 'it is needed'
[ "$4" != 1 ] || sha256sum <"$t" || fail 1 "$2" 'its SHA-256 cannot be computed'
