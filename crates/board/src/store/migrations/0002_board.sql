-- Which numbers were given out. Ids of deleted records are never given out again.
create table counters (
  name text primary key,
  value integer not null
) strict;

-- What `tasks.depends_on` says, in a form that can be followed in both directions.
create table task_dependencies (
  task_id integer not null references tasks(id) on delete cascade,
  depends_on_id integer not null references tasks(id) on delete restrict,
  primary key (task_id, depends_on_id)
) strict, without rowid;

create index idx_dependents on task_dependencies(depends_on_id);

-- Who changed what: written in the transaction of the change.
create table journal (
  id integer primary key,
  at text not null,
  session text,
  recipe text,
  discipline text,
  tool text not null,
  entity text not null,
  record text not null,
  action text not null,
  before text,
  after text
) strict;

-- What can be brought back. Other rows are looked for rarely, and an index would be paid for by every change.
create index idx_journal_deleted on journal(entity, record) where action = 'delete';

-- Every index is paid for by every creation: disciplines are few, and tasks of each are found soon.
drop index if exists idx_tasks_feature;
drop index if exists idx_tasks_discipline;
drop index if exists idx_tasks_status;
drop index if exists idx_comments_task;
create index idx_tasks_feature on tasks(feature, id);
create index idx_tasks_status on tasks(status, id);
create index idx_comments_task on task_comments(task_id, id);
create unique index idx_tasks_idempotency on tasks(idempotency_key) where idempotency_key is not null;
create index idx_tasks_ready on tasks(
  status,
  waiting_for,
  (case priority when 'critical' then 0 when 'high' then 1 when 'low' then 3 else 2 end),
  id
);

insert into task_dependencies (task_id, depends_on_id)
select distinct tasks.id, needed.value
from tasks, json_each(case when json_valid(tasks.depends_on) then tasks.depends_on else '[]' end) as needed
where needed.type = 'integer' and needed.value <> tasks.id and needed.value in (select id from tasks);

update tasks set waiting_for = (
  select count(*) from task_dependencies as needed
  join tasks as before on before.id = needed.depends_on_id
  where needed.task_id = tasks.id and before.status <> 'done'
);

insert into counters (name, value) values
  ('task', (select coalesce(max(id), 0) from tasks)),
  ('comment', (select coalesce(max(id), 0) from task_comments));
