# Remove TEMPORARY
rm -f -- "$1" || exit 1
# Write may make it only now
sleep 1
rm -f -- "$1" || exit 1
