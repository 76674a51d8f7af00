#!/bin/bash
# Tests croft experiment's engines: GNU parallel, alone and through ssh, and a Slurm of one node that it starts:
# experiment_engines.sh CROFT. Prints "N passed, N failed".
# shellcheck disable=SC2016,SC2181 # descriptions have variables of their own; the status belongs to the line before
set -uo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

croft=$(realpath "$1")
scratch
cd "$work" || exit 1
chmod 755 "$work"

evidence() {
    tail -n 5 messages
    ls -- */spool 2>&1
}

cat >program.c <<'C'
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    volatile long rounds = argc > 1 ? atol(argv[1]) : 0;
    while (rounds > 0)
        rounds--;
    printf("%s\n", argv[1]);
    return atol(argv[1]) == 7000;
}
C
cat >plan.yaml <<'Y'
title: engines
machine: functional
programs: {program: {source: program.c, flags: -O2, arguments: $n, region: total}}
axes: {n: {set: $n, from: 0, to: 23000, step: 1000}}
columns: {instructions: {statistic: hart.0.instructions}}
tables: [{column: instructions, across: program}]
Y
cat >endless.yaml <<'Y'
title: endless
machine: functional
programs: {endless: {source: endless.c, region: total}}
axes: {size: {set: memory.size, values: [128 MiB, 256 MiB]}}
columns: {instructions: {statistic: hart.0.instructions}}
Y
echo 'int main(void) { for (;;) {} }' >endless.c
"$croft" experiment plan.yaml --out here >here.txt 2>messages
[ $? -eq 1 ] && [ "$(wc -l <here/results.csv)" -eq 25 ]
judge $? "this machine"

# same DIR OPTIONS...: an experiment with these options has the same tables.
same() {
    local folder=$1
    shift
    "$croft" experiment plan.yaml --out "$folder" "$@" >output 2>messages
    [ $? -eq 1 ] && cmp here/results.csv "$folder/results.csv" && cmp here/tables.txt "$folder/tables.txt" && [ ! -e "$folder/spool" ]
}

# The workers of an experiment in this folder.
workers() {
    local process
    for process in /proc/[0-9]*; do
        if tr '\0' ' ' 2>/dev/null <"$process/cmdline" | grep -q -- "--work $work"; then echo "${process#/proc/}"; fi
    done 2>/dev/null
}

# ends OPTIONS...: endless runs end with croft, whether it takes the signal or not.
ends() {
    local signal i
    for signal in TERM KILL; do
        "$croft" experiment endless.yaml --out "endless$signal" "$@" >output 2>messages &
        local pid=$!
        for ((i = 0; i < 600; i++)); do
            if [ "$(workers | wc -l)" -ge 1 ]; then break; fi
            sleep 0.1
        done
        [ "$i" -lt 600 ]
        judge $? "$2, SIG$signal: workers begin"
        kill -s "$signal" "$pid"
        wait "$pid" 2>/dev/null
        for ((i = 0; i < 100; i++)); do
            if [ -z "$(workers)" ]; then break; fi
            sleep 0.1
        done
        [ -z "$(workers)" ]
        judge $? "$2, SIG$signal: no process is left"
    done
}

same parallel --engine parallel --jobs 3
judge $? "GNU parallel has the same tables"
same "it's" --engine parallel --jobs 3
judge $? "a folder whose name has an apostrophe, by GNU parallel"
same parallel --engine parallel && grep -q '24 runs were in' messages
judge $? "nothing runs twice"
# A host behind a stand-in for ssh: it drops the options and the host, and gives the rest to a shell, as sshd does.
cat >ssh <<'S'
#!/bin/bash
while [[ $1 == -* ]]; do
    case $1 in -[bcDeFIiLlmOopRSWw]) shift ;; esac
    shift
done
echo "$1" >>"$(dirname "$0")/hosts"
shift
if [ "${1:-}" = -- ]; then shift; fi
exec bash -c "$*"
S
chmod +x ssh
PARALLEL_SSH=$work/ssh same remote --engine parallel --jobs 2 --hosts one,two && grep -q one hosts && grep -q two hosts
judge $? "GNU parallel with two hosts has the same tables"
rm hosts
(unset SHELL && PARALLEL_SSH=$work/ssh same bare --engine parallel --jobs 2 --hosts one,two && grep -q two hosts)
judge $? "GNU parallel reaches hosts without SHELL in the environment"
ends --engine parallel

# Real hosts: an sshd with configuration and keys of its own, at two addresses of this machine.
sshd() {
    mkdir -p sshd
    made=
    if [ ! -d /run/sshd ]; then made=/run/sshd; mkdir "$made"; fi # it must be there, and be root's
    ssh-keygen -q -t ed25519 -N '' -f sshd/host && ssh-keygen -q -t ed25519 -N '' -f sshd/user || return 1
    cat >sshd/config <<C
Port $((port + 2))
ListenAddress 127.0.0.1
ListenAddress 127.0.0.2
HostKey $work/sshd/host
AuthorizedKeysFile $work/sshd/user.pub
PidFile $work/sshd/pid
StrictModes no
PermitRootLogin yes
PasswordAuthentication no
UsePAM no
LogLevel VERBOSE
C
    cat >sshd/client <<C
Host *
    Port $((port + 2))
    IdentityFile $work/sshd/user
    IdentitiesOnly yes
    UserKnownHostsFile $work/sshd/known
    StrictHostKeyChecking accept-new
    BatchMode yes
    LogLevel ERROR
Host localhost
    HostName 127.0.0.2
C
    printf '#!/bin/sh\nexec /usr/bin/ssh -F %s "$@"\n' "$work/sshd/client" >sshd/ssh
    chmod +x sshd/ssh
    /usr/sbin/sshd -f sshd/config -E "$work/sshd/log" || return 1
    local i
    for ((i = 0; i < 100; i++)); do
        if [ -s sshd/pid ]; then break; fi
        sleep 0.1
    done
    sshd/ssh 127.0.0.1 true && sshd/ssh localhost true
}

stop_sshd() {
    if [ -s sshd/pid ]; then kill "$(cat sshd/pid)"; fi
    if [ -n "${made:-}" ]; then rmdir "$made"; fi
}

port=$((20000 + $$ % 20000))
if [ -x /usr/sbin/sshd ] && [ "$(id -u)" -eq 0 ]; then
    trap 'cd "$work" && stop_sshd 2>/dev/null; rm -rf "$work"' EXIT
    sshd
    judge $? "sshd starts: $(tail -n 3 sshd/log 2>/dev/null | tr '\n' ' ')"
    PARALLEL_SSH=$work/sshd/ssh same both --engine parallel --jobs 2 --hosts 127.0.0.1,localhost &&
        grep -q 'Starting session: command.* from 127.0.0.1' sshd/log && grep -q 'Connection from .* on 127.0.0.2' sshd/log
    judge $? "two hosts behind sshd have the same tables"
    export PARALLEL_SSH=$work/sshd/ssh
    ends --engine parallel --hosts 127.0.0.1,localhost
    unset PARALLEL_SSH
    "$croft" experiment plan.yaml --out nohost --engine parallel --hosts 127.0.0.3 >output 2>messages
    [ $? -eq 1 ] && grep -q 'can each host be reached by ssh without a password' messages
    judge $? "a host that cannot be reached"
    stop_sshd
    trap 'rm -rf "$work"' EXIT
else
    echo "SKIPPED: NO SSHD, OR NOT ROOT; HOSTS BEHIND A REAL SSHD ARE NOT TESTED"
fi
"$croft" experiment plan.yaml --engine paralel >output 2>messages
[ $? -eq 2 ] && grep -q "unknown engine 'paralel'; did you mean 'parallel'? Allowed: local, slurm, parallel" messages
judge $? "an unknown engine"
PATH=/nowhere "$croft" experiment plan.yaml --out nowhere --results here/results.db --engine slurm >output 2>messages
[ $? -eq 1 ] && grep -q 'slurm' messages
judge $? "no Slurm"

# A Slurm of one node: munge, slurmctld and slurmd with folders of their own, ended when the script ends.
slurm() {
    local host
    host=$(hostname -s)
    mkdir -p slurm/{state,spool,munge,log}
    chmod 711 slurm
    chmod 700 slurm/munge
    dd if=/dev/urandom of=slurm/munge/key bs=1 count=128 2>/dev/null
    chmod 600 slurm/munge/key
    munged --force --socket "$work/slurm/munge.socket" --key-file slurm/munge/key --log-file "$work/slurm/munge/log" \
        --pid-file "$work/slurm/munge/pid" --seed-file "$work/slurm/munge/seed" || return 1
    cat >slurm/slurm.conf <<C
ClusterName=croft
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$work/slurm/munge.socket
CryptoType=crypto/munge
SlurmctldPort=$port
SlurmdPort=$((port + 1))
StateSaveLocation=$work/slurm/state
SlurmdSpoolDir=$work/slurm/spool
SlurmctldPidFile=$work/slurm/slurmctld.pid
SlurmdPidFile=$work/slurm/slurmd.pid
SlurmctldLogFile=$work/slurm/log/slurmctld
SlurmdLogFile=$work/slurm/log/slurmd
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=2
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
KillWait=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=2 RealMemory=1000 State=UNKNOWN
PartitionName=small Nodes=$host Default=YES MaxTime=10:00 State=UP
C
    export SLURM_CONF=$work/slurm/slurm.conf
    slurmctld >slurm/log/start 2>&1 && slurmd >>slurm/log/start 2>&1 || return 1
    local i
    for ((i = 0; i < 300; i++)); do
        if sinfo -h -o %t 2>/dev/null | grep -q idle; then return 0; fi
        sleep 0.2
    done
    return 1
}

stop_slurm() {
    local file
    for file in slurm/slurmd.pid slurm/slurmctld.pid slurm/munge/pid; do
        if [ -s "$file" ]; then kill "$(cat "$file")" 2>/dev/null; fi
    done
    sleep 1
    rm -rf "$work"
}

if [ "$(id -u)" -ne 0 ]; then
    echo "SKIPPED: ROOT IS NEEDED TO START SLURM; ITS ENGINE IS NOT TESTED"
    conclude
    exit
fi
trap 'cd "$work" && stop_slurm' EXIT
slurm
judge $? "Slurm starts: $(tail -n 3 slurm/log/* 2>/dev/null | tr '\n' ' ' | tail -c 300)"
same array --engine slurm --partition small --time 5:00 --memory 100MiB
judge $? "Slurm has the same tables"
"$croft" experiment plan.yaml --out other --engine slurm --partition none >output 2>messages
[ $? -eq 1 ] && grep -q -- '--engine slurm: sbatch has refused the runs: .*invalid partition' messages
judge $? "an unknown partition"
ends --engine slurm
squeue -h | grep -q . && sleep 5
[ -z "$(squeue -h)" ] || [ "$(squeue -h -o %T | sort -u)" = COMPLETING ]
judge $? "no job is left in the queue"

# A node that is requeued, and one that fails: the runs are executed again.
sed 's/to: 23000, step: 1000/to: 3000000, step: 1000000/' plan.yaml >long.yaml
"$croft" experiment long.yaml --out longhere >output 2>messages
"$croft" experiment long.yaml --out long --engine slurm >output 2>messages &
pid=$!
for ((i = 0; i < 300; i++)); do
    job=$(squeue -h -t RUNNING -o %F_%K | head -n 1)
    if [ -n "$job" ]; then break; fi
    sleep 0.1
done
scontrol requeue "$job" 2>/dev/null
job=$(squeue -h -r -t RUNNING,PENDING -o %F_%K | tail -n 1)
scancel "$job" 2>/dev/null
wait "$pid"
[ $? -eq 0 ] && cmp longhere/results.csv long/results.csv
judge $? "a task that is requeued and one that is lost are executed again"

conclude
