#!/bin/sh
# Stands in for a Python with torch: `fake_python.sh SCRIPT MANIFEST`. Treats files as the compile script does, at once.
# FAKE_MODE: ok, fail (records a reason, at the time FAKE_TIME or now), transient (the same, of the passing kind),
# silent (leaves no record), crash, hang, chatter (prints for ever). FAKE_LOG gets a line for each run and each case;
# FAKE_KEEP a copy of the manifest.
set -eu
echo "run $(head -n 1 "$1")" >> "$FAKE_LOG"
cp "$2" "$FAKE_KEEP"
out=$(sed -n 's/^ *"out": "\(.*\)",*$/\1/p' "$2")
echo "pace: compiling"
echo "a warning that is never read" >&2
for key in $(sed -n 's/^ *"key": "\(.*\)",*$/\1/p' "$2"); do
  test -s "$(dirname "$2")/$key.pt"
  echo "case" >> "$FAKE_LOG"
  case $FAKE_MODE in
    ok)
      printf 'package' > "$out/$key.pt2"
      echo '{"status": "ok", "package_bytes": 7, "route": "by_graph", "seconds": 0.5, "export_seconds": 0.125,
        "compile_seconds": 0.25}' > "$out/$key.json" ;;
    fail)
      time=${FAKE_TIME:-$(date +%s)}
      echo '{"status": "failed", "reason": "made to fail", "time": '"$time"'}' > "$out/$key.json" ;;
    transient) echo '{"status": "failed", "reason": "took too long", "transient": true}' > "$out/$key.json" ;;
    silent) ;;
    hang) exec sleep 1000 ;;
    chatter) exec yes a warning ;;
    crash)
      echo "Traceback: no module named torch" >&2
      exit 3 ;;
  esac
done
