#!/bin/bash
# At the first start of the primary: the standby may copy it.
set -euo pipefail
echo "host replication wonbon samenet scram-sha-256" >>"$PGDATA/pg_hba.conf"
