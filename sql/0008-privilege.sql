create table privilege_packages (
  privilege_package_id bigint primary key,
  name                 text not null,
  -- Null where one name serves both languages.
  name_ar              text,
  -- Higher is better.
  rank                 bigint not null,
  valid_days           bigint not null,
  icon_path            text not null,
  created_at           timestamptz not null
);
create index privilege_packages_newest on privilege_packages (created_at desc, privilege_package_id desc);
comment on table privilege_packages is 'The kinds of privileges. From the ledger.';

create table package_counts (
  list     text primary key,
  packages bigint not null
);
comment on table package_counts is 'How many privilege packages there are: one row. From the ledger.';

create table privilege_cards (
  -- The position of the event that granted the card.
  card_id              bigint primary key,
  owner_id             bigint not null,
  privilege_package_id bigint not null,
  -- As granted, whatever the package says later.
  valid_days           bigint not null,
  activated            boolean not null,
  -- When the card entered the wallet of its owner, and the position of that event.
  created_at           timestamptz not null,
  entered              bigint not null
);
-- Wallets are newest first and have no activated card.
create index privilege_cards_stored on privilege_cards (owner_id, entered desc) where not activated;
comment on table privilege_cards is 'Every card that was granted, stored or activated. From the ledger.';

create table card_counts (
  user_id bigint primary key,
  stored  bigint not null
) with (fillfactor = 80); -- room on each page for the next version of its rows
comment on table card_counts is 'How many stored cards a user has; no row where there are none. From the ledger.';

create table privileges (
  user_id              bigint primary key,
  privilege_package_id bigint not null,
  -- The package's rank when the card that began this privilege was activated.
  rank                 bigint not null,
  -- Seconds since 1970.
  valid_until          bigint not null
);
comment on table privileges is 'The last privilege of each user, active or expired. From the ledger.';
