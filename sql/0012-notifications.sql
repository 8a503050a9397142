create table notifications (
  user_id  bigint not null,
  -- The event, from which the text is made when it is read.
  position bigint not null,
  -- Counts the notifications of the user, from 1.
  number   bigint not null,
  primary key (user_id, position)
);
comment on table notifications is 'Which events have notified a user. From the ledger.';

create table notification_counts (
  user_id       bigint primary key,
  notifications bigint not null
) with (fillfactor = 80); -- room on each page for the next version of its rows
comment on table notification_counts is 'How many notifications a user has; no row for none. From the ledger.';

create table notification_marks (
  user_id bigint primary key,
  -- The position of the last notification that was read, and its number.
  up_to   bigint not null,
  number  bigint not null
) with (fillfactor = 80); -- room on each page for the next version of its rows
comment on table notification_marks is 'Up to which notification a user has read. Not part of the ledger.';

create table notification_reads (
  user_id bigint not null,
  up_to   bigint not null,
  at      timestamptz not null,
  primary key (user_id, up_to)
);
comment on table notification_reads is 'When users moved their marks. Not part of the ledger.';

create table devices (
  token         text primary key,
  -- The user who registered the token last.
  user_id       bigint not null,
  platform      text not null,
  -- The language of its push notifications.
  language      text not null,
  registered_at timestamptz not null
);
create index devices_of_user on devices (user_id, registered_at desc);
comment on table devices is 'Devices that receive push notifications. Tokens are personal data. Not part of the ledger.';

create view user_devices as
select u.user_id,
       (select coalesce(json_agg(d.token order by d.registered_at desc, d.token), '[]')::text
        from devices d where d.user_id = u.user_id) as tokens
from user_profiles u;
comment on view user_devices is 'The tokens of the devices of each user as JSON, those registered last first.';

create table push_outbox (
  token        text not null,
  -- The event that it is about.
  position     bigint not null,
  user_id      bigint not null,
  -- JSON: { title, body, type, identifier }
  notification text not null,
  attempts     integer not null default 0,
  -- An instance puts this off before it sends, so that no other one does, unless this one dies.
  next_attempt timestamptz not null default clock_timestamp(),
  made_at      timestamptz not null default clock_timestamp(),
  primary key (token, position)
);
create index push_outbox_due on push_outbox (next_attempt);
comment on table push_outbox is
  'Push notifications that are still to be sent, a row for each device, filled in the order of the ledger.';
