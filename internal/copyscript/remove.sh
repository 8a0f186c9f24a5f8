# Remove TEMPORARY
rm -f -- "$1" || exit 1
# a Write that has only begun may create the file now
sleep 1
rm -f -- "$1" || exit 1
