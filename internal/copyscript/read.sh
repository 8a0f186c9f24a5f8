# Read NAME NONCE
cat -- "$1" || exit 1
printf %s "$2"
