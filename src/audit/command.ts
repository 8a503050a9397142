import { type Command, InvalidArgumentError } from 'commander'
import type { BooksDatabase } from './database.ts'
import type { Terminal } from './terminal.ts'

/** What a command is given beside its flags. */
export interface Audit extends BooksDatabase {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly terminal: Terminal
  /** Aborted when whoever called wants it to end. */
  readonly signal: AbortSignal
}

/**
 * What a command does: prints what it has to say and answers how many findings there are (then the exit code is 1).
 * Throws when it cannot run, with a message for people.
 */
export type Work<Flags> = (audit: Audit, flags: Flags) => Promise<number>

/** Makes an action of some work. */
export type Running = <Flags>(work: Work<Flags>) => (flags: Flags) => Promise<void>

/** A command of `audit`: adds itself with its description and flags, and `running(work)` as its action. */
export type DeclareCommand = (audit: Command, running: Running) => void

/** A flag's value: a position of the ledger. */
export function positionOf(text: string): number {
  const position = /^[1-9][0-9]*$/.test(text) ? Number(text) : Number.NaN
  if (!Number.isSafeInteger(position)) throw new InvalidArgumentError('It is a position from 1 on.')
  return position
}

/** Every command has it. */
export const JSON_FLAG = ['--json', 'for programs: one JSON document'] as const
