-- Former members of a room, newest first, as of those on the ledger: a page of a room of 100,000 sorted all of them.
create index room_members_newest on room_members (room_id, joined_at desc, user_id desc);
