# shellcheck shell=bash
# Shared by the scripts beside it; sourced, never run.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '== %s\n' "$*" >&2; }

# fail MESSAGE: says what went wrong and ends.
fail() {
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}

# run_quietly LOG COMMAND...: shows the end of LOG only when COMMAND fails.
run_quietly() {
    local log=$1
    shift
    mkdir -p "$(dirname "$log")"
    if ! run "$@" > "$log" 2>&1; then
        tail -n 40 "$log" >&2
        fail "failed: $* (all of its output: $log)"
    fi
}

# run COMMAND...: like the command itself, but a signal to this script reaches it at once. bash would handle its traps only
# when a foreground command has ended, so the command runs in the background and is waited for.
run() {
    local status=0
    "$@" <&0 &
    child=$!
    wait "$child" || status=$?
    child=
    return "$status"
}

child=
stop() {
    trap '' INT TERM HUP
    say "interrupted, cleaning up"
    # SIGTERM: a background command of a script ignores SIGINT.
    if [ -n "$child" ]; then
        kill -TERM "$child" 2> /dev/null || true
        wait "$child" 2> /dev/null || true
    fi
    exit 130
}
trap stop INT TERM HUP
