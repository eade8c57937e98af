#!/bin/sh
# Makes the roles of the service and of Temporal where they are missing, and sets their passwords. The server and its
# superuser come from PGHOST, PGDATABASE, PGUSER and PGPASSWORD.
set -eu

passwords="-c passwords.billing_owner=$OWNER_PASSWORD -c passwords.api=$API_PASSWORD"
passwords="$passwords -c passwords.worker=$WORKER_PASSWORD -c passwords.temporal=$TEMPORAL_PASSWORD"
PGOPTIONS="$passwords" psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --file="$(dirname "$0")/roles.sql"
echo "the roles of PostgreSQL are ready"
