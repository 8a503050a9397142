import { DatabaseError } from 'pg'
import { errorCode } from '../config/error-code.ts'

/** The SQLSTATE code that PostgreSQL gave an error; undefined for any other error. */
export const sqlStateOf = (error: unknown): string | undefined =>
  error instanceof DatabaseError ? error.code : undefined

/** The name of the table whose constraint a statement violated. */
export const tableOf = (error: unknown): string | undefined =>
  error instanceof DatabaseError ? error.table : undefined

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

const NETWORK_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EPIPE',
  'ETIMEDOUT',
])

/**
 * SQLSTATE classes that say nothing about the query: connection, resources, operator intervention, system. And a write
 * that a standby refused.
 */
const UNAVAILABLE_STATES = /^((08|53|57|58)[0-9A-Z]{3}|25006)$/

/** What pg and its pool throw without a code. */
const UNAVAILABLE_MESSAGES =
  /^(Connection terminated|timeout expired|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed|Query read timeout|Cannot use a pool after calling end)/

/** Whether the database cannot be reached or cannot work now; the query itself may be fine. */
export function isConnectionError(error: unknown): boolean {
  const code = errorCode(error)
  if (code !== undefined) return NETWORK_CODES.has(code) || UNAVAILABLE_STATES.test(code) || isMissingSocket(error)
  return error instanceof Error && UNAVAILABLE_MESSAGES.test(error.message)
}

/** A Unix socket that is not there: the server does not run. */
const isMissingSocket = (error: unknown): boolean =>
  errorCode(error) === 'ENOENT' && error instanceof Error && 'syscall' in error && error.syscall === 'connect'

/** What the pool throws when no connection became free or could be opened in time. */
const CONNECT_TIMEOUT_MESSAGES =
  /^(timeout exceeded when trying to connect|Connection terminated due to connection timeout)/

export const isConnectTimeout = (error: unknown): boolean =>
  error instanceof Error && CONNECT_TIMEOUT_MESSAGES.test(error.message)

/** PostgreSQL cancelled a statement because it took longer than `statement_timeout`. */
export const isStatementTimeout = (error: unknown): boolean => errorCode(error) === '57014'

const isTooManyConnections = (error: unknown): boolean => errorCode(error) === '53300'

/** Whether PostgreSQL refused a read because it is overloaded; the database works. */
export const isOverload = (error: unknown): boolean => isTooManyConnections(error) || isStatementTimeout(error)
