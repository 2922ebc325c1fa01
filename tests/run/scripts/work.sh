# work.sh: what shell scripts do: loops, arrays, functions, arithmetic, substitutions, traps, jobs. For bash.
declare -a list=(pear apple fig)
declare -A count
for word in the cat and the dog and the bird; do
    count[$word]=$((${count[$word]:-0} + 1))
done
for word in $(printf '%s\n' "${!count[@]}" | sort); do
    echo "$word ${count[$word]}"
done
fib() {
    local n=$1
    if ((n < 2)); then
        echo "$n"
    else
        echo $(($(fib $((n - 1))) + $(fib $((n - 2)))))
    fi
}
echo "fib $(fib 7), ${#list[@]} fruits, last ${list[-1]}, upper ${list[0]^^}"
primes=()
for ((i = 2; i < 200; i++)); do
    for p in "${primes[@]}"; do
        ((i % p == 0)) && continue 2
    done
    primes+=("$i")
done
echo "${primes[*]}"
text="a-b-c"
echo "${text//-/+} ${text%%-*} ${text##*-} ${text:2:1} ${#text}"
trap 'echo "trapped USR1"' USR1
kill -USR1 $$
trap 'echo "exit with $?"' EXIT
(
    trap - EXIT
    cd / && echo "in $PWD"
    exit 3
)
echo "subshell said $?"
seq 10 | while read -r n; do
    echo -n "$((n * n)) "
done
echo
case "$text" in
a*c) echo "matches" ;;
*) echo "does not" ;;
esac
[[ $text =~ ^(.)-(.)-(.)$ ]] && echo "${BASH_REMATCH[3]}${BASH_REMATCH[2]}${BASH_REMATCH[1]}"
sleep 0.05 &
wait $!
echo "job ended with $?"
diff <(seq 3) <(seq 4)
cat <<END
here: $(echo nested "$(echo deeper)")
END
exit 6
