-- The list of charging agents is any client's to read and looked at every user: 100 ms and more at a million.
create index users_charging_agents on users (user_id) where charging_agent and allow_receive_withdraw_requests;
