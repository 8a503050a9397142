-- The id of the folder of closings that has the files: the host changes with each container, and a path means another folder
-- on another host. Null for steps of before.
alter table closing_steps add column folder_id text;
