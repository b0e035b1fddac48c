#!/bin/sh
# Pages per CPU second of wonbon crawl, Scrapy and wget on one loopback site.
#
# The site: the HTML of Debian's postgresql-doc-15 behind nginx on 127.0.0.1:8099. The crawler is
# pinned to core 0, the server to core 1; no delay, robots.txt asked for by all. What each writes:
# wonbon a WARC archive, the link graph, the core texts and its log, durable; Scrapy (crawl.py beside
# this) a line of JSON a page; wget the files. So wget does less than the others.
#
# Needs: apt-get install nginx-light postgresql-doc-15 wget; pip for Scrapy (a virtual environment is
# made in WORK). Usage: crawl.sh WONBON WORK, WONBON being a release build of the program.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
wonbon=$1
work=$2
site=/usr/share/doc/postgresql-doc-15/html
port=8099
mkdir -p "$work"
test -d "$site" || { echo "postgresql-doc-15 is not installed" >&2; exit 2; }
cat > "$work/nginx.conf" <<CONF
daemon off; worker_processes 1; pid $work/nginx.pid; error_log $work/nginx.err;
events { worker_connections 256; }
http {
  access_log off; types { text/html html; text/css css; image/svg+xml svg; }
  client_body_temp_path $work/t1; proxy_temp_path $work/t2; fastcgi_temp_path $work/t3;
  uwsgi_temp_path $work/t4; scgi_temp_path $work/t5;
  server { listen 127.0.0.1:$port; root $site; keepalive_requests 100000; }
}
CONF
taskset -c 1 nginx -c "$work/nginx.conf" & server=$!
trap 'kill $server' EXIT
sleep 1
seed=http://127.0.0.1:$port/index.html
measure() { # name, command…: user and system seconds of the command and its children
  name=$1; shift
  /usr/bin/env time -f "%U %S %e %M" -o "$work/time" taskset -c 0 "$@" > "$work/$name.out" 2>&1 || true
  tail -1 "$work/time" > "$work/last" # wget counts a missing robots.txt as failure, and time says so
  awk -v name="$name" -v pages="$(count "$name")" '{ cpu = $1 + $2
    printf "%-8s %6d pages %7.2f CPU s %7.2f s %8.0f pages/CPU s %6.0f MB\n", name, pages, cpu, $3, pages / cpu, $4 / 1024 }' "$work/last"
}
count() {
  case $1 in
    wonbon) sed -n 's/.*"pages":\([0-9]*\).*/\1/p' "$work/wonbon.out" ;;
    scrapy) wc -l < "$work/scrapy.jsonl" ;;
    wget) find "$work/wget" -name '*.html' | wc -l ;;
  esac
}
for round in 1 2 3; do
  rm -rf "$work/crawl" "$work/wget" "$work/scrapy.jsonl"
  measure wonbon "$wonbon" crawl "$seed" --out "$work/crawl" --allow-private 127.0.0.1 --delay 0 --threads 1 --json
  measure wget wget --recursive --level=inf --no-verbose --directory-prefix "$work/wget" "$seed"
  if [ ! -x "$work/venv/bin/scrapy" ]; then
    python3 -m venv "$work/venv" && "$work/venv/bin/pip" install --quiet scrapy
  fi
  measure scrapy "$work/venv/bin/scrapy" runspider "$here/crawl.py" -a seed="$seed" -O "$work/scrapy.jsonl" -L ERROR
done
