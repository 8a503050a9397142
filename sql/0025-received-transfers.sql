-- The list of the transfers that a user received.
create index instant_transfers_received on instant_transfers (receiver_id, transfer_id desc);
