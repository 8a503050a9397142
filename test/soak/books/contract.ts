import { type TSchema, Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { InstantTransfer, Withdrawal } from '../../../schema/agency.ts'
import { dataOf, ErrorBody, Id } from '../../../schema/common.ts'
import { PublishedChains } from '../../../schema/fairness.ts'
import { BagItem, SendResult } from '../../../schema/gifts.ts'
import { BalanceMoved, RoomRecord, UserRecord } from '../../../schema/operator.ts'
import { Activated, Transferred, WalletCard } from '../../../schema/privilege.ts'
import { RoomResource } from '../../../schema/rooms.ts'
import { Cancelled, FinishedGame, Game } from '../../../schema/roulette.ts'
import { Wallet } from '../../../schema/wallet.ts'
import { GRANTED, type Kind } from '../load/operation.ts'

/** What came of a request. */
export type Result =
  /** It was done or refused, and that is remembered. */
  | { readonly outcome: 'final'; readonly status: number; readonly text: string; readonly replayed: boolean }
  /** Not now: it may or may not have been done. */
  | { readonly outcome: 'retry'; readonly status: number }
  /** No answer, or half of one; `gaveUp`: the client waited no longer, and the service may still be at it. */
  | { readonly outcome: 'cut'; readonly timedOut: boolean }
  /** An answer that no client was told to expect. */
  | { readonly outcome: 'invalid'; readonly status: number; readonly text: string }

/** What an answer is told from. */
export interface Response {
  readonly status: number
  /** By name in lower case; null where there is none. */
  readonly header: (name: string) => string | null
  readonly text: string
}

interface Answer {
  readonly status: 200 | 201
  readonly isBody: (value: unknown) => boolean
  /** Codes: what these clients' requests can run into, and nothing else. What they ask about was there once. */
  readonly refusals: readonly string[]
}

const checker = (schema: TSchema): ((value: unknown) => boolean) => {
  const compiled = TypeCompiler.Compile(schema)
  return (value) => compiled.Check(value)
}

const answer = (status: 200 | 201, schema: TSchema, ...refusals: string[]): Answer => ({
  status,
  isBody: checker(schema),
  refusals,
})

/** Of a game that others brought to its end. */
const over = ['game_finished', 'game_cancelled'] as const

/** Of a withdrawal that stands otherwise than was thought, or is between others. */
const undecided = ['not_your_withdrawal', 'invalid_transition', 'not_your_decision'] as const

const answers: Readonly<Record<Kind, Answer>> = {
  gift: answer(200, SendResult, 'insufficient_balance'),
  lucky: answer(200, SendResult, 'insufficient_balance'),
  bag: answer(200, SendResult, 'insufficient_items'),
  fill: answer(201, dataOf(Type.Composite([Type.Object({ user_id: Id }), BagItem]))),
  credit: answer(201, dataOf(BalanceMoved)),
  debit: answer(201, dataOf(BalanceMoved), 'insufficient_balance'),
  seed: answer(200, dataOf(PublishedChains)),
  wallet: answer(200, Wallet),
  define: answer(200, dataOf(Type.Array(UserRecord))),
  room: answer(200, dataOf(RoomRecord)),
  enter: answer(200, dataOf(RoomResource)),
  grant: answer(201, dataOf(Type.Array(WalletCard, { minItems: GRANTED, maxItems: GRANTED }))),
  activate: answer(200, Activated, 'not_your_card', 'card_already_activated', 'too_few_days'),
  transfer: answer(200, Transferred, 'not_card_owner', 'card_already_activated'),
  create: answer(201, dataOf(Game), 'game_already_open'),
  host: answer(201, dataOf(Game), 'game_already_open', 'insufficient_balance'),
  join: answer(200, dataOf(Game), ...over, 'already_joined', 'game_full', 'insufficient_balance'),
  leave: answer(200, dataOf(Game), ...over, 'not_joined'),
  finish: answer(200, dataOf(FinishedGame), 'not_in_game', ...over, 'not_enough_players'),
  cancel: answer(200, Cancelled, 'not_game_creator', ...over),
  request: answer(201, dataOf(Withdrawal), 'insufficient_balance'),
  approve: answer(200, dataOf(Withdrawal), ...undecided),
  reject: answer(200, dataOf(Withdrawal), ...undecided),
  settle: answer(200, dataOf(Withdrawal), ...undecided),
  instant: answer(201, dataOf(InstantTransfer), 'insufficient_balance'),
}

/** Refusals of what others may do. */
const forbidden = ['not_your_card', 'not_in_game', 'not_game_creator', 'not_your_withdrawal', 'not_your_decision']

/** Whoever is told to come back learns nothing else: not even which field of an error there might be. */
const isError = checker(Type.Object(ErrorBody.properties, { additionalProperties: false }))

/** Holds an answer against the contract: status, code, headers and the shape of the body. */
export function judge(kind: Kind, { status, header, text }: Response): Result {
  const invalid: Result = { outcome: 'invalid', status, text: text.slice(0, 500) }
  if (header('content-type') !== 'application/json; charset=utf-8') return invalid
  const body = bodyOf(text)
  const replayed = header('idempotency-replayed') === 'true'
  const { status: good, isBody, refusals } = answers[kind]
  if (status === good && isBody(body)) return { outcome: 'final', status, text, replayed }
  const code = codeOf(body)
  if (code === null) return invalid
  if (status === (forbidden.includes(code) ? 403 : 422) && refusals.includes(code))
    return { outcome: 'final', status, text, replayed }
  if (replayed) return invalid
  if (status === 500 && code === 'unavailable') return { outcome: 'retry', status }
  if (status === 429 && code === 'overloaded' && /^[1-9]\d*$/.test(header('retry-after') ?? '')) {
    return { outcome: 'retry', status }
  }
  return invalid
}

const codeOf = (body: unknown): string | null =>
  isError(body) && typeof body === 'object' && body !== null && 'code' in body ? String(body.code) : null

function bodyOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
