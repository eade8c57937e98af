#!/bin/sh
# Makes Temporal's two databases where they are missing and brings their schemas to this image's version.
# Doing it again changes nothing. The connection comes from SQL_PLUGIN, SQL_HOST, SQL_PORT, SQL_USER and SQL_PASSWORD.
set -eu

schemas=${SCHEMAS:-/etc/temporal/schema/postgresql/v12}

bring_up() {
  export SQL_DATABASE="$1"
  temporal-sql-tool create-database
  # Only a database that has no version yet takes this one.
  temporal-sql-tool setup-schema --version 0.0
  temporal-sql-tool update-schema --schema-dir "$schemas/$2/versioned"
}

bring_up temporal temporal
bring_up temporal_visibility visibility
