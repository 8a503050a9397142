import { randomUUID } from 'node:crypto'
import { Value } from '@sinclair/typebox/value'
import { Command, InvalidArgumentError } from 'commander'
import { PurgedGames } from '../schema/roulette.ts'
import { withDatabase } from '../src/audit/database.ts'
import { localStaffName } from '../src/audit/with-executor.ts'
import { withLedger } from '../src/audit/with-ledger.ts'
import { openPool } from '../src/db/pool.ts'
import { queryBuilder } from '../src/db/queries/query-builder.ts'
import {
  MAX_PURGED_GAMES,
  type PurgeGames,
  type PurgedGames as PurgeResult,
  purgeGames,
} from '../src/features/roulette/old-games/purge.ts'
import { purgedGames } from '../src/features/roulette/presenters.ts'
import { openGamesOlderThan } from '../src/features/roulette/reads.ts'
import { command, type Presenter } from '../src/ledger/executor/command.ts'
import { type Invocation, processInvocation, runCommandLine, writerOf } from './command-line.ts'

interface Options {
  /** Minutes. */
  readonly olderThan: number
  readonly dryRun?: true
}

/** Addresses of pictures are not printed. */
const presenter: Presenter<PurgeResult> = {
  presentResult: (purged) => ({ status: 200, body: JSON.stringify(purgedGames(purged, '')) }),
  presentRefusal: ({ refusal }) => ({ status: 422, body: refusal }),
}

/** Purges and answers the number of skipped games. */
async function purgeOldGames(url: string, { olderThan, dryRun }: Options, invocation: Invocation): Promise<number> {
  const { out, interrupted } = invocation
  const pool = openPool(url, { max: 1, application_name: 'roulette purge' })
  const db = queryBuilder(pool)
  const input: PurgeGames = { older_than_minutes: olderThan, dry_run: dryRun === true }
  let count = 0
  let coins = 0
  let skippedCount = 0
  try {
    await withLedger(writerOf(url, invocation), async (executor) => {
      for (let after = 0; ; ) {
        interrupted.throwIfAborted()
        const candidates = await openGamesOlderThan(db, olderThan, after, MAX_PURGED_GAMES)
        const last = candidates.at(-1)
        if (last === undefined) break
        after = last
        const cause = { actor: localStaffName(), requestId: randomUUID(), idempotency: null }
        const { reply } = await executor.run(command(purgeGames(candidates), input, cause, presenter))
        if (reply.status !== 200) throw new Error(reply.body)
        const { games, skipped } = Value.Parse(PurgedGames, JSON.parse(reply.body))
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
  } finally {
    await db.destroy()
  }
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
