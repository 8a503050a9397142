import { test } from 'tap'
import { MAX_INTEGER } from '../../../schema/max-integer.ts'
import { MAX_PURGED_GAMES } from '../../../src/features/roulette/old-games/purge.ts'
import { purgeCandidates } from '../../../src/features/roulette/reads.ts'
import { credit } from '../../../src/features/wallet/credit.ts'
import { readDb } from '../../harness/app/test-app.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'
import { openedGames, runPurgeCommand } from './opened-games-fixture.ts'

test('games that cannot be refunded are listed and do not displace those that can', async (t) => {
  const database = await testDatabase()
  const rooms = MAX_PURGED_GAMES + 2
  const { ledger, made } = await openedGames(t, database, rooms)
  const stuck = made.slice(0, -1)
  const last = made.at(-1)
  const most = { currency: 'coins', amount: MAX_INTEGER - 60, reason: 'test' } as const
  await Promise.all(stuck.map(({ second }) => ledger.runOk(credit, { ...most, user_id: second })))
  const [first] = stuck
  if (first === undefined || last === undefined) throw new Error('there are no games')

  t.same(await purgeCandidates(readDb(t, database), 0, MAX_PURGED_GAMES), [
    ...stuck.slice(0, MAX_PURGED_GAMES).map(({ game }) => game),
    last.game,
  ])
  const skippedLine = `game ${first.game} in room r1 skipped: balance_limit, cannot refund user ${first.second}\n`
  const url = database.serviceUrl
  for (const [args, summary] of [
    [['--dry-run'], 'games to cancel: 1, coins to refund: 80'],
    [[], 'games cancelled: 1, coins refunded: 80'],
  ] as const) {
    const { code, out } = await runPurgeCommand(url, '--older-than', '0', ...args)
    t.equal(code, 1)
    for (const part of [skippedLine, `${summary}, games skipped: 101\n`, `game ${last.game} in`]) t.match(out, part)
  }
})
