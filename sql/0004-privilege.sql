-- All from the ledger.

create table privilege_packages (
  privilege_package_id bigint primary key,
  name                 text not null,
  -- Higher is better.
  rank                 bigint not null,
  valid_days           bigint not null,
  icon_path            text not null,
  created_at           timestamptz not null
);

create table privilege_cards (
  -- Position of the event that granted the card.
  card_id              bigint primary key,
  owner_id             bigint not null,
  privilege_package_id bigint not null,
  -- As granted, whatever became of the package.
  valid_days           bigint not null,
  activated            boolean not null,
  -- When the card entered its owner's wallet, and the position of that event.
  created_at           timestamptz not null,
  entered              bigint not null
);

-- The last privilege of each user, also one that is over.
create table privileges (
  user_id              bigint primary key,
  privilege_package_id bigint not null,
  -- The package's when the card that began this privilege was activated.
  rank                 bigint not null,
  -- Seconds since 1970.
  valid_until          bigint not null
);

-- Wallets are newest first and hold no activated card.
create index privilege_cards_stored on privilege_cards (owner_id, entered desc) where not activated;
create index privilege_packages_newest on privilege_packages (created_at desc, privilege_package_id desc);
