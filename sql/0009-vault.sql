-- What people wrote that must be erasable: beside the ledger, encrypted, a key for each record.

-- Without its row here a record cannot be read any more: deleting this is erasing that.
create table vault_keys (
  record_id text primary key,
  -- Whom the record is about.
  user_id   bigint not null,
  -- base64: nonce, the record's key encrypted with a key made of PII_KEY, tag
  wrapped   text not null
);
create index vault_keys_of_user on vault_keys (user_id);

create table vault_records (
  record_id text primary key,
  -- base64: nonce, what it says encrypted with the record's key, tag
  sealed    text not null
);
