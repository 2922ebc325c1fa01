# A PostgreSQL server, made and served as a user who is not root, with pgbench as its client.
if [ "$(id -u)" = 0 ]; then
    dir=$(mktemp -d /tmp/lathe-postgres-XXXXXX)
    chown nobody "$dir"
    (cd "$dir" && setpriv --reuid=nobody --clear-groups sh "$0" "$dir")
    status=$?
    rm -rf "$dir"
    exit $status
fi
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -n 1)
export PGHOST="$1" PGDATABASE=postgres HOME="$1"
"$bin/initdb" -D db -A trust --no-sync -E UTF8 --locale=C >initdb.log 2>&1 || cat initdb.log
"$bin/pg_ctl" -D db -w -t 100 -l log -o "-k '$1' -c listen_addresses= -c fsync=off" start >start.log 2>&1 || cat start.log log
"$bin/pgbench" -i -s 1 -q 2>/dev/null
"$bin/pgbench" -n -c 4 -j 2 -t 50 2>/dev/null | grep -E 'processed|failed'
"$bin/psql" -At <<'SQL'
select count(*), sum(abalance) = (select sum(delta) from pgbench_history) from pgbench_accounts;
create table t as select i, md5(i::text) m, i * 1.5 f from generate_series(1, 20000) i;
create index on t(m);
analyze t;
select m, i from t where m like 'abc%' order by m;
set max_parallel_workers_per_gather = 2;
set parallel_setup_cost = 0;
set parallel_tuple_cost = 0;
set min_parallel_table_scan_size = 0;
select count(*), sum(length(m)), max(f) from t;
do $$ declare x int := 0; begin for k in 1..10000 loop x := x + k % 7; end loop; raise notice '%', x; end $$;
select 1 / 0;
vacuum t;
checkpoint;
SQL
"$bin/pg_ctl" -D db -m fast -w stop >stop.log 2>&1 || cat stop.log
