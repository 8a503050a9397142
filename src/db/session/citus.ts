/** An SQL condition: whether the database is a node of a Citus cluster. */
export const IS_CITUS = `exists (select from pg_extension where extname = 'citus')`
