import { type Command, InvalidArgumentError } from 'commander'
import type { Kysely } from 'kysely'
import { readSealsFolder } from '../../config/environment.ts'
import type { Tables } from '../../db/tables.ts'
import { type Currency, currencies, isAccount } from '../../ledger/rules/account.ts'
import type { AuditDatabase } from '../database.ts'
import { AS_OF_FORMAT, type AsOf, parseAsOf } from '../reports/period.ts'
import { InvalidQuery, type QueryContext, withReads } from '../reports/query-context.ts'
import type { Terminal } from './terminal.ts'

/** What a command gets in addition to its flags. */
export interface CommandContext extends Pick<AuditDatabase, 'ownerUrl'> {
  /** The primary, as the service's own role. */
  readonly serviceUrl: string
  /** The address of the database to read. All of a report is read from one. */
  readonly reportUrl: () => Promise<string>
  readonly env: Readonly<Record<string, string | undefined>>
  /** The command with its flags, on one line. */
  readonly asked: string
  readonly terminal: Terminal
  /** Says on stderr what was found besides what the command answers; the exit code is 1 then, too. */
  readonly remarkFinding: (finding: string) => void
  /** Aborted when the caller wants the command to end. */
  readonly signal: AbortSignal
}

/**
 * Runs a command: prints its report and answers the number of findings; with any, the exit code is 1. Throws when it
 * cannot run, with a message for people.
 */
export type CommandHandler<Flags> = (audit: CommandContext, flags: Flags) => Promise<number>

/** Makes an action for commander from a handler. */
type CreateAction = <Flags>(handler: CommandHandler<Flags>) => (flags: Flags) => Promise<void>

/** Adds a command to `audit`, with its description, its flags and `running(handler)` as its action. */
export type RegisterCommand = (audit: Command, running: CreateAction) => void

/** A flag of every command with a report. */
export const JSON_FLAG = ['--json', 'for programs: one JSON document'] as const

export const parsePositionFlag = (text: string): number => {
  const position = parseWholeNumber(text)
  if (position === null) throw new InvalidArgumentError('Expected a position of 1 or more.')
  return position
}

export function parseUserFlag(text: string): number {
  const user = parseWholeNumber(text)
  if (user === null) throw new InvalidArgumentError("Expected a user's id, 1 or more.")
  return user
}

export function parseAsOfFlag(text: string): AsOf {
  const asOf = parseAsOf(text)
  if (asOf === null) throw new InvalidArgumentError(`Expected ${AS_OF_FORMAT}.`)
  return asOf
}

export function parseAccountFlag(text: string): string {
  if (isAccount(text)) return text
  throw new InvalidArgumentError('Expected <kind>:<id>:<currency>, such as user:7:diamonds.')
}

export function parseCurrencyFlag(text: string): Currency {
  if (isCurrency(text)) return text
  throw new InvalidArgumentError(`Expected one of ${currencies.join(', ')}.`)
}

const isCurrency = (text: string): text is Currency => currencies.some((currency) => currency === text)

function parseWholeNumber(text: string): number | null {
  const number = /^[1-9][0-9]*$/.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(number) ? number : null
}

/** Calls `work` with connections of its own, a context that draws progress and carries the command's signal, and the address. */
export async function withQueryContext<Result>(
  { reportUrl, env, terminal, remarkFinding, signal }: CommandContext,
  work: (db: Kysely<Tables>, context: QueryContext, url: string) => Promise<Result>,
): Promise<Result> {
  const url = await reportUrl()
  try {
    const run = (db: Kysely<Tables>, context: QueryContext) => work(db, context, url)
    return await withReads(url, signal, terminal.progress, run, {
      sealsFolder: readSealsFolder(env),
      onUnusableSeal: (reason, isFinding) => (isFinding ? remarkFinding(reason) : terminal.remark(`notice: ${reason}`)),
    })
  } catch (error) {
    if (error instanceof InvalidQuery) throw new Error(`--${error.field}: ${error.message}`, { cause: error })
    throw error
  }
}
