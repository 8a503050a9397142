import { DatabaseError } from 'pg'

/** The SQLSTATE code that PostgreSQL gave an error; undefined for any other error. */
export const sqlStateOf = (error: unknown): string | undefined =>
  error instanceof DatabaseError ? error.code : undefined

/** The name of the constraint that a statement violated. */
export const constraintOf = (error: unknown): string | undefined =>
  error instanceof DatabaseError ? error.constraint : undefined

/** Whether PostgreSQL does not accept the data itself: data exceptions (class 22) and constraint violations (23). */
export const isDataError = (error: unknown): boolean => /^2[23]/.test(sqlStateOf(error) ?? '')

export const isConstraintViolation = (error: unknown): boolean => sqlStateOf(error)?.startsWith('23') === true

/** Whether the database takes no writes: it is a standby, or an operator made it read-only. */
export const isReadOnlyError = (error: unknown): boolean => sqlStateOf(error) === '25006'

/** Whether a standby cancelled a query because its recovery removes rows that the query may still read. */
export const isRecoveryConflict = (error: unknown): boolean => sqlStateOf(error) === '40001'

/** Whether a lock was not free within `lock_timeout`. */
export const isLockTimeout = (error: unknown): boolean => sqlStateOf(error) === '55P03'

/** Whether a table or a column does not exist. */
export const isUndefinedInSchema = (error: unknown): boolean => ['42P01', '42703'].includes(sqlStateOf(error) ?? '')

/** Whether an operator, or another server process that crashed, ended the session; a new one may work at once. */
export const isSessionTerminated = (error: unknown): boolean => ['57P01', '57P02'].includes(sqlStateOf(error) ?? '')
