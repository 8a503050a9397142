-- Names of gifts, packages and countries may be given in English and in Arabic; null where one name serves both.
alter table decorations add column name_ar text;
alter table privilege_packages add column name_ar text;
alter table countries add column name_ar text;
-- The language of the push notifications of a device.
alter table devices add column language text not null default 'en';
