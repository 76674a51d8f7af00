pragma journal_mode=wal;
create table t (a integer primary key, b text, c real);
with recursive n (i) as (select 1 union all select i + 1 from n where i < 3000)
insert into t select i, 'text ' || (i * 7919 % 1000), i / 7.0 from n;
create index b on t (b);
select count(*), sum(a), round(avg(c), 6), min(b), max(b) from t;
select b, count(*) from t group by b having count(*) > 3 order by b limit 5;
begin;
delete from t where a % 3 = 0;
rollback;
update t set c = c * 2 where b like '%5';
select round(sum(c), 4) from t;
select json_object('a', a, 'b', b) from t where a < 4;
pragma integrity_check;
vacuum;
pragma journal_mode=delete;
