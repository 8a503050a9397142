import { agencyApp, cash, dataOf, gold, requests } from '../../features/agency/agency-fixture.ts'
import type { TestApp } from '../../harness/app/test-app.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'

/** One side of a movement, as the test reads it from the table of events. */
export interface Side {
  readonly position: number
  /** ISO 8601, microseconds. */
  readonly at: string
  readonly type: string
  readonly account: string
  readonly counter: string
  readonly change: bigint
}

/** An app with gifts, games and withdrawals in every state, some of them committed in one transaction. */
export async function appWithLedger(t: Parameters<typeof agencyApp>[0]): Promise<TestApp> {
  const opened = await agencyApp(t)
  const { operator, user } = opened
  const admin = '/admin/v1'
  await operator('PUT', `${admin}/rooms/1`, { uid: 'R1', name: 'Room', owner_id: 9 })
  await operator('PUT', `${admin}/decorations/1`, { name: 'Rose', kind: 'standard', price: 11 })
  const odds = [
    { multiplier: 0, weight: 6 },
    { multiplier: 2, weight: 3 },
  ]
  await operator('PUT', `${admin}/decorations/2`, { name: 'Clover', kind: 'lucky', price: 10, odds })
  for (const id of [1, 2, 3]) {
    await operator('POST', `${admin}/users/${id}/credits`, { currency: 'diamonds', amount: 50_000, reason: 'x' })
    await operator('POST', `${admin}/users/${id}/credits`, { currency: 'coins', amount: 5_000, reason: 'x' })
    await user(id)('GET', '/api/v1/rooms/R1/join')
  }
  const send = (from: number, decoration_id: number, to: readonly number[]) =>
    user(from)('POST', '/api/v1/instant-send', { u_id: from, decoration_id, user_id: to, quantity: 3, room_id: 'R1' })
  for (let i = 0; i < 10; i += 1) {
    // At once: some of them share a transaction, and with it a time.
    await Promise.all([1, 2, 3].map((id) => send(id, 1 + ((id + i) % 2), [(id % 3) + 1, 9])))
  }
  const games = '/api/v1/rooms/R1/games/roulette'
  const game = dataOf(await user(1)('POST', `${games}/create`, { game_price: 70, max_players: 3, join_admin: 1 }))
  await user(2)('POST', `${games}/join/${game.id}`)
  await user(2)('POST', `${games}/finish/${game.id}`)
  const ask = async (body: object): Promise<number> => dataOf(await user(1)('POST', `${requests}/request`, body)).id
  await ask(gold)
  await ask({ ...cash, amount_in_dollars: 5.5, agent_benefit: true })
  const approved = await ask({ ...gold, amount_in_dollars: 7 })
  await user(4)('POST', `${requests}/${approved}/status`, { status: 'approved' })
  const paid = await ask({ ...cash, amount_in_dollars: 3 })
  await user(7)('POST', `${requests}/${paid}/status`, { status: 'approved' })
  await user(7)('POST', `${requests}/${paid}/status`, { status: 'transferred' })
  const refused = await ask({ ...gold, amount_in_dollars: 4 })
  await user(4)('POST', `${requests}/${refused}/status`, { status: 'rejected' })
  return opened
}

/** Every side of every movement, in order, read by plain SQL. */
export async function sidesOf({ database }: TestApp): Promise<readonly Side[]> {
  const rows = await queryRows(
    database,
    `select position, to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at, type, debit, credit, amount
     from ledger_movements order by position, leg`,
  )
  return rows.flatMap(({ position, at, type, debit, credit, amount }): Side[] => {
    const about = { position: Number(position), at: String(at), type: String(type) }
    const [from, to, change] = [String(debit), String(credit), BigInt(amount ?? 0)]
    return [
      { ...about, account: from, counter: to, change: -change },
      { ...about, account: to, counter: from, change },
    ]
  })
}

export const sumOf = (sides: readonly Side[]): bigint => sides.reduce((sum, { change }) => sum + change, 0n)
