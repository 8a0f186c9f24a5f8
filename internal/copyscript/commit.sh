# Commit TEMPORARY NAME REPLACE MODE
fail() { printf '%s: %s\n' "$2" "$3" >&2; rm -f -- "$t"; exit "$1"; }
t=$1
[ ! -d "$2" ] || fail 1 "$2" 'it is a folder'
if [ "$3" != 1 ] && { [ -e "$2" ] || [ -L "$2" ]; }; then fail 81 "$2" 'it exists'; fi
[ -z "$4" ] || chmod "$4" "$t" || fail 1 "$2" 'its mode cannot be set'
mv -f -- "$t" "$2" || fail 1 "$2" 'it cannot be written'
