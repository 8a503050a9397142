#!/bin/sh
# Runs a command behind all else for the processor: where the system can (Linux), only while nobody else wants it, as a
# low priority alone lets a request wait for some milliseconds until its turn comes.
if chrt --idle 0 true 2>/dev/null; then
  exec chrt --idle 0 "$@"
fi
exec nice -n 19 "$@"
