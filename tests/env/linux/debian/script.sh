# shellcheck shell=dash
# For bash and busybox: no other programs.
sum=0
i=0
while [ $i -lt 2000 ]; do
    sum=$((sum + i * i % 7))
    i=$((i + 1))
done
echo "sum $sum"
f() { local n=$1; if [ "$n" -lt 2 ]; then r=$n; else f $((n - 1)); local a=$r; f $((n - 2)); r=$((a + r)); fi; }
f 12
echo "fibonacci $r"
while read -r a b c; do
    case $b in
        1?) echo "$a $b ${c#of }" ;;
        *5) printf '%s;' "$b" ;;
    esac
done <lines
echo
set -- one two three
echo "$# ${1} ${3:-none} ${4:-none}"
for name in folder/*; do echo "${name##*/}"; done
{ echo first; echo second; } >written
exec 5<written
read -r line <&5
exec 5<&-
echo "$line"
trap 'echo "signal"' USR1
kill -USR1 $$
echo "text" >/dev/null
umask 027
: >made
test -e made && echo "made"
cd folder && echo script.*
exit 9
