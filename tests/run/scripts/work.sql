create table t(id integer primary key, name text, value real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000)
insert into t select i, 'name' || (i * 7919 % 101), i * 0.5 from n;
create index by_name on t(name);
select count(*), sum(value), round(avg(value), 3), min(name), max(name) from t;
select name, count(*) c from t group by name order by c desc, name limit 5;
select a.id, b.id from t a join t b on a.name = b.name and a.id < b.id order by a.id, b.id limit 5;
update t set value = value * 2 where id % 3 = 0;
delete from t where id % 7 = 0;
select sum(value), count(distinct name) from t;
select id, value, row_number() over (order by value desc) from t limit 3;
select upper('abc'), substr('hello', 2, 3), hex('xyz'), printf('%.3f', 2.0 / 3), json_extract('{"a":[1,2]}', '$.a[1]');
begin;
delete from t;
rollback;
select count(*) from t;
pragma integrity_check;
select no_such_column from t;
