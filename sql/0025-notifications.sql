-- Whom events of the ledger have notified, in each user's own numbering, and how many notifications a user has: no
-- row for none. From the ledger; what a notification says is made from its event when it is read.
create table notifications (
  user_id  bigint not null,
  -- Of the event.
  position bigint not null,
  number   bigint not null,
  primary key (user_id, position)
);
create table notification_counts (
  user_id       bigint primary key,
  notifications bigint not null
) with (fillfactor = 80); -- room on each page for the next version of its rows

-- Up to which of their notifications users have read, and when they first had; profile data, which is not part of the
-- ledger.
create table notification_marks (
  user_id bigint primary key,
  up_to   bigint not null,
  number  bigint not null
) with (fillfactor = 80);
create table notification_reads (
  user_id bigint not null,
  up_to   bigint not null,
  at      timestamptz not null,
  primary key (user_id, up_to)
);

-- A changed withdrawal notifies its two parties, every other event the user whom it concerns; nobody is notified of what
-- they did themselves. One pass over the ledger.
insert into notifications (user_id, position, number)
with events as materialized (
  select position, type, actor, data::jsonb as data
  from ledger_events
  where type in ('card-moved', 'instant-transfer-made', 'withdrawal-requested', 'withdrawal-status-changed')
), recipients as (
  select position, (data->>'to_user_id')::bigint as user_id from events where type = 'card-moved'
  union all
  select position, (data->>'receiver_id')::bigint from events
  where type = 'instant-transfer-made' and data->'receiver_id' <> data->'user_id'
  union all
  select position, (data->>'target_id')::bigint from events
  where type = 'withdrawal-requested' and data->'target_id' <> data->'user_id'
  union all
  select position, (data->>party)::bigint from events, unnest(array['user_id', 'target_id']) as party
  where type = 'withdrawal-status-changed' and data->'target_id' <> data->'user_id'
    and actor <> 'user:' || (data->>party)
)
select user_id, position, row_number() over (partition by user_id order by position) from recipients;

insert into notification_counts (user_id, notifications)
select user_id, max(number) from notifications group by user_id;

-- What happened before there was an inbox counts as read.
insert into notification_marks (user_id, up_to, number)
select user_id, max(position), max(number) from notifications group by user_id;
insert into notification_reads (user_id, up_to, at)
select user_id, up_to, now() from notification_marks;
