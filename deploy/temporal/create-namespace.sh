#!/bin/sh
# Makes the namespace where it is missing, and ends when it can be used. Doing it again changes nothing.
# TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE are read by the command line tool itself.
set -eu

# Tries a command every second, for a minute.
patiently() {
  tries=60
  until "$@" >/dev/null 2>&1; do
    tries=$((tries - 1))
    if [ "$tries" -eq 0 ]; then
      echo "for a minute in vain: $*" >&2
      "$@"
      return
    fi
    sleep 1
  done
}

patiently temporal operator cluster health
temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" >/dev/null 2>&1 ||
  temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention "${RETENTION:-72h}"
# A new namespace is known to every part of the server a little later.
patiently temporal workflow count --namespace "$TEMPORAL_NAMESPACE"
echo "namespace $TEMPORAL_NAMESPACE is ready"
