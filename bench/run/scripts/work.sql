create table t(id integer primary key, name text, value real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 150000)
insert into t select i, 'name' || (i * 7919 % 1009), (i * 31 % 1000) * 0.5 from n;
create index by_name on t(name);
select count(*), sum(value), avg(value) from t;
select name, count(*) c, sum(value) from t group by name order by c desc, name limit 3;
select count(*) from t a join t b on a.name = b.name where a.id < 20000 and b.id between 20000 and 40000;
select sum(length(replace(name, 'a', 'bb'))) from t where name like '%e1%';
update t set value = value + 1 where id % 3 = 0;
select id, value from t order by value desc, id limit 3;
