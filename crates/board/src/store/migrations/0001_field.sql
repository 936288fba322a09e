create table metadata (
  id integer primary key check (id = 1),
  schema_version text not null default '1.0',
  project_title text not null,
  project_description text,
  project_created text
) strict;

create table features (
  name text primary key,
  display_name text not null,
  acronym text not null unique,
  description text,
  created text,
  knowledge_paths text default '[]',
  context_files text default '[]',
  architecture text,
  boundaries text,
  learnings text default '[]',
  dependencies text default '[]'
) strict;

create table disciplines (
  name text primary key,
  display_name text not null,
  acronym text not null unique,
  icon text not null,
  color text not null,
  system_prompt text,
  skills text default '[]',
  conventions text,
  mcp_servers text default '[]',
  description text
) strict;

create table tasks (
  id integer primary key,
  feature text not null references features(name) on delete restrict,
  discipline text not null references disciplines(name) on delete restrict,
  title text not null,
  description text,
  status text not null default 'pending',
  priority text,
  tags text default '[]',
  depends_on text default '[]',
  blocked_by text,
  created text,
  updated text,
  completed text,
  acceptance_criteria text default '[]',
  context_files text default '[]',
  output_artifacts text default '[]',
  hints text,
  estimated_turns integer,
  provenance text,
  pseudocode text,
  enriched_at text
) strict;

create table task_comments (
  id integer primary key,
  task_id integer not null references tasks(id) on delete cascade,
  author text not null,
  discipline text references disciplines(name) on delete set null,
  agent_task_id integer,
  priority text,
  body text not null,
  created text
) strict;

create table recipe_configs (
  name text primary key,
  base_recipe text not null,
  section_order text not null default '[]',
  sections text not null default '{}',
  created text,
  updated text
) strict;
