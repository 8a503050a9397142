import { Command, InvalidArgumentError } from 'commander'
import { withDatabase } from '../src/audit/database.ts'
import { localStaffName, withLedger } from '../src/audit/with-ledger.ts'
import { openPool } from '../src/db/pool.ts'
import { queryBuilder } from '../src/db/queries/query-builder.ts'
import { MAX_PURGED_GAMES, type PurgeGames, purgeGames } from '../src/features/roulette/cancel.ts'
import { purgedGames } from '../src/features/roulette/presenters.ts'
import { openGamesOlderThan } from '../src/features/roulette/reads.ts'
import { runVerb } from '../src/ledger/executor/run-verb.ts'
import { type Invocation, processInvocation, runCommandLine, writerOf } from './command-line.ts'

interface Options {
  /** Minutes. */
  readonly olderThan: number
  readonly dryRun?: true
}

/** Purges and answers the number of skipped games. */
async function purgeOldGames(url: string, { olderThan, dryRun }: Options, invocation: Invocation): Promise<number> {
  const { out, interrupted } = invocation
  await using db = queryBuilder(openPool(url, { max: 1, application_name: 'roulette purge' }))
  const input: PurgeGames = { older_than_minutes: olderThan, dry_run: dryRun === true }
  let count = 0
  let coins = 0
  let skippedCount = 0
  await withLedger(writerOf(url, invocation), async (executor) => {
    for (let after = 0; ; ) {
      interrupted.throwIfAborted()
      const candidates = await openGamesOlderThan(db, olderThan, after, MAX_PURGED_GAMES)
      const last = candidates.at(-1)
      if (last === undefined) break
      after = last
      const purged = await runVerb(executor, purgeGames(candidates), input, localStaffName())
      // Addresses of pictures are not printed.
      const { games, skipped } = purgedGames(purged, '')
      for (const game of games) {
        count += 1
        coins += game.pot
        out(
          `game ${game.id} in room ${game.room_uid}, created ${game.created_at}, players: ${game.players_count}, coins: ${game.pot}\n`,
        )
      }
      for (const { id, room_uid, code, user_ids } of skipped) {
        skippedCount += 1
        out(`game ${id} in room ${room_uid} skipped: ${code}, cannot refund user ${user_ids.join(', ')}\n`)
      }
    }
  })
  const [games, payments] = dryRun ? ['games to cancel', 'coins to refund'] : ['games cancelled', 'coins refunded']
  out(`${games}: ${count}, ${payments}: ${coins}${skippedCount === 0 ? '' : `, games skipped: ${skippedCount}`}\n`)
  return skippedCount
}

/** Answers the exit code. */
export async function main(invocation: Invocation): Promise<number> {
  let skippedCount = 0
  const command = new Command('npm run roulette:purge --')
    .description('cancels old open games in the database of DATABASE_URL, else in DATA_DIR, and refunds their players')
    .requiredOption('--older-than <minutes>', 'age of the games since they were created', parseMinutes)
    .option('--dry-run', 'only show what would be cancelled')
    .action(async (options: Options) => {
      skippedCount = await withDatabase(invocation.env, invocation.interrupted, ({ url }) =>
        purgeOldGames(url, options, invocation),
      )
    })
  const code = await runCommandLine('roulette:purge', invocation, command)
  return skippedCount > 0 ? 1 : code
}

function parseMinutes(text: string): number {
  if (!/^\d{1,7}$/.test(text)) throw new InvalidArgumentError('Expected a number of minutes, 0 or more.')
  return Number(text)
}

if (import.meta.main) process.exitCode = await main(processInvocation())
