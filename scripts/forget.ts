import { Command, InvalidArgumentError } from 'commander'
import { withDatabase } from '../src/audit/database.ts'
import { localStaffName, withLedger } from '../src/audit/with-ledger.ts'
import { openPool } from '../src/db/pool.ts'
import { queryBuilder } from '../src/db/queries/query-builder.ts'
import { ErasureRefused, eraseUser } from '../src/erasure/erase-user.ts'
import { parseId } from '../src/ledger/rules/account.ts'
import { notifier } from '../src/slices.ts'
import { type Invocation, processInvocation, runCommandLine, writerOf } from './command-line.ts'

const refusalMessages: Readonly<Record<string, string>> = {
  not_found: 'there is no such user',
  withdrawal_open: 'a withdrawal request of this user is open; reject it or mark it as transferred first',
}

async function runErasure(url: string, user: number, invocation: Invocation): Promise<void> {
  await using db = queryBuilder(openPool(url, { max: 2, application_name: 'forget' }))
  try {
    const { records, devices, rooms, replies } = await withLedger(writerOf(url, invocation), (executor) =>
      eraseUser(executor, db, user, { actor: localStaffName(), notifier }),
    )
    invocation.out(
      `user ${user} is forgotten; encrypted records erased: ${records}, devices removed: ${devices}, ` +
        `memberships ended: ${rooms}, stored replies redacted: ${replies}\n`,
    )
  } catch (error) {
    throw error instanceof ErasureRefused ? new Error(refusalMessages[error.code] ?? error.code) : error
  }
}

export const main = (invocation: Invocation): Promise<number> =>
  runCommandLine(
    'forget',
    invocation,
    new Command('npm run forget --')
      .description(
        'erases the personal data of a user in the database of DATABASE_URL, else in DATA_DIR: name, avatar, devices and ' +
          'texts; memberships of rooms end; balances and events stay under the id',
      )
      .requiredOption('--user <id>', 'the user to erase', parseUserId)
      .action(({ user }: { readonly user: number }) =>
        withDatabase(invocation.env, invocation.interrupted, ({ url }) => runErasure(url, user, invocation)),
      ),
  )

function parseUserId(text: string): number {
  const id = parseId(text)
  if (id === null) throw new InvalidArgumentError("Expected a user's id.")
  return id
}

if (import.meta.main) process.exitCode = await main(processInvocation())
