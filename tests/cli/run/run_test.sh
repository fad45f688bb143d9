#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests laple-run, whose path is the first argument, in a tree of its own: no MPI and no liblaple are needed.
set -euo pipefail

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/bin" "$tree/lib"
cp "$1" "$tree/bin/laple-run"
library=$tree/lib/liblaple.so
touch "$library"
laple_run=$tree/bin/laple-run
cd "$tree"
unset LD_PRELOAD
export LAPLE_CONFIG=none  # the settings of whoever runs this do not change it
failures=0

# Runs laple-run with the arguments; leaves $status, $out and $err.
run() {
    status=0
    "$laple_run" "$@" >"$tree/out" 2>"$tree/err" || status=$?
    out=$(<"$tree/out")
    err=$(<"$tree/err")
}

# expect WHAT ACTUAL WANTED
expect() {
    [[ $2 == "$3" ]] && return
    printf 'FAILED: %s\n  is:     %s\n  wanted: %s\n' "$1" "$2" "$3"
    failures=$((failures + 1))
}

# expect_part WHAT ACTUAL PART
expect_part() {
    [[ $2 == *"$3"* ]] && return
    printf 'FAILED: %s\n  is:     %s\n  wanted: ...%s...\n' "$1" "$2" "$3"
    failures=$((failures + 1))
}

# What is run: -genv for MPICH's mpiexec, the environment for all others.
run --print mpiexec -n 2 ./app --report
expect "mpiexec" "$err" "mpiexec -genv LD_PRELOAD $library -n 2 ./app --report"
expect "mpiexec, status" "$status" 0
expect "mpiexec, stdout" "$out" ""
run --print /usr/bin/mpiexec.hydra ./app
expect "path of mpiexec" "$err" "/usr/bin/mpiexec.hydra -genv LD_PRELOAD $library ./app"
run --print ./app --debug x
expect "program" "$err" "LD_PRELOAD=$library ./app --debug x"
run --print -- ./app -- y
expect "--" "$err" "LD_PRELOAD=$library ./app -- y"
run --print --disable --debug 2 --report --algorithm 'bcast:0-64K:flat/binomial;^native' mpirun ./app
expect "settings" "$err" "mpirun -genv LD_PRELOAD $library -genv LAPLE_ALGORITHM \
'bcast:0-64K:flat/binomial;^native' -genv LAPLE_REPORT 1 -genv LAPLE_DEBUG 2 -genv LAPLE_DISABLE 1 ./app"
run --print --verify --reproducible strict --progress thread mpiexec ./app
expect "how exact" "$err" \
    "mpiexec -genv LD_PRELOAD $library -genv LAPLE_REPRODUCIBLE strict -genv LAPLE_PROGRESS thread -genv LAPLE_VERIFY 1 ./app"
run --print --profile mpiexec ./app
expect_part "profile, whose library is not there" "$err" "laple-run: there is no liblaple_profile.so in $tree/lib"
profiling=$tree/lib/liblaple_profile.so
touch "$profiling"
run --print --profile mpiexec ./app
expect "profile" "$err" "mpiexec -genv LD_PRELOAD $profiling -genv LAPLE_PROFILE 1 ./app"
run --print --profile --json p.json mpiexec ./app
expect "profile, in a file" "$err" "mpiexec -genv LD_PRELOAD $profiling -genv LAPLE_PROFILE $tree/p.json ./app"
LAPLE_PROFILE=1 run --print mpiexec ./app
expect "inherited profile" "$err" "mpiexec -genv LD_PRELOAD $profiling ./app"
run --print --profile --json mpiexec ./app
expect "a bare --json, status" "$status" 2
expect_part "a bare --json" "$err" "--json mpiexec: the name of the file must end in .json"
run --print --json p.json mpiexec ./app
expect_part "--json of nothing" "$err" "--json is for a profile; write --profile --json FILE.json"
run --quiet sh -c 'echo only this'
expect "quiet" "$out" "only this"
expect "quiet, stderr" "$(grep -c 'sh -c' <<< "$err" || true)" 0  # but for what the loader says of the empty liblaple.so
run --quiet --print ./app
expect "quiet, but to be printed" "$err" "LD_PRELOAD=$library ./app"
run --print --deep mpiexec ./app
expect "deep, which is not there" "$err" "laple-run: there is no liblaple_deep.so in $tree/lib; build it (cmake \
--workflow --preset release), or use the laple-run that is installed with it"
touch "$tree/lib/liblaple_deep.so"
run --print --deep --profile ./app
expect "deep, and a profile" "$err" "LD_PRELOAD=$tree/lib/liblaple_deep.so LAPLE_PROFILE=1 ./app"
LD_PRELOAD=/nowhere/libprofiler.so run --print --deep ./app 2>/dev/null
expect "deep, below a profiler" "${err##*$'\n'}" "LD_PRELOAD=/nowhere/libprofiler.so:$tree/lib/liblaple_deep.so ./app"
for wrong in "--debug 7" "--reproducible Strict" "--progress treads"; do
    # shellcheck disable=SC2086
    run --print $wrong mpiexec ./app
    expect "$wrong, status" "$status" 2
    expect_part "$wrong" "$err" "${wrong#* } not in {"
done
run --print --report=out.txt mpiexec ./app
expect "report file" "$err" "mpiexec -genv LD_PRELOAD $library -genv LAPLE_REPORT $tree/out.txt ./app"
for algorithm in bogus flat/bogus; do
    LAPLE_ALGORITHM=$algorithm run --print mpiexec ./app
    expect "inherited $algorithm, status" "$status" 2
done
mkdir in
LAPLE_REPORT=in/out.txt run --print mpiexec ./app
expect "inherited report" "$err" "mpiexec -genv LD_PRELOAD $library -genv LAPLE_REPORT $tree/in/out.txt ./app"
run --print mpiexec -genv LD_PRELOAD=/nowhere/libother.so ./app
expect "preload in one word" "$err" "mpiexec -genv LD_PRELOAD $library -genv LD_PRELOAD=/nowhere/libother.so:$library ./app"
echo "cluster 0 process 0 1" >"my map"
run --print --topology "my map" mpiexec ./app
expect "topology file" "$err" \
    "mpiexec -genv LD_PRELOAD $library -genv LAPLE_TOPOLOGY '$tree/my map' ./app"
run --print --topology off mpiexec ./app
expect "topology off" "$err" "mpiexec -genv LD_PRELOAD $library -genv LAPLE_TOPOLOGY off ./app"

echo '{"format": "laple-model-1", "ranks": 2, "levels": []}' >model.json
run --print --topology auto --model model.json mpiexec ./app
expect "model file" "$err" \
    "mpiexec -genv LD_PRELOAD $library -genv LAPLE_TOPOLOGY auto -genv LAPLE_MODEL $tree/model.json ./app"

# Of srun's environment only what --export names reaches the ranks.
run --print --report srun --mpi=pmi2 --export=PATH,LAPLE_REPORT -n 4 ./app
expect_part "srun without LD_PRELOAD" "$err" "laple-run: srun --export=PATH,LAPLE_REPORT keeps LD_PRELOAD from the ranks"
run --print --report srun --export NONE ./app
expect_part "srun without anything" "$err" "srun --export=NONE keeps LD_PRELOAD, LAPLE_REPORT from the ranks"
run --print srun -o logs/out --export=NONE ./app
expect_part "srun with a path before it" "$err" "srun --export=NONE keeps LD_PRELOAD from the ranks"
for words in "--export=ALL,A=1 ./app" "--export=LD_PRELOAD ./app" "-n 4 ./app --export=NONE" "-- app --export=NONE"; do
    # shellcheck disable=SC2086
    run --print srun $words
    expect "srun $words" "$err" "LD_PRELOAD=$library srun $words"
done

# Ranks read configuration files themselves; what these say is looked at before the job starts. The environment is stronger.
printf 'LAPLE_TOPOLOGY = %s\nLAPLE_ALGORITHM = ^native\nLAPLE_REPORT = 1\n' "$tree/my map" >laple.conf
LAPLE_CONFIG=laple.conf run --print mpiexec ./app
expect "configuration file" "$err" "mpiexec -genv LD_PRELOAD $library -genv LAPLE_CONFIG $tree/laple.conf ./app"
mkdir -p home/laple
printf '\nLAPLE_TOPOLOGY = nowhere\n' >home/laple/laple.conf
run_with_home() { XDG_CONFIG_HOME=$tree/home run "$@"; }
unset LAPLE_CONFIG
run_with_home --print mpiexec ./app
expect "a wrong value in the user's file" "$err" \
    "laple-run: $tree/home/laple/laple.conf:2: LAPLE_TOPOLOGY: the topology file nowhere does not exist; make it with laple-discover, or leave it out"
LAPLE_TOPOLOGY=off run_with_home --print mpiexec ./app
expect "the environment is stronger" "$err" "mpiexec -genv LD_PRELOAD $library -genv LAPLE_TOPOLOGY off ./app"
LAPLE_CONFIG=nowhere run --print mpiexec ./app
expect "no configuration file, status" "$status" 2
expect_part "no configuration file" "$err" "LAPLE_CONFIG: nowhere: cannot be opened"
export LAPLE_CONFIG=none
run_with_home --print mpiexec ./app
expect "no file is read" "$err" "mpiexec -genv LD_PRELOAD $library ./app"

# Files that are written when the job ends: better said now that they cannot be, though only of this host.
run --print --report=no/r.txt --trace no/t.json --profile --json no/p.json mpiexec ./app
for file in "LAPLE_REPORT: $tree/no/r.txt" "LAPLE_TRACE: $tree/no/t.json" "LAPLE_PROFILE: $tree/no/p.json"; do
    expect_part "no folder for $file" "$err" "laple-run: $file cannot be written on this host: No such file or directory; \
make the folder $tree/no, unless rank 0, which writes it when the job ends, is on another host"
done
expect "no folder, status" "$status" 0
printf 'LAPLE_TRACE = %s/no/t.json\nLAPLE_REPORT = 1\n' "$tree" >laple.conf
LAPLE_CONFIG=laple.conf run --quiet true
expect_part "no folder for what a configuration file names" "$err" "LAPLE_TRACE: $tree/no/t.json cannot be written"
LAPLE_CONFIG=laple.conf run --quiet --trace in/t.json --report=/dev/null true
expect "another file by an option" "$(grep -c "cannot be written" <<< "$err" || true)" 0
run --print --trace in mpiexec ./app
expect_part "a folder for a file" "$err" "LAPLE_TRACE: $tree/in cannot be written on this host: Is a directory; name another file"

# An LD_PRELOAD that is there stays in front. ("env" sets it, so that this shell is not touched.)
status=0
err=$(env LD_PRELOAD=/nowhere/libprofiler.so "$laple_run" --print mpiexec ./app 2>&1 | grep -v '^ERROR: ld.so') ||
    status=$?
expect "existing LD_PRELOAD" "$err" \
    "mpiexec -genv LD_PRELOAD /nowhere/libprofiler.so:$library ./app"
run --print mpiexec -genv LD_PRELOAD /nowhere/libyield.so ./app
expect "LD_PRELOAD by -genv" "$err" \
    "mpiexec -genv LD_PRELOAD $library -genv LD_PRELOAD /nowhere/libyield.so:$library ./app"

# A program of libmpi_abi gets the library that a wheel has for it. An "ldd" of this test tells who is linked with what.
mkdir ldd
cat >ldd/ldd <<'END'
#!/bin/sh
case $1 in
    */abi_app) echo "libmpi_abi.so.1 => /nowhere/libmpi_abi.so.1" ;;
    */liblaple*.so) echo "libmpi.so.12 => /nowhere/libmpi.so.12" ;;
esac
END
chmod +x ldd/ldd
cp "$laple_run" abi_app
PATH=$tree/ldd:$PATH run --print mpiexec ./abi_app
expect_part "libmpi_abi, and no library for it" "$err" "./abi_app is linked with libmpi_abi.so.1, but this LaPle was built for libmpi.so.12"
mkdir -p lib/laple/abi
touch lib/laple/abi/liblaple.so lib/laple/abi/liblaple_deep.so
PATH=$tree/ldd:$PATH run --print mpiexec ./abi_app
expect "libmpi_abi" "$err" "mpiexec -genv LD_PRELOAD $tree/lib/laple/abi/liblaple.so ./abi_app"
PATH=$tree/ldd:$PATH run --print --deep mpiexec ./abi_app
expect "libmpi_abi, deep" "$err" "mpiexec -genv LD_PRELOAD $tree/lib/laple/abi/liblaple_deep.so ./abi_app"
PATH=$tree/ldd:$PATH run --print mpiexec "$laple_run"
expect "no libmpi_abi" "$err" "mpiexec -genv LD_PRELOAD $library $laple_run"

# Another MPI's mpiexec is told from MPICH's by what it is linked with.
mkdir other
cp "$laple_run" other/mpiexec
cat >ldd/ldd <<'END'
#!/bin/sh
case $1 in
    */other/mpiexec) echo "libopen-rte.so.40 => /nowhere/libopen-rte.so.40" ;;
    */liblaple*.so) echo "libmpich.so.12 => /nowhere/libmpich.so.12" ;;
esac
END
PATH=$tree/ldd:$tree/other:$PATH run --print mpiexec ./app
expect_part "Open MPI's mpiexec" "$err" \
    "laple-run: $tree/other/mpiexec is Open MPI's, but this LaPle was built for MPICH (libmpich.so.12)"
expect "Open MPI's mpiexec, and what is run all the same" "${err##*$'\n'}" "mpiexec -genv LD_PRELOAD $library ./app"
PATH=$tree/ldd:$tree/other:$PATH run --print srun ./app
expect "a launcher of nobody" "$err" "LD_PRELOAD=$library srun ./app"
ln -s mpiexec other/mpirun
PATH=$tree/ldd:$tree/other:$PATH run --print env A=1 mpirun ./app
expect "a script or an unknown mpirun" "$(grep -c "Open MPI" <<< "$err" || true)" 0
mv other/mpiexec other/mpiexec.hydra
sed -i 's/libmpich.so.12/libmpi.so.40/g' ldd/ldd
PATH=$tree/ldd:$PATH run --print other/mpiexec.hydra ./app
expect_part "MPICH's mpiexec" "$err" "other/mpiexec.hydra is MPICH's, but this LaPle was built for Open MPI (libmpi.so.40)"

# The line can be pasted: a shell reads back the same words.
run --print ./app "it's" 'a  b' "\$HOME" '' '*'
words=()
eval "words=(${err#*=* })"
expect "quoting" "$(printf '<%s>' "${words[@]}")" "<./app><it's><a  b><\$HOME><><*>"

# It is run, with these settings and this exit code. The dynamic linker complains of the empty liblaple.so on stderr.
run --debug 2 sh -c "echo \"\$LAPLE_DEBUG \$LD_PRELOAD\"; exit 7"
expect "exit code" "$status" 7
expect "environment" "$out" "2 $library"
cat >mpiexec <<'END'
#!/bin/sh
echo "${LD_PRELOAD-none} ${LAPLE_DEBUG-none} $*"
END
chmod +x mpiexec
run --debug 2 ./mpiexec -n 1 ./app
expect "mpiexec stays clean" "$out" "none none -genv LD_PRELOAD $library -genv LAPLE_DEBUG 2 -n 1 ./app"

# Mistakes are told, and nothing is run.
run --reprot=x touch ran
expect "unknown option, status" "$status" 2
expect_part "unknown option" "$err" 'did you mean --report?'
echo "cluster 0 process 0 2" >broken
run --topology broken touch ran
expect "a broken map is refused before anything runs" "$status" 2
expect_part "... with its place" "$err" "broken:1:21: rank 2 is here, but rank 1 is in no cluster"
run --algorithm bush/flat touch ran
expect "an unknown algorithm is refused" "$status" 2
expect_part "... with the names that exist" "$err" "laple-plan algorithms lists them"
run --topology nowhere touch ran
expect "no topology file, status" "$status" 2
expect_part "no topology file" "$err" "nowhere does not exist"
run --debug
expect "option without value, status" "$status" 2
run
expect "no command, status" "$status" 2
expect_part "no command" "$err" "no command to run"
run ./no-such-command
expect "no such command, status" "$status" 127
expect_part "no such command" "$err" "laple-run: ./no-such-command: command not found"
PATH=/nowhere run mpiexec -n 2 ./app
expect_part "no MPI" "$err" "laple-run: mpiexec: command not found; install MPICH ("
run --report out.txt mpiexec
expect_part "a bare --report before its file" "$err" "write --report=out.txt"
run --version
expect "version" "${out%% *} $status" "laple-run 0"
run --help
expect_part "help" "$out" "Examples:"

# Where liblaple.so is looked for.
mkdir "$tree/lib/x86_64-linux-gnu"
mv "$library" "$tree/lib/x86_64-linux-gnu"
run --print ./app
expect "multiarch directory" "$err" "LD_PRELOAD=$tree/lib/x86_64-linux-gnu/liblaple.so ./app"
ln -s bin/laple-run link
status=0
err=$(./link --print ./app 2>&1) || status=$?
expect "through a link" "$err" "LD_PRELOAD=$tree/lib/x86_64-linux-gnu/liblaple.so ./app"
# In a folder whose name is no pattern; a package without development files has only the name with a version.
odd="$tree/odd[1]*?"
mkdir -p "$odd/bin" "$odd/lib/x86_64-linux-gnu"
cp "$1" "$odd/bin/laple-run"
ln -s nowhere "$odd/lib/liblaple.so.0"
touch "$odd/lib/x86_64-linux-gnu/liblaple.so.0"{,.1}
status=0
err=$("$odd/bin/laple-run" --print ./app 2>&1) || status=$?
expect "a folder with an odd name" "$err" "LD_PRELOAD='$odd/lib/x86_64-linux-gnu/liblaple.so.0' ./app"
rm -r "$tree/lib/x86_64-linux-gnu"
run touch ran
expect "no liblaple.so, status" "$status" 2
expect_part "no liblaple.so" "$err" "there is no liblaple.so in $tree/lib"

[[ ! -e ran ]] || { echo "FAILED: a command was run in spite of a mistake"; failures=$((failures + 1)); }
((failures == 0)) || exit 1
echo "laple-run: all passed"
