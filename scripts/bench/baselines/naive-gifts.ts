import { DatabaseError, type Pool, type PoolClient } from 'pg'
import { MAX_INTEGER } from '../../../schema/max-integer.ts'
import { HttpError } from '../../../src/http/errors/http-error.ts'
import type { Cause } from '../../../src/ledger/executor/command.ts'
import type { CommandResult } from '../../../src/ledger/executor/command-queue.ts'
import { isoMicros } from '../../../src/ledger/rules/time.ts'
import { GENESIS_HASH, type HashInput, hashEvent, replyHash } from '../../../src/ledger/storage/event-hash.ts'
import { decideStandardGift, type NaiveSend } from './naive-rules.ts'
import * as statements from './naive-statements.ts'

interface Facts {
  readonly position: number
  /** Microseconds since 1970. */
  readonly now: number
  readonly price: number | null
  readonly kind: string | null
  readonly room_id: number | null
  readonly known_receivers: number
}

interface Remembered {
  readonly request_hash: string
  readonly status: number
  readonly body: string
}

export const refused = (code: string): HttpError => new HttpError(422, code, 'The gift cannot be sent.')

/**
 * Gifts as a good service without a ledger floor sends them: one request is one transaction on a connection of a pool,
 * in six round trips (eight under an idempotency key), each awaited, all by prepared statements.
 *
 * It does what the product does for a standard gift that is paid in diamonds: the same checks, the accounts locked in
 * the order of their names so that nothing can deadlock, the same event row (typed columns, JSON, a hash over them),
 * the balances, the room's trophy points, and under a key the remembered reply.
 *
 * It leaves out what would only slow it down, which the product does: hashes are chained to nothing and positions come
 * from a sequence (no lock that all share, and so no order that can be followed); the system's own accounts have no
 * balance row (everybody would wait for it); nothing is told to followers. Bags, draws and rooms by uid are not its
 * business here.
 */
export class NaiveGifts {
  readonly #pool: Pool

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /** Throws an HttpError for a refusal. */
  async send(gift: NaiveSend, cause: Cause): Promise<CommandResult> {
    try {
      return await this.#transaction((client) => attempt(client, gift, cause))
    } catch (error) {
      // The same key at the same time: now its reply is there.
      if (!(error instanceof DatabaseError) || error.code !== '23505') throw error
      return this.#transaction((client) => attempt(client, gift, cause))
    }
  }

  async #transaction<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect()
    let broken: Error | undefined
    try {
      await client.query('begin')
      const done = await work(client)
      await client.query('commit')
      return done
    } catch (error) {
      await client.query('rollback').catch((rollback: Error) => {
        broken = rollback
      })
      throw error
    } finally {
      client.release(broken)
    }
  }
}

async function attempt(client: PoolClient, gift: NaiveSend, cause: Cause): Promise<CommandResult> {
  const { actor, requestId, idempotency } = cause
  if (idempotency !== null) {
    const { rows } = await client.query<Remembered>(statements.findReply(actor, idempotency.key))
    const [before] = rows
    if (before !== undefined) {
      if (before.request_hash !== idempotency.requestHash) throw refused('idempotency_key_reused')
      return { reply: before, replayed: true, storedBytes: 0 }
    }
  }

  const [facts] = (await client.query<Facts>(statements.facts(gift))).rows
  if (facts === undefined) throw new Error('no facts')
  const { position, now, price, room_id } = facts
  const known = room_id !== null && facts.known_receivers === gift.receivers.length
  if (price === null || facts.kind !== 'standard' || !known || gift.receivers.includes(gift.sender)) {
    throw refused('validation_failed')
  }

  const { data, movements, changes } = decideStandardGift(gift, price)
  const accounts = [...changes.keys()].sort()
  const locked = await client.query<{ account: string; balance: string }>(statements.lockAccounts(accounts))
  const balances = new Map(locked.rows.map(({ account, balance }) => [account, BigInt(balance)]))
  for (const [account, change] of changes) {
    const after = (balances.get(account) ?? 0n) + BigInt(change)
    if (after < 0n) throw refused('insufficient_balance')
    if (after > BigInt(MAX_INTEGER)) throw refused('balance_limit')
  }

  const diamonds = Number(balances.get(`user:${gift.sender}:diamonds`) ?? 0n) - data.cost
  const reply = { status: 200, body: answer(diamonds, position, gift, price) }
  const entry: HashInput = {
    position,
    type: 'gift-sent',
    version: 1,
    data: JSON.stringify(data),
    movements,
    actor,
    at: now,
    requestId,
    idempotencyKey: idempotency?.key ?? null,
    replyHash: idempotency === null ? null : replyHash(reply.status, reply.body),
  }
  await client.query(statements.insertEvent(entry, hashEvent(entry, GENESIS_HASH)))
  const sums = accounts.map((account) => changes.get(account) ?? 0)
  await client.query(statements.addToBalances(accounts, sums, gift.room, data.trophy_points))
  if (idempotency !== null) {
    await client.query(statements.insertReply(actor, idempotency, reply, isoMicros(now)))
  }
  return { reply, replayed: false, storedBytes: 0 }
}

const answer = (diamonds: number, position: number, gift: NaiveSend, price: number): string =>
  JSON.stringify({
    data: {
      diamonds,
      lucky_result: {
        code: 1,
        data: {
          gift_id: gift.decoration,
          gift_price: price,
          OrderList: gift.receivers.map((_, i) => ({ order_id: `${position}-${i}`, is_win: 0, reward_num: 0 })),
        },
      },
    },
  })
