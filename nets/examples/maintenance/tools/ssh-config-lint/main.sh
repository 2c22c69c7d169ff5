# Reads {"sshd": {"option": "value", ...}}, the effective options of sshd (`sshd -T`), and names
# those that weaken it. Plain sh: the list below is option, bad value, severity, what to do.
input=$(cat | tr 'A-Z' 'a-z')
list=''
add() { list="$list${list:+,}{\"check\":\"ssh-config-lint\",\"severity\":\"$1\",\"text\":\"$2\"}"; }
while read -r option bad severity advice; do
  case $input in
    *"\"$option\":\"$bad\""* | *"\"$option\": \"$bad\""*) add "$severity" "sshd: $option is $bad; $advice" ;;
  esac
done <<'RULES'
permitrootlogin yes critical use prohibit-password or no
permitemptypasswords yes critical say no
passwordauthentication yes warning use keys
x11forwarding yes info turn it off where nobody needs it
protocol 1 critical version 1 is broken
RULES
printf '{"findings":[%s]}\n' "$list"
