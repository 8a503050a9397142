import { type Command, InvalidArgumentError } from 'commander'
import { type Currency, currencies, isAccount } from '../../ledger/rules/account.ts'
import type { AuditDatabase } from '../database.ts'
import { AS_OF_FORMAT, type AsOf, parseAsOf } from '../reports/as-of.ts'
import type { Terminal } from './terminal.ts'

/** What a command is given beside its flags. */
export interface CommandContext extends AuditDatabase {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly terminal: Terminal
  /** Aborted when whoever called wants it to end. */
  readonly signal: AbortSignal
}

/**
 * What a command does: prints what it has to say and answers how many findings there are (then the exit code is 1).
 * Throws when it cannot run, with a message for people.
 */
export type CommandHandler<Flags> = (audit: CommandContext, flags: Flags) => Promise<number>

/** Makes an action of some work. */
export type CreateAction = <Flags>(work: CommandHandler<Flags>) => (flags: Flags) => Promise<void>

/** A command of `audit`: adds itself with its description and flags, and `running(work)` as its action. */
export type RegisterCommand = (audit: Command, running: CreateAction) => void

/** Every command has it. */
export const JSON_FLAG = ['--json', 'for programs: one JSON document'] as const

/** A flag's value: a position of the ledger. */
export const parsePositionFlag = (text: string): number => {
  const position = parseWholeNumber(text)
  if (position === null) throw new InvalidArgumentError('It is a position from 1 on.')
  return position
}

export function parseUserFlag(text: string): number {
  const user = parseWholeNumber(text)
  if (user === null) throw new InvalidArgumentError("It is a user's id.")
  return user
}

export function parseAsOfFlag(text: string): AsOf {
  const moment = parseAsOf(text)
  if (moment === null) throw new InvalidArgumentError(`It is ${AS_OF_FORMAT}.`)
  return moment
}

export function parseAccountFlag(text: string): string {
  if (isAccount(text)) return text
  throw new InvalidArgumentError('It is <kind>:<id>:<currency>, such as user:7:diamonds.')
}

export function parseCurrencyFlag(text: string): Currency {
  if (isCurrency(text)) return text
  throw new InvalidArgumentError(`It is one of ${currencies.join(', ')}.`)
}

const isCurrency = (text: string): text is Currency => currencies.some((currency) => currency === text)

function parseWholeNumber(text: string): number | null {
  const number = /^[1-9][0-9]*$/.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(number) ? number : null
}
