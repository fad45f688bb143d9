#!/bin/sh
# wheel.sh SOURCE BUILD SCRATCH: makes a wheel of BUILD, and runs a program of mpi4py with it and with PyPI's mpich. BUILD
# stands in for one with libmpi_abi: that would have to be built.
set -eu
source=$1 build=$2 scratch=$3
rm -rf "$scratch"
mkdir -p "$scratch"
"$source/scripts/wheel" --from "$build" --abi "$build" --out "$scratch"
python3 -m venv "$scratch/venv"
pip="$scratch/venv/bin/pip --quiet --disable-pip-version-check"
$pip install "$scratch"/laple-*-py3-none-manylinux_*.whl

# As in an activated environment, where nothing of the system's MPI is found.
export PATH="$scratch/venv/bin:$PATH"
unset LD_PRELOAD LD_LIBRARY_PATH
for program in laple-info laple-discover laple-bench; do
    "$program" --version > "$scratch/out" 2>&1 && { echo "$program works without MPI"; exit 1; }
    grep -q "^$program: there is no MPI .*pip install mpich" "$scratch/out" || { cat "$scratch/out"; exit 1; }
done
$pip install mpich mpi4py
laple-info --version | grep -q "laple-info [0-9]" || { echo "laple-info does not work"; exit 1; }
for program in laple-run laple-discover laple-plan laple-grid laple-bench laple-plot; do
    "$program" --version > /dev/null || { echo "$program does not work"; exit 1; }
done
[ -e "$scratch/venv/share/laple/grid/wan4x4.json" ] || { echo "there are no scenarios"; exit 1; }
for file in lib/laple/bin/laple-discover lib/laple/bin/laple-info lib/liblaple.so lib/liblaple_deep.so lib/liblaple_profile.so lib/laple/abi/liblaple.so \
    lib/laple/abi/liblaple_deep.so; do
    ldd "$scratch/venv/$file" > "$scratch/needed"
    grep -q "libmpi.so.12 => $scratch/venv/" "$scratch/needed" || { echo "$file has another MPI:"; cat "$scratch/needed"; exit 1; }
done
ldd "$scratch/venv/lib/laple/bin/laple-discover" | grep -q "libhwloc-.* => $scratch/venv/" || { echo "hwloc is not inside"; exit 1; }

# Two clusters on this machine: each collective of the program is LaPle's, and none is left to MPI.
printf 'cluster 0 process 0 1\ncluster 1 process 2 3\n' > "$scratch/clusters"
export LAPLE_TOPOLOGY="$scratch/clusters" LAPLE_REPORT="$scratch/report"
for deep in '' --deep; do
    rm -f "$scratch/report"
    # shellcheck disable=SC2086  # an option or none
    LD_PRELOAD="$scratch/venv/lib/laple/liblaple_yield.so" laple-run --quiet $deep \
        mpiexec -n 4 python "$source/examples/pi.py" > "$scratch/out" 2> "$scratch/err" ||
        { cat "$scratch/out" "$scratch/err"; exit 1; }
    grep -q "^pi is about 3.14159265$" "$scratch/out" || { echo "wrong:"; cat "$scratch/out"; exit 1; }
    for part in "LaPle [0-9].*MPICH Version: *[0-9]" "bcast .* 10 " "allreduce .* 10 " "LaPle did \([0-9]*\) of \1 calls"; do
        grep -q "$part" "$scratch/report" || { echo "no \"$part\" in the report:"; cat "$scratch/report"; exit 1; }
    done
done
echo "wheel works"
