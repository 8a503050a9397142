import { DatabaseError, type Pool, type PoolClient } from 'pg'
import { MAX_INTEGER } from '../../../schema/max-integer.ts'
import { giftMessages } from '../../../src/features/gifts/messages.ts'
import { HttpError } from '../../../src/http/errors/http-error.ts'
import type { Cause } from '../../../src/ledger/executor/command.ts'
import type { CommandResult } from '../../../src/ledger/executor/command-queue.ts'
import { isoMicros } from '../../../src/ledger/rules/time.ts'
import { GENESIS_HASH, type HashInput, hashEvent, replyHash } from '../../../src/ledger/storage/event-hash.ts'
import { decideStandardGift, type NaiveSend } from './naive-rules.ts'
import * as statements from './naive-statements.ts'

interface GiftContext {
  readonly position: number
  /** Microseconds since 1970. */
  readonly now: number
  readonly price: number | null
  readonly kind: string | null
  readonly room_id: number | null
  readonly known_receivers: number
}

interface StoredReply {
  readonly request_hash: string
  readonly status: number
  readonly body: string
}

export const refused = (code: string): HttpError => new HttpError(422, code, giftMessages.no_gift)

/**
 * Sends gifts as a good service without an event-sourced ledger would: one transaction per request on a pooled
 * connection, in six round trips (eight with an idempotency key), all with prepared statements.
 *
 * It does what the product does for a standard gift that is paid in diamonds: the same checks, the same event row (typed
 * columns, JSON, a hash over them), the balances, the room's trophy points, and the stored reply of a key. It locks
 * accounts by name, so that there are no deadlocks.
 *
 * It leaves out what would only slow it down: hashes do not form a chain and positions come from a sequence, so that no
 * lock is shared, but there is no order for subscribers either; system accounts have no balance row, for which everybody
 * would wait; subscribers are not notified. Bags, draws and rooms by uid are not supported.
 */
export class NaiveGifts {
  readonly #pool: Pool

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /** Throws an HttpError for a refusal. */
  async send(gift: NaiveSend, cause: Cause): Promise<NaiveResult> {
    try {
      return await this.#transaction((client) => attempt(client, gift, cause))
    } catch (error) {
      // A concurrent request with the same key was faster; its reply is stored by now.
      if (!(error instanceof DatabaseError) || error.code !== '23505') throw error
      return this.#transaction((client) => attempt(client, gift, cause))
    }
  }

  async #transaction<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect()
    let connectionError: Error | undefined
    try {
      await client.query('begin')
      const result = await work(client)
      await client.query('commit')
      return result
    } catch (error) {
      await client.query('rollback').catch((rollback: Error) => {
        connectionError = rollback
      })
      throw error
    } finally {
      client.release(connectionError)
    }
  }
}

/** Of a command; the naive way has no positions. */
type NaiveResult = Omit<CommandResult, 'position'>

async function attempt(client: PoolClient, gift: NaiveSend, cause: Cause): Promise<NaiveResult> {
  const { actor, requestId, idempotency } = cause
  if (idempotency !== null) {
    const { rows } = await client.query<StoredReply>(statements.findReply(actor, idempotency.key))
    const [stored] = rows
    if (stored !== undefined) {
      if (stored.request_hash !== idempotency.requestHash) throw refused('idempotency_key_reused')
      return { reply: stored, replayed: true, storedBytes: 0 }
    }
  }

  const [context] = (await client.query<GiftContext>(statements.readContext(gift))).rows
  if (context === undefined) throw new Error('the context of the gift has no row')
  const { position, now, price, room_id } = context
  const isKnown = room_id !== null && context.known_receivers === gift.receivers.length
  if (price === null || context.kind !== 'standard' || !isKnown || gift.receivers.includes(gift.sender)) {
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
  const reply = { status: 200, body: replyBody(diamonds, position, gift, price) }
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

const replyBody = (diamonds: number, position: number, gift: NaiveSend, price: number): string =>
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
