-- The video of a gift, for clients that show one; gifts of before have none.
alter table decorations add column video_path text;
