create table vault_keys (
  record_id text primary key,
  -- The person whom the record is about.
  user_id   bigint not null,
  -- base64: nonce, the key of the record encrypted with a key made of PII_KEY, tag
  wrapped   text not null
);
create index vault_keys_of_user on vault_keys (user_id);
comment on table vault_keys is
  'The key of each record of the vault: deleting the row erases the record. Not part of the ledger.';

create table vault_records (
  record_id text primary key,
  -- base64: nonce, the text encrypted with the key of the record, tag
  sealed    text not null
);
comment on table vault_records is
  'What people wrote in private, encrypted. Events name it by the id of the record. Not part of the ledger.';
