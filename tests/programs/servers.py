# SPDX-License-Identifier: MIT
"""Servers as their administrators run them: daemons, dropped privileges, reloads, killed workers, recovery."""
from program import NOBODY, Program, PYTHON

PG = "export PATH=$(ls -d /usr/lib/postgresql/*/bin | tail -1):$PATH; export PGHOST=$PWD/tmp PGPORT=$PORT PGUSER=a PGDATABASE=postgres\n"

PROGRAMS = [
    Program("postgresql", PG + r"""initdb -U a -A trust -N -D db >/dev/null 2>&1; echo "unix_socket_directories = '$PGHOST'" >> db/postgresql.conf; echo "max_parallel_workers_per_gather = 2" >> db/postgresql.conf
start() { pg_ctl -D db -w -l log -o "-p $PORT -h ''" start >/dev/null 2>&1; echo start $?; }
start; psql -qc 'CREATE TABLE t AS SELECT i, i % 100 AS k FROM generate_series(1, 200000) i; ANALYZE t'; psql -Atc 'SELECT count(*), sum(k) FROM t WHERE k < 50' -c 'SELECT version() IS NOT NULL'
for i in 1 2 3 4; do psql -Atc "UPDATE t SET k = k WHERE i % 4 = $i - 1" & done; wait
psql -c "SELECT pg_sleep(30)" >/dev/null 2>&1 & q=$!; until_true test -n "$(psql -Atc "SELECT 1" 2>/dev/null)"; b=; for i in {1..200}; do b=$(psql -Atc "SELECT pid FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%'"); [ -n "$b" ] && break; sleep 0.05; done
kill -9 $b; wait $q; echo killed $?; until_true psql -Atc 'SELECT 1'; psql -Atc 'SELECT count(*) FROM t'; pg_ctl -D db -w -m immediate stop >/dev/null; start; psql -Atc 'SELECT count(*) FROM t'; pg_dump -t t | grep -c '^[0-9]'; pg_ctl -D db -w stop >/dev/null; echo $?; rm -rf db log""",
            probe="ls /usr/lib/postgresql/*/bin/initdb", wants="postgresql not installed", user=NOBODY, timeout=120),
    Program("nginx", r"""nginx -p $PWD -c n.conf; until_true answers; for i in $(seq 30); do curl -s http://127.0.0.1:$PORT/; done | md5sum; curl -s http://127.0.0.1:$PORT/big | md5sum; p=$(cat n.pid); nginx -p $PWD -c n.conf -s reload; sleep 0.3; curl -s -o /dev/null -w '%{http_code}\n' http://127.0.0.1:$PORT/none
kill -9 $(pgrep -P $p | head -1); sleep 0.2; curl -s http://127.0.0.1:$PORT/; nginx -p $PWD -c n.conf -s quit; until_gone $p; wc -l < logs/a""", needs=("nginx", "curl", "pgrep"), root=True, prepare=r"""mkdir -p html logs body; chmod 755 home tmp . html; chmod 777 body logs; echo hello > html/index.html; head -c 3000000 /usr/bin/bash > html/big
cat > n.conf <<N
user www-data; pid n.pid; error_log logs/e; worker_processes 2; events {}
http { access_log logs/a; client_body_temp_path body; proxy_temp_path body; fastcgi_temp_path body; uwsgi_temp_path body; scgi_temp_path body; server { listen 127.0.0.1:$PORT; root html; sendfile on; } }
N
""", may_differ={"files": "logs with times"}),
    Program("nginx_foreground", r"""timeout -s QUIT 20 nginx -p $PWD -c n.conf & p=$!; until_true answers; for i in $(seq 50); do curl -s http://127.0.0.1:$PORT/; done | md5sum; kill -QUIT $p; wait $p; echo $?""", needs=("nginx", "curl"),
            prepare=r"""mkdir -p html logs; echo hello > html/index.html; cat > n.conf <<N
daemon off; pid n.pid; error_log logs/e; worker_processes 1; events {}
http { access_log off; client_body_temp_path body; proxy_temp_path body; fastcgi_temp_path body; uwsgi_temp_path body; scgi_temp_path body; server { listen 127.0.0.1:$PORT; root html; } }
N
""", user=NOBODY, may_differ={"files": "logs with times"}),
    Program("apache", r"""apache2 -d $PWD -f $PWD/a.conf; until_true answers; ab -q -n 200 -c 4 http://127.0.0.1:$PORT/ | grep -E '^(Complete|Failed)'; curl -s http://127.0.0.1:$PORT/cgi/c; p=$(cat a.pid); apache2 -d $PWD -f $PWD/a.conf -k graceful; sleep 0.3; until_true curl -sf http://127.0.0.1:$PORT/
curl -s http://127.0.0.1:$PORT/; apache2 -d $PWD -f $PWD/a.conf -k stop; until_gone $p""", needs=("apache2", "ab", "curl"), root=True, prepare=r"""mkdir -p html cgi; chmod 755 . home tmp html cgi; echo hello > html/index.html; printf '#!/bin/sh\necho Content-Type: text/plain; echo; echo cgi $REQUEST_METHOD\n' > cgi/c; chmod 755 cgi/c
m=/usr/lib/apache2/modules; cat > a.conf <<A
ServerName localhost
Listen 127.0.0.1:$PORT
PidFile \${APACHE_DIR}/a.pid
User www-data
Group www-data
ErrorLog \${APACHE_DIR}/error.log
LoadModule mpm_event_module $m/mod_mpm_event.so
LoadModule authz_core_module $m/mod_authz_core.so
LoadModule alias_module $m/mod_alias.so
LoadModule cgid_module $m/mod_cgid.so
LoadModule dir_module $m/mod_dir.so
ScriptSock \${APACHE_DIR}/tmp/cgisock
DocumentRoot \${APACHE_DIR}/html
ScriptAlias /cgi/ \${APACHE_DIR}/cgi/
DirectoryIndex index.html
A
sed -i "s#\${APACHE_DIR}#$PWD#" a.conf
""", may_differ={"files": "logs with times"}),
    Program("mariadb", r"""mariadb-install-db --no-defaults --datadir=$PWD/db --auth-root-authentication-method=normal --skip-test-db >/dev/null 2>&1; echo installed $?
start() { mariadbd --no-defaults --datadir=$PWD/db --socket=$PWD/tmp/s --skip-networking --pid-file=$PWD/p --innodb-buffer-pool-size=32M >log 2>&1 & p=$!; until_true mariadb-admin --no-defaults -u root -S $PWD/tmp/s ping; }
sql() { mariadb --no-defaults -u root -S $PWD/tmp/s -N "$@"; }
start; sql -e 'CREATE DATABASE d; CREATE TABLE d.t (a INT PRIMARY KEY AUTO_INCREMENT, b VARCHAR(60)) ENGINE=InnoDB; CREATE TABLE d.u (a INT) ENGINE=Aria'; clients=(); for i in 1 2 3 4; do for j in $(seq 5); do echo "INSERT INTO t (b) SELECT repeat('x', seq % 60) FROM seq_1_to_500;"; done | sql d & clients+=($!); done; wait "${clients[@]}"
sql -e 'SELECT count(*), sum(length(b)) FROM d.t'; mariadb-dump --no-defaults -u root -S $PWD/tmp/s d | grep -c INSERT; kill -9 $p; wait $p 2>/dev/null; start; sql -e 'SELECT count(*) FROM d.t; CHECK TABLE d.t'; mariadb-admin --no-defaults -u root -S $PWD/tmp/s shutdown; wait $p; echo $?; rm -rf db log""",
            needs=("mariadbd", "mariadb-install-db", "mariadb"), user=NOBODY, timeout=180),
    Program("memcached", r"""memcached -d -u nobody -t 4 -l 127.0.0.1 -p $PORT -P $PWD/m.pid; until_true answers; exec 3<>/dev/tcp/127.0.0.1/$PORT; for i in $(seq 500); do printf 'set k%d 0 0 5\r\nhello\r\n' $i; done >&3; for i in $(seq 500); do read -r l <&3; done; echo "$l"; printf 'get k77\r\nquit\r\n' >&3; cat <&3
p=$(pgrep -f "memcached -d -u nobody -t 4 -l 127.0.0.1 -p $PORT"); kill -INT $p; until_gone $p; echo gone; rm -f m.pid""", needs=("memcached", "pgrep"), root=True),
    Program("redis", r"""redis-server --save '' --appendonly yes --port 0 --unixsocket $PWD/r.sock --dir $PWD --logfile r.log --daemonize no & p=$!; until_true redis-cli -s r.sock ping; r() { redis-cli -s r.sock "$@"; }; r set a 1; redis-benchmark -s r.sock -n 4000 -c 20 -q -t set,get >/dev/null 2>&1; r bgsave; until_true eval 'r info persistence | grep -q bgsave_in_progress:0'
for i in 1 2 3; do r eval "for i=1,3000 do redis.call('set','k'..i,string.rep('v',i%500)) end return 1" 0; done; r bgrewriteaof; until_true eval 'r info persistence | grep -q aof_rewrite_in_progress:0'; r dbsize; r shutdown; wait $p; echo ended $?; ls *.rdb; rm -rf *.rdb appendonlydir r.log""", needs=("redis-server", "redis-cli"), quick=True),
    Program("celery", r"""redis-server --save '' --port 0 --unixsocket $PWD/r.sock --logfile /dev/null & p=$!; until_true redis-cli -s r.sock ping; """ + PYTHON + r""" -m celery -A tasks worker -c 2 -l CRITICAL -P prefork --without-gossip --without-mingle >/dev/null 2>&1 & w=$!
""" + PYTHON + r""" -c 'import tasks; r = [tasks.double.delay(i) for i in range(60)]; print(sum(x.get(timeout=60) for x in r))'; kill -9 $(pgrep -P $w | head -1); """ + PYTHON + r""" -c 'import tasks; print(tasks.double.delay(21).get(timeout=60))'; kill $w; wait $w; echo worker $?; redis-cli -s r.sock shutdown nosave; wait $p; echo $?; rm -rf __pycache__""",
            needs=("redis-server",), imports=("celery", "redis"), timeout=180, prepare="""cat > tasks.py <<'P'
import os
from celery import Celery
url = f'redis+socket://{os.getcwd()}/r.sock'
app = Celery('tasks', broker=url, backend=url)


@app.task
def double(n):
    return 2 * n
P
"""),
    Program("vsftpd", r"""cat > v.conf <<V
listen=YES
listen_address=127.0.0.1
listen_port=$PORT
background=NO
anonymous_enable=YES
anon_root=$PWD/pub
seccomp_sandbox=NO
isolate=YES
nopriv_user=nobody
ftp_username=nobody
secure_chroot_dir=$PWD/empty
run_as_launching_user=NO
xferlog_enable=NO
V
vsftpd $PWD/v.conf & p=$!; until_true answers; curl -s ftp://127.0.0.1:$PORT/a | md5sum; curl -s ftp://127.0.0.1:$PORT/ | wc -l; curl -s ftp://127.0.0.1:$PORT/none; echo $?; kill $p; wait $p; echo $?""", needs=("vsftpd", "curl"), root=True,
            prepare="mkdir -p pub empty; chmod 755 . pub empty home tmp; seq 50000 > pub/a\n"),
    Program("bind", r"""chown -R bind . ; named -u bind -f -c $PWD/n.conf -p $PORT 2>/dev/null & p=$!; until_true dig +short +tries=1 +time=1 @127.0.0.1 -p $PORT www.x.test; for i in $(seq 40); do dig +short @127.0.0.1 -p $PORT h$((i % 5)).x.test; done | md5sum; dig +short +tcp @127.0.0.1 -p $PORT x.test SOA; kill $p; wait $p; echo $?""", needs=("named", "dig"), root=True,
            prepare=r"""chmod 755 . home tmp; printf '$TTL 60\n@ SOA ns a ( 1 2 3 4 5 )\n@ NS ns\nns A 127.0.0.1\nwww A 10.0.0.1\n' > z; for i in 0 1 2 3 4; do echo "h$i A 10.0.0.$i" >> z; done
printf 'options { directory "."; listen-on { 127.0.0.1; }; listen-on-v6 { none; }; recursion no; pid-file none; session-keyfile none; dnssec-validation no; };\ncontrols { };\nzone "x.test" { type primary; file "z"; };\n' > n.conf
""", may_differ={"files": "keys it makes"}),
    Program("haproxy", PYTHON + r""" -m http.server $((PORT + 1)) --bind 127.0.0.1 -d w >/dev/null 2>&1 & s=$!; until_true answers $((PORT + 1)); printf 'global\n maxconn 200\ndefaults\n mode http\n timeout connect 5s\n timeout client 9s\n timeout server 9s\nlisten l\n bind 127.0.0.1:%d\n server s 127.0.0.1:%d\n' $PORT $((PORT + 1)) > h.conf
haproxy -W -q -f h.conf -p h.pid 2>/dev/null & p=$!; until_true curl -sf http://127.0.0.1:$PORT/a; for i in $(seq 30); do curl -s http://127.0.0.1:$PORT/a; done | md5sum; kill -USR2 $p; sleep 0.5; until_true curl -sf http://127.0.0.1:$PORT/a; kill -TERM $p; wait $p; echo $?; kill $s; wait $s; rm -f h.pid""", needs=("haproxy", "curl"), prepare="mkdir w; seq 99 > w/a\n"),
    Program("dbus", r"""dbus-daemon --session --nofork --address=unix:path=$PWD/bus --print-address >addr & p=$!; until_true test -S bus; export DBUS_SESSION_BUS_ADDRESS=unix:path=$PWD/bus; for i in 1 2 3; do dbus-send --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.ListNames | grep -c string; done; kill $p; wait $p; echo $?; rm -f addr bus""", needs=("dbus-daemon", "dbus-send")),
    Program("openssh", r"""ssh-keygen -q -t ed25519 -N '' -f hk; ssh-keygen -q -t ed25519 -N '' -f k; cat k.pub > ak; mkdir -p /run/sshd; $(command -v sshd) -f /dev/null -h $PWD/hk -p $PORT -o ListenAddress=127.0.0.1 -o PidFile=$PWD/p -o StrictModes=no -o AuthorizedKeysFile=$PWD/ak -o PermitRootLogin=yes -o UsePAM=no -o Subsystem='sftp internal-sftp' -E log
o="-q -F /dev/null -i $PWD/k -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null"; until_true answers; ssh $o -p $PORT 127.0.0.1 'echo in; exit 3'; echo $?; ssh $o -tt -p $PORT 127.0.0.1 'tty | grep -c pts' 2>/dev/null | tr -d '\r'; for i in 1 2 3 4; do ssh $o -p $PORT 127.0.0.1 "seq 2000" | md5sum & done; wait
seq 3000 > f; scp $o -P $PORT f 127.0.0.1:$PWD/g; cmp f g; echo "get $PWD/f h" | sftp -b - $o -P $PORT 127.0.0.1 >/dev/null; cmp f h; d=$(cat p); kill $d; until_gone $d; rm -f hk* k k.pub ak log""", needs=("sshd", "ssh", "scp", "sftp"), root=True, timeout=120),
    Program("gunicorn", r"""printf 'def app(e, s):\n    s("200 OK", [])\n    return [b"hi " + e["PATH_INFO"].encode()]\n' > app.py; """ + PYTHON + r""" -B -m gunicorn -w 2 -b 127.0.0.1:$PORT --log-level critical app:app & p=$!; until_true curl -sf http://127.0.0.1:$PORT/; for i in $(seq 30); do curl -s http://127.0.0.1:$PORT/$i; done | md5sum
kill -9 $(pgrep -P $p | head -1); sleep 0.5; kill -HUP $p; sleep 0.7; until_true curl -sf http://127.0.0.1:$PORT/; curl -s http://127.0.0.1:$PORT/after; echo; kill $p; wait $p; echo $?; rm -rf __pycache__""", imports=("gunicorn",), needs=("curl", "pgrep")),
    Program("uvicorn", r"""printf 'async def app(scope, receive, send):\n    assert scope["type"] == "http"\n    await send({"type": "http.response.start", "status": 200, "headers": []})\n    await send({"type": "http.response.body", "body": b"hi"})\n' > app.py
""" + PYTHON + r""" -B -m uvicorn --workers 2 --lifespan off --host 127.0.0.1 --port $PORT --log-level critical app:app 2>/dev/null & p=$!; until_true curl -sf http://127.0.0.1:$PORT/; for i in $(seq 30); do curl -s http://127.0.0.1:$PORT/$i; done | md5sum; kill $p; wait $p; echo $?""", imports=("uvicorn",), needs=("curl",)),
    Program("python_http_server", PYTHON + r""" -B -m http.server $PORT --bind 127.0.0.1 -d w 2>/dev/null & p=$!; until_true answers; for i in $(seq 20); do curl -s http://127.0.0.1:$PORT/a; done | md5sum; kill $p; wait $p; echo $?""", needs=("curl",), prepare="mkdir w; seq 99 > w/a\n"),
    Program("socat", r"""socat TCP-LISTEN:$PORT,bind=127.0.0.1,reuseaddr,fork EXEC:'tr a-z A-Z' & p=$!; until_true answers; for i in 1 2 3 4; do echo hello $i | socat -t 5 - TCP:127.0.0.1:$PORT; done; kill $p; wait $p; echo $?""", needs=("socat",)),
    Program("chrony", r"""printf 'cmdport 0\nport 0\nlocal stratum 10\npidfile %s/c.pid\n' $PWD > c.conf; timeout -s TERM 1.5 chronyd -x -d -F 0 -u root -f $PWD/c.conf >/dev/null 2>&1; echo $?""", needs=("chronyd",), root=True),
]
