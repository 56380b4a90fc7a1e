#!/bin/sh
# same_text.sh FILE TEXT: whether the file holds that text and nothing else.
[ "$(cat "$1")" = "$2" ] || { printf 'expected: %s\ngot: %s\n' "$2" "$(cat "$1")"; exit 1; }
