import { randomUUID } from 'node:crypto'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { Command, InvalidArgumentError } from 'commander'
import { Period } from '../schema/agency.ts'
import type { LocalizedText } from '../schema/languages.ts'
import { withDatabase } from '../src/audit/database.ts'
import { localStaffName, withLedger } from '../src/audit/with-ledger.ts'
import { readInputFile } from '../src/config/files.ts'
import { openPool } from '../src/db/pool.ts'
import { queryBuilder } from '../src/db/queries/query-builder.ts'
import { type DepositSalaries, MAX_FILE_DEPOSITS } from '../src/features/agency/deposit-salaries.ts'
import { depositReasons, salaryReport } from '../src/features/agency/presenters.ts'
import { type DepositRow, InvalidSalaryFile, parseSalaryFile } from '../src/features/agency/salary-file.ts'
import { namedDepositSalaries } from '../src/features/agency/verbs.ts'
import { readApprovalLimits } from '../src/features/proposals/reads.ts'
import { registerCovered } from '../src/features/proposals/register-covered.ts'
import type { Executor } from '../src/ledger/executor/executor.ts'
import { centsToDollars } from '../src/ledger/rules/money.ts'
import type { Refusal } from '../src/ledger/rules/verb.ts'
import { type Invocation, processInvocation, runCommandLine, writerOf } from './command-line.ts'

interface Options {
  readonly period: string
  readonly file: string
  readonly dryRun?: true
}

/** Deposits of one command. Small, as other commands wait while it runs. */
const MAX_COMMAND_ROWS = 200

/** Pays the deposits of a file and prints a line for each row. Answers how many were refused. */
async function paySalaries(url: string, { period, file, dryRun }: Options, invocation: Invocation): Promise<number> {
  const { out, interrupted } = invocation
  const dry_run = dryRun === true
  const counts = { paid: 0, already: 0, refused: 0, proposed: 0 }
  const report = (outcome: keyof typeof counts, line: string): void => {
    counts[outcome] += 1
    out(`${line}\n`)
  }
  const rows = readSalaryFile(file, period)
  for (const row of rows) if ('error' in row) report('refused', `refused ${row.location}: ${row.error}`)
  const valid = rows.filter((row) => 'deposit' in row)
  // By user, as no user is in a file twice.
  const descriptions = new Map(
    valid.map(({ location, deposit: { user_id, target, ...cents } }) => [
      user_id,
      `${location}: user ${user_id}, dollars ${centsToDollars(cents.dollars).rawJSON}, agent dollars ${centsToDollars(cents.agent_dollars).rawJSON}, points taken ${target}`,
    ]),
  )

  const mayBeProposed = await areApprovalsOn(url)
  const commandRows = !mayBeProposed || dry_run ? MAX_COMMAND_ROWS : MAX_FILE_DEPOSITS
  if (mayBeProposed && valid.length > MAX_FILE_DEPOSITS) {
    throw new Error(
      `--file ${file} has ${valid.length} deposits; while approvals are on a file is one proposal, which holds ${MAX_FILE_DEPOSITS} at most: split it`,
    )
  }
  await withLedger(writerOf(url, invocation), async (executor) => {
    for (let i = 0; i < valid.length; i += commandRows) {
      // Safe between two commands: running the file again pays only those who were not paid.
      interrupted.throwIfAborted()
      const deposits = valid.slice(i, i + commandRows).map(({ deposit }) => deposit)
      const answer = await deposit(executor, { period, deposits, dry_run })
      if ('proposal' in answer) {
        const { id, expires_at, not_paid } = answer.proposal
        counts.proposed += deposits.length - not_paid.length
        out(`proposal ${id}: the deposits wait for a colleague's approval until ${expires_at}\n`)
        for (const { user_id, code } of not_paid) {
          if (code === 'already_paid') report('already', `already paid ${descriptions.get(user_id)}`)
          else report('refused', `refused ${descriptions.get(user_id)}: ${reasons[code]?.en ?? code}`)
        }
        continue
      }
      const { paid, already_paid, refused } = answer
      for (const { user_id, id } of paid) {
        report(
          'paid',
          id === null ? `to pay ${descriptions.get(user_id)}` : `paid ${descriptions.get(user_id)}, event ${id}`,
        )
      }
      for (const { user_id, id } of already_paid)
        report('already', `already paid ${descriptions.get(user_id)}, event ${id}`)
      for (const { user_id, message } of refused) report('refused', `refused ${descriptions.get(user_id)}: ${message}`)
    }
  })
  const { paid, already, refused, proposed } = counts
  out(
    `${proposed > 0 ? `proposed: ${proposed}, ` : ''}${dry_run ? 'to pay' : 'paid'}: ${paid}, already paid: ${already}, refused: ${refused}\n`,
  )
  return refused
}

/** Throws with a message that names the file. */
function readSalaryFile(file: string, period: string): DepositRow[] {
  const text = readInputFile('--file', file)
  try {
    return parseSalaryFile(file, text, period)
  } catch (error) {
    if (!(error instanceof InvalidSalaryFile)) throw error
    throw new Error(`--file ${file}: ${error.message}`, { cause: error })
  }
}

/** The fields of a report that are used here. */
const Paid = Type.Array(Type.Object({ user_id: Type.Integer(), id: Type.Union([Type.Integer(), Type.Null()]) }))
const Report = Type.Object({
  paid: Paid,
  already_paid: Paid,
  refused: Type.Array(Type.Object({ user_id: Type.Integer(), message: Type.String() })),
})

const Proposal = Type.Object({
  id: Type.Integer(),
  expires_at: Type.String(),
  not_paid: Type.Array(Type.Object({ user_id: Type.Integer(), code: Type.String() })),
})

const reasons: Readonly<Record<string, LocalizedText | undefined>> = depositReasons

/** The report, or the proposal that the deposits became. */
async function deposit(executor: Executor, input: DepositSalaries) {
  const cause = { actor: localStaffName(), requestId: randomUUID(), idempotency: null }
  const verb = registerCovered(namedDepositSalaries, {
    status: 201,
    body: (report) => ({ data: salaryReport(report, 'en') }),
  })
  const presentRefusal = ({ refusal }: Refusal) => ({ status: 422, body: refusal })
  const { reply } = await executor.run(verb.command(input, cause, presentRefusal))
  if (reply.status > 202) {
    throw new Error(
      reply.body === 'balance_limit' ? 'the sum of a currency is beyond 2^53-1 cents: split the file' : reply.body,
    )
  }
  const { data }: { data: unknown } = JSON.parse(reply.body)
  return reply.status === 202 ? { proposal: Value.Parse(Proposal, data) } : Value.Parse(Report, data)
}

async function areApprovalsOn(url: string): Promise<boolean> {
  await using db = queryBuilder(openPool(url, { max: 1, application_name: 'salary' }))
  return (await readApprovalLimits(db)) !== null
}

/** Answers the exit code. */
export async function main(invocation: Invocation): Promise<number> {
  let refused = 0
  const command = new Command('npm run salary --')
    .description('pays users for a period, each once, in the database of DATABASE_URL, else in DATA_DIR')
    .requiredOption('--period <name>', 'name of the period, such as 2026-10', parsePeriod)
    .requiredOption('--file <path>', 'deposits as .csv (user_id, dollars, agent_dollars, target) or .json')
    .option('--dry-run', 'only print what would be paid')
    .action(async (options: Options) => {
      refused = await withDatabase(invocation.env, invocation.interrupted, ({ url }) =>
        paySalaries(url, options, invocation),
      )
    })
  const code = await runCommandLine('salary', invocation, command)
  return refused > 0 ? 1 : code
}

function parsePeriod(text: string): string {
  if (!Value.Check(Period, text)) throw new InvalidArgumentError('Expected 1 to 32 characters of 0-9 A-Z a-z _ -.')
  return text
}

if (import.meta.main) process.exitCode = await main(processInvocation())
